/* op.c: the op table, expanded from op_list.h, its public queries, and what ops share when they check inputs. */
#include "op_list.h"
#include "../core/lists.h"
#include "../core/threads.h"
#include "../kernels/elementwise.h"
#include <math.h>
#include <string.h>

static const lg_op *const ops[] = {
#define X(name, doc) &lg_op_##name,
    LG_OP_LIST(X)
#undef X
};
static const char *const names[] = {
#define X(name, doc) #name,
    LG_OP_LIST(X)
#undef X
};

static const char *const docs[] = {
#define X(name, doc) doc,
    LG_OP_LIST(X)
#undef X
};
const lg_list lg_list_op = {"op", names, docs, LG_OP_COUNT};

const lg_op *lg_op_get(int32_t op) { return op >= 0 && op < LG_OP_COUNT ? ops[op] : NULL; }

static const lg_attr *attr_at(int32_t op, int32_t index) {
  const lg_op *o = lg_op_get(op);
  if (!o || !o->attrs || index < 0) return NULL;
  for (int32_t i = 0; o->attrs[i].name; i++)
    if (i == index) return &o->attrs[i];
  return NULL;
}

const char *lg_op_attr_name(int32_t op, int32_t index) {
  const lg_attr *a = attr_at(op, index);
  return a ? a->name : NULL;
}

const char *lg_op_attr_doc(int32_t op, int32_t index) {
  const lg_attr *a = attr_at(op, index);
  return a ? a->doc : NULL;
}

lg_status lg_op_attr_range(double *dflt, double *min, double *max, int32_t op, int32_t index) {
  const lg_attr *a = attr_at(op, index);
  if (!a) return lg_fail(LG_EMISSING, "op %d has no attribute %d", op, index);
  if (!dflt || !min || !max) return lg_fail(LG_EARG, "a result pointer is NULL");
  *dflt = a->dflt;
  *min = a->min;
  *max = a->max;
  return LG_OK;
}

lg_status lg_op_arity(int32_t *min_inputs, int32_t *max_inputs, int32_t op) {
  const lg_op *o = lg_op_get(op);
  if (!o) return lg_fail(LG_EMISSING, "op %d is none of the list", op);
  if (!min_inputs || !max_inputs) return lg_fail(LG_EARG, "a result pointer is NULL");
  *min_inputs = o->min_inputs;
  *max_inputs = o->max_inputs;
  return LG_OK;
}

const char *lg_op_no_grad(int32_t op) {
  const lg_op *o = lg_op_get(op);
  return o ? o->no_grad : NULL;
}

char *lg_slot_text(char *text, size_t bytes, const lg_slot *s) {
  int64_t shape[LG_MAX_RANK];
  for (int32_t i = 0; i < s->rank; i++) shape[i] = s->shape[i] == LG_BATCH_PROBE ? -1 : s->shape[i];
  return lg_shape_text(text, bytes, s->dtype, s->rank, shape);
}

lg_status lg_need_dtype(const lg_call *c, int32_t i, int32_t dtype) {
  char text[128];
  if (c->in[i]->dtype == dtype) return LG_OK;
  return lg_fail(LG_EDTYPE, "input %d is %s, expected %s", i + 1, lg_slot_text(text, sizeof text, c->in[i]),
                 lg_dtype_name(dtype));
}

lg_status lg_need_float(const lg_call *c, int32_t i) { return lg_need_dtype(c, i, c->dtype); }

lg_status lg_need_whole(const lg_call *c, int32_t i, const char *name) {
  if (c->attr[i] == floor(c->attr[i])) return LG_OK;
  return lg_fail(LG_EARG, "%s = %g must be a whole number", name, c->attr[i]);
}

static int same_dims(const lg_slot *a, const lg_slot *b, int32_t rank) {
  return memcmp(a->shape, b->shape, sizeof(int64_t) * (size_t)rank) == 0;
}

lg_status lg_need_equal(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_float(c, 1));
  const lg_slot *a = c->in[0], *b = c->in[1];
  char s[160], t[160];
  if (a->rank == b->rank && same_dims(a, b, a->rank)) return LG_OK;
  return lg_fail(LG_ESHAPE, "%s and %s must have equal shapes", lg_slot_text(s, sizeof s, a),
                 lg_slot_text(t, sizeof t, b));
}

lg_status lg_need_labels(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_dtype(c, 1, LG_I32));
  const lg_slot *x = c->in[0], *y = c->in[1];
  char s[160], t[160];
  if (x->rank == y->rank + 1 && same_dims(x, y, y->rank)) return LG_OK;
  return lg_fail(LG_ESHAPE, "labels %s do not fit logits %s", lg_slot_text(t, sizeof t, y),
                 lg_slot_text(s, sizeof s, x));
}

enum { TILE = 16384 }; /* elements */
typedef struct accumulate {
  char *dst;
  const char *src;
  int64_t n;
  int32_t dtype;
  int acc;
} accumulate;

static void accumulate_tile(void *context, int64_t tile) {
  const accumulate *a = context;
  int64_t at = tile * TILE, n = a->n - at < TILE ? a->n - at : TILE, width = lg_dtype_bytes(a->dtype);
  char *dst = a->dst + at * width;
  const char *src = a->src + at * width;
  if (!a->acc)
    memcpy(dst, src, (size_t)(n * width));
  else if (a->dtype == LG_F32)
    lg_k_add_f32((float *)dst, (const float *)dst, (const float *)src, n);
  else
    lg_k_add_f64((double *)dst, (const double *)dst, (const double *)src, n);
}

void lg_op_accumulate(const lg_slot *dst, const lg_slot *src, int acc) {
  if (dst->data == src->data && !acc) return;
  accumulate a = {dst->data, src->data, lg_slot_size(dst), dst->dtype, acc};
  lg_parallel((a.n + TILE - 1) / TILE, accumulate_tile, &a);
}
