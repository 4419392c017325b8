/* op_dropout.c: inverted dropout. The mask is never stored: bit i of it is f(seed, step, node, i), computed again in
 * backward (Philox, src/core/rng.h), so that it replays for any number of threads and after a resume. */
#include "../core/rng.h"
#include "drop.h"
#include "op_list.h"

static const lg_attr attrs[] = {
    {"p", 0.5, 0, 0.999999, "probability that an element becomes 0"},
    {NULL, 0, 0, 0, NULL},
};
enum { TILE = 8192 }; /* elements, a multiple of 4: one counter gives four numbers */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  lg_slot_like(c->out, c->in[0]);
  return LG_OK;
}

static void tile_run(void *context, int64_t tile) {
  const lg_drop *d = context;
  const lg_call *c = d->c;
  int64_t at = tile * TILE, end = lg_slot_size(c->out);
  if (end > at + TILE) end = at + TILE;
  uint64_t stream = lg_stream(LG_STREAM_DROPOUT, (uint32_t)c->node);
  for (int64_t i = at; i < end; i += 4) {
    uint32_t word[4];
    lg_philox(word, c->seed, stream, c->step << 32 | (uint64_t)(i / 4));
    for (int64_t k = i; k < i + 4 && k < end; k++) lg_drop_elements(d, k, k + 1, lg_drop_keep(d, word[k - i]));
  }
}

static int64_t tiles(const lg_call *c) { return (lg_slot_size(c->out) + TILE - 1) / TILE; }

static lg_status forward(const lg_call *c) { return lg_drop_run(c, c->out, c->in[0], 0, tiles(c), tile_run); }

static lg_status backward(const lg_call *c) {
  return c->din[0] ? lg_drop_run(c, c->din[0], c->dout, c->acc[0], tiles(c), tile_run) : LG_OK;
}

static double flops(const lg_call *c) { return 2.0 * (double)lg_slot_size(c->out); }

const lg_op lg_op_dropout = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = attrs,
    .flags = LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
