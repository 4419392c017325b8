/* gate_isa.c: the loops of the float32 gate kernels, compiled once per instruction set (LG_ISA = base, avx2, avx512)
 * and exported as one table each; gate.c picks a table. The numerics are in gate_element.h. Called through gate.c only.
 *
 * All loops go over blocks of 16 elements, which the compiler turns into straight vector code; what is left at the end
 * is copied into a zero-padded block. The element functions are handed over as constants, so that each is inlined.
 */
#include "gate_isa.h"
#include "gate_element.h"

#ifndef LG_ISA
#define LG_ISA base
#endif
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define INLINE static inline __attribute__((always_inline))

enum { BLOCK = LG_GATE_LANES };

typedef float (*forward_fn)(float x, float lambda);
typedef float (*backward_fn)(float dy, float x);

/* -- one block: shapes are [BLOCK] ------------------------------------------------------------- */

INLINE void forward_block(float *y, const float *x, float lambda, forward_fn f) {
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) y[j] = f(x[j], lambda);
}

INLINE void bias_forward_block(float *y, float *z, const float *bias, float lambda, forward_fn f) {
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) {
    float sum = z[j] + bias[j];
    z[j] = sum;
    y[j] = f(sum, lambda);
  }
}

/* What a normalization hands to its gate: (x − mean)·scale + shift, and a residual where there is one. */
INLINE void normalized_block(float *u, const float *x, const float *residual, const float *mean, const float *scale,
                             const float *shift) {
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) {
    float v = (x[j] - mean[j]) * scale[j] + shift[j];
    u[j] = residual ? v + residual[j] : v;
  }
}

INLINE void backward_block(float *dx, const float *dy, const float *x, int accumulate, backward_fn f) {
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) {
    float g = f(dy[j], x[j]);
    dx[j] = accumulate ? dx[j] + g : g;
  }
}

INLINE void lambda_gelu_backward_block(float *dx, double *lane, const float *dy, const float *x, float lambda,
                                       int accumulate) {
  float term[BLOCK];
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) {
    float g = lambda_gelu_bwd(&term[j], dy[j], x[j], lambda);
    dx[j] = accumulate ? dx[j] + g : g;
  }
#pragma omp simd
  for (int j = 0; j < BLOCK; j++) lane[j] += term[j];
}

/* -- n elements -------------------------------------------------------------------------------- */

INLINE void forward_loop(float *y, const float *x, float lambda, int64_t n, forward_fn f) {
  int64_t whole = n - n % BLOCK;
  for (int64_t i = 0; i < whole; i += BLOCK) forward_block(y + i, x + i, lambda, f);
  if (whole == n) return;
  float rest[BLOCK] = {0};
  memcpy(rest, x + whole, (size_t)(n - whole) * sizeof *x);
  forward_block(rest, rest, lambda, f);
  memcpy(y + whole, rest, (size_t)(n - whole) * sizeof *y);
}

INLINE void bias_forward_loop(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols,
                              int64_t ldz, int64_t ldy, forward_fn f) {
  int64_t whole = cols - cols % BLOCK;
  for (int64_t r = 0; r < rows; r++) {
    float *zr = z + r * ldz, *yr = y + r * ldy;
    for (int64_t i = 0; i < whole; i += BLOCK) bias_forward_block(yr + i, zr + i, bias + i, lambda, f);
    if (whole == cols) continue;
    size_t bytes = (size_t)(cols - whole) * sizeof *z;
    float rest_z[BLOCK] = {0}, rest_bias[BLOCK] = {0}, rest_y[BLOCK];
    memcpy(rest_z, zr + whole, bytes);
    memcpy(rest_bias, bias + whole, bytes);
    bias_forward_block(rest_y, rest_z, rest_bias, lambda, f);
    memcpy(zr + whole, rest_z, bytes);
    memcpy(yr + whole, rest_y, bytes);
  }
}

