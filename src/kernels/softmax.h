/* softmax.h: the softmax of one row of scores, and what its gradient needs. Leaf kernels; blocks, masks and products
 * are ops/op_attention.c's. A row's maximum and the inverse of its sum are kept (stat[2]) instead of the row, which
 * comes back from the scores with the same bits. */
#ifndef LG_SOFTMAX_H
#define LG_SOFTMAX_H
#include <stdint.h>

/* row[n] = softmax(scale·row), scale > 0; stat = { the row's largest score, 1/Σ exp(scale·(score − largest)) }.
 * n ≥ 1; a NaN among the scores makes all of them NaN. */
void lg_k_softmax_row_f32(float *row, float stat[2], float scale, int64_t n);
void lg_k_softmax_row_f64(double *row, double stat[2], double scale, int64_t n);

/* The same from the stat of an earlier call on the same scores. */
void lg_k_softmax_again_f32(float *row, const float stat[2], float scale, int64_t n);
void lg_k_softmax_again_f64(double *row, const double stat[2], double scale, int64_t n);

/* dp[n] = p·(dp − dot)·scale: the gradient of the scores, where dot = Σ p·dp. */
void lg_k_softmax_grad_f32(float *dp, const float *p, float dot, float scale, int64_t n);
void lg_k_softmax_grad_f64(double *dp, const double *p, double dot, double scale, int64_t n);
#endif
