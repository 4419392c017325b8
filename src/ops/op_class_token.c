/* op_class_token.c: one learned token in front of every sequence: x[B, t, n], token[n] → [B, t + 1, n]. */
#include "../core/threads.h"
#include "op_list.h"
#include <string.h>

enum { X, TOKEN };

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, X));
  LG_TRY(lg_need_float(c, TOKEN));
  const lg_slot *x = c->in[X], *token = c->in[TOKEN];
  if (x->rank != 3 || token->rank != 1 || token->shape[0] != x->shape[2]) {
    char s[160], t[160];
    return lg_fail(LG_ESHAPE, "token %s does not fit sequences %s: expected [batch, length, n] and [n]",
                   lg_slot_text(t, sizeof t, token), lg_slot_text(s, sizeof s, x));
  }
  lg_slot_like(c->out, x);
  c->out->shape[1]++;
  return LG_OK;
}

static void forward_tile(void *context, int64_t row) {
  const lg_call *c = context;
  size_t n = (size_t)c->in[TOKEN]->shape[0] * (size_t)lg_dtype_bytes(c->dtype), t = (size_t)c->in[X]->shape[1];
  char *to = (char *)c->out->data + (size_t)row * (t + 1) * n;
  memcpy(to, c->in[TOKEN]->data, n);
  memcpy(to + n, (const char *)c->in[X]->data + (size_t)row * t * n, t * n);
}

static lg_status forward(const lg_call *c) {
  lg_parallel(c->in[X]->shape[0], forward_tile, (void *)c);
  return LG_OK;
}

#define BACKWARD(real)                                                                                                 \
  static void give_x_##real(const lg_call *c, int64_t row) {                                                           \
    int64_t n = c->in[X]->shape[2], t = c->in[X]->shape[1];                                                            \
    const real *dy = (const real *)c->dout->data + (row * (t + 1) + 1) * n;                                            \
    real *dx = (real *)c->din[X]->data + row * t * n;                                                                  \
    for (int64_t i = 0; i < t * n; i++) dx[i] = (c->acc[X] ? dx[i] : 0) + dy[i];                                       \
  }                                                                                                                    \
  static void give_token_##real(const lg_call *c) {                                                                    \
    int64_t n = c->in[X]->shape[2], t = c->in[X]->shape[1];                                                            \
    real *to = c->din[TOKEN]->data;                                                                                    \
    for (int64_t k = 0; k < n; k++) {                                                                                  \
      double sum = c->acc[TOKEN] ? (double)to[k] : 0;                                                                  \
      for (int64_t row = 0; row < c->in[X]->shape[0]; row++)                                                           \
        sum += (double)((const real *)c->dout->data)[row * (t + 1) * n + k];                                           \
      to[k] = (real)sum;                                                                                               \
    }                                                                                                                  \
  }
BACKWARD(float)
BACKWARD(double)

static void backward_tile(void *context, int64_t row) {
  const lg_call *c = context;
  if (c->dtype == LG_F32)
    give_x_float(c, row);
  else
    give_x_double(c, row);
}

static lg_status backward(const lg_call *c) {
  if (c->din[X]) lg_parallel(c->in[X]->shape[0], backward_tile, (void *)c);
  if (c->din[TOKEN] && c->dtype == LG_F32) give_token_float(c);
  if (c->din[TOKEN] && c->dtype == LG_F64) give_token_double(c);
  return LG_OK;
}

const lg_op lg_op_class_token = {
    .min_inputs = 2,
    .max_inputs = 2,
    .infer = infer,
    .forward = forward,
    .backward = backward,
};
