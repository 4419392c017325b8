/* op_max_pool.c: the largest element of each window of x[B, H, W, C], channels last. Of equal ones the first counts,
 * and alone receives the gradient; padding never does. One image is one tile. */
#include "../core/threads.h"
#include "op_list.h"
#include "pool_windows.h"
#include <string.h>

static uint16_t *places(const lg_call *c, int64_t image) {
  return (uint16_t *)c->saved + image * lg_pool_image(c->out);
}

static void forward_tile(void *context, int64_t image) {
  const lg_call *c = context;
  lg_windows w = lg_pool_windows(c);
  if (c->dtype == LG_F32)
    lg_k_max_pool_f32(lg_pool_at(c->out, image), places(c, image), lg_pool_at(c->in[0], image), &w);
  else
    lg_k_max_pool_f64(lg_pool_at(c->out, image), places(c, image), lg_pool_at(c->in[0], image), &w);
}

static lg_status forward(const lg_call *c) {
  lg_parallel(c->out->shape[0], forward_tile, (void *)c);
  return LG_OK;
}

static void backward_tile(void *context, int64_t image) {
  const lg_call *c = context;
  lg_windows w = lg_pool_windows(c);
  void *dx = lg_pool_at(c->din[0], image);
  const void *dy = lg_pool_at(c->dout, image);
  if (!c->acc[0]) memset(dx, 0, (size_t)lg_pool_image(c->in[0]) * (size_t)lg_dtype_bytes(c->dtype));
  if (c->dtype == LG_F32)
    lg_k_max_pool_bwd_f32(dx, dy, places(c, image), &w);
  else
    lg_k_max_pool_bwd_f64(dx, dy, places(c, image), &w);
}

static lg_status backward(const lg_call *c) {
  if (c->din[0]) lg_parallel(c->out->shape[0], backward_tile, (void *)c);
  return LG_OK;
}

static size_t saved_bytes(const lg_call *c) { return (size_t)lg_slot_size(c->out) * sizeof(uint16_t); }

const lg_op lg_op_max_pool = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = lg_pool_attrs,
    .infer = lg_pool_infer,
    .forward = forward,
    .backward = backward,
    .saved_bytes = saved_bytes,
    .flops = lg_pool_flops,
};
