/* tensor.c: copy, fill, binary and unary functions of tensors: checks, then kernels over the runs of a walk.
 * Not here: reductions, products, random values, gates (api/tensor_*.c), creation and views (tensor/tensor.c). */
#include "tensor_internal.h"
#include "../core/memory.h"
#include <math.h>

enum { BLOCK = 512 }; /* elements gathered at a time where a run is strided or of another dtype: fits the L1 cache */

lg_status lg_out_check(const lg_tensor *out, const char *what, int32_t dtype, int32_t rank, const int64_t *shape) {
  LG_TRY(lg_tensor_check(out, what));
  char x[160], y[160];
  int same = out->rank == rank;
  for (int32_t i = 0; same && i < rank; i++) same = out->shape[i] == shape[i];
  if (!same)
    return lg_fail(LG_ESHAPE, "%s is %s, but the result is %s", what,
                   lg_shape_text(x, sizeof x, out->dtype, out->rank, out->shape),
                   lg_shape_text(y, sizeof y, dtype, rank, shape));
  if (out->dtype != dtype && !(lg_dtype_is_float(out->dtype) && lg_dtype_is_float(dtype)))
    return lg_fail(LG_EDTYPE, "%s is %s, but the result is %s", what, lg_dtype_name(out->dtype), lg_dtype_name(dtype));
  return lg_tensor_writable(out);
}

lg_status lg_tensor_broadcast(int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b) {
  if (!rank || !shape) return lg_fail(LG_EARG, "rank or shape is NULL");
  LG_TRY(lg_tensor_check(a, "the first tensor"));
  LG_TRY(lg_tensor_check(b, "the second tensor"));
  return lg_shape_broadcast(rank, shape, a, b);
}

/* -- copy and fill ----------------------------------------------------------------------------------------------- */

typedef struct {
  int32_t to, from;
  _Atomic int64_t bad; /* lowest flat index that could not be converted; INT64_MAX: none */
} copy_job;

static void note_bad(_Atomic int64_t *bad, int64_t at) {
  int64_t lowest = atomic_load(bad);
  while (at < lowest && !atomic_compare_exchange_weak(bad, &lowest, at)) {
  }
}

static void copy_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  copy_job *j = context;
  int64_t done = lg_k_convert(data[0], j->to, step[0], data[1], j->from, step[1], n);
  if (done < n) note_bad(&j->bad, at + done);
}

/* One element per operand as double: for messages. */
typedef struct {
  double value[LG_WALK_MAX];
  int32_t dtype[LG_WALK_MAX], operands;
} probe_job;

static void probe_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at, (void)step, (void)n;
  probe_job *p = context;
  for (int32_t k = 0; k < p->operands; k++)
    lg_k_convert(p->value + k, LG_F64, sizeof(double), data[k], p->dtype[k], 0, 1);
}

static probe_job probe(const lg_walk *w, const lg_tensor *const *t, int64_t at) {
  probe_job p = {.operands = w->operands};
  for (int32_t k = 0; k < w->operands; k++) p.dtype[k] = t[k]->dtype;
  lg_walk_part(w, at, at + 1, probe_run, &p);
  return p;
}

static lg_status copy_apart(lg_tensor *dst, const lg_tensor *src) {
  const lg_tensor *both[] = {dst, src};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 2, both));
  copy_job job = {.to = dst->dtype, .from = src->dtype, .bad = INT64_MAX};
  lg_walk_run(&w, LG_TILE, copy_run, &job);
  if (job.bad == INT64_MAX) return LG_OK;
  double value = probe(&w, both, job.bad).value[1];
  return lg_fail(LG_EARG, "%.10g (%s) does not fit %s", value != value ? NAN : value, lg_dtype_name(src->dtype),
                 lg_dtype_name(dst->dtype));
}

lg_status lg_tensor_clone(lg_tensor **out, const lg_tensor *t, int32_t dtype) {
  LG_TRY(lg_tensor_new(out, dtype, t->rank, t->shape));
  lg_status status = copy_apart(*out, t);
  if (status == LG_OK) return LG_OK;
  lg_tensor_free(*out);
  *out = NULL;
  return status;
}

lg_status lg_detach(const lg_tensor **in, lg_tensor **copy, const lg_tensor *out) {
  *copy = NULL;
  if (!lg_tensor_clash(out, *in)) return LG_OK;
  LG_TRY(lg_tensor_clone(copy, *in, (*in)->dtype));
  *in = *copy;
  return LG_OK;
}

lg_status lg_tensor_copy(lg_tensor *dst, const lg_tensor *src) {
  LG_TRY(lg_tensor_check(dst, "dst"));
  LG_TRY(lg_tensor_check(src, "src"));
  LG_TRY(lg_tensor_writable(dst));
  lg_tensor *copy;
  LG_TRY(lg_detach(&src, &copy, dst));
  lg_status status = copy_apart(dst, src);
  lg_tensor_free(copy);
  return status;
}

static void fill_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  const lg_tensor *value = context;
  lg_k_convert(data[0], value->dtype, step[0], value->storage->data, value->dtype, 0, n);
}

lg_status lg_tensor_fill(lg_tensor *dst, double value) {
  LG_TRY(lg_tensor_check(dst, "dst"));
  LG_TRY(lg_tensor_writable(dst));
  /* The value in dst's dtype, as a tensor on the stack over memory of its own. */
  double held;
  int fits = lg_k_convert(&held, dst->dtype, 0, &value, LG_F64, 0, 1) == 1;
  if (!fits || (!lg_dtype_is_float(dst->dtype) && value != floor(value)))
    return lg_fail(LG_EARG, "%.17g does not fit %s", value, lg_dtype_name(dst->dtype));
  lg_storage storage = {.refs = 1, .bytes = sizeof held, .data = &held};
  lg_tensor scalar = {.storage = &storage, .dtype = dst->dtype};
  const lg_tensor *one[] = {dst};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, one));
  lg_walk_run(&w, LG_TILE, fill_run, &scalar);
  return LG_OK;
}

