/* test_gate.c: the float32 gate kernels of every instruction set that this CPU has, against long double evaluations:
 * accuracy in ulp, extremes, underflow, in-place and tails, the sum behind ∂L/∂λ, and the plain references beside them.
 */
#include "../../src/core/cpu.h"
#include "../../src/core/rng.h"
#include "../../src/kernels/gate_isa.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH = 4096 };
static int failures;

static void fail(const char *what, int32_t isa, int32_t activation, float x, float lambda, double found,
                 double expected) {
  static const char *const isa_names[] = {"base", "avx2", "avx512"};
  if (++failures <= 20)
    printf("FAILED %s: %s %s at x=%.9g λ=%.9g: found %.9g, expected %.9g\n", what, isa_names[isa],
           lg_list_activation.names[activation], (double)x, (double)lambda, found, expected);
}

/* -- long double truth ------------------------------------------------------------------------- */

typedef struct {
  long double f, dfdx, dfdl;
} truth;

static truth lambda_gelu_truth(float x, float lambda) {
  if (isinf(x)) return (truth){x > 0 ? x : 0, x > 0, 0};
  long double z = (long double)lambda * x; /* exact: 48 bits */
  long double cdf = erfcl(-z * 0.70710678118654752440084436210485L) / 2;
  long double pdf = expl(-z * z / 2) * 0.39894228040143267793994605993438L;
  return (truth){x * cdf, cdf + z * pdf, x * (x * pdf)};
}

static truth sigmoid_truth(float x, long double v, long double slope) {
  if (isinf(x)) return (truth){x > 0 ? x : 0, x > 0, 0};
  long double e = expl(-fabsl(v)), upper = 1 / (1 + e), lower = e / (1 + e), sigmoid = v < 0 ? lower : upper;
  long double beside = e == 0 ? 0 : x * slope * upper * lower;
  return (truth){x * sigmoid, sigmoid + beside, 0};
}

static truth truth_of(int32_t activation, float x, float lambda) {
  truth t = {x, 1, 0};
  switch (activation) {
  case LG_ACT_LAMBDA_GELU: return lambda_gelu_truth(x, lambda);
  case LG_ACT_RELU: return (truth){x > 0 ? x : 0, x > 0, 0};
  case LG_ACT_GELU: t = lambda_gelu_truth(x, 1); break;
  case LG_ACT_GELU_TANH: {
    long double scale = 1.5957691216057307117597842397375L, cubic = 0.044715L * x * x;
    t = sigmoid_truth(x, scale * x * (1 + cubic), scale * (1 + 3 * cubic));
    break;
  }
  case LG_ACT_GELU_SIGMOID: t = sigmoid_truth(x, 1.702L * x, 1.702L); break;
  case LG_ACT_SILU: t = sigmoid_truth(x, x, 1); break;
  default: break;
  }
  t.dfdl = 0;
  return t;
}

/* |found − expected| in units in the last place of the larger of expected and least; below the normals the unit is the
 * subnormals' step. NaN, or an infinity where none is due: a million. */
static double ulps(float found, long double expected, double least) {
  long double size = fabsl(expected);
  if (size > FLT_MAX) return isinf(found) && (found > 0) == (expected > 0) ? 0 : 1e6;
  if (!isfinite(found)) return 1e6;
  if (size < least) size = least;
  int exponent = -125;
  if (size >= FLT_MIN) frexpl(size, &exponent);
  return (double)ldexpl(fabsl(found - expected), 24 - exponent);
}

/* -- accuracy ---------------------------------------------------------------------------------- */

static const double FLOOR = 0x1p-4; /* ∂f/∂x is held to 4 ulp of 1/16 near its zero */

