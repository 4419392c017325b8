/* op_linear.c: y[…, n] = x[…, k] · W[n, k]ᵀ (+ b[n]), W as PyTorch lays it out. All leading dimensions of x are rows.
 * Work is cut into tiles that depend on the shapes only; each is one OpenBLAS call, and in forward the bias and a gate
 * that follows are done on the tile while it is in cache. */
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include "../kernels/gate.h"
#include "../kernels/gemm.h"
#include "column_sum.h"
#include "op_gate.h"
#include "op_list.h"

enum { X, W, B };

static lg_status infer(const lg_call *c) {
  for (int32_t i = 0; i < c->n_in; i++) LG_TRY(lg_need_float(c, i));
  const lg_slot *x = c->in[X], *w = c->in[W];
  char s[160], t[160];
  if (x->rank < 1 || w->rank != 2 || w->shape[1] != x->shape[x->rank - 1])
    return lg_fail(LG_ESHAPE, "weights %s do not fit %s: expected [units, %lld]", lg_slot_text(t, sizeof t, w),
                   lg_slot_text(s, sizeof s, x), (long long)(x->rank ? x->shape[x->rank - 1] : 0));
  if (c->n_in > B && (c->in[B]->rank != 1 || c->in[B]->shape[0] != w->shape[0]))
    return lg_fail(LG_ESHAPE, "bias %s does not fit weights %s", lg_slot_text(t, sizeof t, c->in[B]),
                   lg_slot_text(s, sizeof s, w));
  lg_slot_like(c->out, x);
  c->out->shape[x->rank - 1] = w->shape[0];
  return LG_OK;
}

/* C[m, n] is cut into tiles of tm × tn. A tile packs tn·k of one operand and tm·k of the other for 2·tm·tn·k
 * operations, so both sides should be long; but there must be enough tiles for a few threads. */
typedef struct tiling {
  int64_t m, n, tm, tn, across;
} tiling;

static tiling cut(int64_t m, int64_t n) {
  tiling t = {.m = m, .n = n, .tm = m <= 128 ? m : 128, .tn = n <= 64 ? n : n <= 256 ? (n / 2 + 31) / 32 * 32 : 256};
  if (m > 128 && n <= 128) t.tn = n;
  /* Rows enough for eight tiles, as the tokens of a Transformer are: longer sides take 4 % off a GPT's step. Not at odd
   * widths, whose rests OpenBLAS takes for small matrices and sums in another order. */
  if (m >= 4096 && n >= 384 && n % 128 == 0) t.tm = 512, t.tn = n < 512 ? n : 512;
  t.across = (n + t.tn - 1) / t.tn;
  return t;
}
static int64_t tile_count(const tiling *t) { return (t->m + t->tm - 1) / t->tm * t->across; }

typedef struct block {
  int64_t i, j, m, n; /* rows i … i+m-1, columns j … j+n-1 */
} block;
static block tile_block(const tiling *t, int64_t tile) {
  block b = {.i = tile / t->across * t->tm, .j = tile % t->across * t->tn};
  b.m = t->m - b.i < t->tm ? t->m - b.i : t->tm;
  b.n = t->n - b.j < t->tn ? t->n - b.j : t->tn;
  return b;
}

typedef struct linear_run {
  const lg_call *c;
  tiling fwd, dw, dx;
  int64_t db_tiles, dw_tiles, dx_tiles;
  double lambda;
} linear_run;

static void bias_and_gate(const linear_run *r, const block *b, int64_t n) {
  const lg_call *c = r->c, *gate = c->epilogue;
  int64_t at = b->i * n + b->j;
  if (c->dtype == LG_F32) {
    float *z = (float *)c->out->data + at;
    const float *bias = c->n_in > B ? (const float *)c->in[B]->data + b->j : NULL;
    if (gate)
      lg_k_bias_gate_fwd_f32((float *)gate->out->data + at, z, bias, (float)r->lambda, b->m, b->n, n, n,
                             lg_gate_activation(gate));
    else
      for (int64_t i = 0; bias && i < b->m; i++) lg_k_add_f32(z + i * n, z + i * n, bias, b->n);
  } else {
    double *z = (double *)c->out->data + at;
    const double *bias = c->n_in > B ? (const double *)c->in[B]->data + b->j : NULL;
    if (gate)
      lg_k_bias_gate_fwd_f64((double *)gate->out->data + at, z, bias, r->lambda, b->m, b->n, n, n,
                             lg_gate_activation(gate));
    else
      for (int64_t i = 0; bias && i < b->m; i++) lg_k_add_f64(z + i * n, z + i * n, bias, b->n);
  }
}

