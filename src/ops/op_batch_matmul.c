/* op_batch_matmul.c: products of matrices a[…, m, k] · b[…, k, n] → […, m, n] with equal leading dimensions; either one
 * may be taken transposed. One product is one tile. */
#include "../core/threads.h"
#include "../kernels/gemm.h"
#include "op_list.h"

enum { TRANSPOSE_A, TRANSPOSE_B };
static const lg_attr attrs[] = {
    {"transpose_a", 0, 0, 1, "1: a is given as […, k, m]"},
    {"transpose_b", 0, 0, 1, "1: b is given as […, n, k]"},
    {NULL, 0, 0, 0, NULL},
};

static lg_status infer(const lg_call *c) {
  for (int32_t i = 0; i < 2; i++) {
    LG_TRY(lg_need_float(c, i));
    LG_TRY(lg_need_whole(c, i, attrs[i].name));
  }
  const lg_slot *a = c->in[0], *b = c->in[1];
  int ta = c->attr[TRANSPOSE_A] != 0, tb = c->attr[TRANSPOSE_B] != 0;
  int32_t r = a->rank;
  int fits = r >= 2 && b->rank == r && a->shape[r - 1 - ta] == b->shape[r - 2 + tb];
  for (int32_t i = 0; fits && i < r - 2; i++) fits = a->shape[i] == b->shape[i];
  if (!fits) {
    char s[160], t[160];
    return lg_fail(LG_ESHAPE, "%s%s and %s%s are no matrices that can be multiplied one by one",
                   lg_slot_text(s, sizeof s, a), ta ? " transposed" : "", lg_slot_text(t, sizeof t, b),
                   tb ? " transposed" : "");
  }
  lg_slot_like(c->out, a);
  c->out->shape[r - 2] = a->shape[r - 2 + ta];
  c->out->shape[r - 1] = b->shape[r - 1 - tb];
  return LG_OK;
}

/* z[m, n] (+)= op(x)·op(y) of matrix i, sizes of what is stored: op is a transpose where t is 1. */
static void product(const lg_slot *z, const lg_slot *x, const lg_slot *y, int tx, int ty, int acc, int64_t i) {
  int32_t r = z->rank;
  int64_t m = z->shape[r - 2], n = z->shape[r - 1], k = x->shape[r - 1 - tx];
  int64_t ldx = x->shape[r - 1], ldy = y->shape[r - 1];
  if (z->dtype == LG_F32)
    lg_k_gemm_f32((float *)z->data + i * m * n, (const float *)x->data + i * m * k, (const float *)y->data + i * k * n,
                  m, n, k, ldx, ldy, n, tx, ty, 1, acc ? 1 : 0);
  else
    lg_k_gemm_f64((double *)z->data + i * m * n, (const double *)x->data + i * m * k,
                  (const double *)y->data + i * k * n, m, n, k, ldx, ldy, n, tx, ty, 1, acc ? 1 : 0);
}

static void forward_tile(void *context, int64_t i) {
  const lg_call *c = context;
  product(c->out, c->in[0], c->in[1], c->attr[TRANSPOSE_A] != 0, c->attr[TRANSPOSE_B] != 0, 0, i);
}

static lg_status forward(const lg_call *c) {
  lg_parallel(lg_slot_rows(c->out, 2), forward_tile, (void *)c);
  return LG_OK;
}

/* da = dy·op(b)ᵀ, transposed as a is; db = op(a)ᵀ·dy likewise. In this order: both inputs may be one node. */
static void backward_tile(void *context, int64_t i) {
  const lg_call *c = context;
  int ta = c->attr[TRANSPOSE_A] != 0, tb = c->attr[TRANSPOSE_B] != 0;
  if (c->din[0] && !ta) product(c->din[0], c->dout, c->in[1], 0, !tb, c->acc[0], i);
  if (c->din[0] && ta) product(c->din[0], c->in[1], c->dout, tb, 1, c->acc[0], i);
  if (c->din[1] && !tb) product(c->din[1], c->in[0], c->dout, !ta, 0, c->acc[1], i);
  if (c->din[1] && tb) product(c->din[1], c->dout, c->in[0], 1, ta, c->acc[1], i);
}

static lg_status backward(const lg_call *c) {
  lg_parallel(lg_slot_rows(c->out, 2), backward_tile, (void *)c);
  return LG_OK;
}

static double flops(const lg_call *c) {
  const lg_slot *a = c->in[0];
  return 2.0 * (double)lg_slot_size(c->out) * (double)a->shape[a->rank - 1 - (c->attr[TRANSPOSE_A] != 0)];
}

const lg_op lg_op_batch_matmul = {
    .min_inputs = 2,
    .max_inputs = 2,
    .attrs = attrs,
    .reads = 1u << 0 | 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .flops = flops,
};