INLINE void backward_loop(float *dx, const float *dy, const float *x, int64_t n, int accumulate, backward_fn f) {
  int64_t whole = n - n % BLOCK;
  for (int64_t i = 0; i < whole; i += BLOCK) backward_block(dx + i, dy + i, x + i, accumulate, f);
  if (whole == n) return;
  size_t bytes = (size_t)(n - whole) * sizeof *x;
  float rest_dx[BLOCK] = {0}, rest_dy[BLOCK] = {0}, rest_x[BLOCK] = {0};
  if (accumulate) memcpy(rest_dx, dx + whole, bytes);
  memcpy(rest_dy, dy + whole, bytes);
  memcpy(rest_x, x + whole, bytes);
  backward_block(rest_dx, rest_dy, rest_x, accumulate, f);
  memcpy(dx + whole, rest_dx, bytes);
}

INLINE double lambda_gelu_backward_loop(float *dx, const float *dy, const float *x, float lambda, int64_t n,
                                        int accumulate) {
  double lane[BLOCK] = {0};
  int64_t whole = n - n % BLOCK;
  for (int64_t i = 0; i < whole; i += BLOCK)
    lambda_gelu_backward_block(dx + i, lane, dy + i, x + i, lambda, accumulate);
  if (whole < n) {
    size_t bytes = (size_t)(n - whole) * sizeof *x;
    float rest_dx[BLOCK] = {0}, rest_dy[BLOCK] = {0}, rest_x[BLOCK] = {0};
    if (accumulate) memcpy(rest_dx, dx + whole, bytes);
    memcpy(rest_dy, dy + whole, bytes);
    memcpy(rest_x, x + whole, bytes);
    lambda_gelu_backward_block(rest_dx, lane, rest_dy, rest_x, lambda, accumulate);
    memcpy(dx + whole, rest_dx, bytes);
  }
  return lg_gate_lane_sum(lane) / LAMBDA_GELU_TERM;
}

/* -- a normalization's rows: x, residual (or NULL), y, dy, d [rows, cols]; mean, scale, shift [cols] ------------- */

/* [BLOCK] each: what is left of a row, zero-padded. */
typedef struct {
  float x[BLOCK], residual[BLOCK], mean[BLOCK], scale[BLOCK], shift[BLOCK];
} rest_of_row;

static void fetch_rest(rest_of_row *rest, const float *x, const float *residual, const lg_gate_norm_f32 *norm,
                       int64_t at, int64_t n) {
  size_t bytes = (size_t)n * sizeof *x;
  memset(rest, 0, sizeof *rest);
  memcpy(rest->x, x, bytes);
  if (residual) memcpy(rest->residual, residual, bytes);
  memcpy(rest->mean, norm->mean + at, bytes);
  memcpy(rest->scale, norm->scale + at, bytes);
  memcpy(rest->shift, norm->shift + at, bytes);
}

INLINE void norm_forward_loop(float *y, const lg_gate_norm_f32 *norm, const float *residual, float lambda,
                              forward_fn f) {
  int64_t cols = norm->cols, whole = cols - cols % BLOCK;
  const float *x = norm->x, *mean = norm->mean, *scale = norm->scale, *shift = norm->shift;
  for (int64_t r = 0; r < norm->rows; r++, x += cols, y += cols, residual += residual ? cols : 0) {
    float u[BLOCK];
    for (int64_t i = 0; i < whole; i += BLOCK) {
      normalized_block(u, x + i, residual ? residual + i : NULL, mean + i, scale + i, shift + i);
      forward_block(y + i, u, lambda, f);
    }
    if (whole == cols) continue;
    rest_of_row rest;
    fetch_rest(&rest, x + whole, residual ? residual + whole : NULL, norm, whole, cols - whole);
    normalized_block(u, rest.x, rest.residual, rest.mean, rest.scale, rest.shift);
    forward_block(u, u, lambda, f);
    memcpy(y + whole, u, (size_t)(cols - whole) * sizeof *y);
  }
}

/* slope: the activation's backward; NULL for λ-GELU, which also adds to lane. */
INLINE void norm_backward_block(float *d, double *lane, const float *dy, const float *u, float lambda,
                                backward_fn slope) {
  if (slope)
    backward_block(d, dy, u, 0, slope);
  else
    lambda_gelu_backward_block(d, lane, dy, u, lambda, 0);
}

