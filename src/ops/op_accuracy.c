/* op_accuracy.c: fraction of rows of logits[…, k] whose first largest entry is the label i32[…]. A row with a NaN is
 * wrong. */
#include "op_list.h"

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_labels(c));
  lg_slot_scalar(c->out, LG_F64);
  return LG_OK;
}

static int row_is_right(const lg_call *c, int64_t row, int64_t k) {
  int64_t best = 0;
  double top = 0;
  for (int64_t j = 0; j < k; j++) {
    int64_t i = row * k + j;
    double v = c->dtype == LG_F32 ? (double)((const float *)c->in[0]->data)[i] : ((const double *)c->in[0]->data)[i];
    if (v != v) return 0;
    if (j == 0 || v > top) {
      top = v;
      best = j;
    }
  }
  return best == ((const int32_t *)c->in[1]->data)[row];
}

static lg_status forward(const lg_call *c) {
  int64_t k = c->in[0]->shape[c->in[0]->rank - 1], rows = lg_slot_rows(c->in[0], 1), right = 0;
  for (int64_t i = 0; i < rows; i++) right += row_is_right(c, i, k);
  *(double *)c->out->data = (double)right / (double)rows;
  return LG_OK;
}

const lg_op lg_op_accuracy = {
    .min_inputs = 2,
    .max_inputs = 2,
    .no_grad = "a count of right answers is flat almost everywhere",
    .infer = infer,
    .forward = forward,
};
