/* op_token_mean.c: the mean over the tokens that count: x[B, t, n], lengths i32[B] → [B, n]. Summed in float64. One
 * sequence is one tile. */
#include "../core/threads.h"
#include "op_list.h"

enum { X, LENGTHS };
enum { BLOCK = 64 }; /* columns summed at a time */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, X));
  LG_TRY(lg_need_dtype(c, LENGTHS, LG_I32));
  const lg_slot *x = c->in[X], *lengths = c->in[LENGTHS];
  if (x->rank != 3 || lengths->rank != 1 || lengths->shape[0] != x->shape[0]) {
    char s[160], l[160];
    return lg_fail(LG_ESHAPE, "lengths %s do not fit sequences %s: expected [batch] and [batch, tokens, n]",
                   lg_slot_text(l, sizeof l, lengths), lg_slot_text(s, sizeof s, x));
  }
  c->out->dtype = x->dtype;
  c->out->rank = 2;
  c->out->shape[0] = x->shape[0];
  c->out->shape[1] = x->shape[2];
  return LG_OK;
}

#define TILES(real)                                                                                                    \
  static void mean_##real(const lg_call *c, int64_t row) {                                                             \
    int64_t n = c->in[X]->shape[2], t = c->in[X]->shape[1], length = ((const int32_t *)c->in[LENGTHS]->data)[row];     \
    const real *x = (const real *)c->in[X]->data + row * t * n;                                                        \
    real *y = (real *)c->out->data + row * n;                                                                          \
    for (int64_t first = 0; first < n; first += BLOCK) {                                                               \
      int64_t count = n - first < BLOCK ? n - first : BLOCK;                                                           \
      double sum[BLOCK] = {0};                                                                                         \
      for (int64_t i = 0; i < length; i++)                                                                             \
        for (int64_t k = 0; k < count; k++) sum[k] += (double)x[i * n + first + k];                                    \
      for (int64_t k = 0; k < count; k++) y[first + k] = (real)(sum[k] / (double)length);                              \
    }                                                                                                                  \
  }                                                                                                                    \
  static void spread_##real(const lg_call *c, int64_t row) {                                                           \
    int64_t n = c->in[X]->shape[2], t = c->in[X]->shape[1], length = ((const int32_t *)c->in[LENGTHS]->data)[row];     \
    const real *dy = (const real *)c->dout->data + row * n;                                                            \
    real *dx = (real *)c->din[X]->data + row * t * n, share = 1 / (real)length;                                        \
    for (int64_t i = 0; i < t; i++)                                                                                    \
      for (int64_t k = 0; k < n; k++)                                                                                  \
        dx[i * n + k] = (c->acc[X] ? dx[i * n + k] : 0) + (i < length ? dy[k] * share : 0);                            \
  }
TILES(float)
TILES(double)

static void forward_tile(void *context, int64_t row) {
  const lg_call *c = context;
  if (c->dtype == LG_F32)
    mean_float(c, row);
  else
    mean_double(c, row);
}

static lg_status forward(const lg_call *c) {
  int64_t t = c->in[X]->shape[1], batch = c->in[X]->shape[0];
  const int32_t *lengths = c->in[LENGTHS]->data;
  for (int64_t i = 0; i < batch; i++)
    if (lengths[i] < 1 || lengths[i] > t)
      return lg_fail(LG_EARG, "length %d of sequence %lld is outside 1..%lld", lengths[i], (long long)i, (long long)t);
  lg_parallel(batch, forward_tile, (void *)c);
  return LG_OK;
}

static void backward_tile(void *context, int64_t row) {
  const lg_call *c = context;
  if (c->dtype == LG_F32)
    spread_float(c, row);
  else
    spread_double(c, row);
}

static lg_status backward(const lg_call *c) {
  if (c->din[X]) lg_parallel(c->in[X]->shape[0], backward_tile, (void *)c);
  return LG_OK;
}

static double flops(const lg_call *c) { return (double)lg_slot_size(c->in[X]); }

const lg_op lg_op_token_mean = {
    .min_inputs = 2,
    .max_inputs = 2,
    .reads = 1u << LENGTHS,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
