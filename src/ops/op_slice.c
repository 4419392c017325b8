/* op_slice.c: x[…, start … start+length-1, …] along one axis. */
#include "op_list.h"
#include <string.h>

enum { AXIS, START, LENGTH };
static const lg_attr attrs[] = {
    {"axis", 1, 0, LG_MAX_RANK - 1, "dimension that is cut, from 0"},
    {"start", 0, 0, 1e15, "first entry that stays, from 0"},
    {"length", 1, 1, 1e15, "how many stay"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  for (int32_t i = 0; i < 3; i++) LG_TRY(lg_need_whole(c, i, attrs[i].name));
  const lg_slot *x = c->in[0];
  int32_t axis = (int32_t)c->attr[AXIS];
  int64_t end = (int64_t)(c->attr[START] + c->attr[LENGTH]);
  char text[160];
  if (axis >= x->rank)
    return lg_fail(LG_ESHAPE, "axis %d of %s, which has none of that number", axis, lg_slot_text(text, sizeof text, x));
  if (end > x->shape[axis])
    return lg_fail(LG_ESHAPE, "entries %lld to %lld of axis %d of %s, which has %lld", (long long)c->attr[START],
                   (long long)end - 1, axis, lg_slot_text(text, sizeof text, x), (long long)x->shape[axis]);
  lg_slot_like(c->out, x);
  c->out->shape[axis] = (int64_t)c->attr[LENGTH];
  return LG_OK;
}

/* x as [outer, its axis, inner]: elements of one outer entry in x and in the slice, and how far in the slice begins. */
typedef struct cut {
  int64_t outer, whole, part, skip;
} cut;

static cut cut_of(const lg_call *c) {
  const lg_slot *x = c->in[0];
  int32_t axis = (int32_t)c->attr[AXIS];
  int64_t inner = 1;
  for (int32_t i = axis + 1; i < x->rank; i++) inner *= x->shape[i];
  return (cut){.outer = lg_slot_rows(x, x->rank - axis),
               .whole = x->shape[axis] * inner,
               .part = c->out->shape[axis] * inner,
               .skip = (int64_t)c->attr[START] * inner};
}

static lg_status forward(const lg_call *c) {
  cut s = cut_of(c);
  size_t size = (size_t)lg_dtype_bytes(c->dtype);
  for (int64_t i = 0; i < s.outer; i++)
    memcpy((char *)c->out->data + size * (size_t)(i * s.part),
           (const char *)c->in[0]->data + size * (size_t)(i * s.whole + s.skip), size * (size_t)s.part);
  return LG_OK;
}

#define BACKWARD(real)                                                                                                 \
  static void backward_##real(const lg_call *c, const cut *s) {                                                        \
    real *dx = c->din[0]->data;                                                                                        \
    const real *dy = c->dout->data;                                                                                    \
    if (!c->acc[0]) memset(dx, 0, sizeof(real) * (size_t)(s->outer * s->whole));                                       \
    for (int64_t i = 0; i < s->outer; i++)                                                                             \
      for (int64_t k = 0; k < s->part; k++) dx[i * s->whole + s->skip + k] += dy[i * s->part + k];                     \
  }
BACKWARD(float)
BACKWARD(double)

static lg_status backward(const lg_call *c) {
  cut s = cut_of(c);
  if (!c->din[0]) return LG_OK;
  if (c->dtype == LG_F32)
    backward_float(c, &s);
  else
    backward_double(c, &s);
  return LG_OK;
}

const lg_op lg_op_slice = {
    .min_inputs = 1,
    .max_inputs = 1,
    .attrs = attrs,
    .infer = infer,
    .forward = forward,
    .backward = backward,
};
