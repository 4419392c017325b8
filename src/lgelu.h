/* lgelu.h: the engine's public interface, read by C compilers and by LuaJIT alike.
 *
 * What it is: the only header that Lua sees. CMake wraps it into lua cdef text, and a hash of it is compiled into
 * the library, so that a Lua side of another age refuses to load (lua/lgelu/C.lua).
 * What it is not: the engine's internal interfaces, which live beside their .c files.
 *
 * Rules. Opaque handles, fixed-width types, no macros past the guard, no by-value structs, no varargs, no callbacks.
 * Every call that can fail returns an lg_status (0 = done); lg_last_error() then says what, where and both shapes,
 * until the next failing call on the same thread. Outputs come first. Shapes are C-ordered: the last dimension is
 * contiguous; axes and indices are 0-based here and 1-based in Lua. A NULL handle is an error, never a crash.
 * Names of ops, dtypes, activations, optimizers, statuses are looked up by name: their lists live in src, once each.
 */
#ifndef LGELU_H
#define LGELU_H
#include <stdint.h>

typedef int32_t lg_status;
typedef struct lg_tensor lg_tensor;
typedef struct lg_graph lg_graph;
typedef struct lg_optim lg_optim;
typedef struct lg_loader lg_loader;
typedef struct lg_h5 lg_h5;
typedef struct lg_onnx lg_onnx;
typedef struct lg_csv lg_csv;

/* -- runtime (core/) ------------------------------------------------------------------------------------------ */

const char *lg_abi_hash(void);                /* hash of this file, as compiled */
const char *lg_version(void);                 /* "0.1.0" */
const char *lg_build_info(void);              /* compiler, flags, git commit, "dirty" when the tree was */
const char *lg_status_name(lg_status status); /* "ok", "shape", …; "?" for an unknown number */
const char *lg_status_text(lg_status status); /* one plain sentence */
const char *lg_last_error(void);              /* detail of this thread's last failure; never NULL */

/* Names in a list: 0-based index, or -1. list is one of "status", "dtype", "op", "activation", "reparam", "optimizer",
 * "schedule", "binary", "unary", "reduce", "census". lg_list_name gives NULL past the end. */
int32_t lg_list_find(const char *list, const char *name);
const char *lg_list_name(const char *list, int32_t index);
const char *lg_list_doc(const char *list, int32_t index);

/* Starts the engine: threads (0: OMP_NUM_THREADS, or as many as the process may use), BLAS kernel, self-test.
 * Idempotent; a second call only changes the number of threads. Called by lua/lgelu/C.lua at load. */
lg_status lg_init(int32_t threads);
int32_t lg_threads(void);
const char *lg_cpu_name(void);  /* brand string and instruction set in use, e.g. "… (avx512)" */
const char *lg_isa(void);       /* "avx512", "avx2", "base": the leaf kernels in use */
const char *lg_blas_name(void); /* e.g. "OpenBLAS 0.3.21" */
const char *lg_blas_core(void); /* e.g. "SkylakeX": the kernel that passed the self-test */
/* Why that kernel: "cpuid", "environment" (OPENBLAS_CORETYPE), "OpenBLAS's own choice" (it has no kernel of the name
 * asked for), "fallback after a failed self-test". */
const char *lg_blas_origin(void);

/* Memory that the engine holds, in bytes. lg_mem_reset_peak sets the high-water mark to the live value. */
int64_t lg_mem_live(void);
int64_t lg_mem_peak(void);
void lg_mem_reset_peak(void);
/* Test hook: the n-th allocation from now fails (0: off). */
void lg_mem_fail_at(int64_t n);

/* Ctrl-C: installs a SIGINT handler that sets a flag, polled between graph nodes; a second SIGINT ends the process. */
void lg_interrupt_install(void);
int32_t lg_interrupted(void);
void lg_interrupt_clear(void);

double lg_clock(void); /* seconds, monotonic */

/* Children of this process (core/process.c). words: n of them, the program's path first, one after another, each ended
 * by a zero byte. What the child prints goes into the file log, which is emptied. It dies when its parent does
 * (SIGKILL), and Ctrl-C at the terminal reaches the parent alone. */
lg_status lg_process_start(int64_t *pid, const char *words, int32_t n, const char *log);
/* Waits until one of the children ends: which (0-based) and its status, an exit status or minus the signal that ended
 * it; that child must then not be named again. which = -1 when the seconds (0 to 1e6) are over, or after Ctrl-C. */
