/* gate.h: the activation family f(x; λ) over contiguous elements, forward and backward, and λ's reparameterizations.
 *
 * What it is: leaf kernels. They know nothing of tensors, graphs, tiles or threads: a caller cuts its work into fixed
 * tiles and calls them inside. Called by ops/, api/gate.c, api/tensor.c, kernels/probe.c.
 * What it is not: the public interface (lgelu.h).
 *
 * λ-GELU: f = x·Φ(λx), ∂f/∂x = Φ(λx) + λx·φ(λx), ∂f/∂λ = x²·φ(λx); Φ, φ: standard normal distribution and density.
 *
 * λ in float32 kernels is the float32 nearest to the layer's float64 λ, finite and at least 0. For λ ≥ 1: f and ∂f/∂λ
 * within 4 ulp wherever the right value is a normal float32, ∂f/∂x within 4 ulp of the larger of the right value and
 * 1/16 (and of the right value alone for λx < −1.5), gradual underflow below the normals. Below λ = 1 the plain
 * references serve: right, but slow. For any finite or infinite x nothing is NaN; f(−∞) = 0, f(∞) = ∞, ∂f/∂x → 0 or 1,
 * ∂f/∂λ → 0. NaN in, NaN out, for every activation, relu too.
 *
 * Bits: an element's result depends on its value and λ only, not on its place, on n, or on the other elements. They do
 * depend on the instruction set (lg_isa()).
 */
#ifndef LG_GATE_H
#define LG_GATE_H
#include "../core/lists.h"
#include "../core/status.h"

/* id, name, takes λ, doc. Order is the index in lg_list_find("activation", …). */
#define LG_ACTIVATION_LIST(X)                                                                                          \
  X(LAMBDA_GELU, "lambda_gelu", 1, "x·Φ(λx): GELU at λ=1, ReLU as λ→∞")                                                \
  X(RELU, "relu", 0, "max(x, 0); relu(NaN) = NaN, derivative 0 at 0")                                                  \
  X(GELU, "gelu", 0, "x·Φ(x), the exact (erf) form: lambda_gelu at λ=1")                                               \
  X(GELU_TANH, "gelu_tanh", 0, "½x(1 + tanh(√(2/π)(x + 0.044715x³)))")                                                 \
  X(GELU_SIGMOID, "gelu_sigmoid", 0, "x·σ(1.702x)")                                                                    \
  X(SILU, "silu", 0, "x·σ(x)")                                                                                         \
  X(IDENTITY, "identity", 0, "x")

enum {
#define X(id, name, has_lambda, doc) LG_ACT_##id,
  LG_ACTIVATION_LIST(X)
#undef X
      LG_ACT_COUNT
};

/* id, name, doc. Order is the index in lg_list_find("reparam", …). σ: logistic function; softplus(u) = log(1 + exp(u)).
 */
#define LG_REPARAM_LIST(X)                                                                                             \
  X(SOFTPLUS, "softplus", "λ = 1 + softplus(s/t); dλ/ds = σ(s/t)/t")                                                   \
  X(SOFTPLUS_BETA, "softplus_beta", "λ = 1 + t·softplus(s/t); dλ/ds = σ(s/t)")                                         \
  X(EXP, "exp", "λ = 1 + exp(s/t); dλ/ds = exp(s/t)/t")                                                                \
  X(NONE, "none", "λ = s, clamped at 1 by the optimizer; dλ/ds = 1")

enum {
#define X(id, name, doc) LG_REPARAM_##id,
  LG_REPARAM_LIST(X)
#undef X
      LG_REPARAM_COUNT
};

extern const lg_list lg_list_activation;
extern const lg_list lg_list_reparam;

/* 1 when the activation takes a λ (and has a ∂f/∂λ that is not 0). */
int32_t lg_activation_has_lambda(int32_t activation);

/* -- float32 ----------------------------------------------------------------------------------- */

/* y[n] = f(x[n]); y may be x. */
void lg_k_gate_fwd_f32(float *y, const float *x, float lambda, int64_t n, int32_t activation);

/* dx[n] = dy[n]·f′(x[n]) (accumulate 0) or dx += (accumulate 1); dx may be dy (accumulate 0), never x.
 * λ-GELU: |dy| < 2⁸⁷, else dx may be infinite.
 * Returns Σ dy·∂f/∂λ: float32 terms, summed in float64 over 16 lanes (element i in lane i mod 16), the lanes then added
 * pairwise; 0 for an activation without λ. The same n gives the same order, so fixed tiles give the same bits. */
double lg_k_gate_bwd_f32(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                         int accumulate);

