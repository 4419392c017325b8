/* reduce.c: the folds of reduce.h for each dtype (reduce_template.h), how they join, and float sums for ops. */
#include "reduce.h"
#include "../tensor/tensor.h"
#include <float.h>
#include <math.h>

enum { LANES = 8 };

/* a: what was folded so far; x: an element, or the fold of others. */
#define FOLD_sum(a, x) ((a) + (x))
#define FOLD_prod(a, x) ((a) * (x))
#define FOLD_min(a, x) ((x) < (a) || (x) != (x) ? (x) : (a))
#define FOLD_max(a, x) ((x) > (a) || (x) != (x) ? (x) : (a))
#define FOLD_any(a, x) ((x) != 0 ? 1.0 : (a))
#define FOLD_all(a, x) ((x) == 0 ? 0.0 : (a))

#define TYPE float
#define NAME(x) x##_f32
#include "reduce_template.h"
#define TYPE double
#define NAME(x) x##_f64
#include "reduce_template.h"
#define TYPE int32_t
#define NAME(x) x##_i32
#include "reduce_template.h"
#define TYPE uint8_t
#define NAME(x) x##_u8
#include "reduce_template.h"

static const struct {
  const char *name;
  int32_t kind;
} reductions[] = {
#define X(id, name, kind, doc) {#name, LG_REDUCE_##kind},
    LG_REDUCE_LIST(X)
#undef X
};

int32_t lg_reduce_kind(int32_t op) { return reductions[op].kind; }
const char *lg_reduce_name(int32_t op) { return reductions[op].name; }

lg_fold lg_k_fold_start(int32_t op) {
  switch (op) {
  case LG_REDUCE_PROD:
  case LG_REDUCE_ALL: return (lg_fold){1, -1};
  case LG_REDUCE_MIN: return (lg_fold){INFINITY, -1};
  case LG_REDUCE_MAX: return (lg_fold){-INFINITY, -1};
  default: return (lg_fold){0, -1};
  }
}

void lg_k_fold_along(lg_fold *f, int32_t op, const void *x, int32_t dtype, int64_t step, int64_t n, int64_t at) {
  switch (dtype) {
  case LG_F32: fold_along_f32(f, op, x, step, n, at); break;
  case LG_F64: fold_along_f64(f, op, x, step, n, at); break;
  case LG_I32: fold_along_i32(f, op, x, step, n, at); break;
  case LG_U8: fold_along_u8(f, op, x, step, n, at); break;
  }
}

void lg_k_fold_across(lg_fold *f, int32_t op, const void *x, int32_t dtype, int64_t step, int64_t n, int64_t at) {
  switch (dtype) {
  case LG_F32: fold_across_f32(f, op, x, step, n, at); break;
  case LG_F64: fold_across_f64(f, op, x, step, n, at); break;
  case LG_I32: fold_across_i32(f, op, x, step, n, at); break;
  case LG_U8: fold_across_u8(f, op, x, step, n, at); break;
  }
}

void lg_k_fold_join(lg_fold *f, int32_t op, const lg_fold *later) {
  switch (op) {
  case LG_REDUCE_SUM:
  case LG_REDUCE_MEAN: f->value += later->value; break;
  case LG_REDUCE_PROD: f->value *= later->value; break;
  case LG_REDUCE_MIN: f->value = FOLD_min(f->value, later->value); break;
  case LG_REDUCE_MAX: f->value = FOLD_max(f->value, later->value); break;
  case LG_REDUCE_ANY: f->value = FOLD_any(f->value, later->value); break;
  case LG_REDUCE_ALL: f->value = FOLD_all(f->value, later->value); break;
  default:
    if (later->at >= 0) pick_f64(f, op == LG_REDUCE_ARGMAX ? 1 : -1, later->value, later->at);
  }
}

/* -- for ops ---------------------------------------------------------------------------------------------------------
 */

/* Σ over eight lanes, as in reduce_template.h. */
#define SUM_OF_SQUARES(name, type)                                                                                     \
  double name(const type *x, int64_t n) {                                                                              \
    double lane[LANES] = {0};                                                                                          \
    int64_t i = 0;                                                                                                     \
    for (; i + LANES <= n; i += LANES)                                                                                 \
      for (int l = 0; l < LANES; l++) lane[l] += (double)x[i + l] * (double)x[i + l];                                  \
    for (int l = 0; i < n; i++, l++) lane[l] += (double)x[i] * (double)x[i];                                           \
    for (int half = LANES / 2; half > 0; half /= 2)                                                                    \
      for (int l = 0; l < half; l++) lane[l] += lane[l + half];                                                        \
    return lane[0];                                                                                                    \
  }
SUM_OF_SQUARES(lg_k_sumsq_f32, float)
SUM_OF_SQUARES(lg_k_sumsq_f64, double)

/* Blocks without an early exit vectorize; only a block that has one is searched. */
#define FIND_NONFINITE(name, type, abs_fn, largest)                                                                    \
  int64_t name(const type *x, int64_t n) {                                                                             \
    enum { BLOCK = 1024 };                                                                                             \
    for (int64_t start = 0; start < n; start += BLOCK) {                                                               \
      int64_t end = start + BLOCK < n ? start + BLOCK : n;                                                             \
      int bad = 0;                                                                                                     \
      for (int64_t i = start; i < end; i++) bad |= !(abs_fn(x[i]) <= (largest));                                       \
      for (int64_t i = start; bad && i < end; i++)                                                                     \
        if (!(abs_fn(x[i]) <= (largest))) return i;                                                                    \
    }                                                                                                                  \
    return -1;                                                                                                         \
  }
FIND_NONFINITE(lg_k_find_nonfinite_f32, float, fabsf, FLT_MAX)
FIND_NONFINITE(lg_k_find_nonfinite_f64, double, fabs, DBL_MAX)
