/* op_attention.c: multi-head attention (Vaswani et al. 2017, arXiv:1706.03762) over packed projections: x[B, t, 3·d]
 * holds q, k and v of each token, one after another, each of them its heads one after another; → [B, t, d]. Softmax of
 * q·kᵀ/√(d/heads) over the keys that a query may see: all, with causal those up to its own, with lengths i32[B] the
 * first so many of its sequence. Dropout acts on the softmax's results.
 * One head of one sequence is one unit of work; a fixed number of shares goes through them, each with its own scratch.
 */
#include "../core/rng.h"
#include "../core/threads.h"
#include "../kernels/gemm.h"
#include "../kernels/softmax.h"
#include "op_list.h"
#include <math.h>

enum { HEADS, CAUSAL, DROPOUT };
static const lg_attr attrs[] = {
    {"heads", 1, 1, 65536, "how many parts of d attend on their own"},
    {"causal", 0, 0, 1, "1: no token sees those behind it"},
    {"dropout", 0, 0, 0.999999, "probability that an attention weight becomes 0 in training"},
    {NULL, 0, 0, 0, NULL},
};
enum { BLOCK = 64, SHARES = 16 }; /* rows of queries at a time; fixed, so that bits do not depend on threads */

/* A short sequence is one block: 65 tokens would otherwise leave a block of one row, whose products are slow. */
static int64_t block_rows(int64_t t) { return t <= BLOCK + BLOCK / 2 ? t : BLOCK; }

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_whole(c, HEADS, "heads"));
  LG_TRY(lg_need_whole(c, CAUSAL, "causal"));
  const lg_slot *x = c->in[0];
  int64_t heads = (int64_t)c->attr[HEADS];
  char s[160], t[160];
  if (x->rank != 3 || x->shape[2] % 3)
    return lg_fail(LG_ESHAPE, "x is %s, expected q, k and v side by side: [batch, tokens, 3·d]",
                   lg_slot_text(s, sizeof s, x));
  if (x->shape[2] / 3 % heads)
    return lg_fail(LG_ESHAPE, "%s has %lld of q, which %lld heads do not divide", lg_slot_text(s, sizeof s, x),
                   (long long)x->shape[2] / 3, (long long)heads);
  if (c->n_in > 1) {
    LG_TRY(lg_need_dtype(c, 1, LG_I32));
    if (c->in[1]->rank != 1 || c->in[1]->shape[0] != x->shape[0])
      return lg_fail(LG_ESHAPE, "lengths are %s, expected one for each sequence of %s",
                     lg_slot_text(t, sizeof t, c->in[1]), lg_slot_text(s, sizeof s, x));
  }
  lg_slot_like(c->out, x);
  c->out->shape[2] = x->shape[2] / 3;
  return LG_OK;
}

/* One head of one sequence. Offsets and steps in elements. */
typedef struct head {
  const lg_call *c;
  int64_t t, n, d, dh, row, block; /* tokens, keys to be seen, width of all heads, of one, from token to token of x */
  int64_t at, out_at;              /* where its q begins in x, and its output */
  int64_t first_row;               /* number of its first row among those of the call */
  int causal;
  double scale, drop;
  uint64_t stream;
} head;

static head head_of(const lg_call *c, int64_t unit) {
  int64_t heads = (int64_t)c->attr[HEADS], sequence = unit / heads, number = unit % heads;
  head h = {.c = c, .t = c->in[0]->shape[1], .d = c->out->shape[2], .causal = c->attr[CAUSAL] != 0};
  h.block = block_rows(h.t);
  h.n = c->n_in > 1 ? ((const int32_t *)c->in[1]->data)[sequence] : h.t;
  h.dh = h.d / heads;
  h.row = 3 * h.d;
  h.at = sequence * h.t * h.row + number * h.dh;
  h.out_at = sequence * h.t * h.d + number * h.dh;
  h.first_row = unit * h.t;
  h.scale = 1 / sqrt((double)h.dh);
  h.drop = c->training ? c->attr[DROPOUT] : 0;
  h.stream = lg_stream(LG_STREAM_DROPOUT, (uint32_t)c->node);
  return h;
}