/* dfdx[n] = f′(x[n]), dfdl[n] = ∂f/∂λ (0 for an activation without λ); dfdl may be NULL. Neither may be x.
 * The values that lg_k_gate_bwd_f32 multiplies by dy. */
void lg_k_gate_grad_f32(float *dfdx, float *dfdl, const float *x, float lambda, int64_t n, int32_t activation);

/* A linear layer's tile: z[rows, cols] += bias[cols] (NULL: nothing is added), y[rows, cols] = f(z). z keeps the sum
 * for backward. ldz, ldy: elements from row to row. y may be z only where ldy = ldz (then the sum is not kept). */
void lg_k_bias_gate_fwd_f32(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols,
                            int64_t ldz, int64_t ldy, int32_t activation);

/* What a normalization hands to its gate: u[rows, cols] = (x − mean)·scale + shift + residual, where x and residual
 * (NULL: none) are [rows, cols], the others [cols]. u is not stored: it is computed where it is used. */
typedef struct lg_gate_norm_f32 {
  const float *x, *residual, *mean, *scale, *shift;
  int64_t rows, cols;
} lg_gate_norm_f32;

/* y[rows, cols] = f(u); y may be x or residual. */
void lg_k_norm_gate_fwd_f32(float *y, const lg_gate_norm_f32 *norm, float lambda, int32_t activation);
/* d[rows, cols] = dy·f′(u); d may be dy, never x or residual. Returns Σ dy·∂f/∂λ, column i of a row in lane i mod 16,
 * otherwise as lg_k_gate_bwd_f32. */
double lg_k_norm_gate_bwd_f32(float *d, const float *dy, const lg_gate_norm_f32 *norm, float lambda,
                              int32_t activation);

/* -- float64: plain loops over libm, for gradient checks; λ is not rounded --------------------- */

void lg_k_gate_fwd_f64(double *y, const double *x, double lambda, int64_t n, int32_t activation);
double lg_k_gate_bwd_f64(double *dx, const double *dy, const double *x, double lambda, int64_t n, int32_t activation,
                         int accumulate);
void lg_k_gate_grad_f64(double *dfdx, double *dfdl, const double *x, double lambda, int64_t n, int32_t activation);
void lg_k_bias_gate_fwd_f64(double *y, double *z, const double *bias, double lambda, int64_t rows, int64_t cols,
                            int64_t ldz, int64_t ldy, int32_t activation);
typedef struct lg_gate_norm_f64 {
  const double *x, *residual, *mean, *scale, *shift;
  int64_t rows, cols;
} lg_gate_norm_f64;
void lg_k_norm_gate_fwd_f64(double *y, const lg_gate_norm_f64 *norm, double lambda, int32_t activation);
double lg_k_norm_gate_bwd_f64(double *d, const double *dy, const lg_gate_norm_f64 *norm, double lambda,
                              int32_t activation);

/* -- plain references of the float32 kernels, for tests: float64, each result rounded once ------ */

void lg_k_gate_fwd_f32_ref(float *y, const float *x, float lambda, int64_t n, int32_t activation);
double lg_k_gate_bwd_f32_ref(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                             int accumulate);
void lg_k_gate_grad_f32_ref(float *dfdx, float *dfdl, const float *x, float lambda, int64_t n, int32_t activation);
void lg_k_bias_gate_fwd_f32_ref(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols,
                                int64_t ldz, int64_t ldy, int32_t activation);
void lg_k_norm_gate_fwd_f32_ref(float *y, const lg_gate_norm_f32 *norm, float lambda, int32_t activation);
double lg_k_norm_gate_bwd_f32_ref(float *d, const float *dy, const lg_gate_norm_f32 *norm, float lambda,
                                  int32_t activation);

/* -- one element ------------------------------------------------------------------------------- */

/* f, ∂f/∂x and ∂f/∂λ in float64; any of the outputs may be NULL. λ = 1 is taken for activations without λ. */
void lg_gate_scalar_f64(double *f, double *dfdx, double *dfdl, double x, double lambda, int32_t activation);

/* -- reparameterization: float64, no overflow, no threshold ------------------------------------ */

/* softplus(u) = log(1 + exp(u)) and its derivative σ(u), both from u: right for every finite u and at ±∞. */
double lg_softplus(double u);
double lg_sigmoid(double u);
/* λ(s) and dλ/ds; t > 0 (checked by the callers, api/gate.c and the gate's op). dlds may be NULL. */
double lg_reparam_lambda(double *dlds, int32_t reparam, double s, double t);
#endif