lg_status lg_process_wait(int32_t *which, int32_t *status, const int64_t *pids, int32_t n, double seconds);
lg_status lg_process_sleep(double seconds); /* or until Ctrl-C */
/* Ctrl-C for one child; force other than 0: SIGKILL. Refuses what is no child (any more). */
lg_status lg_process_stop(int64_t pid, int32_t force);

/* Philox4x32-10. Uniform in [0,1) with 53 bits and standard normal, as pure functions of (seed, stream, index). */
double lg_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index);
double lg_rng_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* perm[n]: a permutation of 0..n-1, f(seed, stream). */
lg_status lg_rng_permutation(int64_t *perm, int64_t n, uint64_t seed, uint64_t stream);
/* hex[65]: sha256 as lower-case hex, of memory or of a file; lg_sha256_file adds the file's size. */
lg_status lg_sha256(char *hex, const void *data, int64_t bytes);
lg_status lg_sha256_file(char *hex, int64_t *bytes, const char *path);

/* What the machine can do, measured now (kernels/probe.c). Each takes about seconds of time.
 * gflops of register-only FMA; of sgemm m×n×k; bytes per second of y = x copied (read + write counted). */
lg_status lg_probe_fma(double *gflops, int32_t threads, double seconds);
lg_status lg_probe_gemm(double *gflops, int64_t m, int64_t n, int64_t k, int32_t trans_a, int32_t trans_b,
                        int32_t threads, double seconds);
lg_status lg_probe_copy(double *bytes_per_s, int64_t floats, int32_t threads, double seconds);
/* λ-GELU (or activation) over n floats: seconds of the best of several passes. */
lg_status lg_probe_gate(double *fwd_s, double *bwd_s, int32_t activation, double lambda, int64_t floats,
                        int32_t threads, double seconds);

/* -- scalars of the gate (kernels/gauss, kernels/gate) ----------------------------------------------------------- */

double lg_gate_value_f64(double x, double lambda);                          /* x·Φ(λx) */
void lg_gate_grad_f64(double *dfdx, double *dfdl, double x, double lambda); /* Φ(λx)+λxφ(λx), x²φ(λx) */
float lg_gate_value_f32(float x, float lambda);                             /* through the shipping float32 kernels */
void lg_gate_grad_f32(float *dfdx, float *dfdl, float x, float lambda);
/* Reparameterization λ(s), dλ/ds and its inverse; reparam is an index into list "reparam"; t > 0.
 * lg_gate_s fails when lambda is not representable (λ=1 under softplus), naming the nearest usable value. */
lg_status lg_gate_lambda(double *lambda, double *dlds, int32_t reparam, double s, double t);
lg_status lg_gate_s(double *s, int32_t reparam, double lambda, double t);

/* -- tensors (tensor/, api/tensor.c) --------------------------------------------------------------------------- */

/* A new tensor, zero-filled and contiguous. rank 0..8; rank 0 is a scalar of one element. */
lg_status lg_tensor_new(lg_tensor **out, int32_t dtype, int32_t rank, const int64_t *shape);
/* A view of parent's storage: strides in elements, may be 0 or negative; offset relative to parent's first element.
 * Bounds are checked; the view holds the storage alive. */
lg_status lg_tensor_view(lg_tensor **out, lg_tensor *parent, int32_t rank, const int64_t *shape, const int64_t *strides,
                         int64_t offset);
void lg_tensor_free(lg_tensor *t); /* NULL is fine */
/* Gives the elements back at once (other views keep theirs); the handle stays, and every use of it is an error. */
void lg_tensor_close(lg_tensor *t);
int32_t lg_tensor_dtype(const lg_tensor *t);
int32_t lg_tensor_rank(const lg_tensor *t);
int64_t lg_tensor_dim(const lg_tensor *t, int32_t axis);
int64_t lg_tensor_stride(const lg_tensor *t, int32_t axis);
int64_t lg_tensor_size(const lg_tensor *t); /* elements */
int32_t lg_tensor_contiguous(const lg_tensor *t);
void *lg_tensor_data(lg_tensor *t); /* the first element; valid while a tensor of its storage lives */
int32_t lg_dtype_bytes(int32_t dtype);

/* Results' dtypes. Floats with integers give the float dtype, f32 with f64 gives f64; i32 with u8, and sums,
 * differences and products of u8, give i32; functions with fractions (div, exp, …) of integers give f32; sum, mean and
 * prod of integers give f64; comparisons, not, any and all give u8 0/1; argmin and argmax give i32. */
