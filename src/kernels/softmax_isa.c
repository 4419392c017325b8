/* softmax_isa.c: the float32 loops of softmax.h, compiled once per instruction set (LG_ISA); softmax.c picks one. */
#include "softmax.h"
#include "exp_fit.h"
#include <string.h>

#ifdef __FP_FAST_FMAF
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#else
#define FMA(a, b, c) ((a) * (b) + (c))
#endif

/* exp(v) for v ≤ 0 (above, up to 88): relative error 2⁻²³ or so; 0 from −87 on, where a softmax has lost all digits
 * anyway; NaN stays. No branch, no call: it is inlined into vector loops. */
static inline float exp_low(float v) {
  static const float LN2_HI = 0x1.62e4p-1f, LN2_LO = 0x1.7f7d1cp-20f; /* n·LN2_HI is exact for |n| < 256 */
  static const float ROUNDER = 0x1.8p23f + 127;                       /* leaves n + 127 in the low bits */
  float shifted = FMA(v, (float)LOG2_E, ROUNDER), n = shifted - ROUNDER;
  float r = FMA(n, -LN2_LO, FMA(n, -LN2_HI, v));
  float p = FMA(r, (float)EXP_C6, (float)EXP_C5);
  p = FMA(r, p, (float)EXP_C4);
  p = FMA(r, p, (float)EXP_C3);
  p = FMA(r, p, (float)EXP_C2);
  p = FMA(r * r, p, r);
  uint32_t bits;
  float power;
  memcpy(&bits, &shifted, sizeof bits);
  bits <<= 23;
  memcpy(&power, &bits, sizeof power);
  return v < -87.0f ? 0 : FMA(power, p, power);
}

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_softmax_##name##_f32_, LG_ISA)
#define REAL float
#define EXP exp_low

void NAME(row)(float *, float[2], float, int64_t);
void NAME(again)(float *, const float[2], float, int64_t);
void NAME(grad)(float *, const float *, float, float, int64_t);
#include "softmax_template.h"
