/* gate_element.h: the numerics of the float32 gates, one element at a time, written to be inlined into vector loops:
 * no branches, no calls, no tables. Included by gate_isa.c only, once per instruction set.
 *
 * λ-GELU. With a = λ|x|, E = exp(−a²/2) and the scaled Mills ratio R(a) = (1 − Φ(a))/E:
 *   f      = max(x, 0) − |x|·E·R(a)
 *   ∂f/∂x  = E·T(a) for x < 0, 1 − E·T(a) else, with T(a) = R(a) − a/√(2π) = (a − a₀)·S(a), a₀ the zero of T
 *   ∂f/∂λ  = x²·E/√(2π)
 * R and S are smooth, so that one rational function each serves all a; writing T's zero out keeps the digits near it.
 * From a = 14.75 on, for λ ≥ 1, every float32 result is the step function's; there E is replaced by 0 at the end,
 * whatever became of it on the way.
 *
 * Where the digits are kept. E needs a²/2 to 2⁻²⁷ absolutely: the rounding errors d of λ|x| and of a², both exact
 * through a fused multiply-add, are added to the exponential's reduced argument. E comes as (1 + e)·power, and a
 * product y·(1 + e) as FMA(y, e, y), which rounds once. E is carried times 2⁴⁰, so that it and what is made of it stay
 * normal; the last operation takes the scale off again, so that underflow is gradual and rounds once.
 *
 * Where there is no fused multiply-add (base x86-64) the same source computes in double, in which λ|x| is exact.
 * The sigmoid family (gelu_tanh, gelu_sigmoid, silu) computes in double everywhere: its argument needs more digits than
 * float32 has, and it is not what this program is about.
 *
 * Every operation rounds as IEEE 754 says (no approximate reciprocal), so vector and scalar code give the same bits.
 * The coefficients are minimax fits of tests/ref/gate_fit.py.
 */
#ifndef LG_GATE_ELEMENT_H
#define LG_GATE_ELEMENT_H
#include "exp_fit.h"
#include <float.h>  /* FLT_MAX */
#include <stdint.h> /* uint32_t, uint64_t */
#include <string.h> /* memcpy, for bit casts */

/* -- the type of λ-GELU's arithmetic ----------------------------------------------------------- */

#ifdef __FP_FAST_FMAF
typedef float real;
typedef uint32_t real_bits;
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#define ABS(a) __builtin_fabsf(a)
enum { REAL_MANTISSA = 23, REAL_BIAS = 127 };
#else
typedef double real;
typedef uint64_t real_bits;
#define FMA(a, b, c) ((a) * (b) + (c))
#define ABS(a) __builtin_fabs(a)
enum { REAL_MANTISSA = 52, REAL_BIAS = 1023 };
#endif
#ifdef __FP_FAST_FMA
#define FMA_F64(a, b, c) __builtin_fma(a, b, c)
#else
#define FMA_F64(a, b, c) ((a) * (b) + (c))
#endif

/* E's scale, 2⁴⁰: E·2⁴⁰ ≥ 2⁻¹¹⁷ up to the step, and 2⁴⁰·dy does not overflow for |dy| < 2⁸⁷. */
enum { SCALE_BITS = 40 };
static const real SCALE_DOWN = 0x1p-40f;
static const float STEP_FROM = 14.75f;

/* -- exponential ------------------------------------------------------------------------------- */

/* exp(−a²/2 − b·d) = (1 + the return value)·*power/2⁴⁰ for 0 ≤ a ≤ 14.75 and |b·d| ≪ 1; |the return value| < 0.42. */
static inline real exp_half_square(real *power, real a, real b, real d) {
  /* log 2 in two parts, of which the first has 16 bits: n times it is exact. */
  static const real LN2_HI = (real)0x1.62e4p-1, LN2_LO = (real)0x1.7f7d1cf79abcap-20;
  /* Adding it rounds to an integer n and leaves n + bias + 40 in the low bits, where 2^(n+40) has its exponent. */
  static const real ROUNDER = (real)(((real_bits)3 << (REAL_MANTISSA - 1)) + REAL_BIAS + SCALE_BITS);
  real half = (real)-0.5 * a;
  real square = a * half;
  real low = FMA(-b, d, FMA(a, half, -square));
  real shifted = FMA(square, (real)LOG2_E, ROUNDER);
  real n = shifted - ROUNDER;
  real r = FMA(n, -LN2_HI, square) + FMA(n, -LN2_LO, low);
  /* In pairs: the chain of dependent operations is what limits the speed here, not their number. */
  real r2 = r * r;
  real p = FMA(r2, (real)EXP_C6, FMA(r, (real)EXP_C5, (real)EXP_C4));
  p = FMA(r2, p, FMA(r, (real)EXP_C3, (real)EXP_C2));
  real_bits bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits <<= REAL_MANTISSA;
  memcpy(power, &bits, sizeof *power);
  return FMA(r2, p, r);
}

