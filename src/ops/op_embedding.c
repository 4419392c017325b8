/* op_embedding.c: rows of a table: W[v, d], ids i32[…] → […, d]. Tied with an output layer by giving linear the same W.
 * Backward adds each id's gradient to its row, in the order of the ids; a tile is a block of columns, so no two tiles
 * write one place. */
#include "../core/threads.h"
#include "op_list.h"
#include <string.h>

enum { COLUMNS = 32, IDS = 64 }; /* of a tile in backward, in forward */

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_dtype(c, 1, LG_I32));
  const lg_slot *w = c->in[0], *ids = c->in[1];
  char text[160];
  if (w->rank != 2)
    return lg_fail(LG_ESHAPE, "the table is %s, expected [entries, width]", lg_slot_text(text, sizeof text, w));
  if (ids->rank + 1 > LG_MAX_RANK)
    return lg_fail(LG_ESHAPE, "ids are %s: too many dimensions", lg_slot_text(text, sizeof text, ids));
  lg_slot_like(c->out, ids);
  c->out->dtype = w->dtype;
  c->out->shape[c->out->rank++] = w->shape[1];
  return LG_OK;
}

static void forward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  const int32_t *ids = c->in[1]->data;
  int64_t count = lg_slot_size(c->in[1]), end = (tile + 1) * IDS;
  size_t row = (size_t)c->in[0]->shape[1] * (size_t)lg_dtype_bytes(c->dtype);
  for (int64_t i = tile * IDS; i < count && i < end; i++)
    memcpy((char *)c->out->data + (size_t)i * row, (const char *)c->in[0]->data + (size_t)ids[i] * row, row);
}

static lg_status forward(const lg_call *c) {
  const int32_t *ids = c->in[1]->data;
  int64_t count = lg_slot_size(c->in[1]), v = c->in[0]->shape[0];
  for (int64_t i = 0; i < count; i++)
    if (ids[i] < 0 || ids[i] >= v)
      return lg_fail(LG_EARG, "id %d at place %lld is outside 0..%lld, the entries of the table", ids[i], (long long)i,
                     (long long)v - 1);
  lg_parallel((count + IDS - 1) / IDS, forward_tile, (void *)c);
  return LG_OK;
}

static void backward_tile(void *context, int64_t tile) {
  const lg_call *c = context;
  const int32_t *ids = c->in[1]->data;
  int64_t v = c->in[0]->shape[0], d = c->in[0]->shape[1], count = lg_slot_size(c->in[1]), first = tile * COLUMNS;
  int64_t n = d - first < COLUMNS ? d - first : COLUMNS;
  if (c->dtype == LG_F32) {
    float *dw = (float *)c->din[0]->data + first;
    const float *dy = (const float *)c->dout->data + first;
    for (int64_t i = 0; !c->acc[0] && i < v; i++) memset(dw + i * d, 0, sizeof(float) * (size_t)n);
    for (int64_t i = 0; i < count; i++)
      for (int64_t k = 0; k < n; k++) dw[ids[i] * d + k] += dy[i * d + k];
  } else {
    double *dw = (double *)c->din[0]->data + first;
    const double *dy = (const double *)c->dout->data + first;
    for (int64_t i = 0; !c->acc[0] && i < v; i++) memset(dw + i * d, 0, sizeof(double) * (size_t)n);
    for (int64_t i = 0; i < count; i++)
      for (int64_t k = 0; k < n; k++) dw[ids[i] * d + k] += dy[i * d + k];
  }
}

static lg_status backward(const lg_call *c) {
  if (c->din[0]) lg_parallel((c->in[0]->shape[1] + COLUMNS - 1) / COLUMNS, backward_tile, (void *)c);
  return LG_OK;
}

const lg_op lg_op_embedding = {
    .min_inputs = 2,
    .max_inputs = 2,
    .reads = 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
};
