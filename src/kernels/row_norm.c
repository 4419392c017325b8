/* row_norm.c: the float64 loops of row_norm.h, and the choice among the float32 builds of row_norm_isa.c. */
#include "row_norm.h"
#include "../core/cpu.h"
#include <math.h>

#define NAME(name) lg_k_row_norm_##name##_f64
#define REAL double
#define SQRT_F64 sqrt
#include "row_norm_template.h"

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X) X(base) X(avx2) X(avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X) X(base)
#endif
typedef void fwd_fn(float *, float *, const float *, const float *, const float *, int64_t, int64_t, double, int);
typedef void bwd_fn(float *, float *, float *, const float *, const float *, const float *, const float *, int64_t,
                    int64_t, int, int);
#define X(isa)                                                                                                         \
  fwd_fn lg_k_row_norm_fwd_f32_##isa;                                                                                  \
  bwd_fn lg_k_row_norm_bwd_f32_##isa;
BUILDS(X)
#undef X

void lg_k_row_norm_fwd_f32(float *y, float *stat, const float *x, const float *gamma, const float *beta, int64_t rows,
                           int64_t n, double eps, int centred) {
  static fwd_fn *const builds[] = {
#define X(isa) lg_k_row_norm_fwd_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](y, stat, x, gamma, beta, rows, n, eps, centred);
}

void lg_k_row_norm_bwd_f32(float *dx, float *dgamma, float *dbeta, const float *dy, const float *x, const float *stat,
                           const float *gamma, int64_t rows, int64_t n, int centred, int accumulate) {
  static bwd_fn *const builds[] = {
#define X(isa) lg_k_row_norm_bwd_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](dx, dgamma, dbeta, dy, x, stat, gamma, rows, n, centred, accumulate);
}
