/* pool_windows.h: what max_pool and avg_pool share: their attributes, shapes, and the errors about them. */
#ifndef LG_POOL_WINDOWS_H
#define LG_POOL_WINDOWS_H
#include "../kernels/pool.h"
#include "op.h"

enum { KERNEL_H, KERNEL_W, STRIDE_H, STRIDE_W, PAD_TOP, PAD_LEFT, PAD_BOTTOM, PAD_RIGHT };
static const lg_attr lg_pool_attrs[] = {
    {"kernel_h", 2, 1, 255, "rows of a window"},
    {"kernel_w", 2, 1, 255, "columns of a window"},
    {"stride_h", 2, 1, 65535, "rows from one window to the next"},
    {"stride_w", 2, 1, 65535, "columns from one window to the next"},
    {"pad_top", 0, 0, 254, "rows of padding above"},
    {"pad_left", 0, 0, 254, "columns of padding on the left"},
    {"pad_bottom", 0, 0, 254, "rows of padding below"},
    {"pad_right", 0, 0, 254, "columns of padding on the right"},
    {NULL, 0, 0, 0, NULL},
};

static inline int64_t lg_pool_attr(const lg_call *c, int index) { return (int64_t)c->attr[index]; }

/* How many windows fit into one dimension; fails where there is none, or one would see nothing but padding. */
static inline lg_status lg_pool_count(int64_t *count, const lg_call *c, const char *what, int64_t size, int64_t kernel,
                                      int64_t stride, int64_t before, int64_t after) {
  char text[160];
  if (before >= kernel || after >= kernel)
    return lg_fail(LG_ESHAPE, "padding %lld and %lld in %s must be smaller than the window, %lld", (long long)before,
                   (long long)after, what, (long long)kernel);
  if (size + before + after < kernel)
    return lg_fail(LG_ESHAPE, "the output would be empty: a window of %s %lld over %s, padded by %lld and %lld", what,
                   (long long)kernel, lg_slot_text(text, sizeof text, c->in[0]), (long long)before, (long long)after);
  *count = (size + before + after - kernel) / stride + 1;
  return LG_OK;
}

static inline lg_status lg_pool_infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  const lg_slot *x = c->in[0];
  char text[160];
  for (int32_t i = KERNEL_H; i <= PAD_RIGHT; i++) LG_TRY(lg_need_whole(c, i, lg_pool_attrs[i].name));
  if (x->rank != 4)
    return lg_fail(LG_ESHAPE, "x is %s, expected [batch, height, width, channels]", lg_slot_text(text, sizeof text, x));
  lg_slot_like(c->out, x);
  LG_TRY(lg_pool_count(&c->out->shape[1], c, "height", x->shape[1], lg_pool_attr(c, KERNEL_H),
                       lg_pool_attr(c, STRIDE_H), lg_pool_attr(c, PAD_TOP), lg_pool_attr(c, PAD_BOTTOM)));
  return lg_pool_count(&c->out->shape[2], c, "width", x->shape[2], lg_pool_attr(c, KERNEL_W), lg_pool_attr(c, STRIDE_W),
                       lg_pool_attr(c, PAD_LEFT), lg_pool_attr(c, PAD_RIGHT));
}

static inline lg_windows lg_pool_windows(const lg_call *c) {
  const int64_t *in = c->in[0]->shape, *out = c->out->shape;
  return (lg_windows){.height = in[1],
                      .width = in[2],
                      .n = in[3],
                      .out_h = out[1],
                      .out_w = out[2],
                      .kernel_h = lg_pool_attr(c, KERNEL_H),
                      .kernel_w = lg_pool_attr(c, KERNEL_W),
                      .stride_h = lg_pool_attr(c, STRIDE_H),
                      .stride_w = lg_pool_attr(c, STRIDE_W),
                      .pad_top = lg_pool_attr(c, PAD_TOP),
                      .pad_left = lg_pool_attr(c, PAD_LEFT)};
}

/* Elements of one image of the slot, and the image's first one. */
static inline int64_t lg_pool_image(const lg_slot *s) { return s->shape[1] * s->shape[2] * s->shape[3]; }
static inline void *lg_pool_at(const lg_slot *s, int64_t image) {
  return (char *)s->data + image * lg_pool_image(s) * lg_dtype_bytes(s->dtype);
}

static inline double lg_pool_flops(const lg_call *c) {
  return (double)lg_slot_size(c->out) * c->attr[KERNEL_H] * c->attr[KERNEL_W];
}
#endif