#define REAL float
#define NAME(x) x##_f32
#define GEMM lg_k_gemm_f32
#define SOFTMAX_ROW lg_k_softmax_row_f32
#define SOFTMAX_AGAIN lg_k_softmax_again_f32
#define SOFTMAX_GRAD lg_k_softmax_grad_f32
#include "attention_head.h"
#undef REAL
#undef NAME
#undef GEMM
#undef SOFTMAX_ROW
#undef SOFTMAX_AGAIN
#undef SOFTMAX_GRAD
#define REAL double
#define NAME(x) x##_f64
#define GEMM lg_k_gemm_f64
#define SOFTMAX_ROW lg_k_softmax_row_f64
#define SOFTMAX_AGAIN lg_k_softmax_again_f64
#define SOFTMAX_GRAD lg_k_softmax_grad_f64
#include "attention_head.h"

static int64_t units(const lg_call *c) { return c->in[0]->shape[0] * (int64_t)c->attr[HEADS]; }
static int64_t shares(const lg_call *c) { return units(c) < SHARES ? units(c) : SHARES; }

static void forward_share(void *context, int64_t share) {
  const lg_call *c = context;
  int64_t block = block_rows(c->in[0]->shape[1]) * c->in[0]->shape[1];
  for (int64_t unit = share; unit < units(c); unit += SHARES) {
    head h = head_of(c, unit);
    if (c->dtype == LG_F32)
      forward_f32(&h, (float *)c->work + share * block);
    else
      forward_f64(&h, (double *)c->work + share * block);
  }
}

static lg_status forward(const lg_call *c) {
  const int32_t *lengths = c->n_in > 1 ? c->in[1]->data : NULL;
  int64_t t = c->in[0]->shape[1];
  for (int64_t i = 0; lengths && i < c->in[1]->shape[0]; i++)
    if (lengths[i] < 1 || lengths[i] > t)
      return lg_fail(LG_EARG, "length %d of sequence %lld is outside 1..%lld", lengths[i], (long long)i, (long long)t);
  lg_parallel(shares(c), forward_share, (void *)c);
  return LG_OK;
}

static void backward_share(void *context, int64_t share) {
  const lg_call *c = context;
  int64_t block = block_rows(c->in[0]->shape[1]) * c->in[0]->shape[1];
  for (int64_t unit = share; unit < units(c); unit += SHARES) {
    head h = head_of(c, unit);
    if (c->dtype == LG_F32)
      backward_f32(&h, (float *)c->work + 2 * share * block, (float *)c->work + (2 * share + 1) * block);
    else
      backward_f64(&h, (double *)c->work + 2 * share * block, (double *)c->work + (2 * share + 1) * block);
  }
}

static lg_status backward(const lg_call *c) {
  if (c->din[0]) lg_parallel(shares(c), backward_share, (void *)c);
  return LG_OK;
}

static size_t saved_bytes(const lg_call *c) {
  return 2 * (size_t)units(c) * (size_t)c->in[0]->shape[1] * (size_t)lg_dtype_bytes(c->dtype);
}
static size_t work_bytes(const lg_call *c, int backward) {
  return (backward ? 2 : 1) * (size_t)shares(c) * (size_t)block_rows(c->in[0]->shape[1]) * (size_t)c->in[0]->shape[1] *
         (size_t)lg_dtype_bytes(c->dtype);
}
/* Both products, and an exp a weight; half of it where only earlier keys are seen. */
static double flops(const lg_call *c) {
  double weights = (double)units(c) * (double)c->in[0]->shape[1] * (double)c->in[0]->shape[1];
  return weights * (4.0 * (double)c->out->shape[2] / c->attr[HEADS] + 20) * (c->attr[CAUSAL] != 0 ? 0.5 : 1);
}

const lg_op lg_op_attention = {
    .min_inputs = 1,
    .max_inputs = 2,
    .attrs = attrs,
    .reads = 1u << 0 | 1u << 1 | LG_READ_OUT,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .saved_bytes = saved_bytes,
    .work_bytes = work_bytes,
    .flops = flops,
};
