/* op_softmax_xent.c: mean cross-entropy of softmax(logits[…, k]) against labels i32[…], with label smoothing ε: the
 * target is (1-ε) on the label plus ε/k everywhere, as in PyTorch. The probabilities are never stored: backward takes
 * them again from the logits and each row's log Σ exp, kept in float64. */
#include "../core/threads.h"
#include "op_list.h"
#include <math.h>

static const lg_attr attrs[] = {
    {"label_smoothing", 0, 0, 1, "ε: share of the target that is spread evenly over all classes"},
    {NULL, 0, 0, 0, NULL},
};
enum { ROWS = 64 }; /* of a tile */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_labels(c));
  lg_slot_scalar(c->out, LG_F64);
  return LG_OK;
}

static double logit(const lg_call *c, int64_t i) {
  return c->dtype == LG_F32 ? (double)((const float *)c->in[0]->data)[i] : ((const double *)c->in[0]->data)[i];
}

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t k = c->in[0]->shape[c->in[0]->rank - 1], rows = lg_slot_rows(c->in[0], 1), end = (tile + 1) * ROWS;
  const int32_t *label = c->in[1]->data;
  double smooth = c->attr[0], *lse = c->saved, *partial = (double *)c->work + tile;
  *partial = 0;
  for (int64_t i = tile * ROWS; i < rows && i < end; i++) {
    double max = -INFINITY, sum = 0, mean = 0;
    for (int64_t j = 0; j < k; j++) {
      double v = logit(c, i * k + j);
      max = v > max || isnan(v) ? v : max; /* a NaN stays */
      mean += v;
    }
    for (int64_t j = 0; j < k; j++) sum += exp(logit(c, i * k + j) - max);
    lse[i] = max + log(sum);
    *partial += lse[i] - (1 - smooth) * logit(c, i * k + label[i]) - (smooth > 0 ? smooth * mean / (double)k : 0);
  }
}

static lg_status forward(const lg_call *c) {
  int64_t k = c->in[0]->shape[c->in[0]->rank - 1], rows = lg_slot_rows(c->in[0], 1), tiles = (rows + ROWS - 1) / ROWS;
  const int32_t *label = c->in[1]->data;
  for (int64_t i = 0; i < rows; i++)
    if (label[i] < 0 || label[i] >= k)
      return lg_fail(LG_EARG, "label %d of row %lld is outside 0..%lld", label[i], (long long)i, (long long)k - 1);
  lg_parallel(tiles, forward_tile, (void *)c);
  double sum = 0;
  for (int64_t i = 0; i < tiles; i++) sum += ((double *)c->work)[i];
  *(double *)c->out->data = sum / (double)rows;
  return LG_OK;
}

static void backward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  int64_t k = c->in[0]->shape[c->in[0]->rank - 1], rows = lg_slot_rows(c->in[0], 1), end = (tile + 1) * ROWS;
  const int32_t *label = c->in[1]->data;
  const double *lse = c->saved, smooth = c->attr[0], scale = *(const double *)c->dout->data / (double)rows;
  for (int64_t i = tile * ROWS; i < rows && i < end; i++)
    for (int64_t j = 0; j < k; j++) {
      double target = (j == label[i] ? 1 - smooth : 0) + smooth / (double)k;
      double g = scale * (exp(logit(c, i * k + j) - lse[i]) - target);
      if (c->dtype == LG_F32) {
        float *to = (float *)c->din[0]->data + i * k + j;
        *to = c->acc[0] ? *to + (float)g : (float)g;
      } else {
        double *to = (double *)c->din[0]->data + i * k + j;
        *to = c->acc[0] ? *to + g : g;
      }
    }
}

static lg_status backward(const lg_call *c) {
  if (c->din[0]) lg_parallel((lg_slot_rows(c->in[0], 1) + ROWS - 1) / ROWS, backward_tile, (void *)c);
  return LG_OK;
}

static size_t saved_bytes(const lg_call *c) { return (size_t)lg_slot_rows(c->in[0], 1) * sizeof(double); }
static size_t work_bytes(const lg_call *c, int backward) {
  return backward ? 0 : (size_t)((lg_slot_rows(c->in[0], 1) + ROWS - 1) / ROWS) * sizeof(double);
}
static double flops(const lg_call *c) { return 20.0 * (double)lg_slot_size(c->in[0]); } /* about: an exp each */

const lg_op lg_op_softmax_xent = {
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = attrs,
    .reads = 1u << 0 | 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .saved_bytes = saved_bytes,
    .work_bytes = work_bytes,
    .flops = flops,
};
