/* elementwise.h: out[i] = f(a[i], b[i]) over contiguous runs: the lists of binary and unary functions, their kernels
 * by dtype, and the typed ones that ops call directly. Not here: broadcasting, strides and threads (api/tensor_*.c).
 * out may be a or b themselves; other overlaps are the caller's fault. */
#ifndef LG_ELEMENTWISE_H
#define LG_ELEMENTWISE_H
#include <stdint.h>

/* X(id, name, kind, doc). ARITH keeps the common dtype of a and b (u8 with u8: i32, so that nothing wraps), PICK keeps
 * it even for u8, FLOAT gives a float, COMPARE gives u8 0 or 1. A NaN in min or max is the result; a comparison with
 * NaN is 0, except ne. */
#define LG_BINARY_LIST(X)                                                                                              \
  X(ADD, add, ARITH, "a + b")                                                                                          \
  X(SUB, sub, ARITH, "a - b")                                                                                          \
  X(MUL, mul, ARITH, "a * b")                                                                                          \
  X(DIV, div, FLOAT, "a / b, a float for integers too; x/0 as IEEE 754 has it")                                        \
  X(POW, pow, ARITH, "a to the power b; integers need b >= 0")                                                         \
  X(MIN, min, PICK, "the smaller of a and b")                                                                          \
  X(MAX, max, PICK, "the larger of a and b")                                                                           \
  X(EQ, eq, COMPARE, "a equals b")                                                                                     \
  X(NE, ne, COMPARE, "a differs from b")                                                                               \
  X(LT, lt, COMPARE, "a is less than b")                                                                               \
  X(LE, le, COMPARE, "a is at most b")                                                                                 \
  X(GT, gt, COMPARE, "a is greater than b")                                                                            \
  X(GE, ge, COMPARE, "a is at least b")

/* X(id, name, kind, doc). KEEP keeps the dtype (neg: u8 gives i32), FLOAT gives a float, TRUTH gives u8 0 or 1. */
#define LG_UNARY_LIST(X)                                                                                               \
  X(NEG, neg, KEEP, "-a")                                                                                              \
  X(ABS, abs, KEEP, "the absolute value")                                                                              \
  X(EXP, exp, FLOAT, "e to the power a")                                                                               \
  X(LOG, log, FLOAT, "natural logarithm")                                                                              \
  X(SQRT, sqrt, FLOAT, "square root")                                                                                  \
  X(TANH, tanh, FLOAT, "hyperbolic tangent")                                                                           \
  X(SIN, sin, FLOAT, "sine, a in radians")                                                                             \
  X(COS, cos, FLOAT, "cosine, a in radians")                                                                           \
  X(ERF, erf, FLOAT, "error function")                                                                                 \
  X(FLOOR, floor, KEEP, "the largest integer not above a")                                                             \
  X(CEIL, ceil, KEEP, "the smallest integer not below a")                                                              \
  X(ROUND, round, KEEP, "the nearest integer, halves to the even one")                                                 \
  X(SIGN, sign, KEEP, "-1, 0 or 1; NaN stays")                                                                         \
  X(NOT, not, TRUTH, "1 where a is 0")

enum { LG_KIND_ARITH, LG_KIND_PICK, LG_KIND_FLOAT, LG_KIND_COMPARE, LG_KIND_KEEP, LG_KIND_TRUTH };
enum {
#define X(id, name, kind, doc) LG_BINARY_##id,
  LG_BINARY_LIST(X)
#undef X
      LG_BINARY_COUNT
};
enum {
#define X(id, name, kind, doc) LG_UNARY_##id,
  LG_UNARY_LIST(X)
#undef X
      LG_UNARY_COUNT
};

/* Kernels: out[n] (u8 for COMPARE and TRUTH, else the dtype of a[n] and b[n]). They return n, or the index of the
 * first element that has no result in i32 (overflow, a negative power); what stands before it is written. */
typedef int64_t (*lg_binary_fn)(void *out, const void *a, const void *b, int64_t n);
typedef int64_t (*lg_unary_fn)(void *out, const void *a, int64_t n);
/* NULL when op or dtype (f32, f64, i32) is none, and for FLOAT functions of i32. */
lg_binary_fn lg_k_binary(int32_t op, int32_t dtype);
lg_unary_fn lg_k_unary(int32_t op, int32_t dtype);
/* A function's kind and name; op must be one of the list. */
int32_t lg_binary_kind(int32_t op);
int32_t lg_unary_kind(int32_t op);
const char *lg_binary_name(int32_t op);
const char *lg_unary_name(int32_t op);

/* out[n] = a[n] + b[n], for ops. */
void lg_k_add_f32(float *out, const float *a, const float *b, int64_t n);
void lg_k_add_f64(double *out, const double *a, const double *b, int64_t n);

/* dst = src over n elements, steps in bytes (0 repeats one), with conversion: floats are truncated towards zero to
 * integers. Returns n, or the index of the first element that the dtype of dst cannot hold (NaN, out of range). */
int64_t lg_k_convert(void *dst, int32_t dst_dtype, int64_t dst_step, const void *src, int32_t src_dtype,
                     int64_t src_step, int64_t n);
#endif
