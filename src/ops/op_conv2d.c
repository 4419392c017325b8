/* op_conv2d.c: y[B, oh, ow, co] = convolution of x[B, h, w, ci] with w[co, kh, kw, ci/groups] (+ bias[co]): shapes,
 * errors, and which way of kernels/conv.h computes each pass. Images are channels-last; op channels_last makes them so.
 */
#include "../core/threads.h"
#include "../kernels/conv.h"
#include "column_sum.h"
#include "op_gate.h"
#include "op_list.h"

enum { X, W, B };
enum { STRIDE_H, STRIDE_W, TOP, LEFT, BOTTOM, RIGHT, GROUPS };
static const lg_attr attrs[] = {
    {"stride_h", 1, 1, 1 << 16, "rows from one output to the next"},
    {"stride_w", 1, 1, 1 << 16, "columns from one output to the next"},
    {"pad_top", 0, 0, 1 << 16, "rows of zeros before the image"},
    {"pad_left", 0, 0, 1 << 16, "columns of zeros before the image"},
    {"pad_bottom", 0, 0, 1 << 16, "rows of zeros behind the image"},
    {"pad_right", 0, 0, 1 << 16, "columns of zeros behind the image"},
    {"groups", 1, 1, 1 << 16, "parts into which the channels fall; each sees its own inputs only"},
    {NULL, 0, 0, 0, NULL},
};

/* The call as the kernels see it. Its shapes have been checked, or are about to be. */
static lg_conv geometry(const lg_call *c) {
  const int64_t *x = c->in[X]->shape, *w = c->in[W]->shape, *y = c->out->shape;
  return (lg_conv){.batch = x[0],
                   .h = x[1],
                   .w = x[2],
                   .ci = x[3],
                   .oh = y[1],
                   .ow = y[2],
                   .co = w[0],
                   .kh = w[1],
                   .kw = w[2],
                   .groups = (int64_t)c->attr[GROUPS],
                   .stride_h = (int64_t)c->attr[STRIDE_H],
                   .stride_w = (int64_t)c->attr[STRIDE_W],
                   .top = (int64_t)c->attr[TOP],
                   .left = (int64_t)c->attr[LEFT]};
}

/* Outputs a side of Winograd's tiles, 0 where the convolution goes by patches. */
static int64_t winograd_tile(const lg_call *c, const lg_conv *g) {
  return c->dtype == LG_F32 ? lg_conv_winograd_tile(g) : 0;
}

static lg_status check_channels(const lg_call *c) {
  const lg_slot *x = c->in[X], *w = c->in[W];
  const int64_t groups = (int64_t)c->attr[GROUPS];
  char s[160], t[160];
  lg_slot_text(s, sizeof s, x);
  lg_slot_text(t, sizeof t, w);
  if (x->rank != 4) return lg_fail(LG_ESHAPE, "images %s: expected [batch, height, width, channels]", s);
  if (w->rank != 4) return lg_fail(LG_ESHAPE, "weights %s: expected [out, height, width, in/groups]", t);
  if (x->shape[3] % groups || w->shape[0] % groups)
    return lg_fail(LG_ESHAPE,
                   "weights %s over images %s: %lld input and %lld output channels must be divisible by "
                   "groups = %lld",
                   t, s, (long long)x->shape[3], (long long)w->shape[0], (long long)groups);
  if (w->shape[3] != x->shape[3] / groups)
    return lg_fail(LG_ESHAPE, "weights %s do not fit images %s with groups = %lld: expected [out, height, width, %lld]",
                   t, s, (long long)groups, (long long)(x->shape[3] / groups));
  if (c->n_in > B && (c->in[B]->rank != 1 || c->in[B]->shape[0] != w->shape[0]))
    return lg_fail(LG_ESHAPE, "bias %s does not fit weights %s", lg_slot_text(s, sizeof s, c->in[B]), t);
  return LG_OK;
}

static lg_status infer(const lg_call *c) {
  for (int32_t i = 0; i < c->n_in; i++) LG_TRY(lg_need_float(c, i));
  for (int32_t i = 0; attrs[i].name; i++)
    if (c->attr[i] != (double)(int64_t)c->attr[i])
      return lg_fail(LG_EARG, "%s = %g: expected a whole number", attrs[i].name, c->attr[i]);
  LG_TRY(check_channels(c));
  const lg_slot *x = c->in[X], *w = c->in[W];
  lg_slot_like(c->out, x);
  c->out->shape[3] = w->shape[0];
  for (int axis = 0; axis < 2; axis++) {
    const int64_t before = (int64_t)c->attr[TOP + axis], behind = (int64_t)c->attr[BOTTOM + axis];
    const int64_t room = x->shape[1 + axis] + before + behind - w->shape[1 + axis];
    char s[160], t[160];
    if (room < 0)
      return lg_fail(LG_ESHAPE,
                     "weights %s over images %s give an empty output: a kernel %lld %s does not fit %lld with "
                     "padding %lld + %lld",
                     lg_slot_text(t, sizeof t, w), lg_slot_text(s, sizeof s, x), (long long)w->shape[1 + axis],
                     axis ? "wide" : "high", (long long)x->shape[1 + axis], (long long)before, (long long)behind);
    c->out->shape[1 + axis] = room / (int64_t)c->attr[STRIDE_H + axis] + 1;
  }
  return LG_OK;
}