INLINE double norm_backward_loop(float *d, const float *dy, const lg_gate_norm_f32 *norm, const float *residual,
                                 float lambda, backward_fn slope) {
  int64_t cols = norm->cols, whole = cols - cols % BLOCK;
  const float *x = norm->x, *mean = norm->mean, *scale = norm->scale, *shift = norm->shift;
  double lane[BLOCK] = {0};
  for (int64_t r = 0; r < norm->rows; r++, x += cols, dy += cols, d += cols, residual += residual ? cols : 0) {
    float u[BLOCK];
    for (int64_t i = 0; i < whole; i += BLOCK) {
      normalized_block(u, x + i, residual ? residual + i : NULL, mean + i, scale + i, shift + i);
      norm_backward_block(d + i, lane, dy + i, u, lambda, slope);
    }
    if (whole == cols) continue;
    rest_of_row rest;
    float rest_dy[BLOCK] = {0};
    fetch_rest(&rest, x + whole, residual ? residual + whole : NULL, norm, whole, cols - whole);
    memcpy(rest_dy, dy + whole, (size_t)(cols - whole) * sizeof *dy);
    normalized_block(u, rest.x, rest.residual, rest.mean, rest.scale, rest.shift);
    norm_backward_block(rest_dy, lane, rest_dy, u, lambda, slope);
    memcpy(d + whole, rest_dy, (size_t)(cols - whole) * sizeof *d);
  }
  return lg_gate_lane_sum(lane) / LAMBDA_GELU_TERM;
}

/* -- kernels: one instance of the loops per activation ----------------------------------------- */

static void forward(float *y, const float *x, float lambda, int64_t n, int32_t activation) {
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: forward_loop(y, x, lambda, n, lambda_gelu); break;
  case LG_ACT_RELU: forward_loop(y, x, lambda, n, relu); break;
  case LG_ACT_GELU: forward_loop(y, x, 1.0f, n, lambda_gelu); break;
  case LG_ACT_GELU_TANH: forward_loop(y, x, lambda, n, gelu_tanh); break;
  case LG_ACT_GELU_SIGMOID: forward_loop(y, x, lambda, n, gelu_sigmoid); break;
  case LG_ACT_SILU: forward_loop(y, x, lambda, n, silu); break;
  default: forward_loop(y, x, lambda, n, identity); break;
  }
}

static void bias_forward(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols, int64_t ldz,
                         int64_t ldy, int32_t activation) {
  if (!bias) {
    for (int64_t r = 0; r < rows; r++) forward(y + r * ldy, z + r * ldz, lambda, cols, activation);
    return;
  }
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, lambda_gelu); break;
  case LG_ACT_RELU: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, relu); break;
  case LG_ACT_GELU: bias_forward_loop(y, z, bias, 1.0f, rows, cols, ldz, ldy, lambda_gelu); break;
  case LG_ACT_GELU_TANH: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, gelu_tanh); break;
  case LG_ACT_GELU_SIGMOID: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, gelu_sigmoid); break;
  case LG_ACT_SILU: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, silu); break;
  default: bias_forward_loop(y, z, bias, lambda, rows, cols, ldz, ldy, identity); break;
  }
}

INLINE double backward_as(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                          int accumulate) {
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: return lambda_gelu_backward_loop(dx, dy, x, lambda, n, accumulate);
  case LG_ACT_RELU: backward_loop(dx, dy, x, n, accumulate, relu_bwd); break;
  case LG_ACT_GELU: lambda_gelu_backward_loop(dx, dy, x, 1.0f, n, accumulate); break;
  case LG_ACT_GELU_TANH: backward_loop(dx, dy, x, n, accumulate, gelu_tanh_bwd); break;
  case LG_ACT_GELU_SIGMOID: backward_loop(dx, dy, x, n, accumulate, gelu_sigmoid_bwd); break;
  case LG_ACT_SILU: backward_loop(dx, dy, x, n, accumulate, silu_bwd); break;
  default: backward_loop(dx, dy, x, n, accumulate, identity_bwd); break;
  }
  return 0;
}