static void check_one(int32_t isa, int32_t activation, float x, float lambda, float f, float dfdx, float dfdl) {
  truth t = truth_of(activation, x, lambda);
  if (!(ulps(f, t.f, 0) <= 4)) fail("f", isa, activation, x, lambda, f, (double)t.f);
  if (!(ulps(dfdx, t.dfdx, FLOOR) <= 4)) fail("df/dx", isa, activation, x, lambda, dfdx, (double)t.dfdx);
  /* Away from the zero at λx = −0.7518, λ-GELU's tail keeps its digits too. */
  if (activation == LG_ACT_LAMBDA_GELU && lambda * x < -1.5f && !(ulps(dfdx, t.dfdx, 0) <= 4))
    fail("df/dx in the tail", isa, activation, x, lambda, dfdx, (double)t.dfdx);
  if (!(ulps(dfdl, t.dfdl, 0) <= 4)) fail("df/dλ", isa, activation, x, lambda, dfdl, (double)t.dfdl);
}

static void check_batch(const float *x, float lambda, int64_t n, int32_t activation) {
  static float f[BATCH], dfdx[BATCH], dfdl[BATCH];
  for (int32_t isa = 0; isa <= lg_isa_best(); isa++) {
    const lg_gate_kernels *k = lg_gate_kernels_of(isa);
    k->fwd(f, x, lambda, n, activation);
    k->grad(dfdx, dfdl, x, lambda, n, activation);
    for (int64_t i = 0; i < n; i++) check_one(isa, activation, x[i], lambda, f[i], dfdx[i], dfdl[i]);
  }
}

static double uniform(uint64_t stream, uint64_t index) { return lg_rng_uniform(20, stream, index); }

/* λx over the whole range in which the result is not the step's, its small values and the neighbourhood of f′'s zero.
 */
static void accuracy_lambda_gelu(void) {
  static const float fixed[] = {1, 1.1f, 1.5f, 2, 5, 8, 20, 160, 1e4f, 1e6f};
  enum { FIXED = sizeof fixed / sizeof *fixed, BATCHES = 60 };
  static float x[BATCH];
  for (uint64_t b = 0; b < BATCHES; b++) {
    float lambda = b < FIXED ? fixed[b] : (float)exp(uniform(1, b) * log(b % 2 ? 1e6 : 300));
    for (uint64_t i = 0; i < BATCH; i++) {
      double u = uniform(2 + b, i), z = u * 15.5;
      if (i % 4 == 1) z = u * 3;
      if (i % 4 == 2) z = exp(-60 * u);
      if (i % 4 == 3) z = 0.75179152469356446 + (i % 8 < 4 ? 1 : -1) * exp(-14 * u) * 0.5;
      x[i] = (float)(i / 4 % 2 ? z / lambda : -z / lambda);
    }
    check_batch(x, lambda, BATCH, LG_ACT_LAMBDA_GELU);
  }
}

/* Every activation over every binary order of magnitude of x, both signs; λ as the batch says. */
static void accuracy_all_magnitudes(void) {
  static float x[BATCH];
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++)
    for (uint64_t b = 0; b < 8; b++) {
      for (uint64_t i = 0; i < BATCH; i++) {
        double u = uniform(100 + b, i);
        x[i] = (float)ldexp(i % 2 ? 1 + u : -1 - u, b < 4 ? (int)(i / 2 % 277) - 149 : (int)(i / 2 % 10) - 3);
      }
      check_batch(x, b % 2 ? 160.0f : 1.0f, BATCH, activation);
    }
}

static void extremes(void) {
  static const float x[] = {0.0f,     -0.0f,     1e-45f,   -1e-45f,   1e-38f, -1e-38f, 1e-30f,   -1e-30f,
                            1e-20f,   -1e-20f,   1e20f,    -1e20f,    3e38f,  -3e38f,  FLT_MAX,  -FLT_MAX,
                            INFINITY, -INFINITY, 14.7499f, -14.7499f, 14.75f, -14.75f, 14.7501f, -14.7501f,
                            13.2f,    -13.2f,    14.2f,    -14.2f,    200.0f, -200.0f};
  static const float lambdas[] = {1, 160, 1e6f};
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++)
    for (size_t l = 0; l < sizeof lambdas / sizeof *lambdas; l++)
      check_batch(x, lambdas[l], sizeof x / sizeof *x, activation);
}

/* -- what the kernels promise besides accuracy --------------------------------------------------- */

