/* op.h: what an op is: shapes in, shape out, forward, backward, and what backward needs. Not the graph: an op sees only
 * one lg_call at a time and keeps no state of its own. Adding an op: src/ops/README.md.
 *
 * Gradients. forward writes out; backward writes (or, where acc[i] is set, adds to) the gradient of each input that is
 * wanted (din[i].data not NULL). Values that backward reads must stand in `reads`, or they may be gone by then. */
#ifndef LG_OP_H
#define LG_OP_H
#include "../core/status.h"
#include "../tensor/tensor.h"
#include <stddef.h>

enum { LG_MAX_INPUTS = 8, LG_MAX_ATTRS = 16, LG_MAX_STATS = 2 };
enum { LG_ROW_TILE = 32 };                 /* rows of a tile where ops work on rows together (lg_op.rows) */
enum { LG_READ_OUT = 1 << LG_MAX_INPUTS }; /* bit of lg_op.reads for the output; bit i is input i */

/* One array of a call. data is NULL during shape inference, and for gradients that nobody wants. */
typedef struct lg_slot {
  void *data;
  int32_t dtype, rank;
  int64_t shape[LG_MAX_RANK];
} lg_slot;

typedef struct lg_call {
  const char *name;                 /* the node's path in the model */
  int32_t n_in, node;               /* node: its number, which names its random stream */
  const lg_slot *in[LG_MAX_INPUTS]; /* values */
  lg_slot *din[LG_MAX_INPUTS];      /* gradients wanted, or NULL */
  int32_t acc[LG_MAX_INPUTS];       /* 1: add to din[i], 0: overwrite it */
  lg_slot *out;                     /* value */
  const lg_slot *dout;              /* gradient of the output */
  const double *attr;               /* the node's attributes, in the order of lg_op.attrs */
  double *stat;                     /* [LG_MAX_STATS] numbers that the op reports (λ, ∂L/∂λ) */
  void *saved;                      /* saved_bytes, kept from forward to backward */
  void *work;                       /* work_bytes, for the length of this call */
  int32_t dtype, training;          /* of the graph; training: 1 in mode 1 */
  uint64_t seed, step;
  /* Fusion (graph/fuse.c). epilogue: a gate, or behind a residual sum a normalization of rows, that this op computes as
   * well, or NULL; its call has s, attributes, output, and where absorbed the gradient of s. rows: of that
   * normalization (lg_op.rows). residual: what is added before that gate, or NULL, and its gradient.
   * An absorbing op's backward may write over dout, which nobody reads after it. */
  const struct lg_call *epilogue;
  void (*rows)(const struct lg_call *c, int64_t first, int64_t count);
  const lg_slot *residual;
  lg_slot *dresidual;
  int32_t acc_residual;
} lg_call;

typedef struct lg_attr {
  const char *name;
  double dflt, min, max;
  const char *doc;
} lg_attr;

enum {
  LG_OP_ALIAS = 1,        /* the output is input 0 seen in another shape: no forward, no backward, no memory */
  LG_OP_INPLACE = 2,      /* forward may write the output over input 0 */
  LG_OP_GRAD_INPLACE = 4, /* backward may write din[0] over dout */
  LG_OP_EPILOGUE = 8,     /* forward can compute a following gate (lg_call.epilogue) */
  LG_OP_ABSORB = 16,      /* forward and backward can compute a following residual sum and gate; dout is the gate's */
};

typedef struct lg_op {
  int32_t min_inputs, max_inputs;
  const lg_attr *attrs; /* ended by a NULL name; or NULL */
  int32_t flags;
  uint32_t reads;      /* what backward reads: inputs' values by bit, LG_READ_OUT */
  const char *no_grad; /* why there is no gradient; NULL when backward is there */
  /* Checks inputs and attributes, and fills out's dtype and shape. Called with data NULL. */
  lg_status (*infer)(const lg_call *c);
  lg_status (*forward)(const lg_call *c);
  lg_status (*backward)(const lg_call *c);
  /* Optional, for an op whose output's rows (the last dimension) each need the same row of input 0 and what is no op's
   * output: forward of some rows, from a multiple of LG_ROW_TILE on. A residual sum before it then computes it. */
  void (*rows)(const lg_call *c, int64_t first, int64_t count);
  /* Optional, for an op that costs little beside its output's memory: computes the output (an absorbed gate's, where
   * there is one) in backward, from what `reads` lists and what was saved. The same bits, and nothing else changes.
   * With it, the plan does not keep the output from forward to backward. */
  lg_status (*again)(const lg_call *c);
  /* Optional. Bytes kept from forward to backward, and of scratch for either call; FLOPs of forward. */
  size_t (*saved_bytes)(const lg_call *c);
  size_t (*work_bytes)(const lg_call *c, int backward);
  double (*flops)(const lg_call *c);
} lg_op;

/* Helpers for ops. */
static inline int64_t lg_slot_size(const lg_slot *s) {
  int64_t n = 1;
  for (int32_t i = 0; i < s->rank; i++) n *= s->shape[i];
  return n;
}
/* Product of all dimensions but the last `tail` ones. */
static inline int64_t lg_slot_rows(const lg_slot *s, int32_t tail) {
  int64_t n = 1;
  for (int32_t i = 0; i < s->rank - tail; i++) n *= s->shape[i];
  return n;
}
static inline void lg_slot_like(lg_slot *out, const lg_slot *in) {
  out->dtype = in->dtype;
  out->rank = in->rank;
  for (int32_t i = 0; i < in->rank; i++) out->shape[i] = in->shape[i];
}
static inline void lg_slot_scalar(lg_slot *out, int32_t dtype) {
  out->dtype = dtype;
  out->rank = 0;
}
/* "f32[batch, 784]" for errors. */
char *lg_slot_text(char *text, size_t bytes, const lg_slot *s);
/* Fails unless input i has the graph's dtype / the given rank at least. */
lg_status lg_need_float(const lg_call *c, int32_t i);
lg_status lg_need_dtype(const lg_call *c, int32_t i, int32_t dtype);
/* Fails unless attribute i, called name, is a whole number. */
lg_status lg_need_whole(const lg_call *c, int32_t i, const char *name);
/* Inputs 0 and 1 are floats of one shape; inputs 0 and 1 are logits[…, k] and labels i32[…]. */
lg_status lg_need_equal(const lg_call *c);
lg_status lg_need_labels(const lg_call *c);

/* dst = src, or dst += src when acc is 1: equal sizes and dtypes, in parallel. Nothing to do when they are one memory
 * and acc is 0. */
void lg_op_accumulate(const lg_slot *dst, const lg_slot *src, int acc);

/* While shapes are inferred before a run, the batch counts this many rows: a large prime, so that a dimension depends
 * on the batch exactly when it is divisible by it. */
enum { LG_BATCH_PROBE = 1000003 };
#endif
