/* enclose.c: checks the arguments of lg_enclose_*, then calls kernels/enclose. An enclosure is an f64 tensor
 * [4, rows, …]; its four planes are those of lg_enclosure. */
#include "../core/memory.h"
#include "../core/threads.h"
#include "../kernels/enclose.h"
#include "tensor_internal.h"
#include <math.h>

enum { TILE = 4096 }; /* elements of a gate or a sum */

static double *data_of(const lg_tensor *t) { return (double *)t->storage->data + t->offset; }
static int64_t size_of(const lg_tensor *t) { return lg_shape_size(t->rank, t->shape); }

static lg_status need_f64(const lg_tensor *t, const char *what, int32_t rank) {
  char text[160];
  LG_TRY(lg_tensor_check(t, what));
  lg_shape_text(text, sizeof text, t->dtype, t->rank, t->shape);
  if (t->dtype != LG_F64) return lg_fail(LG_EDTYPE, "%s is %s, expected f64", what, text);
  if (!lg_tensor_contiguous(t)) return lg_fail(LG_EARG, "%s %s is not contiguous", what, text);
  if (rank && t->rank != rank) return lg_fail(LG_ESHAPE, "%s is %s, expected %d dimensions", what, text, rank);
  return LG_OK;
}

static lg_status need_enclosure(const lg_tensor *t, const char *what, int32_t rank) {
  LG_TRY(need_f64(t, what, rank));
  char text[160];
  if (t->rank < 3 || t->shape[0] != 4 || size_of(t) == 0)
    return lg_fail(LG_ESHAPE, "%s is %s, expected an enclosure [4, rows, …]", what,
                   lg_shape_text(text, sizeof text, t->dtype, t->rank, t->shape));
  return LG_OK;
}

static lg_status need_like(const lg_tensor *t, const char *what, int32_t rank, const int64_t *shape) {
  LG_TRY(need_enclosure(t, what, 0));
  return lg_out_check(t, what, LG_F64, rank, shape);
}

static lg_status need_apart(const lg_tensor *out, const lg_tensor *in) {
  return out->storage == in->storage ? lg_fail(LG_EARG, "out and in share memory") : LG_OK;
}

static lg_status need_within(const char *what, int32_t value, int32_t least, int32_t most) {
  if (value >= least && value <= most) return LG_OK;
  return lg_fail(LG_EARG, "%s = %d: expected %d to %d", what, value, least, most);
}

/* The planes from element `at` on. */
static lg_enclosure planes(const lg_tensor *t, int64_t at) {
  const int64_t n = size_of(t) / 4;
  double *p = data_of(t) + at;
  return (lg_enclosure){p, p + n, p + 2 * n, p + 3 * n};
}

/* ---- affine ---- */

/* A linear layer is a convolution of images of one pixel. */
static lg_status geometry(lg_conv *c, const lg_tensor *out, const lg_tensor *in, const lg_tensor *w) {
  const int64_t *x = in->shape, *y = out->shape;
  char a[160], b[160], d[160];
  *c = (lg_conv){.batch = x[1], .h = 1, .w = 1, .ci = x[in->rank - 1], .oh = 1, .ow = 1, .co = y[out->rank - 1]};
  *c = (lg_conv){c->batch, 1, 1, c->ci, 1, 1, c->co, 1, 1, 1, 1, 1, 0, 0};
  int fits = in->rank == out->rank && y[1] == x[1] && w->shape[0] == c->co;
  if (w->rank == 2) {
    fits = fits && w->shape[1] == c->ci;
    for (int32_t i = 2; fits && i < in->rank - 1; i++) {
      fits = y[i] == x[i];
      c->batch *= x[i];
    }
  } else {
    fits = fits && w->rank == 4 && in->rank == 5;
    if (fits) *c = (lg_conv){x[1], x[2], x[3], x[4], y[2], y[3], y[4], w->shape[1], w->shape[2], 1, 1, 1, 0, 0};
  }
  if (fits && size_of(w) > 0) return LG_OK;
  return lg_fail(LG_ESHAPE, "weight %s does not take in %s to out %s",
                 lg_shape_text(a, sizeof a, w->dtype, w->rank, w->shape),
                 lg_shape_text(b, sizeof b, in->dtype, in->rank, in->shape),
                 lg_shape_text(d, sizeof d, out->dtype, out->rank, out->shape));
}