static void nan_in_nan_out(int32_t isa, const lg_gate_kernels *k) {
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++) {
    float x = NAN, dy = 1, f = 0, dx = 0, dfdx = 0, dfdl = 0;
    k->fwd(&f, &x, 2, 1, activation);
    k->grad(&dfdx, &dfdl, &x, 2, 1, activation);
    k->bwd(&dx, &dy, &x, 2, 1, activation, 0);
    if (!isnan(f)) fail("f(NaN)", isa, activation, x, 2, f, NAN);
    if (!isnan(dfdx)) fail("df/dx(NaN)", isa, activation, x, 2, dfdx, NAN);
    if (!isnan(dx)) fail("dx(NaN)", isa, activation, x, 2, dx, NAN);
  }
}

/* The same bits wherever an element stands, in place or not, for every length; and not one element beyond. */
static void places(int32_t isa, const lg_gate_kernels *k) {
  enum { N = 150 };
  float x[N], dy[N], whole[N], whole_dx[N], y[N + 1], dx[N + 1];
  for (int i = 0; i < N; i++) x[i] = (float)(6 * uniform(300, i) - 3), dy[i] = (float)(2 * uniform(301, i) - 1);
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++) {
    k->fwd(whole, x, 1.7f, N, activation);
    k->bwd(whole_dx, dy, x, 1.7f, N, activation, 0);
    for (int start = 0; start < 20; start++)
      for (int n = 0; n <= 70; n++) {
        for (int i = 0; i <= n; i++) y[i] = x[start + i], dx[i] = dy[start + i];
        k->fwd(y, y, 1.7f, n, activation);
        k->bwd(dx, dx, x + start, 1.7f, n, activation, 0);
        if (memcmp(y, whole + start, (size_t)n * 4) != 0) fail("place, forward", isa, activation, 0, 1.7f, n, start);
        if (memcmp(dx, whole_dx + start, (size_t)n * 4) != 0)
          fail("place, backward", isa, activation, 0, 1.7f, n, start);
        if (y[n] != x[start + n] || dx[n] != dy[start + n]) fail("beyond the end", isa, activation, 0, 1.7f, n, start);
      }
  }
}

/* dx against dy·f′ and the returned sum against one over the same terms in long double; accumulation adds to dx. */
static void backward(int32_t isa, const lg_gate_kernels *k) {
  enum { N = 3001 };
  static float x[N], dy[N], dx[N], twice[N];
  for (int i = 0; i < N; i++) x[i] = (float)(8 * uniform(400, i) - 4), dy[i] = (float)(2 * uniform(401, i) - 1);
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++) {
    float lambda = 1.3f;
    double sum = k->bwd(dx, dy, x, lambda, N, activation, 0);
    memcpy(twice, dx, sizeof dx);
    double again = k->bwd(twice, dy, x, lambda, N, activation, 1);
    long double expected = 0, size = 0;
    for (int i = 0; i < N; i++) {
      truth t = truth_of(activation, x[i], lambda);
      if (!(ulps(dx[i], dy[i] * t.dfdx, fabs(dy[i]) * FLOOR) <= 5))
        fail("dx", isa, activation, x[i], lambda, dx[i], (double)(dy[i] * t.dfdx));
      if (!(ulps(twice[i], 2 * (long double)dx[i], 0) <= 1))
        fail("accumulate", isa, activation, x[i], lambda, twice[i], 2 * dx[i]);
      expected += dy[i] * t.dfdl, size += fabsl(dy[i] * t.dfdl);
    }
    if (!(fabsl(sum - expected) <= 4e-8L * size)) fail("Σ dy·df/dλ", isa, activation, 0, lambda, sum, (double)expected);
    if (again != sum) fail("Σ when accumulating", isa, activation, 0, lambda, again, sum);
    if (!lg_activation_has_lambda(activation) && sum != 0) fail("Σ without λ", isa, activation, 0, lambda, sum, 0);
  }
}

