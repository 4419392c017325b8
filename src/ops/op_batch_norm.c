/* op_batch_norm.c: y = (x − mean)/√(var + ε)·gamma + beta for each channel, the last dimension of x; all others are its
 * rows (Ioffe & Szegedy 2015). In training mean and biased variance are the batch's, and the running ones, which are
 * states, move towards its mean and unbiased variance; in evaluation the running ones are used.
 *
 * It absorbs a residual sum and a gate behind it (graph/fuse.c): y = gate(bn(x) + residual). What the gate is given is
 * computed again in backward from x and the residual, in pieces that stay in the first-level cache, so each direction
 * passes twice over memory: for the sums, and for the result. */
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include "../kernels/gate.h"
#include "../kernels/norm.h"
#include "op_gate.h"
#include "op_list.h"
#include <math.h>

enum { X, GAMMA, BETA, RUNNING_MEAN, RUNNING_VAR };
enum { EPS, MOMENTUM };
static const lg_attr attrs[] = {
    {"eps", 1e-5, 1e-12, 1, "added to the variance"},
    {"momentum", 0.1, 0, 1, "weight of the batch's statistics in the running ones"},
    {NULL, 0, 0, 0, NULL},
};
enum { TILE = 32768, PIECE = 4096 }; /* elements; fixed, so that sums are always cut alike */

static lg_status infer(const lg_call *c) {
  for (int32_t i = X; i <= RUNNING_VAR; i++) LG_TRY(lg_need_float(c, i));
  static const char *const what[] = {"x", "gamma", "beta", "running_mean", "running_var"};
  const lg_slot *x = c->in[X];
  char s[160], t[160];
  if (x->rank < 2) return lg_fail(LG_ESHAPE, "x is %s, expected rows of channels", lg_slot_text(s, sizeof s, x));
  for (int32_t i = GAMMA; i <= RUNNING_VAR; i++)
    if (c->in[i]->rank != 1 || c->in[i]->shape[0] != x->shape[x->rank - 1])
      return lg_fail(LG_ESHAPE, "%s %s does not fit the channels (last dimension) of %s", what[i],
                     lg_slot_text(t, sizeof t, c->in[i]), lg_slot_text(s, sizeof s, x));
  lg_slot_like(c->out, x);
  return LG_OK;
}

/* One call. Coefficients per channel, [n] of the graph's dtype each, and partial sums lie in c->work. */
typedef struct norm_run {
  const lg_call *c, *gate;
  int64_t rows, n, tile_rows, tiles;
  int32_t activation;
  double lambda;
  void *mean, *scale, *shift, *offset, *slope;
  double *sums;     /* [tiles, 2, n], then their totals [2, n] */
  double *d_lambda; /* [tiles]: backward only */
  const void *d;    /* backward: gradient of what the normalization gave, [rows, n] */
} norm_run;

static void cut(norm_run *r, const lg_call *c) {
  r->c = c;
  r->gate = c->epilogue;
  r->n = c->in[GAMMA]->shape[0];
  r->rows = lg_slot_rows(c->in[X], 1);
  r->tile_rows = TILE / r->n > 16 ? TILE / r->n : 16;
  r->tiles = (r->rows + r->tile_rows - 1) / r->tile_rows;
}

static size_t work_bytes(const lg_call *c, int backward) {
  norm_run r;
  cut(&r, c);
  return sizeof(double) * (size_t)(5 * r.n + 2 * r.n * (r.tiles + 1) + (backward ? r.tiles : 0));
}

static void lay_out(norm_run *r) {
  double *work = r->c->work;
  void **rows[] = {&r->mean, &r->scale, &r->shift, &r->offset, &r->slope};
  for (int i = 0; i < 5; i++, work += r->n) *rows[i] = work;
  r->sums = work;
  r->d_lambda = work + 2 * r->n * (r->tiles + 1);
}

static size_t saved_bytes(const lg_call *c) { return 2 * sizeof(double) * (size_t)c->in[GAMMA]->shape[0]; }