static lg_status check_groups(lg_conv *c, const lg_tensor *w, int32_t groups) {
  c->groups = groups;
  if (c->ci % groups == 0 && c->co % groups == 0 && (w->rank == 2 ? groups == 1 : w->shape[3] == c->ci / groups))
    return LG_OK;
  return lg_fail(LG_ESHAPE, "groups = %d do not fit a weight of %lld inputs each, %lld channels to %lld", groups,
                 (long long)w->shape[w->rank - 1], (long long)c->ci, (long long)c->co);
}

lg_status lg_enclose_affine(lg_tensor *out, const lg_tensor *in, const lg_tensor *weight, const lg_tensor *bias,
                            int32_t stride_h, int32_t stride_w, int32_t top, int32_t left, int32_t groups) {
  lg_conv c;
  LG_TRY(need_enclosure(in, "in", 0));
  LG_TRY(need_enclosure(out, "out", 0));
  LG_TRY(need_apart(out, in));
  LG_TRY(need_f64(weight, "weight", 0));
  if (bias) LG_TRY(need_f64(bias, "bias", 1));
  LG_TRY(need_within("stride_h", stride_h, 1, 1 << 16));
  LG_TRY(need_within("stride_w", stride_w, 1, 1 << 16));
  LG_TRY(need_within("top", top, 0, 1 << 16));
  LG_TRY(need_within("left", left, 0, 1 << 16));
  LG_TRY(need_within("groups", groups, 1, 1 << 16));
  if (weight->rank != 2 && weight->rank != 4)
    return lg_fail(LG_ESHAPE, "weight has %d dimensions, expected 2 or 4", weight->rank);
  LG_TRY(geometry(&c, out, in, weight));
  LG_TRY(check_groups(&c, weight, groups));
  if (bias && bias->shape[0] != c.co)
    return lg_fail(LG_ESHAPE, "bias has %lld elements, expected %lld", (long long)bias->shape[0], (long long)c.co);
  c.stride_h = stride_h, c.stride_w = stride_w, c.top = top, c.left = left;
  void *work = lg_alloc(lg_enclose_conv_bytes(&c));
  if (!work) return lg_fail(LG_EMEM, "no memory for the enclosure of a layer");
  const lg_enclosure to = planes(out, 0), from = planes(in, 0);
  lg_k_enclose_conv(&to, &from, data_of(weight), bias ? data_of(bias) : NULL, &c, work);
  lg_release(work);
  return LG_OK;
}

/* ---- gate and sum ---- */

typedef struct elementwise {
  const lg_tensor *out, *a, *b;
  double lambda;
  int32_t rule;
} elementwise;

static void element_tile(void *context, int64_t tile) {
  const elementwise *e = context;
  const int64_t at = tile * TILE, left = size_of(e->out) / 4 - at, n = left < TILE ? left : TILE;
  const lg_enclosure out = planes(e->out, at), a = planes(e->a, at);
  if (e->b) {
    const lg_enclosure b = planes(e->b, at);
    lg_k_enclose_add(&out, &a, &b, n);
  } else {
    lg_k_enclose_gate(&out, &a, e->lambda, e->rule, n);
  }
}

static void run_elements(const elementwise *e) {
  lg_parallel((size_of(e->out) / 4 + TILE - 1) / TILE, element_tile, (void *)e);
}

lg_status lg_enclose_gate(lg_tensor *out, const lg_tensor *in, double lambda, int32_t rule) {
  LG_TRY(need_enclosure(in, "in", 0));
  LG_TRY(need_like(out, "out", in->rank, in->shape));
  if (!(lambda > 0)) return lg_fail(LG_EARG, "lambda = %g: expected more than 0", lambda);
  LG_TRY(need_within("rule", rule, LG_ENCLOSE_VALUE, LG_ENCLOSE_CONSTANT));
  run_elements(&(elementwise){.out = out, .a = in, .lambda = lambda, .rule = rule});
  return LG_OK;
}

lg_status lg_enclose_add(lg_tensor *out, const lg_tensor *a, const lg_tensor *b) {
  LG_TRY(need_enclosure(a, "a", 0));
  LG_TRY(need_like(b, "b", a->rank, a->shape));
  LG_TRY(need_like(out, "out", a->rank, a->shape));
  run_elements(&(elementwise){.out = out, .a = a, .b = b});
  return LG_OK;
}

/* ---- pools ---- */

typedef struct pooling {
  const lg_tensor *out, *in;
  lg_windows w;
  double *spare; /* of all images; NULL: maximum */
} pooling;

static void pool_tile(void *context, int64_t image) {
  const pooling *p = context;
  const int64_t inputs = p->w.height * p->w.width * p->w.n, outputs = p->w.out_h * p->w.out_w * p->w.n;
  const lg_enclosure out = planes(p->out, image * outputs), in = planes(p->in, image * inputs);
  if (p->spare)
    lg_k_enclose_mean(&out, &in, &p->w, p->spare + image * 2 * inputs);
  else
    lg_k_enclose_max(&out, &in, &p->w);
}

