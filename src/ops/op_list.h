/* op_list.h: the only list of ops. A line here, a file op_<name>.c beside it, tests/spec/ops/<name>_samples.lua. */
#ifndef LG_OP_LIST_H
#define LG_OP_LIST_H
#include "op.h"

#define LG_OP_LIST(X)                                                                                                  \
  X(linear, "x[…, k] · W[n, k]ᵀ (+ b[n]) → […, n]")                                                                    \
  X(conv2d, "convolution of x[B, h, w, ci] with w[co, kh, kw, ci/groups] (+ b[co])")                                   \
  X(channels_last, "images [B, c, h, w] → [B, h, w, c]")                                                               \
  X(bias, "x + b, b spread over the leading dimensions of x")                                                          \
  X(gate, "activation of x; λ-GELU takes s as its second input or a fixed λ")                                          \
  X(batch_norm, "x[…, n] normalized for each channel n by the batch's or the running statistics, · gamma + beta")      \
  X(layer_norm, "each row of x[…, n] with mean 0 and variance 1, · gamma[n] + beta[n]")                                \
  X(rms_norm, "each row of x[…, n] over the root of its mean square, · gamma[n]")                                      \
  X(attention, "multi-head attention over packed q, k and v: x[B, t, 3·d] (, lengths i32[B]) → [B, t, d]")             \
  X(embedding, "rows of a table: W[v, d], ids i32[…] → […, d]")                                                        \
  X(class_token, "a learned token in front of each sequence: x[B, t, n], token[n] → [B, t + 1, n]")                    \
  X(token_lengths, "tokens that count: ids i32[B, t] → i32[B], all up to the last that is not the padding")            \
  X(token_mean, "mean over the tokens that count: x[B, t, n], lengths i32[B] → [B, n]")                                \
  X(concat, "arrays one after another along an axis")                                                                  \
  X(slice, "entries start … start + length - 1 of an axis")                                                            \
  X(batch_matmul, "products a[…, m, k] · b[…, k, n] of matrices with equal leading dimensions")                        \
  X(mul, "a · b of equal shapes, element by element")                                                                  \
  X(max_pool, "largest of each window of x[B, H, W, C]; the first one of equals")                                      \
  X(avg_pool, "mean of each window of x[B, H, W, C]; padding counts as zeros")                                         \
  X(global_pool, "mean over height and width of x[B, H, W, C] → [B, C]")                                               \
  X(add, "a + b of equal shapes: residual sums")                                                                       \
  X(reshape, "the same elements in another shape")                                                                     \
  X(flatten, "all dimensions from an axis on become one")                                                              \
  X(dropout, "zeroes elements with probability p in training and scales the others by 1/(1-p)")                        \
  X(drop_rows, "zeroes rows of axis 0 with probability p in training and scales the others by 1/(1-p)")                \
  X(one_hot, "labels i32[…] → […, classes] of 0 and 1")                                                                \
  X(softmax_xent, "mean cross-entropy of softmax(logits[…, k]) against labels i32[…], a float64 scalar")               \
  X(mse, "mean of (x - y)², a float64 scalar")                                                                         \
  X(accuracy, "fraction of rows of logits[…, k] whose first largest entry is the label i32[…], a float64 scalar")

#define X(name, doc) extern const lg_op lg_op_##name;
LG_OP_LIST(X)
#undef X
enum {
#define X(name, doc) LG_OP_ID_##name,
  LG_OP_LIST(X)
#undef X
      LG_OP_COUNT
};
const lg_op *lg_op_get(int32_t op); /* NULL outside the list */
#endif