/* -- functions of one or two tensors ------------------------------------------------------------------------------- */

typedef struct {
  lg_binary_fn binary; /* or unary, with inputs = 1 */
  lg_unary_fn unary;
  int32_t inputs, compute, result; /* dtypes that the kernel reads and writes */
  int32_t dtype[3];                /* of out, a, b */
  _Atomic int64_t bad;
} map_job;

static int64_t call(const map_job *j, void *out, const void *a, const void *b, int64_t n) {
  return j->inputs == 2 ? j->binary(out, a, b, n) : j->unary(out, a, n);
}

static void map_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  map_job *j = context;
  int64_t width[3] = {lg_dtype_bytes(j->result), lg_dtype_bytes(j->compute), lg_dtype_bytes(j->compute)};
  int direct[3], all_direct = 1;
  for (int k = 0; k <= j->inputs; k++) {
    direct[k] = step[k] == width[k] && j->dtype[k] == (k == 0 ? j->result : j->compute);
    all_direct &= direct[k];
  }
  if (all_direct) {
    int64_t done = call(j, data[0], data[1], data[2], n);
    if (done < n) note_bad(&j->bad, at + done);
    return;
  }
  double buffer[3][BLOCK]; /* room for any dtype */
  for (int64_t start = 0; start < n; start += BLOCK) {
    int64_t count = n - start < BLOCK ? n - start : BLOCK;
    char *p[3] = {NULL};
    for (int k = 0; k <= j->inputs; k++) {
      char *here = data[k] + start * step[k];
      p[k] = direct[k] ? here : (char *)buffer[k];
      /* A broadcast element fills its buffer once a run. */
      if (k > 0 && !direct[k] && !(step[k] == 0 && start > 0))
        lg_k_convert(p[k], j->compute, width[k], here, j->dtype[k], step[k], count);
    }
    int64_t done = call(j, p[0], p[1], p[2], count);
    if (done < count) {
      note_bad(&j->bad, at + start + done);
      return;
    }
    if (!direct[0]) lg_k_convert(data[0] + start * step[0], j->dtype[0], step[0], p[0], j->result, width[0], count);
  }
}

static void map(map_job *j, const lg_walk *w, const lg_tensor *const *t) {
  for (int k = 0; k <= j->inputs; k++) j->dtype[k] = t[k]->dtype;
  j->bad = INT64_MAX;
  lg_walk_run(w, LG_TILE, map_run, j);
}

static lg_status binary_apart(lg_tensor *out, int32_t op, const lg_tensor *a, const lg_tensor *b) {
  const lg_tensor *t[] = {out, a, b};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 3, t));
  int32_t compute = lg_binary_compute_dtype(op, a->dtype, b->dtype);
  map_job job = {.binary = lg_k_binary(op, compute), .inputs = 2, .compute = compute};
  job.result = lg_binary_kind(op) == LG_KIND_COMPARE ? LG_U8 : compute;
  map(&job, &w, t);
  if (job.bad == INT64_MAX) return LG_OK;
  probe_job p = probe(&w, t, job.bad);
  return lg_fail(LG_EARG, "%s of %.0f and %.0f is no i32; convert to f64 first", lg_binary_name(op), p.value[1],
                 p.value[2]);
}

lg_status lg_tensor_binary(lg_tensor *out, int32_t op, const lg_tensor *a, const lg_tensor *b) {
  LG_TRY(lg_tensor_check(a, "the first tensor"));
  LG_TRY(lg_tensor_check(b, "the second tensor"));
  int32_t dtype, rank;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(lg_tensor_binary_dtype(&dtype, op, a->dtype, b->dtype));
  LG_TRY(lg_shape_broadcast(&rank, shape, a, b));
  LG_TRY(lg_out_check(out, "out", dtype, rank, shape));
  lg_tensor *copy_a, *copy_b = NULL;
  lg_status status = lg_detach(&a, &copy_a, out);
  if (status == LG_OK) status = lg_detach(&b, &copy_b, out);
  if (status == LG_OK) status = binary_apart(out, op, a, b);
  lg_tensor_free(copy_a);
  lg_tensor_free(copy_b);
  return status;
}

static lg_status unary_apart(lg_tensor *out, int32_t op, const lg_tensor *a) {
  const lg_tensor *t[] = {out, a};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 2, t));
  int32_t compute = lg_unary_compute_dtype(op, a->dtype);
  map_job job = {.unary = lg_k_unary(op, compute), .inputs = 1, .compute = compute};
  job.result = lg_unary_kind(op) == LG_KIND_TRUTH ? LG_U8 : compute;
  map(&job, &w, t);
  if (job.bad == INT64_MAX) return LG_OK;
  return lg_fail(LG_EARG, "%s of %.0f is no i32; convert to f64 first", lg_unary_name(op),
                 probe(&w, t, job.bad).value[1]);
}

lg_status lg_tensor_unary(lg_tensor *out, int32_t op, const lg_tensor *a) {
  LG_TRY(lg_tensor_check(a, "the tensor"));
  int32_t dtype;
  LG_TRY(lg_tensor_unary_dtype(&dtype, op, a->dtype));
  LG_TRY(lg_out_check(out, "out", dtype, a->rank, a->shape));
  lg_tensor *copy;
  LG_TRY(lg_detach(&a, &copy, out));
  lg_status status = unary_apart(out, op, a);
  lg_tensor_free(copy);
  return status;
}
