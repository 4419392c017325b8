/* update.h: one optimizer step over contiguous elements: parameters, moments and gradients in a single pass.
 * Leaf kernels; groups, rates and tiles are optim/optim.c's. */
#ifndef LG_UPDATE_H
#define LG_UPDATE_H
#include <stdint.h>

/* Adam (Kingma & Ba 2015) and AdamW (Loshchilov & Hutter 2019). rate and decay are the group's, clip multiplies g.
 * correction1 = 1-β1^step, correction2 = 1-β2^step; ε is added after the bias correction:
 *   θ ← θ·(1 - rate·decay) when decoupled, else g ← g + decay·θ
 *   m ← β1·m + (1-β1)·g;  v ← β2·v + (1-β2)·g²;  θ ← θ - rate·(m/correction1)/(√(v/correction2) + ε) */
typedef struct lg_adam_step {
  double rate, decay, beta1, beta2, eps, correction1, correction2, clip;
  int decoupled;
} lg_adam_step;
void lg_k_adam_f32(float *theta, float *m, float *v, const float *g, int64_t n, const lg_adam_step *s);
void lg_k_adam_f64(double *theta, double *m, double *v, const double *g, int64_t n, const lg_adam_step *s);

/* SGD as PyTorch states it: g ← g + decay·θ; buf ← g on the first step, then momentum·buf + (1-dampening)·g;
 * θ ← θ - rate·(nesterov ? g + momentum·buf : buf). Without momentum buf is not touched (and may be NULL). */
typedef struct lg_sgd_step {
  double rate, decay, momentum, dampening, clip;
  int nesterov, first;
} lg_sgd_step;
void lg_k_sgd_f32(float *theta, float *buf, const float *g, int64_t n, const lg_sgd_step *s);
void lg_k_sgd_f64(double *theta, double *buf, const double *g, int64_t n, const lg_sgd_step *s);
#endif