lg_status lg_tensor_binary_dtype(int32_t *dtype, int32_t op, int32_t a, int32_t b);
lg_status lg_tensor_unary_dtype(int32_t *dtype, int32_t op, int32_t a);
lg_status lg_tensor_reduce_dtype(int32_t *dtype, int32_t op, int32_t a);
/* The shape to which a and b broadcast, as in numpy; shape[8]. */
lg_status lg_tensor_broadcast(int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b);

/* In what follows out (dst) is preallocated with the result's shape and dtype (f32 may stand for f64 and back); it may
 * be an input itself or share memory with one. An expanded view cannot be written to. */

/* dst = src with conversion; src broadcasts to dst. Floats are truncated to integers; NaN or a value out of the
 * integer dtype's range is an error. */
lg_status lg_tensor_copy(lg_tensor *dst, const lg_tensor *src);
/* Every element = value, which an integer dtype must hold exactly. */
lg_status lg_tensor_fill(lg_tensor *dst, double value);
/* out = a op b, broadcasting as numpy does.
 * op: index into list "binary" (add sub mul div pow min max eq ne lt le gt ge). i32 overflow is an error. */
lg_status lg_tensor_binary(lg_tensor *out, int32_t op, const lg_tensor *a, const lg_tensor *b);
/* out = a where cond is not 0, else b; all three broadcast. lg_tensor_where_shape: what out must be; shape[8]. */
lg_status lg_tensor_where_shape(int32_t *dtype, int32_t *rank, int64_t *shape, const lg_tensor *cond,
                                const lg_tensor *a, const lg_tensor *b);
lg_status lg_tensor_where(lg_tensor *out, const lg_tensor *cond, const lg_tensor *a, const lg_tensor *b);
/* out = f(a): list "unary" (neg abs exp log sqrt tanh sin cos erf floor ceil round sign not). */
lg_status lg_tensor_unary(lg_tensor *out, int32_t op, const lg_tensor *a);
/* out = reduction of a over axis (or over all, axis = -1): list "reduce" (sum mean min max argmin argmax prod any all).
 * Folded in float64 in fixed chunks. arg* give i32 (0-based here, in C order when over all). out keeps no reduced axis.
 * mean, min, max and arg* of no elements are an error. */
lg_status lg_tensor_reduce(lg_tensor *out, int32_t op, const lg_tensor *a, int32_t axis);
/* out[..., m, n] = a[..., m, k] · b[..., k, n]; leading dimensions broadcast; f32 and f64.
 * lg_tensor_matmul_shape: what out must be; shape[8]. */
lg_status lg_tensor_matmul_shape(int32_t *dtype, int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b);
lg_status lg_tensor_matmul(lg_tensor *out, const lg_tensor *a, const lg_tensor *b);
/* Fills a float tensor with uniform [lo, hi) or normal(mean, sd): element i in C order is f(seed, stream, i). */
lg_status lg_tensor_uniform(lg_tensor *t, double lo, double hi, uint64_t seed, uint64_t stream);
lg_status lg_tensor_normal(lg_tensor *t, double mean, double sd, uint64_t seed, uint64_t stream);
/* activation: index into list "activation"; lambda: a number's tensor (rank 0) or anything that broadcasts to x, finite
 * and at least 0 (NULL: 1). The float32 kernels of the graph (float64 for float64). dfdl may be NULL. */
lg_status lg_tensor_gate(lg_tensor *out, int32_t activation, const lg_tensor *x, const lg_tensor *lambda);
lg_status lg_tensor_gate_grad(lg_tensor *dfdx, lg_tensor *dfdl, int32_t activation, const lg_tensor *x,
                              const lg_tensor *lambda);
/* Adds the elements of x (contiguous f32), one gate's pre-activations, to census: one number for each entry of list
 * "census", all 0 before the first call. f is computed by the float32 kernels; lambda (finite, at least 0) also scales
 * the transition band. histogram (NULL: none) is added to as well: [bins + 2] counts of elements below low, in each of
 * bins (1..4096) equal bins of [low, high), from high on. The same bits for any number of threads. */
lg_status lg_gate_census(double *census, double *histogram, const lg_tensor *x, int32_t activation, double lambda,
                         double low, double high, int32_t bins);
