/* update.c: float64 optimizer loops, and the choice among the float32 builds of update_isa.c. */
#include "update.h"
#include "../core/cpu.h"
#include <math.h>

#define NAME(name) lg_k_##name##_f64
#define REAL double
#define SQRT sqrt
#define SQRT_F64 sqrt
#include "update_template.h"

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X) X(base) X(avx2) X(avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X) X(base)
#endif
#define X(isa)                                                                                                         \
  void lg_k_adam_f32_##isa(float *, float *, float *, const float *, int64_t, const lg_adam_step *);                   \
  void lg_k_sgd_f32_##isa(float *, float *, const float *, int64_t, const lg_sgd_step *);
BUILDS(X)
#undef X

void lg_k_adam_f32(float *theta, float *m, float *v, const float *g, int64_t n, const lg_adam_step *s) {
  static void (*const builds[])(float *, float *, float *, const float *, int64_t, const lg_adam_step *) = {
#define X(isa) lg_k_adam_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](theta, m, v, g, n, s);
}

void lg_k_sgd_f32(float *theta, float *buf, const float *g, int64_t n, const lg_sgd_step *s) {
  static void (*const builds[])(float *, float *, const float *, int64_t, const lg_sgd_step *) = {
#define X(isa) lg_k_sgd_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](theta, buf, g, n, s);
}
