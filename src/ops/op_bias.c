/* op_bias.c: x[…, n] + b[n], one b for each entry of the last dimension. A linear layer adds its own, with the product.
 */
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include "column_sum.h"
#include "op_list.h"

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_float(c, 1));
  const lg_slot *x = c->in[0], *b = c->in[1];
  if (x->rank < 1 || b->rank != 1 || b->shape[0] != x->shape[x->rank - 1]) {
    char s[160], t[160];
    return lg_fail(LG_ESHAPE, "bias %s does not fit the last dimension of %s", lg_slot_text(t, sizeof t, b),
                   lg_slot_text(s, sizeof s, x));
  }
  lg_slot_like(c->out, x);
  return LG_OK;
}

enum { ROWS = 64 }; /* of a tile */

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t n = c->in[1]->shape[0], rows = lg_slot_rows(c->out, 1), end = (tile + 1) * ROWS;
  for (int64_t i = tile * ROWS; i < rows && i < end; i++) {
    if (c->dtype == LG_F32)
      lg_k_add_f32((float *)c->out->data + i * n, (const float *)c->in[0]->data + i * n, c->in[1]->data, n);
    else
      lg_k_add_f64((double *)c->out->data + i * n, (const double *)c->in[0]->data + i * n, c->in[1]->data, n);
  }
}

static lg_status forward(const lg_call *c) {
  lg_parallel((lg_slot_rows(c->out, 1) + ROWS - 1) / ROWS, forward_tile, (void *)c);
  return LG_OK;
}

static void column_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  lg_column_sum_tile(c->din[1], c->dout, c->acc[1], tile);
}

static lg_status backward(const lg_call *c) {
  /* Input 0 first: where both are one node, din[1] adds to what din[0] began. In place this moves nothing. */
  if (c->din[0]) lg_op_accumulate(c->din[0], c->dout, c->acc[0]);
  if (c->din[1]) lg_parallel(lg_column_sum_tiles(c->dout), column_tile, (void *)c);
  return LG_OK;
}

static double flops(const lg_call *c) { return (double)lg_slot_size(c->out); }

const lg_op lg_op_bias = {
    .min_inputs = 2,
    .max_inputs = 2,
    .flags = LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