lg_status lg_tensor_all_finite(int32_t *yes, const lg_tensor *t);

/* -- graph (graph/, ops/) ---------------------------------------------------------------------------------------- */

/* A graph is built once, checked as it is built, planned once (all memory), then run without allocating.
 * dtype f32, or f64 for gradient checks. Dimension 0 of an input may be the batch: written as -1. */
lg_status lg_graph_new(lg_graph **out, int32_t dtype);
void lg_graph_free(lg_graph *g);
/* An op's attributes, in the order in which lg_graph_op takes them. Name NULL past the end. */
const char *lg_op_attr_name(int32_t op, int32_t index);
const char *lg_op_attr_doc(int32_t op, int32_t index);
lg_status lg_op_attr_range(double *dflt, double *min, double *max, int32_t op, int32_t index);
/* Least and most inputs, number of outputs, and whether it has a gradient (no gradient: lg_op_no_grad gives the
 * reason). */
lg_status lg_op_arity(int32_t *min_inputs, int32_t *max_inputs, int32_t op);
const char *lg_op_no_grad(int32_t op);
/* name: the node's path in the model ("block1.gate"); where: the recipe's "file:line"; both are copied and stand in
 * errors. */
lg_status lg_graph_input(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where);
/* A trainable tensor. Its value is a view into the parameter arena, fixed for life after lg_graph_plan. */
lg_status lg_graph_param(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where);
/* State that is checkpointed but has no gradient (running statistics). */
lg_status lg_graph_state(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where);
lg_status lg_graph_op(int32_t *node, lg_graph *g, int32_t op, int32_t n_inputs, const int32_t *inputs, int32_t n_attrs,
                      const double *attrs, const char *name, const char *where);
lg_status lg_graph_output(lg_graph *g, int32_t node); /* keeps a node's value readable after a run */
/* Plans for at most max_batch rows; training = 1 adds gradients of every parameter of the scalar node loss (-1: none).
 */
lg_status lg_graph_plan(lg_graph *g, int64_t max_batch, int32_t training, int32_t loss);
int32_t lg_graph_nodes(const lg_graph *g);
const char *lg_graph_node_name(const lg_graph *g, int32_t node);
const char *lg_graph_node_where(const lg_graph *g, int32_t node);
const char *lg_graph_node_kind(const lg_graph *g, int32_t node); /* "input", "param", "state" or the op's name */
int32_t lg_graph_node_find(const lg_graph *g, const char *name); /* -1 when there is none */
int32_t lg_graph_node_inputs(const lg_graph *g, int32_t node, int32_t *inputs, int32_t max); /* returns their number */
lg_status lg_graph_node_shape(int32_t *rank, int64_t *shape, const lg_graph *g,
                              int32_t node); /* shape[8]; -1 for the batch before a run */
lg_status lg_graph_attr_get(double *value, const lg_graph *g, int32_t node, const char *attr);
lg_status lg_graph_attr_set(lg_graph *g, int32_t node, const char *attr, double value);
/* Views: a node's value after a run (kept nodes: inputs, parameters, state, outputs, what backward needs), and a
 * parameter's gradient. Valid while the graph lives; contents until the next run. */
lg_status lg_graph_value(lg_tensor **out, lg_graph *g, int32_t node);
lg_status lg_graph_grad(lg_tensor **out, lg_graph *g, int32_t node);
/* Fills a parameter or state: kind 0 with the constant a, 1 uniform in [a, b), 2 normal with mean a and deviation b;
 * element i is f(seed, the node's number, i). */
lg_status lg_graph_fill(lg_graph *g, int32_t node, int32_t kind, double a, double b, uint64_t seed);
/* Borrows the tensor's memory for an input (same dtype, contiguous, rows ≤ max_batch, not of the graph's own workspace)
 * until the next bind. Backward then needs a new forward. */
lg_status lg_graph_bind(lg_graph *g, int32_t input, lg_tensor *value);
/* mode 0 evaluation, 1 training (dropout on; its mask is f(seed, step, node, element)). Fails with "interrupted" on
 * Ctrl-C. */
