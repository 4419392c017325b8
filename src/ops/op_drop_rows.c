/* op_drop_rows.c: stochastic depth (Huang, Sun, Liu, Sedra, Weinberger 2016): a whole row of axis 0 becomes 0 with
 * probability p in training, the others are scaled by 1/(1-p). The draw of a row is f(seed, step, node, row), made
 * again in backward. */
#include "../core/rng.h"
#include "drop.h"
#include "op_list.h"

static const lg_attr attrs[] = {
    {"p", 0.5, 0, 0.999999, "probability that a row becomes 0"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  if (c->in[0]->rank < 1) return lg_fail(LG_ESHAPE, "x is a scalar, which has no rows");
  lg_slot_like(c->out, c->in[0]);
  return LG_OK;
}

static void row_run(void *context, int64_t row) {
  const lg_drop *d = context;
  const lg_call *c = d->c;
  int64_t n = lg_slot_size(c->out) / c->out->shape[0];
  uint32_t word[4];
  lg_philox(word, c->seed, lg_stream(LG_STREAM_DROPOUT, (uint32_t)c->node), c->step << 32 | (uint64_t)row);
  lg_drop_elements(d, row * n, (row + 1) * n, lg_drop_keep(d, word[0]));
}

static lg_status forward(const lg_call *c) { return lg_drop_run(c, c->out, c->in[0], 0, c->out->shape[0], row_run); }

static lg_status backward(const lg_call *c) {
  return c->din[0] ? lg_drop_run(c, c->din[0], c->dout, c->acc[0], c->out->shape[0], row_run) : LG_OK;
}

static double flops(const lg_call *c) { return 2.0 * (double)lg_slot_size(c->out); }

const lg_op lg_op_drop_rows = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = attrs,
    .flags = LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
