/* gather.c: the inner loops of the loader: convert and normalize one row. Called by loader.c and augment.c. */
#include "gather.h"
#include <string.h>

static void from_u8(float *restrict to, const uint8_t *restrict from, int64_t n, lg_affine a) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) to[i] = ((float)from[i] - a.centre) * a.gain;
}

static void from_f32(float *restrict to, const float *restrict from, int64_t n, lg_affine a) {
#pragma omp simd
  for (int64_t i = 0; i < n; i++) to[i] = (from[i] - a.centre) * a.gain;
}

void lg_convert(float *to, const void *from, int32_t dtype, int64_t n, lg_affine a) {
  if (dtype == LG_U8)
    from_u8(to, from, n, a);
  else
    from_f32(to, from, n, a);
}

void lg_gather_row(void *to, const void *from, const lg_rows *x, const lg_affine *affine) {
  if (x->dtype != LG_U8 && x->dtype != LG_F32) {
    memcpy(to, from, (size_t)x->row_bytes);
    return;
  }
  int64_t n = x->channel_size, bytes = lg_dtype_bytes(x->dtype);
  for (int32_t c = 0; c * n < x->width; c++)
    lg_convert((float *)to + c * n, (const char *)from + c * n * bytes, x->dtype, n, affine[c]);
}
