/* gate.c: the activation and reparameterization lists, the float64 scalar forms, the plain kernels (gate_plain.h), and
 * the choice of the float32 kernels' build for this machine. Not the fast kernels themselves: gate_isa.c. See gate.h.
 */
#include "../core/cpu.h"
#include "gate.h"
#include "gate_isa.h"
#include "gauss.h"
#include <math.h>
#include <stddef.h>

static const char *const activation_names[] = {
#define X(id, name, has_lambda, doc) name,
    LG_ACTIVATION_LIST(X)
#undef X
};
static const char *const activation_docs[] = {
#define X(id, name, has_lambda, doc) doc,
    LG_ACTIVATION_LIST(X)
#undef X
};
static const int32_t activation_has_lambda[] = {
#define X(id, name, has_lambda, doc) has_lambda,
    LG_ACTIVATION_LIST(X)
#undef X
};
const lg_list lg_list_activation = {"activation", activation_names, activation_docs, LG_ACT_COUNT};

static const char *const reparam_names[] = {
#define X(id, name, doc) name,
    LG_REPARAM_LIST(X)
#undef X
};
static const char *const reparam_docs[] = {
#define X(id, name, doc) doc,
    LG_REPARAM_LIST(X)
#undef X
};
const lg_list lg_list_reparam = {"reparam", reparam_names, reparam_docs, LG_REPARAM_COUNT};

int32_t lg_activation_has_lambda(int32_t activation) {
  return activation >= 0 && activation < LG_ACT_COUNT && activation_has_lambda[activation];
}

/* -- float64 scalars --------------------------------------------------------------------------- */

double lg_softplus(double u) { return u > 0.0 ? u + log1p(exp(-u)) : log1p(exp(u)); }

double lg_sigmoid(double u) {
  double e = exp(-fabs(u));
  return (u < 0.0 ? e : 1.0) / (1.0 + e);
}

double lg_reparam_lambda(double *dlds, int32_t reparam, double s, double t) {
  double u = s / t, lambda = s, slope = 1.0;
  switch (reparam) {
  case LG_REPARAM_SOFTPLUS:
    lambda = 1.0 + lg_softplus(u);
    slope = lg_sigmoid(u) / t;
    break;
  case LG_REPARAM_SOFTPLUS_BETA:
    lambda = 1.0 + t * lg_softplus(u);
    slope = lg_sigmoid(u);
    break;
  case LG_REPARAM_EXP:
    lambda = 1.0 + exp(u);
    slope = exp(u) / t;
    break;
  default: break; /* LG_REPARAM_NONE */
  }
  if (dlds) *dlds = slope;
  return lambda;
}

/* x·Φ(λx) and its derivatives. Far out, λx·φ(λx) would be ∞·0: there the step function is exact in float64. */
static void lambda_gelu_f64(double *f, double *dfdx, double *dfdl, double x, double lambda) {
  double z = lambda == 0.0 ? 0.0 : lambda * x;
  if (fabs(z) > 40.0) {
    double step = z > 0.0 ? 1.0 : 0.0;
    *f = step > 0.0 ? x : 0.0;
    *dfdx = step;
    *dfdl = 0.0;
    return;
  }
  double cdf = lg_gauss_cdf(z), pdf = lg_gauss_pdf(z);
  *f = x * cdf;
  *dfdx = cdf + z * pdf;
  *dfdl = x * (x * pdf);
}

/* x·σ(v(x)) and its derivative σ + x·σ(1−σ)·v′; past |v| = 750 the step function is exact in float64. */
static void gated_sigmoid_f64(double *f, double *dfdx, double x, double v, double slope) {
  if (fabs(v) > 750.0) {
    *f = v > 0.0 ? x : 0.0;
    *dfdx = v > 0.0 ? 1.0 : 0.0;
    return;
  }
  double e = exp(-fabs(v)), sigmoid = (v < 0.0 ? e : 1.0) / (1.0 + e);
  *f = x * sigmoid;
  *dfdx = sigmoid + x * slope * (e / ((1.0 + e) * (1.0 + e)));
}