static void forward_tile(void *context, int64_t tile) {
  const linear_run *r = context;
  const lg_call *c = r->c;
  block b = tile_block(&r->fwd, tile);
  int64_t n = c->in[W]->shape[0], k = c->in[W]->shape[1];
  if (c->dtype == LG_F32)
    lg_k_gemm_f32((float *)c->out->data + b.i * n + b.j, (const float *)c->in[X]->data + b.i * k,
                  (const float *)c->in[W]->data + b.j * k, b.m, b.n, k, k, k, n, 0, 1, 1, 0);
  else
    lg_k_gemm_f64((double *)c->out->data + b.i * n + b.j, (const double *)c->in[X]->data + b.i * k,
                  (const double *)c->in[W]->data + b.j * k, b.m, b.n, k, k, k, n, 0, 1, 1, 0);
  bias_and_gate(r, &b, n);
}

static lg_status forward(const lg_call *c) {
  linear_run r = {.c = c, .fwd = cut(lg_slot_rows(c->out, 1), c->in[W]->shape[0])};
  if (c->epilogue) LG_TRY(lg_gate_resolve(&r.lambda, NULL, c->epilogue));
  lg_parallel(tile_count(&r.fwd), forward_tile, &r);
  return LG_OK;
}

/* dW[n, k] (+)= dyᵀ[n, m] · x[m, k] */
static void dw_tile(const linear_run *r, int64_t tile) {
  const lg_call *c = r->c;
  block b = tile_block(&r->dw, tile);
  int64_t n = c->in[W]->shape[0], k = c->in[W]->shape[1], m = lg_slot_rows(c->out, 1);
  if (c->dtype == LG_F32)
    lg_k_gemm_f32((float *)c->din[W]->data + b.i * k + b.j, (const float *)c->dout->data + b.i,
                  (const float *)c->in[X]->data + b.j, b.m, b.n, m, n, k, k, 1, 0, 1, c->acc[W] ? 1 : 0);
  else
    lg_k_gemm_f64((double *)c->din[W]->data + b.i * k + b.j, (const double *)c->dout->data + b.i,
                  (const double *)c->in[X]->data + b.j, b.m, b.n, m, n, k, k, 1, 0, 1, c->acc[W] ? 1 : 0);
}

/* dx[m, k] (+)= dy[m, n] · W[n, k] */
static void dx_tile(const linear_run *r, int64_t tile) {
  const lg_call *c = r->c;
  block b = tile_block(&r->dx, tile);
  int64_t n = c->in[W]->shape[0], k = c->in[W]->shape[1];
  if (c->dtype == LG_F32)
    lg_k_gemm_f32((float *)c->din[X]->data + b.i * k + b.j, (const float *)c->dout->data + b.i * n,
                  (const float *)c->in[W]->data + b.j, b.m, b.n, n, n, k, k, 0, 0, 1, c->acc[X] ? 1 : 0);
  else
    lg_k_gemm_f64((double *)c->din[X]->data + b.i * k + b.j, (const double *)c->dout->data + b.i * n,
                  (const double *)c->in[W]->data + b.j, b.m, b.n, n, n, k, k, 0, 0, 1, c->acc[X] ? 1 : 0);
}

/* One region for all three gradients: they read the same dy and write different places. */
static void backward_tile(void *context, int64_t tile) {
  const linear_run *r = context;
  if (tile < r->dw_tiles)
    dw_tile(r, tile);
  else if ((tile -= r->dw_tiles) < r->dx_tiles)
    dx_tile(r, tile);
  else
    lg_column_sum_tile(r->c->din[B], r->c->dout, r->c->acc[B], tile - r->dx_tiles);
}

static lg_status backward(const lg_call *c) {
  int64_t m = lg_slot_rows(c->out, 1), n = c->in[W]->shape[0], k = c->in[W]->shape[1];
  linear_run r = {.c = c, .dw = cut(n, k), .dx = cut(m, k)};
  if (c->din[X] && c->din[X] == c->din[W]) { /* x · xᵀ: dW adds to what dx began, so it comes after it */
    linear_run dx = {.c = c, .dx = cut(m, k)};
    dx.dx_tiles = tile_count(&dx.dx);
    lg_parallel(dx.dx_tiles, backward_tile, &dx);
  }
  r.dw_tiles = c->din[W] ? tile_count(&r.dw) : 0;
  r.dx_tiles = c->din[X] && c->din[X] != c->din[W] ? tile_count(&r.dx) : 0;
  r.db_tiles = c->n_in > B && c->din[B] ? lg_column_sum_tiles(c->dout) : 0;
  lg_parallel(r.dw_tiles + r.dx_tiles + r.db_tiles, backward_tile, &r);
  return LG_OK;
}

static double flops(const lg_call *c) { return 2.0 * (double)lg_slot_size(c->out) * (double)c->in[W]->shape[1]; }

const lg_op lg_op_linear = {
    .min_inputs = 2,
    .max_inputs = 3,
    .flags = LG_OP_EPILOGUE,
    .reads = 1u << X | 1u << W,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