/* Many equal terms: a sum in float32 would stop growing; many tiny ones: a float32 product with dy would be 0. */
static void long_sums(int32_t isa, const lg_gate_kernels *k) {
  enum { N = 1 << 22 };
  float *x = malloc(N * sizeof *x), *dy = malloc(N * sizeof *dy);
  if (!x || !dy) fail("memory for a long sum", isa, 0, 0, 0, 0, 0);
  for (int t = 0; t < 2 && x && dy; t++) {
    float at = t ? 13.0f : 1.0f, up = t ? 1e-6f : 1e-3f;
    for (int i = 0; i < N; i++) x[i] = at, dy[i] = up;
    double expected = (double)(lambda_gelu_truth(at, 1).dfdl * up * N);
    double sum = k->bwd(dy, dy, x, 1, N, LG_ACT_LAMBDA_GELU, 0);
    if (!(fabs(sum / expected - 1) < 4e-7)) fail("long Σ", isa, 0, at, 1, sum, expected);
  }
  free(x), free(dy);
}

static void bias(int32_t isa, const lg_gate_kernels *k) {
  enum { ROWS = 3, COLS = 37, LDZ = 41, LDY = 40 };
  float z[ROWS * LDZ], b[COLS], y[ROWS * LDY], z_before[ROWS * LDZ], row[COLS], f[COLS];
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++)
    for (int with = 0; with < 2; with++) {
      for (int i = 0; i < ROWS * LDZ; i++) z[i] = z_before[i] = (float)(4 * uniform(500, i) - 2);
      for (int i = 0; i < COLS; i++) b[i] = (float)uniform(501, i);
      for (int i = 0; i < ROWS * LDY; i++) y[i] = 77;
      k->bias_fwd(y, z, with ? b : NULL, 2.5f, ROWS, COLS, LDZ, LDY, activation);
      for (int r = 0; r < ROWS; r++) {
        for (int c = 0; c < COLS; c++) row[c] = z_before[r * LDZ + c] + (with ? b[c] : 0);
        k->fwd(f, row, 2.5f, COLS, activation);
        if (memcmp(z + r * LDZ, row, sizeof row) != 0) fail("bias: z", isa, activation, 0, 2.5f, r, with);
        if (memcmp(y + r * LDY, f, sizeof f) != 0) fail("bias: y", isa, activation, 0, 2.5f, r, with);
        for (int c = COLS; c < LDY; c++)
          if (y[r * LDY + c] != 77) fail("bias: beyond y's columns", isa, activation, 0, 2.5f, r, c);
        if (memcmp(z + r * LDZ + COLS, z_before + r * LDZ + COLS, (LDZ - COLS) * 4) != 0)
          fail("bias: beyond z's columns", isa, activation, 0, 2.5f, r, with);
      }
    }
}

/* A normalization's gate has the bits of the gate of its u, with and without residual, whole blocks and rests of rows.
 */
static void norm(int32_t isa, const lg_gate_kernels *k) {
  enum { ROWS = 3, MOST = 37, N = ROWS * MOST };
  static const int64_t widths[] = {1, 16, 37};
  float x[N], residual[N], dy[N], mean[MOST], scale[MOST], shift[MOST], u[N], want[N], got[N];
  for (int i = 0; i < N; i++) x[i] = (float)(4 * uniform(700, i)), residual[i] = (float)uniform(701, i);
  for (int i = 0; i < N; i++) dy[i] = (float)(2 * uniform(702, i) - 1);
  for (int i = 0; i < MOST; i++)
    mean[i] = (float)(4 * uniform(703, i)), scale[i] = (float)uniform(704, i), shift[i] = (float)uniform(705, i);
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++)
    for (int with = 0; with < 2; with++)
      for (int w = 0; w < 3; w++) {
        int64_t cols = widths[w], n = ROWS * cols;
        lg_gate_norm_f32 norm = {x, with ? residual : NULL, mean, scale, shift, ROWS, cols};
        for (int64_t i = 0; i < n; i++) {
          float v = (x[i] - mean[i % cols]) * scale[i % cols] + shift[i % cols];
          u[i] = with ? v + residual[i] : v;
        }
        k->fwd(want, u, 2.5f, n, activation);
        k->norm_fwd(got, &norm, 2.5f, activation);
        if (memcmp(got, want, (size_t)n * sizeof *got)) fail("norm: y", isa, activation, 0, 2.5f, with, (double)cols);
        double sum = k->bwd(want, dy, u, 2.5f, n, activation, 0);
        memcpy(got, dy, sizeof got);
        double found = k->norm_bwd(got, got, &norm, 2.5f, activation);
        if (memcmp(got, want, (size_t)n * sizeof *got)) fail("norm: d", isa, activation, 0, 2.5f, with, (double)cols);
        if (!(fabs(found - sum) <= 1e-12)) fail("norm: Σ", isa, activation, 0, 2.5f, found, sum);
        lg_k_norm_gate_fwd_f32_ref(want, &norm, 2.5f, activation);
        k->norm_fwd(got, &norm, 2.5f, activation);
        for (int64_t i = 0; i < n; i++)
          if (!(ulps(got[i], want[i], 0) <= 5)) fail("norm: reference y", isa, activation, u[i], 2.5f, got[i], want[i]);
      }
}

