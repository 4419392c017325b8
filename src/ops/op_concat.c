/* op_concat.c: arrays one after another along one axis; all other dimensions are equal. */
#include "op_list.h"
#include <string.h>

static const lg_attr attrs[] = {
    {"axis", 1, 0, LG_MAX_RANK - 1, "dimension along which they are joined, from 0"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_whole(c, 0, "axis"));
  const lg_slot *first = c->in[0];
  int32_t axis = (int32_t)c->attr[0];
  char s[160], t[160];
  for (int32_t i = 0; i < c->n_in; i++) LG_TRY(lg_need_float(c, i));
  if (axis >= first->rank)
    return lg_fail(LG_ESHAPE, "axis %d of %s, which has none of that number", axis, lg_slot_text(s, sizeof s, first));
  lg_slot_like(c->out, first);
  for (int32_t i = 1; i < c->n_in; i++) {
    const lg_slot *x = c->in[i];
    int fits = x->rank == first->rank;
    for (int32_t k = 0; fits && k < x->rank; k++) fits = k == axis || x->shape[k] == first->shape[k];
    if (!fits)
      return lg_fail(LG_ESHAPE, "%s and %s cannot be joined along axis %d", lg_slot_text(s, sizeof s, first),
                     lg_slot_text(t, sizeof t, x), axis);
    c->out->shape[axis] += x->shape[axis];
  }
  return LG_OK;
}

/* All of them as [outer, its axis and what is inside]; of the output, elements of one outer entry. */
static int64_t width(const lg_slot *x, const lg_call *c) {
  int64_t n = 1;
  for (int32_t i = (int32_t)c->attr[0]; i < x->rank; i++) n *= x->shape[i];
  return n;
}
static int64_t outer(const lg_call *c) { return lg_slot_rows(c->out, c->out->rank - (int32_t)c->attr[0]); }

static lg_status forward(const lg_call *c) {
  size_t size = (size_t)lg_dtype_bytes(c->dtype);
  int64_t whole = width(c->out, c), at = 0;
  for (int32_t i = 0; i < c->n_in; i++) {
    int64_t n = width(c->in[i], c);
    for (int64_t row = 0; row < outer(c); row++)
      memcpy((char *)c->out->data + size * (size_t)(row * whole + at),
             (const char *)c->in[i]->data + size * (size_t)(row * n), size * (size_t)n);
    at += n;
  }
  return LG_OK;
}

#define GIVE(real)                                                                                                     \
  static void give_##real(real *dx, const real *dy, int64_t rows, int64_t n, int64_t whole, int acc) {                 \
    for (int64_t row = 0; row < rows; row++)                                                                           \
      for (int64_t k = 0; k < n; k++) dx[row * n + k] = (acc ? dx[row * n + k] : 0) + dy[row * whole + k];             \
  }
GIVE(float)
GIVE(double)

static lg_status backward(const lg_call *c) {
  int64_t whole = width(c->out, c), at = 0;
  for (int32_t i = 0; i < c->n_in; i++) {
    int64_t n = width(c->in[i], c);
    if (c->din[i] && c->dtype == LG_F32)
      give_float(c->din[i]->data, (const float *)c->dout->data + at, outer(c), n, whole, c->acc[i]);
    else if (c->din[i])
      give_double(c->din[i]->data, (const double *)c->dout->data + at, outer(c), n, whole, c->acc[i]);
    at += n;
  }
  return LG_OK;
}

const lg_op lg_op_concat = {
    .min_inputs = 2,
    .max_inputs = LG_MAX_INPUTS,
    .attrs = attrs,
    .infer = infer,
    .forward = forward,
    .backward = backward,
};
