/* op_dropout.c: inverted dropout. The mask is never stored: bit i of it is f(seed, step, node, i), computed again in
 * backward (Philox, src/core/rng.h), so that it replays for any number of threads and after a resume. */
#include "../core/rng.h"
#include "../core/threads.h"
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

typedef struct dropout_run {
  const lg_call *c;
  char *out; /* elements of the graph's dtype */
  const char *in;
  int acc;
} dropout_run;

static void tile_run(void *context, int64_t tile) {
  const dropout_run *r = context;
  const lg_call *c = r->c;
  int64_t at = tile * TILE, end = lg_slot_size(c->out);
  if (end > at + TILE) end = at + TILE;
  double p = c->attr[0], scale = 1 / (1 - p);
  uint64_t stream = lg_stream(LG_STREAM_DROPOUT, (uint32_t)c->node);
  for (int64_t i = at; i < end; i += 4) {
    uint32_t word[4];
    lg_philox(word, c->seed, stream, c->step << 32 | (uint64_t)(i / 4));
    for (int64_t k = i; k < i + 4 && k < end; k++) {
      double keep = word[k - i] * 0x1p-32 >= p ? scale : 0;
      if (c->dtype == LG_F32) {
        float v = keep > 0 ? ((const float *)r->in)[k] * (float)keep : 0, *to = (float *)r->out + k;
        *to = r->acc ? *to + v : v;
      } else {
        double v = keep > 0 ? ((const double *)r->in)[k] * keep : 0, *to = (double *)r->out + k;
        *to = r->acc ? *to + v : v;
      }
    }
  }
}

static lg_status forward(const lg_call *c) {
  if (!c->training || c->attr[0] == 0) {
    lg_op_accumulate(c->out, c->in[0], 0);
    return LG_OK;
  }
  dropout_run r = {c, c->out->data, c->in[0]->data, 0};
  lg_parallel((lg_slot_size(c->out) + TILE - 1) / TILE, tile_run, &r);
  return LG_OK;
}

static lg_status backward(const lg_call *c) {
  if (!c->din[0]) return LG_OK;
  if (!c->training || c->attr[0] == 0) {
    lg_op_accumulate(c->din[0], c->dout, c->acc[0]);
    return LG_OK;
  }
  dropout_run r = {c, c->din[0]->data, c->dout->data, c->acc[0]};
  lg_parallel((lg_slot_size(c->out) + TILE - 1) / TILE, tile_run, &r);
  return LG_OK;
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
