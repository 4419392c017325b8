/* reduce.h: reductions of runs of elements: the list of reductions, their folds by dtype, and the float sums that ops
 * call directly. Not here: axes, threads and results' dtypes (api/tensor_reduce.c).
 * Everything is accumulated in float64, which holds each f32, f64, i32 and u8 exactly, in an order that depends on n
 * alone: eight interleaved lanes, then the lanes in pairs. */
#ifndef LG_REDUCE_H
#define LG_REDUCE_H
#include <stdint.h>

/* X(id, name, kind, doc). NUMBER gives the float dtype, and f64 for integers (exact up to 2^53); VALUE gives one of
 * the elements, in their dtype; INDEX gives i32; TRUTH gives u8 0 or 1. */
#define LG_REDUCE_LIST(X)                                                                                              \
  X(SUM, sum, NUMBER, "sum; 0 of no elements")                                                                         \
  X(MEAN, mean, NUMBER, "arithmetic mean")                                                                             \
  X(MIN, min, VALUE, "least element; NaN if there is one")                                                             \
  X(MAX, max, VALUE, "greatest element; NaN if there is one")                                                          \
  X(ARGMIN, argmin, INDEX, "where the least element is, the first of equals; the first NaN if there is one")           \
  X(ARGMAX, argmax, INDEX, "where the greatest element is, the first of equals; the first NaN if there is one")        \
  X(PROD, prod, NUMBER, "product; 1 of no elements")                                                                   \
  X(ANY, any, TRUTH, "1 if an element is not 0; 0 of no elements")                                                     \
  X(ALL, all, TRUTH, "1 if no element is 0; 1 of no elements")

enum { LG_REDUCE_NUMBER, LG_REDUCE_VALUE, LG_REDUCE_INDEX, LG_REDUCE_TRUTH };
enum {
#define X(id, name, kind, doc) LG_REDUCE_##id,
  LG_REDUCE_LIST(X)
#undef X
      LG_REDUCE_COUNT
};

/* What has been folded so far. at: index of value, -1 before the first element; only arg* use it. */
typedef struct {
  double value;
  int64_t at;
} lg_fold;

/* The fold of no elements. mean folds as sum does: the caller divides. */
lg_fold lg_k_fold_start(int32_t op);
/* f[0] takes in x[i·step], i < n, in that order; for arg* the first of them has index `at`. step in elements. */
void lg_k_fold_along(lg_fold *f, int32_t op, const void *x, int32_t dtype, int64_t step, int64_t n, int64_t at);
/* f[j] takes in x[j·step], j < n; for arg* all of them have index `at`. */
void lg_k_fold_across(lg_fold *f, int32_t op, const void *x, int32_t dtype, int64_t step, int64_t n, int64_t at);
/* f takes in what was folded from later elements. */
void lg_k_fold_join(lg_fold *f, int32_t op, const lg_fold *later);
int32_t lg_reduce_kind(int32_t op);
const char *lg_reduce_name(int32_t op);

/* Σ x[n]² in float64. */
double lg_k_sumsq_f32(const float *x, int64_t n);
double lg_k_sumsq_f64(const double *x, int64_t n);
/* Index of the first of x[n] that is not finite, or -1. */
int64_t lg_k_find_nonfinite_f32(const float *x, int64_t n);
int64_t lg_k_find_nonfinite_f64(const double *x, int64_t n);
#endif