static double get(const lg_call *c, const void *p, int64_t i) {
  return c->dtype == LG_F32 ? (double)((const float *)p)[i] : ((const double *)p)[i];
}
static void put(const lg_call *c, void *p, int64_t i, double v) {
  if (c->dtype == LG_F32)
    ((float *)p)[i] = (float)v;
  else
    ((double *)p)[i] = v;
}
static void *plus(const lg_call *c, const void *p, int64_t i) {
  return (char *)(uintptr_t)p + i * lg_dtype_bytes(c->dtype);
}

/* A part of a tile that fits into the first-level cache: whole rows, or a part of one. */
typedef struct piece {
  int64_t at, rows, first, n; /* first element; rows; channels first … first+n-1 */
} piece;

static int next_piece(piece *p, const norm_run *r, int64_t tile) {
  int64_t begin = tile * r->tile_rows, end = begin + r->tile_rows < r->rows ? begin + r->tile_rows : r->rows;
  p->at = p->rows ? p->at + p->rows * p->n : begin * r->n;
  if (p->at == end * r->n) return 0;
  p->first = p->at % r->n;
  int64_t left = end - p->at / r->n, whole = PIECE / r->n;
  p->rows = whole < 1 ? 1 : whole < left ? whole : left;
  p->n = r->n <= PIECE ? r->n : r->n - p->first < PIECE ? r->n - p->first : PIECE;
  return 1;
}

static void sums_tile(void *context, int64_t tile) {
  const norm_run *r = context;
  int64_t at = tile * r->tile_rows, rows = r->rows - at < r->tile_rows ? r->rows - at : r->tile_rows, n = r->n;
  double *sums = r->sums + 2 * n * tile;
  const void *x = r->c->in[X]->data;
  for (int64_t k = 0; k < 2 * n; k++) sums[k] = 0;
  if (r->c->dtype == LG_F32)
    lg_k_norm_sums_f32(sums, sums + n, (const float *)x + at * n, x, rows, n);
  else
    lg_k_norm_sums_f64(sums, sums + n, (const double *)x + at * n, x, rows, n);
}

/* The tiles' sums, added in their order. */
static const double *totals(const norm_run *r) {
  double *total = r->sums + 2 * r->n * r->tiles;
  for (int64_t k = 0; k < 2 * r->n; k++) total[k] = 0;
  for (int64_t tile = 0; tile < r->tiles; tile++)
    for (int64_t k = 0; k < 2 * r->n; k++) total[k] += r->sums[2 * r->n * tile + k];
  return total;
}

/* Mean and 1/√(var + ε) of the batch into c->saved, and the running statistics a step on. Sums are taken from the first
 * row as origin, so that a large mean costs no digits. */
static lg_status batch_statistics(norm_run *r) {
  const lg_call *c = r->c;
  if (r->rows < 2) {
    char text[160];
    return lg_fail(LG_ESHAPE, "%s has one value for each channel: training needs at least two for a variance",
                   lg_slot_text(text, sizeof text, c->in[X]));
  }
  lg_parallel(r->tiles, sums_tile, r);
  const double *sum = totals(r), *square = sum + r->n, count = (double)r->rows, w = c->attr[MOMENTUM];
  double *mean = c->saved, *inverse = mean + r->n;
  void *running_mean = c->in[RUNNING_MEAN]->data, *running_var = c->in[RUNNING_VAR]->data;
  for (int64_t k = 0; k < r->n; k++) {
    double squares = square[k] - sum[k] * sum[k] / count;
    if (squares < 0) squares = 0;
    mean[k] = get(c, c->in[X]->data, k) + sum[k] / count;
    inverse[k] = 1 / sqrt(squares / count + c->attr[EPS]);
    put(c, running_mean, k, (1 - w) * get(c, running_mean, k) + w * mean[k]);
    put(c, running_var, k, (1 - w) * get(c, running_var, k) + w * squares / (count - 1));
  }
  return LG_OK;
}

/* What the row loops multiply and add, from the statistics in use. */
static void coefficients(norm_run *r) {
  const lg_call *c = r->c;
  const double *saved = c->saved;
  for (int64_t k = 0; k < r->n; k++) {
    double mean = c->training ? saved[k] : get(c, c->in[RUNNING_MEAN]->data, k);
    double inverse = c->training ? saved[r->n + k] : 1 / sqrt(get(c, c->in[RUNNING_VAR]->data, k) + c->attr[EPS]);
    put(c, r->mean, k, mean);
    put(c, r->scale, k, inverse * get(c, c->in[GAMMA]->data, k));
    put(c, r->shift, k, get(c, c->in[BETA]->data, k));
  }
}