lg_status lg_graph_forward(lg_graph *g, int32_t mode, uint64_t seed, uint64_t step);
lg_status lg_graph_backward(lg_graph *g);
/* A number that an op reports: gates: 0 its λ in the last forward, 1 ∂L/∂λ in the last backward. */
lg_status lg_graph_node_stat(double *value, const lg_graph *g, int32_t node, int32_t index);
/* First node with a value or gradient that is not finite: -1 if all are; text says its statistics. */
lg_status lg_graph_find_nonfinite(int32_t *node, char *text, int32_t text_bytes, lg_graph *g);
/* Planned bytes: parameters, gradients and activations together with workspace. */
lg_status lg_graph_memory(int64_t *params, int64_t *grads, int64_t *work, const lg_graph *g);
/* A node's seconds in training steps since lg_graph_profile(g, 1), and what one step of the present batch costs it:
 * FLOPs of forward and backward, and the least bytes that both together move. */
lg_status lg_graph_profile(lg_graph *g, int32_t on);
lg_status lg_graph_node_cost(double *fwd_s, double *bwd_s, double *fwd_flops, double *bwd_flops, double *bytes,
                             const lg_graph *g, int32_t node);

/* -- enclosures (kernels/enclose) ---------------------------------------------------------------------------------- */

/* What lua/lgelu/certificate.lua carries through a network; docs/CERTIFICATE.md says what they mean. An enclosure is an
 * f64 tensor [4, rows, …]: centre and radius of an interval that holds the exact value of the smooth network, then
 * centre and radius of one that holds ReLU network minus smooth network. A number that is not finite means "anything".
 * All tensors are contiguous f64, out has its shape already. */

/* Linear: in[4, rows, …, k], weight[n, k]; convolution: in[4, rows, h, w, c], weight[n, kh, kw, c/groups], `top` and
 * `left` zeros before the image, those behind by out's shape. bias[n] or NULL. */
lg_status lg_enclose_affine(lg_tensor *out, const lg_tensor *in, const lg_tensor *weight, const lg_tensor *bias,
                            int32_t stride_h, int32_t stride_w, int32_t top, int32_t left, int32_t groups);
/* A gate x·Φ(λx) that becomes ReLU; lambda = ∞: it is ReLU in both. rule 0: how far ReLU is from the gate's own value;
 * 1: only that it lies 0 to 0.16998/λ above it. out may be in. */
lg_status lg_enclose_gate(lg_tensor *out, const lg_tensor *in, double lambda, int32_t rule);
lg_status lg_enclose_add(lg_tensor *out, const lg_tensor *a, const lg_tensor *b);
/* in[4, rows, h, w, c]; mean 1: the mean of each window, padding counts as zeros; 0: its largest element. */
lg_status lg_enclose_pool(lg_tensor *out, const lg_tensor *in, int32_t mean, int32_t kernel_h, int32_t kernel_w,
                          int32_t stride_h, int32_t stride_w, int32_t top, int32_t left);
/* in[4, rows, k] in front of the last layer weight[n, k], bias[n] (NULL: in are the logits). top[rows] (i32): the class
 * of the smooth network's largest logit; out[2, rows]: by how much at least that logit is above all others, in the
 * smooth network and in the ReLU network; above 0: the class is certain. */
lg_status lg_enclose_margin(lg_tensor *out, lg_tensor *top, const lg_tensor *in, const lg_tensor *weight,
                            const lg_tensor *bias);

/* -- optimizers (optim/) ----------------------------------------------------------------------------------------- */

/* optimizer: list "optimizer" (sgd adam adamw). Works on all parameters of a planned training graph. */
lg_status lg_optim_new(lg_optim **out, lg_graph *g, int32_t optimizer);
void lg_optim_free(lg_optim *o);
/* Hyperparameters by name: sgd momentum dampening nesterov; adam, adamw beta1 beta2 eps. */
lg_status lg_optim_set(lg_optim *o, const char *name, double value);
/* A group: rate = multiplier · lr given to the step; decay: L2 for sgd and adam, decoupled for adamw; after the step,
 * values are clamped to at least lower (−∞: not at all); trainable 0 freezes. Group 0 exists and holds every parameter.
 */
lg_status lg_optim_group(int32_t *group, lg_optim *o, const char *name, double multiplier, double decay, double lower,
                         int32_t trainable);
lg_status lg_optim_assign(lg_optim *o, int32_t param_node, int32_t group);
lg_status lg_optim_group_set(lg_optim *o, int32_t group, double multiplier, double decay, double lower,
                             int32_t trainable);
/* One step, the step'th (1-based: bias correction), at base rate lr; clip > 0 scales gradients to that global norm.
 * norm: the gradients' global norm before clipping (may be NULL). Fails, touching nothing, when it is not finite. */
