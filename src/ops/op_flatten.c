/* op_flatten.c: [a, b, c, …] → [a, b·c·…]: all dimensions from `axis` on become one; no memory is moved. */
#include "op_list.h"

static const lg_attr attrs[] = {
    {"axis", 1, 0, LG_MAX_RANK - 1, "first of the dimensions that become one, 0-based"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  int32_t axis = (int32_t)c->attr[0];
  const lg_slot *x = c->in[0];
  LG_TRY(lg_need_whole(c, 0, "axis"));
  if (axis > x->rank) {
    char text[160];
    return lg_fail(LG_ESHAPE, "axis = %g: expected at most the rank of %s", c->attr[0],
                   lg_slot_text(text, sizeof text, x));
  }
  lg_slot_like(c->out, x);
  c->out->rank = axis + 1;
  int64_t size = 1;
  for (int32_t i = axis; i < x->rank; i++) size *= x->shape[i];
  c->out->shape[axis] = size;
  return LG_OK;
}

const lg_op lg_op_flatten = {.min_inputs = 1, .max_inputs = 1, .attrs = attrs, .flags = LG_OP_ALIAS, .infer = infer};
