/* api/gate.c: the exported scalars of the gate: value and derivatives at one point, λ(s) and s(λ).
 * Not the tensor forms (api/tensor.c). Called by lua/lgelu/gate.lua. */
#include "../kernels/gate.h"
#include <float.h>
#include <math.h>
#include <stddef.h>

double lg_gate_value_f64(double x, double lambda) {
  double f;
  lg_gate_scalar_f64(&f, NULL, NULL, x, lambda, LG_ACT_LAMBDA_GELU);
  return f;
}

void lg_gate_grad_f64(double *dfdx, double *dfdl, double x, double lambda) {
  lg_gate_scalar_f64(NULL, dfdx, dfdl, x, lambda, LG_ACT_LAMBDA_GELU);
}

float lg_gate_value_f32(float x, float lambda) {
  float f;
  lg_k_gate_fwd_f32(&f, &x, lambda, 1, LG_ACT_LAMBDA_GELU);
  return f;
}

void lg_gate_grad_f32(float *dfdx, float *dfdl, float x, float lambda) {
  float gx, gl;
  lg_k_gate_grad_f32(&gx, &gl, &x, lambda, 1, LG_ACT_LAMBDA_GELU);
  if (dfdx) *dfdx = gx;
  if (dfdl) *dfdl = gl;
}

static lg_status check_reparam(int32_t reparam, double t) {
  if (reparam < 0 || reparam >= LG_REPARAM_COUNT)
    return lg_fail(LG_EARG, "reparam: found index %d, expected 0 to %d", reparam, LG_REPARAM_COUNT - 1);
  if (!(t > 0.0) || isinf(t)) return lg_fail(LG_EARG, "t: found %g, expected a finite number above 0", t);
  return LG_OK;
}

lg_status lg_gate_lambda(double *lambda, double *dlds, int32_t reparam, double s, double t) {
  LG_TRY(check_reparam(reparam, t));
  if (!lambda) return lg_fail(LG_EARG, "lambda: found NULL, expected where to put λ");
  if (isnan(s)) return lg_fail(LG_EARG, "s: found NaN, expected a number");
  *lambda = lg_reparam_lambda(dlds, reparam, s, t);
  return LG_OK;
}

/* Inverse of softplus: u = log(exp(p) − 1), written so that neither large nor tiny p loses digits. */
static double softplus_inverse(double p) { return p > 1.0 ? p + log1p(-exp(-p)) : log(expm1(p)); }

lg_status lg_gate_s(double *s, int32_t reparam, double lambda, double t) {
  LG_TRY(check_reparam(reparam, t));
  if (!s) return lg_fail(LG_EARG, "s: found NULL, expected where to put s");
  if (!isfinite(lambda)) return lg_fail(LG_EARG, "λ: found %g, expected a finite number", lambda);
  if (reparam == LG_REPARAM_NONE) {
    if (lambda < 1.0) return lg_fail(LG_EARG, "λ: found %.17g, expected at least 1 (reparameterization none)", lambda);
    *s = lambda;
    return LG_OK;
  }
  if (lambda <= 1.0)
    return lg_fail(LG_EARG,
                   "λ: found %.17g, expected more than 1 (reparameterization %s reaches 1 only as s → −∞); the nearest "
                   "usable value is %.17g",
                   lambda, lg_list_reparam.names[reparam], 1.0 + DBL_EPSILON);
  double excess = lambda - 1.0;
  switch (reparam) {
  case LG_REPARAM_SOFTPLUS: *s = t * softplus_inverse(excess); break;
  case LG_REPARAM_SOFTPLUS_BETA: *s = t * softplus_inverse(excess / t); break;
  default: *s = t * log(excess); break; /* LG_REPARAM_EXP */
  }
  return LG_OK;
}
