/* op_mul.c: a · b of equal shapes, element by element: the product of a gated feed-forward layer. */
#include "../core/threads.h"
#include "op_list.h"

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_equal(c));
  lg_slot_like(c->out, c->in[0]);
  return LG_OK;
}

enum { TILE = 16384 };

#define LOOPS(real)                                                                                                    \
  static void product_##real(real *out, const real *a, const real *b, int64_t n, int acc) {                            \
    if (acc)                                                                                                           \
      for (int64_t i = 0; i < n; i++) out[i] += a[i] * b[i];                                                           \
    else                                                                                                               \
      for (int64_t i = 0; i < n; i++) out[i] = a[i] * b[i];                                                            \
  }
LOOPS(float)
LOOPS(double)

/* out (+)= a·b over elements at … at+n-1 */
static void product(const lg_slot *out, const lg_slot *a, const lg_slot *b, int64_t at, int64_t n, int acc) {
  if (out->dtype == LG_F32)
    product_float((float *)out->data + at, (const float *)a->data + at, (const float *)b->data + at, n, acc);
  else
    product_double((double *)out->data + at, (const double *)a->data + at, (const double *)b->data + at, n, acc);
}

static int64_t tile_size(const lg_call *c, int64_t tile) {
  int64_t left = lg_slot_size(c->out) - tile * TILE;
  return left < TILE ? left : TILE;
}

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  product(c->out, c->in[0], c->in[1], tile * TILE, tile_size(c, tile), 0);
}

static void backward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t at = tile * TILE, n = tile_size(c, tile);
  /* In this order: where both inputs are one node, the second product adds to the first. */
  if (c->din[0]) product(c->din[0], c->dout, c->in[1], at, n, c->acc[0]);
  if (c->din[1]) product(c->din[1], c->dout, c->in[0], at, n, c->acc[1]);
}

static lg_status forward(const lg_call *c) {
  lg_parallel((lg_slot_size(c->out) + TILE - 1) / TILE, forward_tile, (void *)c);
  return LG_OK;
}

static lg_status backward(const lg_call *c) {
  lg_parallel((lg_slot_size(c->out) + TILE - 1) / TILE, backward_tile, (void *)c);
  return LG_OK;
}

static double flops(const lg_call *c) { return (double)lg_slot_size(c->out); }

/* The output never goes over input 0, which backward reads. Nor does din[0] go over dout: a·a needs it twice. */
const lg_op lg_op_mul = {
    .min_inputs = 2,
    .max_inputs = 2,
    .reads = 1u << 0 | 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
