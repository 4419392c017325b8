/* column_sum.h: out[n] (+)= Σ over rows of x[…, n], in tiles of columns: the gradient of a bias. Summed in float64 in
 * the order of the rows, so that the bits depend on nothing else. */
#ifndef LG_COLUMN_SUM_H
#define LG_COLUMN_SUM_H
#include "op.h"

enum { LG_COLUMN_TILE = 64 };

static inline int64_t lg_column_sum_tiles(const lg_slot *x) {
  return (x->shape[x->rank - 1] + LG_COLUMN_TILE - 1) / LG_COLUMN_TILE;
}

static inline void lg_column_sum_tile(const lg_slot *out, const lg_slot *x, int acc, int64_t tile) {
  int64_t n = x->shape[x->rank - 1], rows = lg_slot_rows(x, 1), first = tile * LG_COLUMN_TILE, count = n - first;
  double sum[LG_COLUMN_TILE] = {0};
  if (count > LG_COLUMN_TILE) count = LG_COLUMN_TILE;
  if (x->dtype == LG_F32) {
    for (int64_t i = 0; i < rows; i++) {
      const float *row = (const float *)x->data + i * n + first;
      for (int64_t k = 0; k < count; k++) sum[k] += (double)row[k];
    }
    float *to = (float *)out->data + first;
    for (int64_t k = 0; k < count; k++) to[k] = (float)(acc ? (double)to[k] + sum[k] : sum[k]);
  } else {
    for (int64_t i = 0; i < rows; i++) {
      const double *row = (const double *)x->data + i * n + first;
      for (int64_t k = 0; k < count; k++) sum[k] += row[k];
    }
    double *to = (double *)out->data + first;
    for (int64_t k = 0; k < count; k++) to[k] = acc ? to[k] + sum[k] : sum[k];
  }
}
#endif