lg_status lg_optim_step(double *norm, lg_optim *o, int64_t step, double lr, double clip);
/* State slots for checkpoints: slot name NULL past the end ("m", "v", "momentum"); a view of one parameter's slot. */
const char *lg_optim_slot(const lg_optim *o, int32_t slot);
lg_status lg_optim_state(lg_tensor **out, lg_optim *o, int32_t slot, int32_t param_node);
/* multiplier of the base rate at step (0-based) of total: list "schedule"; warmup steps rise linearly from 1/warmup.
 * p1, p2, p3: the schedule's own numbers (see optim/schedule.c); a pure function of its arguments. */
lg_status lg_schedule(double *multiplier, int32_t schedule, int64_t step, int64_t total, int64_t warmup, double p1,
                      double p2, double p3);

/* -- data (data/) ------------------------------------------------------------------------------------------------- */

/* An IDX file, plain or gzipped, as a new tensor (u8 for type 0x08; i8, i16, i32 → i32; f32; f64). */
lg_status lg_idx_read(lg_tensor **out, const char *path);
/* A file of the binary version of CIFAR-10 (classes 10) or CIFAR-100 (classes 100), plain or gzipped: images u8
 * [N, 3, 32, 32], labels i32 [N] from label byte `column` of a record (0; of CIFAR-100: 0 coarse, 1 fine). */
lg_status lg_cifar_read(lg_tensor **images, lg_tensor **labels, const char *path, int32_t classes, int32_t column);
/* hex[65], bytes: sha256 and size of what a file holds, unpacked when it is gzipped (told by content, not by name). */
lg_status lg_content_sha256(char *hex, int64_t *bytes, const char *path);
/* All bytes of a file, unpacked when it is gzipped, with a zero byte behind them; *text goes to lg_text_free. */
lg_status lg_content_read(char **text, int64_t *bytes, const char *path);
/* A table of text (CSV, TSV), plain or gzipped: rows of equal length; lines end with LF or CRLF, empty ones are left
 * out. delimiter: an ASCII character; quoting 1: fields may stand in double quotes, which hold delimiters, newlines and
 * doubled quotes; 0: quotes are text. header 1: the first row is the names of columns. skip: lines in front that are
 * left out. Blanks around fields do not count. missing: marks of missing values, each ended by a newline ("?\nNA\n");
 * an empty field is always missing. Errors name line and column, from 1. */
lg_status lg_csv_read(lg_csv **out, const char *path, int32_t delimiter, int32_t quoting, int32_t header, int64_t skip,
                      const char *missing);
void lg_csv_free(lg_csv *t);
lg_status lg_csv_size(int64_t *rows, int32_t *columns, const lg_csv *t);
/* Texts, the table's own: a column's name, a field. NULL: there is none, it is missing. */
const char *lg_csv_name(const lg_csv *t, int32_t column);
const char *lg_csv_text(const lg_csv *t, int64_t row, int32_t column);
int64_t lg_csv_line(const lg_csv *t, int64_t row); /* in the file, from 1 */
/* values[rows]: a column's numbers, NaN where they are missing; numeric 0 where one is no number, and values are then
 * not all set. Digits with a point and an exponent; a column of numbers with decimal commas is an error. */
lg_status lg_csv_numbers(int32_t *numeric, double *values, const lg_csv *t, int32_t column);
/* A NumPy .npy file, versions 1 to 3, little-endian: f4 f8 i4; u1 and b1 as u8; i8 as i32 when all values fit. Fortran
 * order is turned into C order. lg_npy_write writes version 1, at one instant (lg_file_replace). */
lg_status lg_npy_read(lg_tensor **out, const char *path);
lg_status lg_npy_write(const lg_tensor *t, const char *path);

/* mean[channels], sd[channels] (biased) of the rows index[n] of x [N, …] (u8, f32), per channel along axis 1 (channels
 * 1: over all elements). u8: from exact integer sums; f32: float64, two passes, in chunks of fixed size. */
lg_status lg_channel_stats(double *mean, double *sd, const lg_tensor *x, const int64_t *index, int64_t n,
                           int32_t channels);
/* Batches. x: [N, …] u8, f32 or i32; y: [N, …] i32 or f32 (both are kept alive); index[n]: which rows, in order.
 * u8 and f32 x become f32: (x·scale − mean[c])/sd[c] with c = channel along axis 1 (channels 1: one pair for all; 0:
 * none). i32 x stays. last: 0 keep a smaller last batch, 1 drop it. Two batches are prepared ahead by a thread of its
 * own. */
