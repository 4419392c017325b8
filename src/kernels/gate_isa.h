/* gate_isa.h: what gate.c and the per-instruction-set builds of gate_isa.c share. Not for callers of the kernels: they
 * include gate.h. */
#ifndef LG_GATE_ISA_H
#define LG_GATE_ISA_H
#include "gate.h"

/* Lanes of the float64 sum behind ∂L/∂λ: element i of a call goes to lane i mod LG_GATE_LANES in every build. */
enum { LG_GATE_LANES = 16 };

/* The lanes' sum in a fixed pairwise order. */
static inline double lg_gate_lane_sum(const double lane[LG_GATE_LANES]) {
  double by8[8], by4[4];
  for (int i = 0; i < 8; i++) by8[i] = lane[i] + lane[i + 8];
  for (int i = 0; i < 4; i++) by4[i] = by8[i] + by8[i + 4];
  return (by4[0] + by4[2]) + (by4[1] + by4[3]);
}

/* One build's float32 kernels; the arguments are those of the functions of the same names in gate.h. */
typedef struct {
  void (*fwd)(float *y, const float *x, float lambda, int64_t n, int32_t activation);
  double (*bwd)(float *dx, const float *dy, const float *x, float lambda, int64_t n, int32_t activation,
                int accumulate);
  void (*grad)(float *dfdx, float *dfdl, const float *x, float lambda, int64_t n, int32_t activation);
  void (*bias_fwd)(float *y, float *z, const float *bias, float lambda, int64_t rows, int64_t cols, int64_t ldz,
                   int64_t ldy, int32_t activation);
  void (*norm_fwd)(float *y, const lg_gate_norm_f32 *norm, float lambda, int32_t activation);
  double (*norm_bwd)(float *d, const float *dy, const lg_gate_norm_f32 *norm, float lambda, int32_t activation);
} lg_gate_kernels;

/* isa: LG_ISA_…, of those that this program was built with; the caller knows that the CPU has it. */
const lg_gate_kernels *lg_gate_kernels_of(int32_t isa);
extern const lg_gate_kernels lg_gate_kernels_base, lg_gate_kernels_avx2, lg_gate_kernels_avx512;
#endif