/* exp(−v) for |v| ≤ 200. */
static inline double exp_minus(double v) {
  static const double LN2 = 0.69314718055994530942, ROUNDER = 0x1.8p52 + 1023;
  double shifted = FMA_F64(v, -LOG2_E, ROUNDER);
  double n = shifted - ROUNDER;
  double r = FMA_F64(n, -LN2, -v);
  double p = FMA_F64(r, EXP_C6, EXP_C5);
  p = FMA_F64(r, p, EXP_C4);
  p = FMA_F64(r, p, EXP_C3);
  p = FMA_F64(r, p, EXP_C2);
  p = FMA_F64(r, r * p, r);
  uint64_t bits;
  memcpy(&bits, &shifted, sizeof bits);
  bits <<= 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return FMA_F64(p, power, power);
}

/* -- λ-GELU ------------------------------------------------------------------------------------ */

/* R(a) = INV_SQRT_2PI·P/(a·P + Q), with P and Q polynomials in a: minimax, relative error 2⁻²⁵·⁸ on [0, 14.78] with
 * all coefficients as rounded to float32. For large a the rounding errors of P cancel. */
static const float INV_SQRT_2PI = 0.39894228040143267794f;

static inline real mills_p(real a) {
  real p = FMA(a, 0.0178277642f, 0.166915804f);
  p = FMA(a, p, 0.723885536f);
  p = FMA(a, p, 1.67471278f);
  return FMA(a, p, 1.82958961f);
}

static inline real mills_q(real a) {
  real q = FMA(a, 1.7312226e-06f, 0.0177491028f);
  q = FMA(a, q, 0.168441609f);
  q = FMA(a, q, 0.671392441f);
  return FMA(a, q, 1.45980132f);
}

/* S(a) = Q/P − INV_SQRT_2PI: relative error 2⁻²⁶·⁷. The larger a is, the less the quotient's rounding errors weigh. */
static inline real slope_p(real a) {
  real p = FMA(a, 0.0521757491f, 0.438988f);
  p = FMA(a, p, 1.58144116f);
  p = FMA(a, p, 2.78872919f);
  return FMA(a, p, 1.99353862f);
}

static inline real slope_q(real a) {
  real q = FMA(a, -1.18192347e-07f, -0.0156429168f);
  q = FMA(a, q, -0.122727156f);
  q = FMA(a, q, -0.390015602f);
  return FMA(a, q, -0.530551791f);
}

/* min(a, STEP_FROM) for a ≥ 0, by the order of the bits, which stays one instruction where a choice between floats
 * would be carried into everything made of it. Elements past the step are so computed on normal numbers, which are
 * fast. In double nothing is subnormal there. */
static inline real below_step(real a) {
#ifdef __FP_FAST_FMAF
  uint32_t bits, limit;
  memcpy(&bits, &a, sizeof bits);
  memcpy(&limit, &STEP_FROM, sizeof limit);
  bits = bits < limit ? bits : limit;
  memcpy(&a, &bits, sizeof a);
#endif
  return a;
}

static inline float lambda_gelu(float x, float lambda) {
  real size = ABS((real)x);
  real z = size * lambda, d = FMA(size, (real)lambda, -z), a = below_step(z);
  /* −φ(a)/(1 − Φ(a)), the relative slope of E·R, is −0.8 at 0 and tends to −a: −(a + 0.15) is near enough for d. */
  real power, e = exp_half_square(&power, a, a + (real)0.15, d);
  real p = mills_p(a), ratio = p / FMA(a, p, mills_q(a));
  /* ratio·size·power·(1 + e) in two parts, so that it rounds once, at the end. */
  real scaled = size * power, tail = ratio * scaled, rest = FMA(tail, e, FMA(ratio, scaled, -tail));
  tail = z > STEP_FROM ? 0 : tail;
  rest = z > STEP_FROM ? 0 : rest;
  static const real DOWN = -SCALE_DOWN * INV_SQRT_2PI;
  return (float)FMA(tail, DOWN, FMA(rest, DOWN, x < 0 ? 0 : (real)x));
}

/* 2⁴⁰·E·T(a) and 2⁴⁰·x²·E; 0 past the step. */
static inline void lambda_gelu_scaled_slopes(real *t, real *u, float x, float lambda) {
  /* a₀ as a float32, and the rest of it times −S(a₀): added where it matters, which is only near a₀. */
  static const real ZERO = 0.75179152469356445746f, REST = -6.93438558e-09f;
  real size = ABS((real)x);
  real z = size * lambda, d = FMA(size, (real)lambda, -z), a = below_step(z);
  real power, e = exp_half_square(&power, a, a, d);
  real slope = slope_q(a) / slope_p(a) - INV_SQRT_2PI;
  real product = FMA(FMA(size, (real)lambda, -ZERO), slope, REST);
  real et = FMA(product, e, product) * power;
  real square = power * size * size;
  real eu = FMA(square, e, square);
  *t = z > STEP_FROM ? 0 : et;
  *u = z > STEP_FROM ? 0 : eu;
}