/* Each window sees an element of the image. */
static int is_seen(int64_t size, int64_t out, int64_t kernel, int64_t stride, int64_t before) {
  return before < kernel && (out - 1) * stride - before < size;
}

lg_status lg_enclose_pool(lg_tensor *out, const lg_tensor *in, int32_t mean, int32_t kernel_h, int32_t kernel_w,
                          int32_t stride_h, int32_t stride_w, int32_t top, int32_t left) {
  LG_TRY(need_enclosure(in, "in", 5));
  LG_TRY(need_enclosure(out, "out", 5));
  LG_TRY(need_apart(out, in));
  const int32_t numbers[] = {kernel_h, kernel_w, stride_h, stride_w};
  const char *names[] = {"kernel_h", "kernel_w", "stride_h", "stride_w"};
  for (int i = 0; i < 4; i++) LG_TRY(need_within(names[i], numbers[i], 1, 1 << 16));
  LG_TRY(need_within("top", top, 0, 1 << 16));
  LG_TRY(need_within("left", left, 0, 1 << 16));
  const int64_t *x = in->shape, *y = out->shape;
  pooling p = {out, in, {x[2], x[3], x[4], y[2], y[3], kernel_h, kernel_w, stride_h, stride_w, top, left}, NULL};
  char a[160], b[160];
  if (x[1] != y[1] || x[4] != y[4] || !is_seen(x[2], y[2], kernel_h, stride_h, top) ||
      !is_seen(x[3], y[3], kernel_w, stride_w, left))
    return lg_fail(LG_ESHAPE, "windows %d×%d do not take in %s to out %s", kernel_h, kernel_w,
                   lg_shape_text(a, sizeof a, in->dtype, in->rank, in->shape),
                   lg_shape_text(b, sizeof b, out->dtype, out->rank, out->shape));
  if (mean) {
    p.spare = lg_alloc((size_t)size_of(in) / 2 * sizeof(double));
    if (!p.spare) return lg_fail(LG_EMEM, "no memory for the enclosure of a pool");
  }
  lg_parallel(x[1], pool_tile, &p);
  lg_release(p.spare);
  return LG_OK;
}

/* ---- margin ---- */

typedef struct margins {
  const lg_tensor *out, *top, *in, *weight, *bias;
  int64_t classes, k;
} margins;

static void margin_tile(void *context, int64_t row) {
  const margins *m = context;
  const lg_enclosure in = planes(m->in, row * m->k);
  double *margin = data_of(m->out) + row;
  int32_t *top = (int32_t *)m->top->storage->data + m->top->offset;
  top[row] = lg_k_enclose_margin(margin, margin + m->out->shape[1], &in, m->weight ? data_of(m->weight) : NULL,
                                 m->bias ? data_of(m->bias) : NULL, m->classes, m->k);
}

lg_status lg_enclose_margin(lg_tensor *out, lg_tensor *top, const lg_tensor *in, const lg_tensor *weight,
                            const lg_tensor *bias) {
  LG_TRY(need_enclosure(in, "in", 3));
  const int64_t rows = in->shape[1], k = in->shape[2];
  margins m = {.out = out, .top = top, .in = in, .weight = weight, .bias = bias, .classes = k, .k = k};
  if (weight) {
    LG_TRY(need_f64(weight, "weight", 2));
    m.classes = weight->shape[0];
    if (weight->shape[1] != k || m.classes < 1 || m.classes > INT32_MAX)
      return lg_fail(LG_ESHAPE, "weight is [%lld, %lld], expected [classes, %lld]", (long long)m.classes,
                     (long long)weight->shape[1], (long long)k);
  }
  if (bias) {
    LG_TRY(need_f64(bias, "bias", 1));
    if (!weight || bias->shape[0] != m.classes)
      return lg_fail(LG_ESHAPE, "a bias of %lld elements does not fit the weight", (long long)bias->shape[0]);
  }
  LG_TRY(need_f64(out, "out", 2));
  LG_TRY(lg_out_check(out, "out", LG_F64, 2, (int64_t[]){2, rows}));
  LG_TRY(lg_out_check(top, "top", LG_I32, 1, (int64_t[]){rows}));
  if (!lg_tensor_contiguous(top)) return lg_fail(LG_EARG, "top is not contiguous");
  lg_parallel(rows, margin_tile, &m);
  return LG_OK;
}
