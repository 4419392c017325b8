/* norm.c: the float64 loops of norm.h, and the choice among the float32 builds of norm_isa.c. */
#include "norm.h"
#include "../core/cpu.h"

#define NAME(name) lg_k_norm_##name##_f64
#define REAL double
#include "norm_template.h"

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X, name) X(name, base) X(name, avx2) X(name, avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X, name) X(name, base)
#endif
#define ENTRY(name, isa) lg_k_norm_##name##_f32_##isa,
#define TABLE(name) BUILDS(ENTRY, name)

typedef void sums_fn(double *, double *, const float *, const float *, int64_t, int64_t);
typedef void grad_sums_fn(double *, double *, const float *, const float *, const float *, int64_t, int64_t);
typedef void grad_apply_fn(float *, const float *, const float *, const float *, const float *, const float *,
                           const float *, int64_t, int64_t, int);
#define DECLARE(name, isa) name##_fn lg_k_norm_##name##_f32_##isa;
BUILDS(DECLARE, sums)
BUILDS(DECLARE, grad_sums)
BUILDS(DECLARE, grad_apply)

void lg_k_norm_sums_f32(double *sum, double *square, const float *x, const float *origin, int64_t rows, int64_t n) {
  static sums_fn *const builds[] = {TABLE(sums)};
  builds[lg_isa_index()](sum, square, x, origin, rows, n);
}

void lg_k_norm_grad_sums_f32(double *sum, double *product, const float *d, const float *x, const float *mean,
                             int64_t rows, int64_t n) {
  static grad_sums_fn *const builds[] = {TABLE(grad_sums)};
  builds[lg_isa_index()](sum, product, d, x, mean, rows, n);
}

void lg_k_norm_grad_apply_f32(float *dx, const float *d, const float *x, const float *mean, const float *scale,
                              const float *offset, const float *slope, int64_t rows, int64_t n, int accumulate) {
  static grad_apply_fn *const builds[] = {TABLE(grad_apply)};
  builds[lg_isa_index()](dx, d, x, mean, scale, offset, slope, rows, n, accumulate);
}
