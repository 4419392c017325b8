/* stats.c: mean and standard deviation per channel over chosen rows, for normalization. Not for batch statistics of a
 * network. Called by lua/lgelu/data once a run. */
#include "../core/memory.h"
#include "../core/threads.h"
#include "rows.h"
#include <math.h>

enum { TILE_ROWS = 256 };

/* Sums of one tile of rows and one channel. u8: of x and x² as integers, exact in 64 bits up to 2^48 elements.
 * f32: of x in pass one, of (x − mean)² in pass two. */
typedef struct {
  uint64_t sum, squares;
  double real;
} partial;

typedef struct {
  lg_rows x;
  const int64_t *index;
  int64_t n;
  int32_t channels;
  const double *mean; /* pass two of f32; NULL before */
  partial *partials;  /* [tiles, channels] */
} job;

static void add_u8(partial *p, const uint8_t *v, int64_t n) {
  while (n > 0) { /* 32-bit sums vectorize; 65,536·255² still fits */
    int64_t m = n < 65536 ? n : 65536;
    uint32_t sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum, squares)
    for (int64_t i = 0; i < m; i++) {
      uint32_t a = v[i];
      sum += a;
      squares += a * a;
    }
    p->sum += sum;
    p->squares += squares;
    v += m;
    n -= m;
  }
}

static void add_f32(partial *p, const float *v, int64_t n, const double *mean) {
  for (int64_t i = 0; i < n; i++) {
    double d = mean ? (double)v[i] - *mean : (double)v[i];
    p->real += mean ? d * d : d;
  }
}

static void tile(void *context, int64_t t) {
  const job *j = context;
  int64_t end = (t + 1) * TILE_ROWS < j->n ? (t + 1) * TILE_ROWS : j->n, size = j->x.channel_size;
  for (int64_t i = t * TILE_ROWS; i < end; i++) {
    const char *row = j->x.data + j->index[i] * j->x.stride_bytes;
    for (int32_t c = 0; c < j->channels; c++) {
      partial *p = &j->partials[t * j->channels + c];
      if (j->x.dtype == LG_U8)
        add_u8(p, (const uint8_t *)row + c * size, size);
      else
        add_f32(p, (const float *)row + c * size, size, j->mean ? j->mean + c : NULL);
    }
  }
}

/* A channel's sums over all tiles, in their order. */
static partial total(const job *j, int64_t tiles, int32_t c) {
  partial all = {0};
  for (int64_t t = 0; t < tiles; t++) {
    const partial *p = &j->partials[t * j->channels + c];
    all.sum += p->sum;
    all.squares += p->squares;
    all.real += p->real;
  }
  return all;
}

static lg_status compute(double *mean, double *sd, job *j, int64_t tiles) {
  double count = (double)j->n * (double)j->x.channel_size;
  lg_parallel(tiles, tile, j);
  for (int32_t c = 0; c < j->channels; c++) {
    partial p = total(j, tiles, c);
    if (j->x.dtype == LG_U8) {
      unsigned __int128 whole = (unsigned __int128)j->n * (uint64_t)j->x.channel_size; /* var = (NΣx² − (Σx)²)/N² */
      mean[c] = (double)p.sum / count;
      sd[c] = sqrt((double)(whole * p.squares - (unsigned __int128)p.sum * p.sum)) / count;
    } else {
      mean[c] = p.real / count;
      if (!isfinite(mean[c])) return lg_fail(LG_ENAN, "x holds a value that is not finite in channel %d", c);
    }
  }
  if (j->x.dtype == LG_U8) return LG_OK;
  for (int64_t i = 0; i < tiles * j->channels; i++) j->partials[i] = (partial){0};
  j->mean = mean;
  lg_parallel(tiles, tile, j);
  for (int32_t c = 0; c < j->channels; c++) sd[c] = sqrt(total(j, tiles, c).real / count);
  return LG_OK;
}

lg_status lg_channel_stats(double *mean, double *sd, const lg_tensor *x, const int64_t *index, int64_t n,
                           int32_t channels) {
  if (!mean || !sd) return lg_fail(LG_EARG, "mean or sd is NULL");
  if (channels < 1) return lg_fail(LG_EARG, "channels = %d, expected at least 1", channels);
  job j = {.index = index, .n = n, .channels = channels};
  LG_TRY(lg_rows_of(&j.x, x, channels, "x"));
  if (x->dtype != LG_U8 && x->dtype != LG_F32)
    return lg_fail(LG_EDTYPE, "x is %s, expected u8 or f32", lg_dtype_name(x->dtype));
  LG_TRY(lg_rows_check_index(index, n, j.x.rows));
  int64_t tiles = (n + TILE_ROWS - 1) / TILE_ROWS;
  j.partials = lg_alloc((size_t)tiles * (size_t)channels * sizeof *j.partials);
  if (!j.partials) return lg_fail(LG_EMEM, "cannot allocate the sums of %lld tiles", (long long)tiles);
  lg_status status = compute(mean, sd, &j, tiles);
  lg_release(j.partials);
  return status;
}
