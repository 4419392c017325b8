/* op_global_pool.c: the mean over height and width: x[B, H, W, C] → [B, C]. Summed in float64. One image is one tile.
 */
#include "../core/threads.h"
#include "op_list.h"

enum { BLOCK = 64 }; /* channels summed at a time */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  const lg_slot *x = c->in[0];
  if (x->rank != 4) {
    char text[160];
    return lg_fail(LG_ESHAPE, "x is %s, expected [batch, height, width, channels]", lg_slot_text(text, sizeof text, x));
  }
  c->out->dtype = x->dtype;
  c->out->rank = 2;
  c->out->shape[0] = x->shape[0];
  c->out->shape[1] = x->shape[3];
  return LG_OK;
}

static void forward_tile(void *context, int64_t image) {
  const lg_call *c = context;
  int64_t n = c->in[0]->shape[3], area = c->in[0]->shape[1] * c->in[0]->shape[2], at = image * area * n;
  for (int64_t first = 0; first < n; first += BLOCK) {
    int64_t count = n - first < BLOCK ? n - first : BLOCK;
    double sum[BLOCK] = {0};
    for (int64_t i = 0; i < area; i++) {
      if (c->dtype == LG_F32)
        for (int64_t k = 0; k < count; k++) sum[k] += (double)((const float *)c->in[0]->data)[at + i * n + first + k];
      else
        for (int64_t k = 0; k < count; k++) sum[k] += ((const double *)c->in[0]->data)[at + i * n + first + k];
    }
    for (int64_t k = 0; k < count; k++) {
      if (c->dtype == LG_F32)
        ((float *)c->out->data)[image * n + first + k] = (float)(sum[k] / (double)area);
      else
        ((double *)c->out->data)[image * n + first + k] = sum[k] / (double)area;
    }
  }
}

static lg_status forward(const lg_call *c) {
  lg_parallel(c->out->shape[0], forward_tile, (void *)c);
  return LG_OK;
}

static void backward_tile(void *context, int64_t image) {
  const lg_call *c = context;
  int64_t n = c->in[0]->shape[3], area = c->in[0]->shape[1] * c->in[0]->shape[2], at = image * area * n;
  for (int64_t i = 0; i < area; i++) {
    if (c->dtype == LG_F32) {
      const float *dy = (const float *)c->dout->data + image * n;
      float *dx = (float *)c->din[0]->data + at + i * n, share = 1.0f / (float)area;
      for (int64_t k = 0; k < n; k++) dx[k] = (c->acc[0] ? dx[k] : 0) + dy[k] * share;
    } else {
      const double *dy = (const double *)c->dout->data + image * n;
      double *dx = (double *)c->din[0]->data + at + i * n, share = 1.0 / (double)area;
      for (int64_t k = 0; k < n; k++) dx[k] = (c->acc[0] ? dx[k] : 0) + dy[k] * share;
    }
  }
}

static lg_status backward(const lg_call *c) {
  if (c->din[0]) lg_parallel(c->out->shape[0], backward_tile, (void *)c);
  return LG_OK;
}

static double flops(const lg_call *c) { return (double)lg_slot_size(c->in[0]); }

const lg_op lg_op_global_pool = {
    .min_inputs = 1,
    .max_inputs = 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