static inline void lambda_gelu_grad(float *dfdx, float *dfdl, float x, float lambda) {
  static const real REST_OF_INV_SQRT_2PI = (real)(0x1p-40 * (0.39894228040143267794 - 0.39894228040143267794f));
  real t, u;
  lambda_gelu_scaled_slopes(&t, &u, x, lambda);
  *dfdx = (float)FMA(t, x < 0 ? SCALE_DOWN : -SCALE_DOWN, x < 0 ? (real)0 : (real)1);
  *dfdl = (float)FMA(u, SCALE_DOWN * INV_SQRT_2PI, u * REST_OF_INV_SQRT_2PI);
}

/* dy·∂f/∂x; *term = dy·∂f/∂λ times LAMBDA_GELU_TERM. */
static const double LAMBDA_GELU_TERM = 0x1p40 * 2.5066282746310005024;

static inline float lambda_gelu_bwd(float *term, float dy, float x, float lambda) {
  real t, u;
  lambda_gelu_scaled_slopes(&t, &u, x, lambda);
  *term = (float)(dy * u);
  return (float)FMA(dy * t, x < 0 ? SCALE_DOWN : -SCALE_DOWN, x < 0 ? 0 : (real)dy);
}

/* -- the sigmoid family: f = x·σ(v(x)), f′ = σ(v)·(1 + x·v′(x)·σ(−v)) -------------------------- */

static inline double clamp200(double v) {
  v = v < -200.0 ? -200.0 : v;
  return v > 200.0 ? 200.0 : v;
}

/* Past |v| = 200 the step function is exact in float32; −∞ is taken for −FLT_MAX, which gives −0 instead of NaN. */
static inline float sigmoid_gate(float x, double v) {
  float bounded = x < -FLT_MAX ? -FLT_MAX : x;
  return (float)(bounded / (1.0 + exp_minus(clamp200(v))));
}

/* x is within ±200 here, slope = v′(x). */
static inline double sigmoid_gate_slope(double x, double v, double slope) {
  double e = exp_minus(clamp200(v));
  double sigmoid = 1.0 / (1.0 + e);
  return sigmoid * (1.0 + x * slope * (e * sigmoid));
}

static const double GELU_TANH_SCALE = 1.5957691216057307117; /* 2·√(2/π) */
static const double GELU_TANH_CUBIC = 0.044715, GELU_SIGMOID_SCALE = 1.702;

static inline float gelu_tanh(float x, float lambda) {
  (void)lambda;
  double w = x;
  return sigmoid_gate(x, GELU_TANH_SCALE * w * (1.0 + GELU_TANH_CUBIC * w * w));
}

static inline double gelu_tanh_slope(float x) {
  double w = clamp200(x), cubic = GELU_TANH_CUBIC * w * w;
  return sigmoid_gate_slope(w, GELU_TANH_SCALE * w * (1.0 + cubic), GELU_TANH_SCALE * (1.0 + 3.0 * cubic));
}

static inline float gelu_tanh_bwd(float dy, float x) { return (float)(dy * gelu_tanh_slope(x)); }

static inline float gelu_sigmoid(float x, float lambda) {
  (void)lambda;
  return sigmoid_gate(x, GELU_SIGMOID_SCALE * x);
}

static inline double gelu_sigmoid_slope(float x) {
  double w = clamp200(x);
  return sigmoid_gate_slope(w, GELU_SIGMOID_SCALE * w, GELU_SIGMOID_SCALE);
}

static inline float gelu_sigmoid_bwd(float dy, float x) { return (float)(dy * gelu_sigmoid_slope(x)); }

static inline float silu(float x, float lambda) {
  (void)lambda;
  return sigmoid_gate(x, x);
}

static inline double silu_slope(float x) {
  double w = clamp200(x);
  return sigmoid_gate_slope(w, w, 1.0);
}

static inline float silu_bwd(float dy, float x) { return (float)(dy * silu_slope(x)); }

/* -- relu and identity: NaN in, NaN out -------------------------------------------------------- */

static inline float relu(float x, float lambda) {
  (void)lambda;
  return x < 0 ? 0 : x;
}

/* The derivative at 0 is 0. */
static inline float relu_slope(float x) { return x > 0 ? 1 : (x <= 0 ? 0 : x); }
static inline float relu_bwd(float dy, float x) { return x > 0 ? dy : (x <= 0 ? 0 : x); }

static inline float identity(float x, float lambda) {
  (void)lambda;
  return x;
}

static inline float identity_slope(float x) { return x != x ? x : 1; }
static inline float identity_bwd(float dy, float x) { return x != x ? x : dy; }
#endif
