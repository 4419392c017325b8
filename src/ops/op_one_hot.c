/* op_one_hot.c: labels i32[…] → […, classes], 1 at the label and 0 elsewhere: the target of a squared-error loss. */
#include "op_list.h"

static const lg_attr attrs[] = {
    {"classes", 2, 1, 1e9, "length of the new last dimension"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_dtype(c, 0, LG_I32));
  LG_TRY(lg_need_whole(c, 0, "classes"));
  const lg_slot *y = c->in[0];
  if (y->rank == LG_MAX_RANK) return lg_fail(LG_ESHAPE, "labels have %d dimensions already", y->rank);
  lg_slot_like(c->out, y);
  c->out->dtype = c->dtype;
  c->out->shape[c->out->rank++] = (int64_t)c->attr[0];
  return LG_OK;
}

static lg_status forward(const lg_call *c) {
  int64_t k = (int64_t)c->attr[0], rows = lg_slot_size(c->in[0]);
  const int32_t *label = c->in[0]->data;
  for (int64_t i = 0; i < rows; i++) {
    if (label[i] < 0 || label[i] >= k)
      return lg_fail(LG_EARG, "label %d of row %lld is outside 0..%lld", label[i], (long long)i, (long long)k - 1);
    for (int64_t j = 0; j < k; j++)
      if (c->dtype == LG_F32)
        ((float *)c->out->data)[i * k + j] = j == label[i];
      else
        ((double *)c->out->data)[i * k + j] = j == label[i];
  }
  return LG_OK;
}

const lg_op lg_op_one_hot = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = attrs,
    .no_grad = "labels are integers",
    .infer = infer,
    .forward = forward,
};
