/* op_reshape.c: the same elements, in C order, in another shape; no memory is moved. */
#include "op_list.h"

/* Attributes: rank, then the dimensions; -1 for at most one of them takes what is left (the batch, usually). */
static const lg_attr attrs[] = {
    {"rank", 1, 0, LG_MAX_RANK, "number of dimensions of the result"},
    {"d0", -1, -1, 1e15, "dimension 0; -1: whatever is left"},
    {"d1", 1, -1, 1e15, "dimension 1"},
    {"d2", 1, -1, 1e15, "dimension 2"},
    {"d3", 1, -1, 1e15, "dimension 3"},
    {"d4", 1, -1, 1e15, "dimension 4"},
    {"d5", 1, -1, 1e15, "dimension 5"},
    {"d6", 1, -1, 1e15, "dimension 6"},
    {"d7", 1, -1, 1e15, "dimension 7"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_whole(c, 0, "rank"));
  int64_t size = lg_slot_size(c->in[0]), known = 1, shape[LG_MAX_RANK];
  int32_t rank = (int32_t)c->attr[0], open = -1;
  for (int32_t i = 0; i < rank; i++) {
    shape[i] = (int64_t)c->attr[1 + i];
    int bad = shape[i] == 0 || (double)shape[i] != c->attr[1 + i] || (shape[i] < 0 && open >= 0);
    if (!bad && shape[i] < 0) open = i;
    if (bad || (shape[i] > 0 && __builtin_mul_overflow(known, shape[i], &known)))
      return lg_fail(LG_ESHAPE, "dimension %d is %g: expected whole numbers from 1 on, and -1 at most once", i + 1,
                     c->attr[1 + i]);
  }
  if (open >= 0) shape[open] = size / known;
  if (open >= 0 ? size % known != 0 : size != known) {
    char from[160], to[160];
    for (int32_t i = 0; i < rank; i++) shape[i] = (int64_t)c->attr[1 + i];
    return lg_fail(LG_ESHAPE, "cannot reshape %s into %s", lg_slot_text(from, sizeof from, c->in[0]),
                   lg_shape_text(to, sizeof to, -1, rank, shape));
  }
  c->out->dtype = c->in[0]->dtype;
  c->out->rank = rank;
  for (int32_t i = 0; i < rank; i++) c->out->shape[i] = shape[i];
  return LG_OK;
}

const lg_op lg_op_reshape = {.min_inputs = 1, .max_inputs = 1, .attrs = attrs, .flags = LG_OP_ALIAS, .infer = infer};