/* A piece's arrays, as the gate's kernels take them. */
static lg_gate_norm_f32 norm_f32(const norm_run *r, const piece *p) {
  const lg_call *c = r->c;
  return (lg_gate_norm_f32){.x = plus(c, c->in[X]->data, p->at),
                            .residual = c->residual ? plus(c, c->residual->data, p->at) : NULL,
                            .mean = plus(c, r->mean, p->first),
                            .scale = plus(c, r->scale, p->first),
                            .shift = plus(c, r->shift, p->first),
                            .rows = p->rows,
                            .cols = p->n};
}
static lg_gate_norm_f64 norm_f64(const norm_run *r, const piece *p) {
  const lg_call *c = r->c;
  return (lg_gate_norm_f64){.x = plus(c, c->in[X]->data, p->at),
                            .residual = c->residual ? plus(c, c->residual->data, p->at) : NULL,
                            .mean = plus(c, r->mean, p->first),
                            .scale = plus(c, r->scale, p->first),
                            .shift = plus(c, r->shift, p->first),
                            .rows = p->rows,
                            .cols = p->n};
}

static void forward_tile(void *context, int64_t tile) {
  const norm_run *r = context;
  const lg_call *c = r->c;
  for (piece p = {0}; next_piece(&p, r, tile);) {
    void *y = plus(c, r->gate ? r->gate->out->data : c->out->data, p.at);
    if (c->dtype == LG_F32) {
      lg_gate_norm_f32 norm = norm_f32(r, &p);
      lg_k_norm_gate_fwd_f32(y, &norm, (float)r->lambda, r->activation);
    } else {
      lg_gate_norm_f64 norm = norm_f64(r, &p);
      lg_k_norm_gate_fwd_f64(y, &norm, r->lambda, r->activation);
    }
  }
}

static lg_status resolve(norm_run *r, double *slope) {
  r->activation = LG_ACT_IDENTITY;
  if (!r->gate) return LG_OK;
  r->activation = lg_gate_activation(r->gate);
  return lg_gate_resolve(&r->lambda, slope, r->gate);
}

/* The output from the statistics in use. */
static lg_status again(const lg_call *c) {
  norm_run r = {0};
  cut(&r, c);
  lay_out(&r);
  LG_TRY(resolve(&r, NULL));
  coefficients(&r);
  lg_parallel(r.tiles, forward_tile, &r);
  return LG_OK;
}

static lg_status forward(const lg_call *c) {
  norm_run r = {0};
  cut(&r, c);
  lay_out(&r);
  if (c->training) LG_TRY(batch_statistics(&r));
  return again(c);
}

/* The gate's backward over a piece: gives the gradient of the sum before it, which replaces the gate's own gradient or
 * is the residual's; returns Σ dy·∂f/∂λ. */
static double gate_backward(const norm_run *r, const piece *p) {
  const lg_call *c = r->c;
  void *d = plus(c, r->d, p->at), *dy = plus(c, c->dout->data, p->at);
  double sum;
  if (c->dtype == LG_F32) {
    lg_gate_norm_f32 norm = norm_f32(r, p);
    sum = lg_k_norm_gate_bwd_f32(d, dy, &norm, (float)r->lambda, r->activation);
  } else {
    lg_gate_norm_f64 norm = norm_f64(r, p);
    sum = lg_k_norm_gate_bwd_f64(d, dy, &norm, r->lambda, r->activation);
  }
  if (c->dresidual && c->acc_residual) {
    void *dr = plus(c, c->dresidual->data, p->at);
    int64_t count = p->rows * p->n;
    if (c->dtype == LG_F32)
      lg_k_add_f32(dr, dr, d, count);
    else
      lg_k_add_f64(dr, dr, d, count);
  }
  return sum;
}

