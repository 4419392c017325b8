/* census.c: a census of a whole tensor, cut into fixed tiles that are joined in their order: the same bits for any
 * number of threads. */
#include "../kernels/census.h"
#include "../core/memory.h"
#include "../core/threads.h"
#include "../kernels/gate.h"
#include "../lgelu.h"
#include "../tensor/tensor.h"
#include <math.h>
#include <string.h>

enum { TILE = 16 * LG_CENSUS_BLOCK, MOST_BINS = 4096 };

typedef struct {
  const float *x;
  double *parts; /* [tiles, LG_CENSUS_COUNT + room of a histogram] */
  double low, high;
  int64_t size;
  float lambda;
  int32_t activation, bins, room;
} census_job;

static void census_tile(void *context, int64_t tile) {
  const census_job *j = context;
  double *part = j->parts + tile * (LG_CENSUS_COUNT + j->room), *histogram = part + LG_CENSUS_COUNT;
  int64_t end = (tile + 1) * TILE < j->size ? (tile + 1) * TILE : j->size;
  for (int64_t at = tile * TILE; at < end; at += LG_CENSUS_BLOCK) {
    int64_t n = end - at < LG_CENSUS_BLOCK ? end - at : LG_CENSUS_BLOCK;
    lg_k_census_f32(part, j->room ? histogram : NULL, j->x + at, n, j->activation, j->lambda, j->low, j->high, j->bins);
  }
}

static lg_status check_arguments(const lg_tensor *x, int32_t activation, double lambda) {
  char text[160];
  LG_TRY(lg_tensor_check(x, "x"));
  if (x->dtype != LG_F32 || !lg_tensor_contiguous(x))
    return lg_fail(LG_EDTYPE, "x is %s%s: a census takes contiguous f32",
                   lg_shape_text(text, sizeof text, x->dtype, x->rank, x->shape),
                   lg_tensor_contiguous(x) ? "" : ", not contiguous");
  if (activation < 0 || activation >= LG_ACT_COUNT)
    return lg_fail(LG_EARG, "activation %d is outside 0..%d", activation, LG_ACT_COUNT - 1);
  if (!(lambda >= 0 && lambda <= 3e38))
    return lg_fail(LG_EARG, "lambda = %g: expected a finite float32 of at least 0", lambda);
  return LG_OK;
}

static lg_status check_bins(double low, double high, int32_t bins) {
  if (bins < 1 || bins > MOST_BINS) return lg_fail(LG_EARG, "bins = %d: expected 1 to %d", bins, MOST_BINS);
  if (!(low < high && isfinite(low) && isfinite(high) && isfinite(bins / (high - low))))
    return lg_fail(LG_EARG, "low = %g and high = %g: expected two finite numbers, the first below the second", low,
                   high);
  return LG_OK;
}

lg_status lg_gate_census(double *census, double *histogram, const lg_tensor *x, int32_t activation, double lambda,
                         double low, double high, int32_t bins) {
  if (!census) return lg_fail(LG_EARG, "census: found NULL, expected room for %d numbers", LG_CENSUS_COUNT);
  LG_TRY(check_arguments(x, activation, lambda));
  if (histogram) LG_TRY(check_bins(low, high, bins));
  census_job j = {.x = lg_tensor_data((lg_tensor *)x),
                  .low = low,
                  .high = high,
                  .size = lg_tensor_size(x),
                  .lambda = (float)lambda,
                  .activation = activation,
                  .bins = bins,
                  .room = histogram ? bins + 2 : 0};
  int64_t tiles = (j.size + TILE - 1) / TILE;
  if (tiles == 0) return LG_OK;
  j.parts = lg_alloc((size_t)(tiles * (LG_CENSUS_COUNT + j.room)) * sizeof *j.parts);
  if (!j.parts) return lg_fail(LG_EMEM, "census: no memory for %lld tiles", (long long)tiles);
  lg_parallel(tiles, census_tile, &j);
  for (int64_t t = 0; t < tiles; t++) {
    const double *part = j.parts + t * (LG_CENSUS_COUNT + j.room);
    lg_census_join(census, part);
    for (int32_t b = 0; b < j.room; b++) histogram[b] += part[LG_CENSUS_COUNT + b];
  }
  lg_release(j.parts);
  return LG_OK;
}
