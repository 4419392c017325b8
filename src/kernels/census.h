/* census.h: counts and extremes of one gate's pre-activations: how far the gate is from ReLU on the values that it
 * meets. What it is not: the public call, which checks arguments and divides the work (api/census.c).
 *
 * A census is an array of LG_CENSUS_COUNT doubles, all 0 before the first element; parts of one tensor are joined in
 * the order of their tiles. Elements that are NaN or infinite are counted as such and enter nothing else. */
#ifndef LG_CENSUS_H
#define LG_CENSUS_H
#include "../core/lists.h"

/* id, name, doc. Order is the index in lg_list_find("census", …). */
#define LG_CENSUS_LIST(X)                                                                                              \
  X(VALUES, "count", "elements that are finite")                                                                       \
  X(NONFINITE, "nonfinite", "elements that are NaN or infinite; they enter nothing else")                              \
  X(MIN, "min", "least element; 0 when there is none")                                                                 \
  X(MAX, "max", "greatest element; 0 when there is none")                                                              \
  X(BAND, "band", "elements in the transition band |λx| < 2")                                                          \
  X(NONPOSITIVE, "nonpositive", "elements x <= 0: the zeros after ReLU")                                               \
  X(ZEROS, "zeros", "elements with f(x) = 0 exactly")                                                                  \
  X(DEVIATION, "deviation", "greatest |f(x) - max(x, 0)|")                                                             \
  X(SLOPE, "slope", "sum of the gate's derivative by lambda, x^2 phi(lambda x); 0 for an activation without lambda")

enum {
#define X(id, name, doc) LG_CENSUS_##id,
  LG_CENSUS_LIST(X)
#undef X
      LG_CENSUS_COUNT
};
extern const lg_list lg_list_census;

/* Elements that one call takes at most. */
enum { LG_CENSUS_BLOCK = 1024 };

/* Adds x[n], n ≤ LG_CENSUS_BLOCK, to census; histogram (NULL: none): [bins + 2] counts of elements below low, in each
 * of bins equal bins of [low, high), from high on; an element at a border between bins may be rounded into either. */
void lg_k_census_f32(double *census, double *histogram, const float *x, int64_t n, int32_t activation, float lambda,
                     double low, double high, int32_t bins);
/* Adds a part to census. */
void lg_census_join(double *census, const double *part);
#endif
