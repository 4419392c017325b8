/* conv.h: 2-d convolutions on plain arrays: what one is, its plain loops, and the ways to compute it. Called by
 * ops/op_conv2d.c, which chooses the way. What it is not: a layer; bias and gate enter as the tail of forward.
 *
 * Images are channels-last. With g = co's group, zero outside the image:
 *   y[b, oy, ox, co] = Σ over ky, kx, ci of w[co, ky, kx, ci] · x[b, oy·stride_h - top + ky, ox·stride_w - left + kx,
 *                      g·(ci/groups) + ci]
 * (a correlation, as in every framework). Gradients: dx and dw of Σ y·dy. */
#ifndef LG_CONV_H
#define LG_CONV_H
#include <stddef.h>
#include <stdint.h>

typedef struct lg_conv {
  int64_t batch, h, w, ci;    /* x[batch, h, w, ci] */
  int64_t oh, ow, co;         /* y[batch, oh, ow, co] */
  int64_t kh, kw, groups;     /* w[co, kh, kw, ci/groups]; groups divides ci and co */
  int64_t stride_h, stride_w; /* ≥ 1 */
  int64_t top, left;          /* zeros before the first row and column; those behind follow from oh and ow */
} lg_conv;

enum { LG_CONV_FWD, LG_CONV_DX, LG_CONV_DW }; /* passes */

/* What forward does to an output that is still in cache: y += bias[co] (NULL: nothing), gated = f(y; λ) (NULL: no
 * gate). bias and gated have y's type. */
typedef struct lg_conv_tail {
  const void *bias;
  void *gated;
  double lambda;
  int32_t activation;
} lg_conv_tail;

/* -- plain loops, summed in float64: the reference of tests. acc: 1 adds to the result, 0 overwrites it -------------
 */
void lg_k_conv_fwd_f32_ref(float *y, const float *x, const float *w, const lg_conv *c);
void lg_k_conv_dx_f32_ref(float *dx, const float *dy, const float *w, const lg_conv *c, int acc);
void lg_k_conv_dw_f32_ref(float *dw, const float *dy, const float *x, const lg_conv *c, int acc);
void lg_k_conv_fwd_f64_ref(double *y, const double *x, const double *w, const lg_conv *c);
void lg_k_conv_dx_f64_ref(double *dx, const double *dy, const double *w, const lg_conv *c, int acc);
void lg_k_conv_dw_f64_ref(double *dw, const double *dy, const double *x, const lg_conv *c, int acc);

/* -- patches: rows row0 … row0+rows-1 of the batch·oh·ow outputs, taps tap0 … tap0+taps-1 of the kh·kw, one group ----
 */
/* col[rows, taps·ci/groups] = the inputs that these outputs see. */
void lg_k_im2col_f32(float *col, const float *x, const lg_conv *c, int64_t group, int64_t row0, int64_t rows,
                     int64_t tap0, int64_t taps);
void lg_k_im2col_f64(double *col, const double *x, const lg_conv *c, int64_t group, int64_t row0, int64_t rows,
                     int64_t tap0, int64_t taps);
/* Its transpose: adds col[rows, kh·kw·ci/groups] to dx, where the patches lie. */
void lg_k_col2im_f32(float *dx, const float *col, const lg_conv *c, int64_t group, int64_t row0, int64_t rows);
void lg_k_col2im_f64(double *dx, const double *col, const lg_conv *c, int64_t group, int64_t row0, int64_t rows);

/* -- by patches and matrix products (conv_im2col.c): any convolution; runs on the team --------------------------------
 */
/* Bytes of work for one pass; never fewer for a larger batch. width: bytes of an element. */
size_t lg_conv_im2col_bytes(const lg_conv *c, int pass, size_t width);
void lg_conv_im2col_fwd_f32(float *y, const float *x, const float *w, const lg_conv *c, const lg_conv_tail *tail,
                            void *work);
void lg_conv_im2col_dx_f32(float *dx, const float *dy, const float *w, const lg_conv *c, int acc, void *work);
void lg_conv_im2col_dw_f32(float *dw, const float *dy, const float *x, const lg_conv *c, int acc, void *work);
void lg_conv_im2col_fwd_f64(double *y, const double *x, const double *w, const lg_conv *c, const lg_conv_tail *tail,
                            void *work);
void lg_conv_im2col_dx_f64(double *dx, const double *dy, const double *w, const lg_conv *c, int acc, void *work);
void lg_conv_im2col_dw_f64(double *dw, const double *dy, const double *x, const lg_conv *c, int acc, void *work);

/* The tail on rows of y, each of co elements; row0: y's first row within the whole output. */
void lg_conv_tail_rows_f32(float *y, int64_t row0, int64_t rows, int64_t co, const lg_conv_tail *tail);
void lg_conv_tail_rows_f64(double *y, int64_t row0, int64_t rows, int64_t co, const lg_conv_tail *tail);

/* -- by Winograd's algorithm (conv_winograd.c): 3×3, stride 1 or 2, no groups, float32; runs on the team
 * -------------------
 */
/* Outputs a side of a tile, 2 or 4, where it computes c faster than patches do; 0 where it does not, or cannot.
 * Depends on the shapes of one image only. */
int64_t lg_conv_winograd_tile(const lg_conv *c);
/* Bytes of work for forward (backward 0) or for one or both gradients; never fewer for a larger batch. */
size_t lg_conv_winograd_bytes(const lg_conv *c, int64_t m, int backward);
void lg_conv_winograd_fwd(float *y, const float *x, const float *w, const lg_conv *c, int64_t m,
                          const lg_conv_tail *tail, void *work);
/* dx or dw may be NULL. acc_dx, acc_dw: 1 adds, 0 overwrites. */
void lg_conv_winograd_bwd(float *dx, float *dw, const float *dy, const float *x, const float *w, const lg_conv *c,
                          int64_t m, int acc_dx, int acc_dw, void *work);
#endif
