/* op_channels_last.c: [batch, channels, height, width], as data sets give images, → [batch, height, width, channels],
 * as convolutions compute with them. Its place is in front of a model. */
#include "../core/threads.h"
#include "op_list.h"

enum { BLOCK = 16 }; /* a square of it is in the first-level cache on both sides */

static lg_status infer(const lg_call *c) {
  const lg_slot *x = c->in[0];
  char text[160];
  LG_TRY(lg_need_float(c, 0));
  if (x->rank != 4)
    return lg_fail(LG_ESHAPE, "%s: expected images [batch, channels, height, width]",
                   lg_slot_text(text, sizeof text, x));
  c->out->dtype = x->dtype;
  c->out->rank = 4;
  c->out->shape[0] = x->shape[0];
  c->out->shape[1] = x->shape[2];
  c->out->shape[2] = x->shape[3];
  c->out->shape[3] = x->shape[1];
  return LG_OK;
}

/* to[columns, rows] (+)= from[rows, columns]ᵀ of one image. */
#define TRANSPOSE(REAL)                                                                                                \
  static void transpose_##REAL(REAL *to, const REAL *from, int64_t rows, int64_t columns, int acc) {                   \
    for (int64_t i0 = 0; i0 < rows; i0 += BLOCK)                                                                       \
      for (int64_t j0 = 0; j0 < columns; j0 += BLOCK)                                                                  \
        for (int64_t j = j0; j < columns && j < j0 + BLOCK; j++)                                                       \
          for (int64_t i = i0; i < rows && i < i0 + BLOCK; i++) {                                                      \
            const REAL v = from[i * columns + j];                                                                      \
            to[j * rows + i] = acc ? to[j * rows + i] + v : v;                                                         \
          }                                                                                                            \
  }
TRANSPOSE(float)
TRANSPOSE(double)

typedef struct images {
  void *to;
  const void *from;
  int64_t rows, columns;
  int32_t dtype;
  int acc;
} images;

static void image_tile(void *context, int64_t image) {
  const images *t = context;
  const int64_t at = image * t->rows * t->columns;
  if (t->dtype == LG_F32)
    transpose_float((float *)t->to + at, (const float *)t->from + at, t->rows, t->columns, t->acc);
  else
    transpose_double((double *)t->to + at, (const double *)t->from + at, t->rows, t->columns, t->acc);
}

static lg_status forward(const lg_call *c) {
  const int64_t *s = c->in[0]->shape;
  images t = {c->out->data, c->in[0]->data, s[1], s[2] * s[3], c->dtype, 0};
  lg_parallel(s[0], image_tile, &t);
  return LG_OK;
}

static lg_status backward(const lg_call *c) {
  const int64_t *s = c->in[0]->shape;
  if (!c->din[0]) return LG_OK;
  images t = {c->din[0]->data, c->dout->data, s[2] * s[3], s[1], c->dtype, c->acc[0]};
  lg_parallel(s[0], image_tile, &t);
  return LG_OK;
}

const lg_op lg_op_channels_last = {
    .min_inputs = 1, .max_inputs = 1, .infer = infer, .forward = forward, .backward = backward};
