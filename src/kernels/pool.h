/* pool.h: windows over one image x[height, width, n], channels last: maximum, mean, and their gradients.
 * Leaf kernels; the images of a batch are ops' tiles. */
#ifndef LG_POOL_H
#define LG_POOL_H
#include <stdint.h>

/* Output row i covers rows i·stride_h − pad_top … + kernel_h − 1 of x, as far as they are in x; columns likewise. Every
 * window has an element at least. */
typedef struct lg_windows {
  int64_t height, width, n, out_h, out_w;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_top, pad_left;
} lg_windows;

/* y[out_h, out_w, n] = the window's largest element, from[…] its place in the window (row · kernel_w + column): the
 * first of equals; the first NaN where there is one. */
void lg_k_max_pool_f32(float *y, uint16_t *from, const float *x, const lg_windows *w);
void lg_k_max_pool_f64(double *y, uint16_t *from, const double *x, const lg_windows *w);
/* dx[height, width, n] += dy at the places that forward chose. */
void lg_k_max_pool_bwd_f32(float *dx, const float *dy, const uint16_t *from, const lg_windows *w);
void lg_k_max_pool_bwd_f64(double *dx, const double *dy, const uint16_t *from, const lg_windows *w);

/* y = Σ window / (kernel_h · kernel_w): padding counts as zeros. Added in the order of the window. */
void lg_k_avg_pool_f32(float *y, const float *x, const lg_windows *w);
void lg_k_avg_pool_f64(double *y, const double *x, const lg_windows *w);
void lg_k_avg_pool_bwd_f32(float *dx, const float *dy, const lg_windows *w);
void lg_k_avg_pool_bwd_f64(double *dx, const double *dy, const lg_windows *w);
#endif
