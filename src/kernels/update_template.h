/* update_template.h: the loops of update.h for one REAL type; NAME(x) gives the function's name. No include guard: it
 * is included once per type by update.c (float64) and update_isa.c (float32 per instruction set). */
void NAME(adam)(REAL *theta, REAL *m, REAL *v, const REAL *g, int64_t n, const lg_adam_step *s) {
  const REAL beta1 = (REAL)s->beta1, beta2 = (REAL)s->beta2, new1 = (REAL)(1 - s->beta1), new2 = (REAL)(1 - s->beta2);
  const REAL clip = (REAL)s->clip, eps = (REAL)s->eps, shrink = (REAL)(s->decoupled ? 1 - s->rate * s->decay : 1);
  const REAL coupled = (REAL)(s->decoupled ? 0 : s->decay), rate = (REAL)(s->rate / s->correction1);
  const REAL root2 = (REAL)(1 / SQRT_F64(s->correction2));
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    REAL x = theta[i], d = g[i] * clip + coupled * x;
    REAL m1 = beta1 * m[i] + new1 * d, v1 = beta2 * v[i] + new2 * d * d;
    m[i] = m1;
    v[i] = v1;
    theta[i] = x * shrink - rate * m1 / (SQRT(v1) * root2 + eps);
  }
}

void NAME(sgd)(REAL *theta, REAL *buf, const REAL *g, int64_t n, const lg_sgd_step *s) {
  const REAL rate = (REAL)s->rate, decay = (REAL)s->decay, momentum = (REAL)s->momentum, clip = (REAL)s->clip;
  const REAL keep = s->first ? 0 : momentum, fresh = (REAL)(s->first ? 1 : 1 - s->dampening);
  if (s->momentum == 0) {
#pragma omp simd
    for (int64_t i = 0; i < n; i++) theta[i] -= rate * (g[i] * clip + decay * theta[i]);
    return;
  }
  const REAL direct = s->nesterov ? 1 : 0, through = s->nesterov ? momentum : 1;
#pragma omp simd
  for (int64_t i = 0; i < n; i++) {
    REAL d = g[i] * clip + decay * theta[i], b = keep * buf[i] + fresh * d;
    buf[i] = b;
    theta[i] -= rate * (direct * d + through * b);
  }
}
