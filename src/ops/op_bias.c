/* op_bias.c: x + b, b spread over the leading dimensions of x: b[n] on x[…, n], or positions p[t, n] on x[B, t, n]. A
 * linear layer adds its own, with the product. */
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include "column_sum.h"
#include "op_list.h"

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_float(c, 1));
  const lg_slot *x = c->in[0], *b = c->in[1];
  int fits = b->rank >= 1 && b->rank <= x->rank;
  for (int32_t i = 1; fits && i <= b->rank; i++) fits = b->shape[b->rank - i] == x->shape[x->rank - i];
  if (!fits) {
    char s[160], t[160];
    return lg_fail(LG_ESHAPE, "bias %s does not fit the last dimension%s of %s", lg_slot_text(t, sizeof t, b),
                   b->rank > 1 ? "s" : "", lg_slot_text(s, sizeof s, x));
  }
  lg_slot_like(c->out, x);
  return LG_OK;
}

enum { ELEMENTS = 8192 }; /* of a tile, about */

/* x seen as rows of b's size, cut into tiles of whole rows. */
static int64_t tile_rows(int64_t n) { return n < ELEMENTS ? ELEMENTS / n : 1; }
static int64_t all_rows(const lg_call *c) { return lg_slot_size(c->out) / lg_slot_size(c->in[1]); }

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t n = lg_slot_size(c->in[1]), rows = all_rows(c), per = tile_rows(n), end = (tile + 1) * per;
  for (int64_t i = tile * per; i < rows && i < end; i++) {
    if (c->dtype == LG_F32)
      lg_k_add_f32((float *)c->out->data + i * n, (const float *)c->in[0]->data + i * n, c->in[1]->data, n);
    else
      lg_k_add_f64((double *)c->out->data + i * n, (const double *)c->in[0]->data + i * n, c->in[1]->data, n);
  }
}

static lg_status forward(const lg_call *c) {
  int64_t per = tile_rows(lg_slot_size(c->in[1]));
  lg_parallel((all_rows(c) + per - 1) / per, forward_tile, (void *)c);
  return LG_OK;
}

static lg_slot as_rows(const lg_slot *x, int64_t n) {
  return (lg_slot){.data = x->data, .dtype = x->dtype, .rank = 2, .shape = {lg_slot_size(x) / n, n}};
}

static void column_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  lg_slot dout = as_rows(c->dout, lg_slot_size(c->in[1]));
  lg_column_sum_tile(c->din[1], &dout, c->acc[1], tile);
}

static lg_status backward(const lg_call *c) {
  lg_slot dout = as_rows(c->dout, lg_slot_size(c->in[1]));
  /* Input 0 first: where both are one node, din[1] adds to what din[0] began. In place this moves nothing. */
  if (c->din[0]) lg_op_accumulate(c->din[0], c->dout, c->acc[0]);
  if (c->din[1]) lg_parallel(lg_column_sum_tiles(&dout), column_tile, (void *)c);
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