/* The plain references against the truth, and the float64 kernels' derivatives against differences of their values. */
static void plain(void) {
  for (int32_t activation = 0; activation < LG_ACT_COUNT; activation++)
    for (int i = 0; i < 20000; i++) {
      float x = (float)(30 * uniform(600, i) - 15), lambda = (float)exp(4 * uniform(601, i)), f, dfdx, dfdl;
      truth t = truth_of(activation, x, lambda);
      lg_k_gate_fwd_f32_ref(&f, &x, lambda, 1, activation);
      lg_k_gate_grad_f32_ref(&dfdx, &dfdl, &x, lambda, 1, activation);
      if (!(ulps(f, t.f, 0) <= 0.51)) fail("reference f", 0, activation, x, lambda, f, (double)t.f);
      if (!(ulps(dfdx, t.dfdx, FLOOR) <= 0.51)) fail("reference df/dx", 0, activation, x, lambda, dfdx, (double)t.dfdx);
      if (!(ulps(dfdl, t.dfdl, 0) <= 0.51)) fail("reference df/dλ", 0, activation, x, lambda, dfdl, (double)t.dfdl);
      double h = 1e-5, at[4] = {x - h, x + h, x - 2 * h, x + 2 * h}, v[4], gx, gl, xd = x;
      if (activation == LG_ACT_RELU && fabs(xd) <= 2 * h) continue;
      lg_k_gate_fwd_f64(v, at, lambda, 4, activation);
      lg_k_gate_grad_f64(&gx, &gl, &xd, lambda, 1, activation);
      double slope = (8 * (v[1] - v[0]) - (v[3] - v[2])) / (12 * h);
      if (!(fabs(slope - gx) < 1e-8)) fail("float64 df/dx by differences", 0, activation, x, lambda, gx, slope);
    }
}

/* Entries of a list are the enum's, in order. */
static void lists(void) {
  if (lg_list_activation.count != LG_ACT_COUNT || lg_list_reparam.count != LG_REPARAM_COUNT)
    failures++, printf("FAILED counts of lists\n");
  if (strcmp(lg_list_activation.names[LG_ACT_GELU_TANH], "gelu_tanh") != 0)
    failures++, printf("FAILED activation names\n");
  if (strcmp(lg_list_reparam.names[LG_REPARAM_NONE], "none") != 0) failures++, printf("FAILED reparam names\n");
}

int main(void) {
  lists();
  plain();
  for (int32_t isa = 0; isa <= lg_isa_best(); isa++) {
    const lg_gate_kernels *k = lg_gate_kernels_of(isa);
    nan_in_nan_out(isa, k);
    places(isa, k);
    backward(isa, k);
    long_sums(isa, k);
    bias(isa, k);
    norm(isa, k);
  }
  extremes();
  accuracy_lambda_gelu();
  accuracy_all_magnitudes();
  if (failures) printf("%d failures\n", failures);
  return failures != 0;
}