lg_status lg_loader_new(lg_loader **out, lg_tensor *x, lg_tensor *y, const int64_t *index, int64_t n, int64_t batch,
                        int32_t last, double scale, const double *mean, const double *sd, int32_t channels);
void lg_loader_free(lg_loader *l);
/* Random changes of images [N, C, H, W], u8 or f32, a function of (seed, epoch, row): with a border of crop pixels
 * (0 before normalization: black) a window of the image's size is cut out at a random place; flip 1: half of the images
 * are mirrored left to right; a square of cutout pixels a side around a random pixel becomes 0 after normalization. 0:
 * that change is off. Before the first start. */
lg_status lg_loader_augment(lg_loader *l, int32_t crop, int32_t flip, int32_t cutout);
/* Random erasing: with probability p a rectangle of 2 to 33 % of an image becomes standard normal noise (after
 * normalization). Mixup, alpha in (0, 1]: a row becomes share·row + (1 − share)·another row of the index, share drawn
 * from Beta(alpha, alpha), and has the other's label with probability 1 − share. Both are functions of (seed, epoch,
 * row); 0 switches them off. Before the first start. */
lg_status lg_loader_erase(lg_loader *l, double p);
lg_status lg_loader_mix(lg_loader *l, double alpha);
/* Random windows of a text: x and y are ids i32 [N, T] with equal strides; from now on row r of an epoch is what starts
 * at element f(seed, epoch, r) in [0, starts) of x and of y, whatever lies at r itself. Before the first start. */
lg_status lg_loader_windows(lg_loader *l, int64_t starts);
/* Starts an epoch: order f(seed, epoch) when shuffle is 1, index order otherwise; skips the first batches (resume). */
lg_status lg_loader_start(lg_loader *l, int32_t shuffle, uint64_t seed, uint64_t epoch, int64_t skip);
/* Tensors of the next batch, valid until the next call; rows = 0 at the end of the epoch (x and y are then NULL).
 * The caller frees the handles (views); the memory behind is the loader's. */
lg_status lg_loader_next(lg_tensor **x, lg_tensor **y, int64_t *rows, lg_loader *l);
int64_t lg_loader_batches(const lg_loader *l); /* per epoch */
/* Stratified split of n rows by label (i32 [n]): the first n_val entries of index are the validation part, each class
 * in proportion (largest remainders), both parts in ascending order; f(seed). Labels lie in 0..2^20-1. */
lg_status lg_split(int64_t *index, int64_t n, int64_t n_val, const lg_tensor *labels, uint64_t seed);

/* -- HDF5 (io/) --------------------------------------------------------------------------------------------------- */

const char *lg_h5_version(void); /* of the HDF5 library in use, e.g. "1.10.8" */
/* mode: "r" read, "w" create or replace, "a" read and write. path "a" must exist. Every failure names the file.
 * Writing goes to memory; lg_h5_commit and lg_h5_close put the whole file under its name at one instant (temp, fsync,
 * rename), or fail and leave the file as it was; close frees the handle either way. A file of ours is checked against
 * its checksum when it is opened. Names are absolute paths inside the file; groups on the way are created. Handles own
 * their ids. */
