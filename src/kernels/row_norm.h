/* row_norm.h: normalization of each row of x[rows, n] over its own elements: layer norm (centred) and RMS norm (not).
 * Leaf kernels; tiles are ops/row_norm.c's. Sums are taken in float32 lanes whose number belongs to the instruction
 * set; the variance is that around the mean already found, so that a large mean costs no digits. */
#ifndef LG_ROW_NORM_H
#define LG_ROW_NORM_H
#include <stdint.h>

/* y = (x − mean)·r·gamma + beta with r = 1/√(mean of (x − mean)² + eps); centred 0: mean is taken as 0 (and beta may be
 * NULL: none). stat[2·rows] gets mean and r of each row. y may be x. */
void lg_k_row_norm_fwd_f32(float *y, float *stat, const float *x, const float *gamma, const float *beta, int64_t rows,
                           int64_t n, double eps, int centred);
void lg_k_row_norm_fwd_f64(double *y, double *stat, const double *x, const double *gamma, const double *beta,
                           int64_t rows, int64_t n, double eps, int centred);

/* dx = the gradient of x (dx += when accumulate is 1; NULL: not wanted; may be dy), and dgamma[n] += Σ dy·(x − mean)·r,
 * dbeta[n] += Σ dy over the rows (dbeta NULL: not wanted). */
void lg_k_row_norm_bwd_f32(float *dx, float *dgamma, float *dbeta, const float *dy, const float *x, const float *stat,
                           const float *gamma, int64_t rows, int64_t n, int centred, int accumulate);
void lg_k_row_norm_bwd_f64(double *dx, double *dgamma, double *dbeta, const double *dy, const double *x,
                           const double *stat, const double *gamma, int64_t rows, int64_t n, int centred,
                           int accumulate);
#endif