static double backward(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                       int accumulate) {
  return accumulate ? backward_as(dx, dy, x, lambda, n, activation, 1)
                    : backward_as(dx, dy, x, lambda, n, activation, 0);
}

INLINE void norm_forward_as(float *y, const lg_gate_norm_f32 *norm, const float *residual, float lambda,
                            int32_t activation) {
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: norm_forward_loop(y, norm, residual, lambda, lambda_gelu); break;
  case LG_ACT_RELU: norm_forward_loop(y, norm, residual, lambda, relu); break;
  case LG_ACT_GELU: norm_forward_loop(y, norm, residual, 1.0f, lambda_gelu); break;
  case LG_ACT_GELU_TANH: norm_forward_loop(y, norm, residual, lambda, gelu_tanh); break;
  case LG_ACT_GELU_SIGMOID: norm_forward_loop(y, norm, residual, lambda, gelu_sigmoid); break;
  case LG_ACT_SILU: norm_forward_loop(y, norm, residual, lambda, silu); break;
  default: norm_forward_loop(y, norm, residual, lambda, identity); break;
  }
}

static void norm_forward(float *y, const lg_gate_norm_f32 *norm, float lambda, int32_t activation) {
  if (norm->residual)
    norm_forward_as(y, norm, norm->residual, lambda, activation);
  else
    norm_forward_as(y, norm, NULL, lambda, activation);
}

INLINE double norm_backward_as(float *d, const float *dy, const lg_gate_norm_f32 *norm, const float *residual,
                               float lambda, int32_t activation) {
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: return norm_backward_loop(d, dy, norm, residual, lambda, NULL);
  case LG_ACT_RELU: norm_backward_loop(d, dy, norm, residual, lambda, relu_bwd); break;
  case LG_ACT_GELU: norm_backward_loop(d, dy, norm, residual, 1.0f, NULL); break;
  case LG_ACT_GELU_TANH: norm_backward_loop(d, dy, norm, residual, lambda, gelu_tanh_bwd); break;
  case LG_ACT_GELU_SIGMOID: norm_backward_loop(d, dy, norm, residual, lambda, gelu_sigmoid_bwd); break;
  case LG_ACT_SILU: norm_backward_loop(d, dy, norm, residual, lambda, silu_bwd); break;
  default: norm_backward_loop(d, dy, norm, residual, lambda, identity_bwd); break;
  }
  return 0;
}

static double norm_backward(float *d, const float *dy, const lg_gate_norm_f32 *norm, float lambda, int32_t activation) {
  return norm->residual ? norm_backward_as(d, dy, norm, norm->residual, lambda, activation)
                        : norm_backward_as(d, dy, norm, NULL, lambda, activation);
}

/* Plain loops: this is for tensors and tests, off the training path. */
static void grad(float *dfdx, float *dfdl, const float *x, float lambda, int64_t n, int32_t activation) {
  for (int64_t i = 0; i < n; i++) {
    float gx, gl = 0;
    switch (activation) {
    case LG_ACT_LAMBDA_GELU: lambda_gelu_grad(&gx, &gl, x[i], lambda); break;
    case LG_ACT_RELU: gx = relu_slope(x[i]); break;
    case LG_ACT_GELU:
      lambda_gelu_grad(&gx, &gl, x[i], 1.0f);
      gl = 0;
      break;
    case LG_ACT_GELU_TANH: gx = (float)gelu_tanh_slope(x[i]); break;
    case LG_ACT_GELU_SIGMOID: gx = (float)gelu_sigmoid_slope(x[i]); break;
    case LG_ACT_SILU: gx = (float)silu_slope(x[i]); break;
    default: gx = identity_slope(x[i]); break;
    }
    dfdx[i] = gx;
    if (dfdl) dfdl[i] = gl;
  }
}

const lg_gate_kernels JOIN(lg_gate_kernels_, LG_ISA) = {forward,      backward,     grad,
                                                        bias_forward, norm_forward, norm_backward};
