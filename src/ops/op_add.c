/* op_add.c: a + b of equal shapes, the residual sum, and the normalization of its rows that follows, while they are in
 * cache. Broadcasting is not its business: see bias. */
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include "op_list.h"

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_equal(c));
  lg_slot_like(c->out, c->in[0]);
  return LG_OK;
}

enum { TILE = 16384 };

static void sum(const lg_call *c, int64_t at, int64_t n) {
  if (c->dtype == LG_F32)
    lg_k_add_f32((float *)c->out->data + at, (const float *)c->in[0]->data + at, (const float *)c->in[1]->data + at, n);
  else
    lg_k_add_f64((double *)c->out->data + at, (const double *)c->in[0]->data + at, (const double *)c->in[1]->data + at,
                 n);
}

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t left = lg_slot_size(c->out) - tile * TILE;
  sum(c, tile * TILE, left < TILE ? left : TILE);
}

static void row_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t n = c->out->shape[c->out->rank - 1], first = tile * LG_ROW_TILE, left = lg_slot_rows(c->out, 1) - first;
  int64_t rows = left < LG_ROW_TILE ? left : LG_ROW_TILE;
  sum(c, first * n, rows * n);
  c->rows(c->epilogue, first, rows);
}

static lg_status forward(const lg_call *c) {
  if (c->epilogue)
    lg_parallel((lg_slot_rows(c->out, 1) + LG_ROW_TILE - 1) / LG_ROW_TILE, row_tile, (void *)c);
  else
    lg_parallel((lg_slot_size(c->out) + TILE - 1) / TILE, forward_tile, (void *)c);
  return LG_OK;
}

/* Input 1 first: input 0's gradient may be dout itself, and a + a adds to it. */
static lg_status backward(const lg_call *c) {
  if (c->din[0] && c->din[0] == c->din[1]) {
    lg_op_accumulate(c->din[0], c->dout, c->acc[0]);
    lg_op_accumulate(c->din[1], c->dout, 1);
    return LG_OK;
  }
  if (c->din[1]) lg_op_accumulate(c->din[1], c->dout, c->acc[1]);
  if (c->din[0]) lg_op_accumulate(c->din[0], c->dout, c->acc[0]);
  return LG_OK;
}

static double flops(const lg_call *c) { return (double)lg_slot_size(c->out); }

const lg_op lg_op_add = {
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
