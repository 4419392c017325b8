/* gate_isa.h: what gate.c and the per-instruction-set builds of gate_isa.c share. Not for callers of the kernels:
 * gate.h is. */
#ifndef LG_GATE_ISA_H
#define LG_GATE_ISA_H
#include "gate.h"

/* Lanes of the float64 sum behind ∂L/∂λ: element i of a call goes to lane i mod LG_GATE_LANES in every build. */
enum { LG_GATE_LANES = 16 };

/* The lanes' sum in a fixed pairwise order. */
static inline double lg_gate_lane_sum(const double lane[LG_GATE_LANES]) {
  double part[LG_GATE_LANES];
  for (int i = 0; i < LG_GATE_LANES; i++) part[i] = lane[i];
  for (int half = LG_GATE_LANES / 2; half > 0; half /= 2)
    for (int i = 0; i < half; i++) part[i] += part[i + half];
  return part[0];
}
#endif