lg_status lg_h5_open(lg_h5 **out, const char *path, const char *mode);
lg_status lg_h5_commit(lg_h5 *f);
lg_status lg_h5_close(lg_h5 *f);
void lg_h5_discard(lg_h5 *f);                       /* closes without writing: the file stays as it was; NULL is fine */
int32_t lg_h5_sealed(const lg_h5 *f);               /* 1 when the opened file carried our checksum (and it was right) */
int32_t lg_h5_exists(lg_h5 *f, const char *object); /* 1 when the group or data set is there */
int32_t lg_h5_kind(lg_h5 *f, const char *object);   /* 0 missing, 1 group, 2 data set, 3 something else */
lg_status lg_h5_group(lg_h5 *f, const char *object); /* creates it, and those above, when missing */
/* Child names of a group, one a line, sorted; *text is the caller's: give it to lg_text_free. */
lg_status lg_h5_list(char **text, lg_h5 *f, const char *object);
void lg_text_free(char *text);
/* Attributes of a group or data set ("/" for the root). Strings are variable-length UTF-8 scalars; setting replaces. */
lg_status lg_h5_attr_set_text(lg_h5 *f, const char *object, const char *attr, const char *value);
lg_status lg_h5_attr_set_f64(lg_h5 *f, const char *object, const char *attr, double value);
lg_status lg_h5_attr_set_i64(lg_h5 *f, const char *object, const char *attr, int64_t value);
/* kind: 0 missing, 1 text, 2 integer, 3 float, 4 something else. */
lg_status lg_h5_attr_kind(int32_t *kind, lg_h5 *f, const char *object, const char *attr);
lg_status lg_h5_attr_text(char **text, lg_h5 *f, const char *object, const char *attr);
lg_status lg_h5_attr_f64(double *value, lg_h5 *f, const char *object, const char *attr);
lg_status lg_h5_attr_i64(int64_t *value, lg_h5 *f, const char *object, const char *attr);
/* Removes an attribute; fine when there is none. */
lg_status lg_h5_attr_delete(lg_h5 *f, const char *object, const char *attr);
lg_status lg_h5_attr_list(char **text, lg_h5 *f, const char *object);
/* A data set from a tensor (replacing one of the same name), chunked and extendable along axis 0 when rank ≥ 1. */
lg_status lg_h5_write(lg_h5 *f, const char *object, const lg_tensor *t);
lg_status lg_h5_read(lg_tensor **out, lg_h5 *f, const char *object);
/* Writes rows of t (its axis 0) from row on, extending the data set. */
lg_status lg_h5_write_rows(lg_h5 *f, const char *object, int64_t row, const lg_tensor *t);
lg_status lg_h5_shape(int32_t *rank, int64_t *shape, int32_t *dtype, lg_h5 *f, const char *object);
/* Variable-length UTF-8 strings: text holds n of them, one after another, each ended by a zero byte. */
lg_status lg_h5_write_texts(lg_h5 *f, const char *object, const char *text, int64_t n);
lg_status lg_h5_read_texts(char **text, int64_t *n, lg_h5 *f, const char *object);

/* -- ONNX (io/onnx.c) --------------------------------------------------------------------------------------------- */

/* An empty model with the version of the format and of ONNX's operator set. Values are known by name; whether what is
 * added makes a valid model is the caller's business. */
lg_status lg_onnx_new(lg_onnx **out, const char *name, int64_t ir_version, int64_t opset);
void lg_onnx_free(lg_onnx *m);                                          /* NULL is fine */
lg_status lg_onnx_meta(lg_onnx *m, const char *key, const char *value); /* an entry of metadata_props */
/* An input (output = 0) or output (1) of the graph, of floats (dtype f32) or int64 (i32); dimension -1: the batch. */
lg_status lg_onnx_value(lg_onnx *m, const char *name, int32_t output, int32_t dtype, int32_t rank,
                        const int64_t *shape);
/* A constant (initializer): f32 and f64 are written as float, i32 as int64. */
lg_status lg_onnx_tensor(lg_onnx *m, const char *name, const lg_tensor *t);
/* A node with one output; its inputs and attributes follow. */
lg_status lg_onnx_node(lg_onnx *m, const char *op, const char *name, const char *output);
lg_status lg_onnx_node_input(lg_onnx *m, const char *value);
lg_status lg_onnx_attr_int(lg_onnx *m, const char *attr, int64_t value);
lg_status lg_onnx_attr_ints(lg_onnx *m, const char *attr, const int64_t *values, int32_t n);
/* Writes the file at one instant (lg_file_replace); at most 2 GiB, as protobuf allows. */
lg_status lg_onnx_save(lg_onnx *m, const char *path);

/* -- files (io/file.c) -------------------------------------------------------------------------------------------- */

/* Makes bytes durable under path at one instant: temp file beside it, fsync, rename, fsync of the folder. */
lg_status lg_file_replace(const char *path, const void *data, int64_t bytes);
/* The same for a file written by others: fsync tmp, rename to path. */
lg_status lg_file_commit(const char *tmp, const char *path);
lg_status lg_dir_make(const char *path); /* with those above it; fine when it is there */
/* A lock on a folder, held until it is released or the process ends, however it ends. "state" with the holder's process
 * when another has it. Where the file system knows no locks, everybody gets it. lg_lock_taken: 1 when somebody has it.
 */
lg_status lg_lock_take(int32_t *lock, const char *folder);
void lg_lock_release(int32_t lock); /* -1 is fine */
int32_t lg_lock_taken(const char *folder);
#endif