static void grad_sums_tile(void *context, int64_t tile) {
  const norm_run *r = context;
  const lg_call *c = r->c;
  double *sum = r->sums + 2 * r->n * tile, *product = sum + r->n, d_lambda = 0;
  for (int64_t k = 0; k < 2 * r->n; k++) sum[k] = 0;
  for (piece p = {0}; next_piece(&p, r, tile);) {
    if (r->gate) d_lambda += gate_backward(r, &p);
    const void *d = plus(c, r->d, p.at), *x = plus(c, c->in[X]->data, p.at), *mean = plus(c, r->mean, p.first);
    if (c->dtype == LG_F32)
      lg_k_norm_grad_sums_f32(sum + p.first, product + p.first, d, x, mean, p.rows, p.n);
    else
      lg_k_norm_grad_sums_f64(sum + p.first, product + p.first, d, x, mean, p.rows, p.n);
  }
  r->d_lambda[tile] = d_lambda;
}

static void dx_tile(void *context, int64_t tile) {
  const norm_run *r = context;
  const lg_call *c = r->c;
  for (piece p = {0}; next_piece(&p, r, tile);) {
    void *dx = plus(c, c->din[X]->data, p.at);
    const void *d = plus(c, r->d, p.at), *x = plus(c, c->in[X]->data, p.at), *mean = plus(c, r->mean, p.first);
    const void *scale = plus(c, r->scale, p.first), *offset = plus(c, r->offset, p.first);
    const void *slope = plus(c, r->slope, p.first);
    if (c->dtype == LG_F32)
      lg_k_norm_grad_apply_f32(dx, d, x, mean, scale, offset, slope, p.rows, p.n, c->acc[X]);
    else
      lg_k_norm_grad_apply_f64(dx, d, x, mean, scale, offset, slope, p.rows, p.n, c->acc[X]);
  }
}

static void add_grad(const lg_call *c, int32_t input, int64_t k, double v) {
  if (c->din[input]) put(c, c->din[input]->data, k, (c->acc[input] ? get(c, c->din[input]->data, k) : 0) + v);
}

/* With x̂ = (x − mean)·inverse and N rows: dbeta = Σ d, dgamma = Σ d·x̂,
 * dx = gamma·inverse·(d − dbeta/N − x̂·dgamma/N) */
static void channel_gradients(const norm_run *r) {
  const lg_call *c = r->c;
  const double *sum = totals(r), *product = sum + r->n, *inverse = (const double *)c->saved + r->n;
  for (int64_t k = 0; k < r->n; k++) {
    double scale = get(c, c->in[GAMMA]->data, k) * inverse[k], count = (double)r->rows;
    add_grad(c, GAMMA, k, product[k] * inverse[k]);
    add_grad(c, BETA, k, sum[k]);
    add_grad(c, RUNNING_MEAN, k, 0); /* what is learned does not depend on them in training */
    add_grad(c, RUNNING_VAR, k, 0);
    put(c, r->offset, k, scale * sum[k] / count);
    put(c, r->slope, k, scale * inverse[k] * inverse[k] * product[k] / count);
  }
}

static lg_status backward(const lg_call *c) {
  norm_run r = {0};
  double slope = 0, d_lambda = 0;
  cut(&r, c);
  lay_out(&r);
  LG_TRY(resolve(&r, &slope));
  coefficients(&r);
  r.d = r.gate && c->dresidual && !c->acc_residual ? c->dresidual->data : c->dout->data;
  lg_parallel(r.tiles, grad_sums_tile, &r);
  channel_gradients(&r);
  if (c->din[X]) lg_parallel(r.tiles, dx_tile, &r);
  if (!r.gate) return LG_OK;
  for (int64_t tile = 0; tile < r.tiles; tile++) d_lambda += r.d_lambda[tile];
  r.gate->stat[1] = d_lambda;
  if (r.gate->n_in > 1 && r.gate->din[1]) {
    double *ds = r.gate->din[1]->data;
    *ds = (r.gate->acc[1] ? *ds : 0) + d_lambda * slope;
  }
  return LG_OK;
}

static double flops(const lg_call *c) {
  return (c->epilogue ? 50.0 : 10.0) * (double)lg_slot_size(c->in[X]);
} /* about: sums and result; a gate's exp and polynomial */

const lg_op lg_op_batch_norm = {
    .min_inputs = 5,
    .max_inputs = 5,
    .attrs = attrs,
    .flags = LG_OP_ABSORB | LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .reads = 1u << X | 1u << GAMMA | 1u << BETA,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .again = again,
    .saved_bytes = saved_bytes,
    .work_bytes = work_bytes,
    .flops = flops,
};
