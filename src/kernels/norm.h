/* norm.h: the loops of a normalization per channel over rows x[rows, n], n channels side by side.
 * Leaf kernels; statistics, tiles and gates are ops/op_batch_norm.c's. Nothing here is contracted or reordered, and
 * sums are float64 in the order of the rows: the bits are the same on every instruction set. */
#ifndef LG_NORM_H
#define LG_NORM_H
#include <stdint.h>

/* sum[n] += Σ (x − origin), square[n] += Σ (x − origin)² over the rows; origin[n] is any value near the mean. */
void lg_k_norm_sums_f32(double *sum, double *square, const float *x, const float *origin, int64_t rows, int64_t n);
void lg_k_norm_sums_f64(double *sum, double *square, const double *x, const double *origin, int64_t rows, int64_t n);

/* sum[n] += Σ d, product[n] += Σ d·(x − mean) over the rows of d[rows, n]. */
void lg_k_norm_grad_sums_f32(double *sum, double *product, const float *d, const float *x, const float *mean,
                             int64_t rows, int64_t n);
void lg_k_norm_grad_sums_f64(double *sum, double *product, const double *d, const double *x, const double *mean,
                             int64_t rows, int64_t n);

/* dx[rows, n] = scale·d − offset − slope·(x − mean), or dx += when accumulate is 1; dx may be d. */
void lg_k_norm_grad_apply_f32(float *dx, const float *d, const float *x, const float *mean, const float *scale,
                              const float *offset, const float *slope, int64_t rows, int64_t n, int accumulate);
void lg_k_norm_grad_apply_f64(double *dx, const double *d, const double *x, const double *mean, const double *scale,
                              const double *offset, const double *slope, int64_t rows, int64_t n, int accumulate);
#endif
