/* op_mse.c: mean of (x - y)² over all elements, summed in float64. Gradients for both inputs. */
#include "../core/threads.h"
#include "op_list.h"

enum { TILE = 8192 }; /* elements */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_equal(c));
  lg_slot_scalar(c->out, LG_F64);
  return LG_OK;
}

static double difference(const lg_call *c, int64_t i) {
  if (c->dtype == LG_F32)
    return (double)((const float *)c->in[0]->data)[i] - (double)((const float *)c->in[1]->data)[i];
  return ((const double *)c->in[0]->data)[i] - ((const double *)c->in[1]->data)[i];
}

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t n = lg_slot_size(c->in[0]), end = (tile + 1) * TILE;
  double sum = 0;
  for (int64_t i = tile * TILE; i < n && i < end; i++) sum += difference(c, i) * difference(c, i);
  ((double *)c->work)[tile] = sum;
}

static lg_status forward(const lg_call *c) {
  int64_t n = lg_slot_size(c->in[0]), tiles = (n + TILE - 1) / TILE;
  lg_parallel(tiles, forward_tile, (void *)c);
  double sum = 0;
  for (int64_t i = 0; i < tiles; i++) sum += ((double *)c->work)[i];
  *(double *)c->out->data = sum / (double)n;
  return LG_OK;
}

static void put(const lg_call *c, int32_t input, int64_t i, double g) {
  if (!c->din[input]) return;
  if (c->dtype == LG_F32) {
    float *to = (float *)c->din[input]->data + i;
    *to = c->acc[input] ? *to + (float)g : (float)g;
  } else {
    double *to = (double *)c->din[input]->data + i;
    *to = c->acc[input] ? *to + g : g;
  }
}

static void backward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t n = lg_slot_size(c->in[0]), end = (tile + 1) * TILE;
  double scale = 2 * *(const double *)c->dout->data / (double)n;
  for (int64_t i = tile * TILE; i < n && i < end; i++) {
    double g = scale * difference(c, i);
    put(c, 0, i, g);
    put(c, 1, i, -g);
  }
}

static lg_status backward(const lg_call *c) {
  lg_parallel((lg_slot_size(c->in[0]) + TILE - 1) / TILE, backward_tile, (void *)c);
  return LG_OK;
}

static size_t work_bytes(const lg_call *c, int backward) {
  return backward ? 0 : (size_t)((lg_slot_size(c->in[0]) + TILE - 1) / TILE) * sizeof(double);
}
static double flops(const lg_call *c) { return 3.0 * (double)lg_slot_size(c->in[0]); }

const lg_op lg_op_mse = {
    .min_inputs = 2,
    .max_inputs = 2,
    .reads = 1u << 0 | 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .work_bytes = work_bytes,
    .flops = flops,
};
