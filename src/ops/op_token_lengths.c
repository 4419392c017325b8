/* op_token_lengths.c: how many tokens of each sequence count: ids i32[B, t] → i32[B], all up to the last one that is
 * not `pad`, and 1 where there is none, as attention needs a key. */
#include "op_list.h"

static const lg_attr attrs[] = {
    {"pad", 0, 0, 2147483647, "id that fills a sequence up"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_dtype(c, 0, LG_I32));
  LG_TRY(lg_need_whole(c, 0, "pad"));
  if (c->in[0]->rank != 2) {
    char text[160];
    return lg_fail(LG_ESHAPE, "ids are %s, expected [batch, tokens]", lg_slot_text(text, sizeof text, c->in[0]));
  }
  c->out->dtype = LG_I32;
  c->out->rank = 1;
  c->out->shape[0] = c->in[0]->shape[0];
  return LG_OK;
}

static lg_status forward(const lg_call *c) {
  int64_t t = c->in[0]->shape[1];
  for (int64_t row = 0; row < c->in[0]->shape[0]; row++) {
    const int32_t *ids = (const int32_t *)c->in[0]->data + row * t;
    int64_t n = t;
    while (n > 1 && ids[n - 1] == (int32_t)c->attr[0]) n--;
    ((int32_t *)c->out->data)[row] = (int32_t)n;
  }
  return LG_OK;
}

const lg_op lg_op_token_lengths = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = attrs,
    .no_grad = "lengths are integers",
    .infer = infer,
    .forward = forward,
};
