/* gather.h: one row of data into a batch, normalized. No threads, no order. Called by loader.c, once a row. */
#ifndef LG_GATHER_H
#define LG_GATHER_H
#include "rows.h"

/* How a channel is normalized: (x·scale − mean)/sd, computed as (x − centre)·gain in float32, with centre = mean/scale
 * and gain = scale/sd rounded once from float64. A difference times a number cannot be contracted into a fused
 * multiply-add, so that every instruction set gives the same bits. */
typedef struct {
  float centre, gain;
} lg_affine;

/* to[n] from n elements at from, u8 or f32. */
void lg_convert(float *to, const void *from, int32_t dtype, int64_t n, lg_affine a);
/* to[width] from the row of x at from (u8 or f32 → f32 with affine[channels]; i32 → i32 as it is). */
void lg_gather_row(void *to, const void *from, const lg_rows *x, const lg_affine *affine);
#endif
