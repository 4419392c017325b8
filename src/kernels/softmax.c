/* softmax.c: the float64 loops of softmax.h, and the choice among the float32 builds of softmax_isa.c. */
#include "softmax.h"
#include "../core/cpu.h"
#include <math.h>

#define NAME(name) lg_k_softmax_##name##_f64
#define REAL double
#define EXP exp
#include "softmax_template.h"

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X) X(base) X(avx2) X(avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X) X(base)
#endif
#define X(isa)                                                                                                         \
  void lg_k_softmax_row_f32_##isa(float *, float[2], float, int64_t);                                                  \
  void lg_k_softmax_again_f32_##isa(float *, const float[2], float, int64_t);                                          \
  void lg_k_softmax_grad_f32_##isa(float *, const float *, float, float, int64_t);
BUILDS(X)
#undef X

void lg_k_softmax_row_f32(float *row, float stat[2], float scale, int64_t n) {
  static void (*const builds[])(float *, float[2], float, int64_t) = {
#define X(isa) lg_k_softmax_row_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](row, stat, scale, n);
}

void lg_k_softmax_again_f32(float *row, const float stat[2], float scale, int64_t n) {
  static void (*const builds[])(float *, const float[2], float, int64_t) = {
#define X(isa) lg_k_softmax_again_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](row, stat, scale, n);
}

void lg_k_softmax_grad_f32(float *dp, const float *p, float dot, float scale, int64_t n) {
  static void (*const builds[])(float *, const float *, float, float, int64_t) = {
#define X(isa) lg_k_softmax_grad_f32_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](dp, p, dot, scale, n);
}
