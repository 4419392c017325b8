/* census.c: one block of a census: f by the kernels that train, then counts and extremes (census_isa.c). See census.h.
 */
#include "census.h"
#include "../core/cpu.h"
#include "gate.h"
#include <math.h>
#include <stddef.h>

static const char *const names[] = {
#define X(id, name, doc) name,
    LG_CENSUS_LIST(X)
#undef X
};
static const char *const docs[] = {
#define X(id, name, doc) doc,
    LG_CENSUS_LIST(X)
#undef X
};
const lg_list lg_list_census = {"census", names, docs, LG_CENSUS_COUNT};

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X, name) X(name, base) X(name, avx2) X(name, avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X, name) X(name, base)
#endif
#define ENTRY(name, isa) lg_k_census_##name##_##isa,
#define TABLE(name) BUILDS(ENTRY, name)
typedef int32_t finite_fn(const float *, int32_t);
typedef void counts_fn(int32_t *, float *, const float *, const float *, float, int32_t);
typedef void bins_fn(int32_t *, const float *, double, double, int32_t, int32_t);
#define DECLARE(name, isa) name##_fn lg_k_census_##name##_##isa;
BUILDS(DECLARE, finite)
BUILDS(DECLARE, counts)
BUILDS(DECLARE, bins)

/* The least float32 t with λt ≥ 2, so that |λx| < 2 exactly where |x| < t. */
static float band_edge(float lambda) {
  float t = (float)(2 / (double)lambda);
  while ((double)lambda * t >= 2 && t > 0) t = nextafterf(t, 0);
  while ((double)lambda * t < 2 && t < INFINITY) t = nextafterf(t, INFINITY);
  return t;
}

static void count_bins(double *histogram, const float *x, int32_t n, double low, double high, int32_t bins) {
  static bins_fn *const bins_of[] = {TABLE(bins)};
  int32_t bin[LG_CENSUS_BLOCK];
  bins_of[lg_isa_index()](bin, x, low, bins / (high - low), bins, n);
  for (int32_t i = 0; i < n; i++) histogram[bin[i]]++;
}

void lg_census_join(double *census, const double *part) {
  if (part[LG_CENSUS_VALUES] > 0) {
    int first = census[LG_CENSUS_VALUES] == 0;
    if (first || part[LG_CENSUS_MIN] < census[LG_CENSUS_MIN]) census[LG_CENSUS_MIN] = part[LG_CENSUS_MIN];
    if (first || part[LG_CENSUS_MAX] > census[LG_CENSUS_MAX]) census[LG_CENSUS_MAX] = part[LG_CENSUS_MAX];
  }
  if (part[LG_CENSUS_DEVIATION] > census[LG_CENSUS_DEVIATION]) census[LG_CENSUS_DEVIATION] = part[LG_CENSUS_DEVIATION];
  for (int i = 0; i < LG_CENSUS_COUNT; i++) {
    if (i != LG_CENSUS_MIN && i != LG_CENSUS_MAX && i != LG_CENSUS_DEVIATION) census[i] += part[i];
  }
}

void lg_k_census_f32(double *census, double *histogram, const float *x, int64_t n, int32_t activation, float lambda,
                     double low, double high, int32_t bins) {
  static finite_fn *const finite[] = {TABLE(finite)};
  static counts_fn *const counts[] = {TABLE(counts)};
  int32_t isa = lg_isa_index(), kept = finite[isa](x, (int32_t)n);
  float room[LG_CENSUS_BLOCK], y[LG_CENSUS_BLOCK];
  double part[LG_CENSUS_COUNT] = {0};
  part[LG_CENSUS_NONFINITE] = (double)(n - kept);
  if (kept < n) {
    int32_t to = 0;
    for (int64_t i = 0; i < n; i++)
      if (isfinite(x[i])) room[to++] = x[i];
    x = room;
  }
  if (kept > 0) {
    int32_t found[3] = {0};
    float extremes[3] = {x[0], x[0], 0};
    lg_k_gate_fwd_f32(y, x, lambda, kept, activation);
    counts[isa](found, extremes, x, y, band_edge(lambda), kept);
    part[LG_CENSUS_VALUES] = kept;
    part[LG_CENSUS_BAND] = found[0], part[LG_CENSUS_NONPOSITIVE] = found[1], part[LG_CENSUS_ZEROS] = found[2];
    part[LG_CENSUS_MIN] = extremes[0], part[LG_CENSUS_MAX] = extremes[1], part[LG_CENSUS_DEVIATION] = extremes[2];
    if (lg_activation_has_lambda(activation)) {
      for (int32_t i = 0; i < kept; i++) y[i] = 1;
      part[LG_CENSUS_SLOPE] = lg_k_gate_bwd_f32(y, y, x, lambda, kept, activation, 0);
    }
    if (histogram) count_bins(histogram, x, kept, low, high, bins);
  }
  lg_census_join(census, part);
}