static lg_status forward(const lg_call *c) {
  const lg_conv g = geometry(c);
  lg_conv_tail tail = {.bias = c->n_in > B ? c->in[B]->data : NULL};
  if (c->epilogue) {
    LG_TRY(lg_gate_resolve(&tail.lambda, NULL, c->epilogue));
    tail.gated = c->epilogue->out->data;
    tail.activation = lg_gate_activation(c->epilogue);
  }
  const int64_t tile = winograd_tile(c, &g);
  if (tile)
    lg_conv_winograd_fwd(c->out->data, c->in[X]->data, c->in[W]->data, &g, tile, &tail, c->work);
  else if (c->dtype == LG_F32)
    lg_conv_im2col_fwd_f32(c->out->data, c->in[X]->data, c->in[W]->data, &g, &tail, c->work);
  else
    lg_conv_im2col_fwd_f64(c->out->data, c->in[X]->data, c->in[W]->data, &g, &tail, c->work);
  return LG_OK;
}

static void bias_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  lg_column_sum_tile(c->din[B], c->dout, c->acc[B], tile);
}

static void backward_f32(const lg_call *c, const lg_conv *g) {
  const float *x = c->in[X]->data, *w = c->in[W]->data, *dy = c->dout->data;
  float *dx = c->din[X] ? c->din[X]->data : NULL, *dw = c->din[W] ? c->din[W]->data : NULL;
  const int64_t tile = winograd_tile(c, g);
  if (tile && (dx || dw)) {
    lg_conv_winograd_bwd(dx, dw, dy, x, w, g, tile, c->acc[X], c->acc[W], c->work);
    return;
  }
  if (dw) lg_conv_im2col_dw_f32(dw, dy, x, g, c->acc[W], c->work);
  if (dx) lg_conv_im2col_dx_f32(dx, dy, w, g, c->acc[X], c->work);
}

static lg_status backward(const lg_call *c) {
  const lg_conv g = geometry(c);
  const lg_slot *dx = c->din[X], *dw = c->din[W];
  if (c->dtype == LG_F32) backward_f32(c, &g);
  if (c->dtype == LG_F64 && dw) lg_conv_im2col_dw_f64(dw->data, c->dout->data, c->in[X]->data, &g, c->acc[W], c->work);
  if (c->dtype == LG_F64 && dx) lg_conv_im2col_dx_f64(dx->data, c->dout->data, c->in[W]->data, &g, c->acc[X], c->work);
  if (c->n_in > B && c->din[B]) lg_parallel(lg_column_sum_tiles(c->dout), bias_tile, (void *)c);
  return LG_OK;
}

/* The passes of one backward follow each other and share their scratch. */
static size_t work_bytes(const lg_call *c, int backward) {
  const lg_conv g = geometry(c);
  const size_t width = (size_t)lg_dtype_bytes(c->dtype);
  const int64_t tile = winograd_tile(c, &g);
  if (tile) return lg_conv_winograd_bytes(&g, tile, backward);
  if (!backward) return lg_conv_im2col_bytes(&g, LG_CONV_FWD, width);
  const size_t dw = c->din[W] ? lg_conv_im2col_bytes(&g, LG_CONV_DW, width) : 0;
  const size_t dx = c->din[X] ? lg_conv_im2col_bytes(&g, LG_CONV_DX, width) : 0;
  return dw > dx ? dw : dx;
}

/* Of the direct computation, whichever way is taken. */
static double flops(const lg_call *c) {
  const lg_slot *w = c->in[W];
  return 2.0 * (double)lg_slot_size(c->out) * (double)(w->shape[1] * w->shape[2] * w->shape[3]);
}

const lg_op lg_op_conv2d = {
    .min_inputs = 2,
    .max_inputs = 3,
    .attrs = attrs,
    .flags = LG_OP_EPILOGUE,
    .reads = 1u << X | 1u << W,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .work_bytes = work_bytes,
    .flops = flops,
};