void lg_gate_scalar_f64(double *f, double *dfdx, double *dfdl, double x, double lambda, int32_t activation) {
  static const double GELU_TANH_SCALE = 1.5957691216057307117; /* 2·√(2/π) */
  static const double GELU_TANH_CUBIC = 0.044715, GELU_SIGMOID_SCALE = 1.702;
  double value = x, gx = 1.0, gl = 0.0;
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: lambda_gelu_f64(&value, &gx, &gl, x, lambda); break;
  case LG_ACT_RELU:
    value = x < 0.0 ? 0.0 : x;
    gx = x > 0.0 ? 1.0 : (x <= 0.0 ? 0.0 : x);
    break;
  case LG_ACT_GELU:
    lambda_gelu_f64(&value, &gx, &gl, x, 1.0);
    gl = 0.0;
    break;
  case LG_ACT_GELU_TANH:
    gated_sigmoid_f64(&value, &gx, x, GELU_TANH_SCALE * x * (1.0 + GELU_TANH_CUBIC * x * x),
                      GELU_TANH_SCALE * (1.0 + 3.0 * GELU_TANH_CUBIC * x * x));
    break;
  case LG_ACT_GELU_SIGMOID: gated_sigmoid_f64(&value, &gx, x, GELU_SIGMOID_SCALE * x, GELU_SIGMOID_SCALE); break;
  case LG_ACT_SILU: gated_sigmoid_f64(&value, &gx, x, x, 1.0); break;
  default: gx = isnan(x) ? x : 1.0; break; /* LG_ACT_IDENTITY */
  }
  if (f) *f = value;
  if (dfdx) *dfdx = gx;
  if (dfdl) *dfdl = gl;
}

/* -- plain kernels ----------------------------------------------------------------------------- */

#define REAL double
#define PLAIN(name) name##_f64
#define PLAIN_NORM lg_gate_norm_f64
#include "gate_plain.h"
#undef REAL
#undef PLAIN
#undef PLAIN_NORM
#define REAL float
#define PLAIN(name) name##_f32_ref
#define PLAIN_NORM lg_gate_norm_f32
#include "gate_plain.h"
#undef REAL
#undef PLAIN
#undef PLAIN_NORM

/* -- float32: the build for this machine ------------------------------------------------------- */

const lg_gate_kernels *lg_gate_kernels_of(int32_t isa) {
#ifdef LG_HAVE_X86_ISA
  static const lg_gate_kernels *const builds[LG_ISA_COUNT] = {&lg_gate_kernels_base, &lg_gate_kernels_avx2,
                                                              &lg_gate_kernels_avx512};
  return builds[isa];
#else
  return isa == LG_ISA_BASE ? &lg_gate_kernels_base : NULL;
#endif
}

/* Below λ = 1 the plain kernels serve: there λx in range does not say that x is. */
static const lg_gate_kernels *kernels(float lambda, int32_t activation) {
  static const lg_gate_kernels plain = {lg_k_gate_fwd_f32_ref,      lg_k_gate_bwd_f32_ref,
                                        lg_k_gate_grad_f32_ref,     lg_k_bias_gate_fwd_f32_ref,
                                        lg_k_norm_gate_fwd_f32_ref, lg_k_norm_gate_bwd_f32_ref};
  return activation == LG_ACT_LAMBDA_GELU && lambda < 1.0f ? &plain : lg_gate_kernels_of(lg_isa_index());
}

void lg_k_gate_fwd_f32(float *y, const float *x, float lambda, int64_t n, int32_t activation) {
  kernels(lambda, activation)->fwd(y, x, lambda, n, activation);
}

double lg_k_gate_bwd_f32(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                         int accumulate) {
  return kernels(lambda, activation)->bwd(dx, dy, x, lambda, n, activation, accumulate);
}

void lg_k_gate_grad_f32(float *dfdx, float *dfdl, const float *x, float lambda, int64_t n, int32_t activation) {
  kernels(lambda, activation)->grad(dfdx, dfdl, x, lambda, n, activation);
}

void lg_k_bias_gate_fwd_f32(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols,
                            int64_t ldz, int64_t ldy, int32_t activation) {
  kernels(lambda, activation)->bias_fwd(y, z, bias, lambda, rows, cols, ldz, ldy, activation);
}

void lg_k_norm_gate_fwd_f32(float *y, const lg_gate_norm_f32 *norm, float lambda, int32_t activation) {
  kernels(lambda, activation)->norm_fwd(y, norm, lambda, activation);
}

double lg_k_norm_gate_bwd_f32(float *d, const float *dy, const lg_gate_norm_f32 *norm, float lambda,
                              int32_t activation) {
  return kernels(lambda, activation)->norm_bwd(d, dy, norm, lambda, activation);
}
