/* row_norm.c: tiles and sums of layer_norm and rms_norm; the loops are kernels/row_norm's. A tile is a fixed number of
 * rows and has sums of its own for gamma and beta, which are then added in float64 in the order of the tiles. */
#include "row_norm.h"
#include "../core/threads.h"
#include "../kernels/row_norm.h"
#include <string.h>

const lg_attr lg_row_norm_attrs[] = {
    {"eps", 1e-5, 0, 1, "added to the variance"},
    {NULL, 0, 0, 0, NULL},
};
enum { ROWS = LG_ROW_TILE, COLUMNS = 256 }; /* of a tile; of a tile of the sums over tiles */

lg_status lg_row_norm_infer(const lg_call *c) {
  const lg_slot *x = c->in[0];
  for (int32_t i = 0; i < c->n_in; i++) LG_TRY(lg_need_float(c, i));
  for (int32_t i = 1; i < c->n_in; i++)
    if (x->rank < 1 || c->in[i]->rank != 1 || c->in[i]->shape[0] != x->shape[x->rank - 1]) {
      char s[160], t[160];
      return lg_fail(LG_ESHAPE, "%s %s does not fit the last dimension of %s", i == 1 ? "gamma" : "beta",
                     lg_slot_text(t, sizeof t, c->in[i]), lg_slot_text(s, sizeof s, x));
    }
  lg_slot_like(c->out, x);
  return LG_OK;
}

typedef struct row_run {
  const lg_call *c;
  int64_t rows, n, tiles;
  int centred;
} row_run;

static row_run run_of(const lg_call *c, int centred) {
  row_run r = {.c = c, .rows = lg_slot_rows(c->in[0], 1), .n = c->in[1]->shape[0], .centred = centred};
  r.tiles = (r.rows + ROWS - 1) / ROWS;
  return r;
}
static int64_t rows_of(const row_run *r, int64_t tile) {
  int64_t left = r->rows - tile * ROWS;
  return left < ROWS ? left : ROWS;
}

void lg_row_norm_rows(const lg_call *c, int64_t first, int64_t count, int centred) {
  int64_t n = c->in[1]->shape[0], at = first * n;
  const void *beta = c->n_in > 2 ? c->in[2]->data : NULL;
  if (c->dtype == LG_F32)
    lg_k_row_norm_fwd_f32((float *)c->out->data + at, (float *)c->saved + 2 * first, (const float *)c->in[0]->data + at,
                          c->in[1]->data, beta, count, n, c->attr[0], centred);
  else
    lg_k_row_norm_fwd_f64((double *)c->out->data + at, (double *)c->saved + 2 * first,
                          (const double *)c->in[0]->data + at, c->in[1]->data, beta, count, n, c->attr[0], centred);
}

static void forward_tile(void *context, int64_t tile) {
  const row_run *r = context;
  lg_row_norm_rows(r->c, tile * ROWS, rows_of(r, tile), r->centred);
}

lg_status lg_row_norm_forward(const lg_call *c, int centred) {
  row_run r = run_of(c, centred);
  lg_parallel(r.tiles, forward_tile, &r);
  return LG_OK;
}

static void backward_tile(void *context, int64_t tile) {
  const row_run *r = context;
  const lg_call *c = r->c;
  int64_t n = r->n, first = tile * ROWS, at = first * n;
  int acc = c->acc[0];
  if (c->dtype == LG_F32) {
    float *sums = (float *)c->work + tile * 2 * n;
    memset(sums, 0, sizeof(float) * 2 * (size_t)n);
    lg_k_row_norm_bwd_f32(c->din[0] ? (float *)c->din[0]->data + at : NULL, sums, c->n_in > 2 ? sums + n : NULL,
                          (const float *)c->dout->data + at, (const float *)c->in[0]->data + at,
                          (const float *)c->saved + 2 * first, c->in[1]->data, rows_of(r, tile), n, r->centred, acc);
  } else {
    double *sums = (double *)c->work + tile * 2 * n;
    memset(sums, 0, sizeof(double) * 2 * (size_t)n);
    lg_k_row_norm_bwd_f64(c->din[0] ? (double *)c->din[0]->data + at : NULL, sums, c->n_in > 2 ? sums + n : NULL,
                          (const double *)c->dout->data + at, (const double *)c->in[0]->data + at,
                          (const double *)c->saved + 2 * first, c->in[1]->data, rows_of(r, tile), n, r->centred, acc);
  }
}

/* Columns of the gradient of gamma or beta: the tiles' sums, added. */
static void column_tile(void *context, int64_t tile) {
  const row_run *r = context;
  const lg_call *c = r->c;
  int64_t per = (r->n + COLUMNS - 1) / COLUMNS, which = tile / per, first = tile % per * COLUMNS;
  lg_slot *to = c->din[1 + which];
  if (!to) return;
  double sum[COLUMNS] = {0};
  int64_t count = r->n - first < COLUMNS ? r->n - first : COLUMNS, at = which * r->n + first;
  for (int64_t i = 0; i < r->tiles; i++, at += 2 * r->n)
    for (int64_t k = 0; k < count; k++)
      sum[k] += c->dtype == LG_F32 ? (double)((const float *)c->work)[at + k] : ((const double *)c->work)[at + k];
  for (int64_t k = 0; k < count; k++) {
    if (c->dtype == LG_F32) {
      float *out = (float *)to->data + first + k;
      *out = (float)(c->acc[1 + which] ? (double)*out + sum[k] : sum[k]);
    } else {
      double *out = (double *)to->data + first + k;
      *out = c->acc[1 + which] ? *out + sum[k] : sum[k];
    }
  }
}

lg_status lg_row_norm_backward(const lg_call *c, int centred) {
  row_run r = run_of(c, centred);
  int64_t per = (r.n + COLUMNS - 1) / COLUMNS;
  lg_parallel(r.tiles, backward_tile, &r);
  lg_parallel(per, column_tile, &r);
  /* beta after gamma, not beside it: the two may be one node, whose gradients are then one array */
  if (c->n_in > 2)
    for (int64_t tile = per; tile < 2 * per; tile++) column_tile(&r, tile);
  return LG_OK;
}

size_t lg_row_norm_saved_bytes(const lg_call *c) {
  return 2 * (size_t)lg_slot_rows(c->in[0], 1) * (size_t)lg_dtype_bytes(c->dtype);
}
size_t lg_row_norm_work_bytes(const lg_call *c, int backward) {
  row_run r = run_of(c, 0);
  return backward ? 2 * (size_t)r.tiles * (size_t)r.n * (size_t)lg_dtype_bytes(c->dtype) : 0;
}
double lg_row_norm_flops(const lg_call *c) { return 7.0 * (double)lg_slot_size(c->out); }
