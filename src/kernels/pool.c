/* pool.c: the loops of pool.h for float32 and float64. */
#include "pool.h"

/* What output element i (row-major) sees: rows top … bottom−1 and columns left … right−1 of the image; its window
 * begins at (y0, x0), which may lie outside. */
typedef struct reach {
  int64_t y0, x0, top, bottom, left, right;
} reach;

static reach reach_of(const lg_windows *w, int64_t i) {
  reach r = {.y0 = i / w->out_w * w->stride_h - w->pad_top, .x0 = i % w->out_w * w->stride_w - w->pad_left};
  r.top = r.y0 > 0 ? r.y0 : 0;
  r.left = r.x0 > 0 ? r.x0 : 0;
  r.bottom = r.y0 + w->kernel_h < w->height ? r.y0 + w->kernel_h : w->height;
  r.right = r.x0 + w->kernel_w < w->width ? r.x0 + w->kernel_w : w->width;
  return r;
}

#define REAL float
#define NAME(name) name##_f32
#include "pool_template.h"
#undef REAL
#undef NAME
#define REAL double
#define NAME(name) name##_f64
#include "pool_template.h"
