/* conv.c: convolutions by plain loops, and the patches that make them matrix products. See conv.h. */
#include "conv.h"
#include <string.h>

/* What output row `row` of the batch·oh·ow sees: its image, and the patch's first row and column, maybe outside. */
typedef struct patch {
  int64_t image, y, x;
} patch;

static patch patch_at(const lg_conv *c, int64_t row) {
  const int64_t inside = row % (c->oh * c->ow);
  return (patch){row / (c->oh * c->ow), inside / c->ow * c->stride_h - c->top, inside % c->ow * c->stride_w - c->left};
}

/* The pixel of the batch·h·w under a tap of the kernel; -1 outside the image. */
static int64_t pixel_at(const lg_conv *c, const patch *p, int64_t tap) {
  const int64_t y = p->y + tap / c->kw, x = p->x + tap % c->kw;
  return y < 0 || y >= c->h || x < 0 || x >= c->w ? -1 : (p->image * c->h + y) * c->w + x;
}

enum { SHORT_COPY = 32 }; /* elements that a loop copies faster than memcpy is called */

#define NAME(name) lg_k_##name##_f32
#define REF(name) lg_k_conv_##name##_f32_ref
#define REAL float
#include "conv_template.h"

#define NAME(name) lg_k_##name##_f64
#define REF(name) lg_k_conv_##name##_f64_ref
#define REAL double
#include "conv_template.h"
