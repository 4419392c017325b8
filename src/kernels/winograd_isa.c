/* winograd_isa.c: Winograd's transforms, compiled once per instruction set (LG_ISA); winograd.c picks one.
 * Each is a one-dimensional transform, written out below, over the columns of a tile and then over its rows. */
#include "winograd.h"
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define INLINE static inline __attribute__((always_inline)) void

#if defined(__AVX512F__)
typedef __m512 vector;
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(splat(a), b, c)
#elif defined(__FMA__)
typedef __m256 vector;
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(splat(a), b, c)
#else
typedef float vector __attribute__((vector_size(16)));
#define MULTIPLY_ADD(a, b, c) (splat(a) * (b) + (c))
#endif
enum { LANES = sizeof(vector) / sizeof(float) };

static inline vector splat(float x) { return x - (vector){0}; }
static inline vector load(const float *p) {
  vector v;
  memcpy(&v, p, sizeof v);
  return v;
}
static inline void store(float *p, vector v) { memcpy(p, &v, sizeof v); }
static inline void store_sum(float *p, vector v) { store(p, load(p) + v); }

/* -- m = 2: points 0, 1, -1, ∞ ------------------------------------------------------------------------------------ */

INLINE input2(vector *to, const vector *d) {
  to[0] = d[0] - d[2];
  to[1] = d[1] + d[2];
  to[2] = d[2] - d[1];
  to[3] = d[1] - d[3];
}
INLINE input_grad2(vector *to, const vector *u) {
  to[0] = u[0];
  to[1] = u[1] - u[2] + u[3];
  to[2] = u[1] + u[2] - u[0];
  to[3] = -u[3];
}
INLINE output2(vector *to, const vector *m) {
  to[0] = m[0] + m[1] + m[2];
  to[1] = m[1] - m[2] - m[3];
}
INLINE output_grad2(vector *to, const vector *y) {
  to[0] = y[0];
  to[1] = y[0] + y[1];
  to[2] = y[0] - y[1];
  to[3] = -y[1];
}
INLINE weights2(vector *to, const vector *g) {
  const vector even = 0.5f * (g[0] + g[2]), odd = 0.5f * g[1];
  to[0] = g[0];
  to[1] = even + odd;
  to[2] = even - odd;
  to[3] = g[2];
}
INLINE weights_grad2(vector *to, const vector *u) {
  const vector sum = 0.5f * (u[1] + u[2]);
  to[0] = u[0] + sum;
  to[1] = 0.5f * (u[1] - u[2]);
  to[2] = sum + u[3];
}

/* -- m = 4: points 0, a, -a, b, -b, ∞ ------------------------------------------------------------------------------ */

/* Row i of G is divided by Π over the other finite points of (point i - point j), so that B and A hold powers only. */
static const float A1 = 0.625f, A2 = 0.390625f, A3 = 0.244140625f, B1 = 1.5f, B2 = 2.25f, B3 = 3.375f;
static const float PRODUCT = 0.87890625f, SUM = 2.640625f; /* a²b², a² + b² */
static const float NORM_0 = (float)(1 / 0.87890625), NORM_A = (float)(1 / (2 * 0.390625 * (0.390625 - 2.25))),
                   NORM_B = (float)(1 / (2 * 2.25 * (2.25 - 0.390625)));

INLINE input4(vector *to, const vector *d) {
  const vector even_a = MULTIPLY_ADD(-B2, d[2], d[4]), odd_a = A1 * MULTIPLY_ADD(-B2, d[1], d[3]);
  const vector even_b = MULTIPLY_ADD(-A2, d[2], d[4]), odd_b = B1 * MULTIPLY_ADD(-A2, d[1], d[3]);
  to[0] = MULTIPLY_ADD(PRODUCT, d[0], MULTIPLY_ADD(-SUM, d[2], d[4]));
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = MULTIPLY_ADD(PRODUCT, d[1], MULTIPLY_ADD(-SUM, d[3], d[5]));
}
INLINE input_grad4(vector *to, const vector *u) {
  const vector sum_a = u[1] + u[2], odd_a = A1 * (u[1] - u[2]), sum_b = u[3] + u[4], odd_b = B1 * (u[3] - u[4]);
  to[0] = PRODUCT * u[0];
  to[1] = MULTIPLY_ADD(PRODUCT, u[5], MULTIPLY_ADD(-B2, odd_a, -A2 * odd_b));
  to[2] = MULTIPLY_ADD(-SUM, u[0], MULTIPLY_ADD(-B2, sum_a, -A2 * sum_b));
  to[3] = MULTIPLY_ADD(-SUM, u[5], odd_a + odd_b);
  to[4] = u[0] + sum_a + sum_b;
  to[5] = u[5];
}
INLINE output4(vector *to, const vector *m) {
  const vector sum_a = m[1] + m[2], odd_a = m[1] - m[2], sum_b = m[3] + m[4], odd_b = m[3] - m[4];
  to[0] = m[0] + sum_a + sum_b;
  to[1] = MULTIPLY_ADD(A1, odd_a, B1 * odd_b);
  to[2] = MULTIPLY_ADD(A2, sum_a, B2 * sum_b);
  to[3] = MULTIPLY_ADD(A3, odd_a, MULTIPLY_ADD(B3, odd_b, m[5]));
}
INLINE output_grad4(vector *to, const vector *y) {
  const vector even_a = MULTIPLY_ADD(A2, y[2], y[0]), odd_a = MULTIPLY_ADD(A1, y[1], A3 * y[3]);
  const vector even_b = MULTIPLY_ADD(B2, y[2], y[0]), odd_b = MULTIPLY_ADD(B1, y[1], B3 * y[3]);
  to[0] = y[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = y[3];
}
INLINE weights4(vector *to, const vector *g) {
  const vector even_a = NORM_A * MULTIPLY_ADD(A2, g[2], g[0]), odd_a = (NORM_A * A1) * g[1];
  const vector even_b = NORM_B * MULTIPLY_ADD(B2, g[2], g[0]), odd_b = (NORM_B * B1) * g[1];
  to[0] = NORM_0 * g[0];
  to[1] = even_a + odd_a;
  to[2] = even_a - odd_a;
  to[3] = even_b + odd_b;
  to[4] = even_b - odd_b;
  to[5] = g[2];
}
INLINE weights_grad4(vector *to, const vector *u) {
  const vector sum_a = NORM_A * (u[1] + u[2]), odd_a = NORM_A * (u[1] - u[2]);
  const vector sum_b = NORM_B * (u[3] + u[4]), odd_b = NORM_B * (u[3] - u[4]);
  to[0] = MULTIPLY_ADD(NORM_0, u[0], sum_a + sum_b);
  to[1] = MULTIPLY_ADD(A1, odd_a, B1 * odd_b);
  to[2] = MULTIPLY_ADD(A2, sum_a, MULTIPLY_ADD(B2, sum_b, u[5]));
}

/* -- m = 4, stride 2: inputs 0, 2, … 8 at points a, -a, b, -b, ∞ with taps 0 and 2; inputs 1, 3, 5, 7 with tap 1
 * ------- */

static const float C1 = 0.5f, C2 = 0.25f, C3 = 0.125f, D1 = 1.25f, D2 = 1.5625f, D3 = 1.953125f; /* a, b: powers */
static const float EVEN_PRODUCT = 0.390625f, EVEN_SUM = 1.8125f;                                 /* a²b², a² + b² */
static const float NORM_C = (float)(1 / (2 * 0.5 * (0.25 - 1.5625))),
                   NORM_D = (float)(1 / (2 * 1.25 * (1.5625 - 0.25)));

INLINE input4s2(vector *to, const vector *d) {
  const vector even_a = MULTIPLY_ADD(-D2, d[2], d[6]), odd_a = C1 * MULTIPLY_ADD(-D2, d[0], d[4]);
  const vector even_b = MULTIPLY_ADD(-C2, d[2], d[6]), odd_b = D1 * MULTIPLY_ADD(-C2, d[0], d[4]);
  to[0] = even_a + odd_a;
  to[1] = even_a - odd_a;
  to[2] = even_b + odd_b;
  to[3] = even_b - odd_b;
  to[4] = MULTIPLY_ADD(EVEN_PRODUCT, d[0], MULTIPLY_ADD(-EVEN_SUM, d[4], d[8]));
  for (int i = 0; i < 4; i++) to[5 + i] = d[2 * i + 1];
}
INLINE input_grad4s2(vector *to, const vector *u) {
  const vector sum_a = u[0] + u[1], odd_a = C1 * (u[0] - u[1]), sum_b = u[2] + u[3], odd_b = D1 * (u[2] - u[3]);
  to[0] = MULTIPLY_ADD(EVEN_PRODUCT, u[4], MULTIPLY_ADD(-D2, odd_a, -C2 * odd_b));
  to[2] = MULTIPLY_ADD(-D2, sum_a, -C2 * sum_b);
  to[4] = MULTIPLY_ADD(-EVEN_SUM, u[4], odd_a + odd_b);
  to[6] = sum_a + sum_b;
  to[8] = u[4];
  for (int i = 0; i < 4; i++) to[2 * i + 1] = u[5 + i];
}
INLINE output4s2(vector *to, const vector *m) {
  const vector sum_a = m[0] + m[1], odd_a = m[0] - m[1], sum_b = m[2] + m[3], odd_b = m[2] - m[3];
  to[0] = sum_a + sum_b + m[5];
  to[1] = MULTIPLY_ADD(C1, odd_a, MULTIPLY_ADD(D1, odd_b, m[6]));
  to[2] = MULTIPLY_ADD(C2, sum_a, MULTIPLY_ADD(D2, sum_b, m[7]));
  to[3] = MULTIPLY_ADD(C3, odd_a, MULTIPLY_ADD(D3, odd_b, m[4] + m[8]));
}
INLINE output_grad4s2(vector *to, const vector *y) {
  const vector even_a = MULTIPLY_ADD(C2, y[2], y[0]), odd_a = MULTIPLY_ADD(C1, y[1], C3 * y[3]);
  const vector even_b = MULTIPLY_ADD(D2, y[2], y[0]), odd_b = MULTIPLY_ADD(D1, y[1], D3 * y[3]);
  to[0] = even_a + odd_a;
  to[1] = even_a - odd_a;
  to[2] = even_b + odd_b;
  to[3] = even_b - odd_b;
  to[4] = y[3];
  for (int i = 0; i < 4; i++) to[5 + i] = y[i];
}
INLINE weights4s2(vector *to, const vector *g) {
  const vector even_a = NORM_C * g[0], odd_a = (NORM_C * C1) * g[2], even_b = NORM_D * g[0],
               odd_b = (NORM_D * D1) * g[2];
  to[0] = odd_a + even_a;
  to[1] = odd_a - even_a;
  to[2] = odd_b + even_b;
  to[3] = odd_b - even_b;
  to[4] = g[2];
  to[5] = g[1];
}
INLINE weights_grad4s2(vector *to, const vector *u) {
  const vector sum_a = u[0] + u[1], odd_a = u[0] - u[1], sum_b = u[2] + u[3], odd_b = u[2] - u[3];
  to[0] = MULTIPLY_ADD(NORM_C, odd_a, NORM_D * odd_b);
  to[1] = u[5];
  to[2] = MULTIPLY_ADD(NORM_C * C1, sum_a, MULTIPLY_ADD(NORM_D * D1, sum_b, u[4]));
}

/* -- over columns, then rows ----------------------------------------------------------------------------------------
 */

#define TRANSFORM(name, line, rows, source, put)                                                                       \
  static void name(float *const *to, const float *const *from, int64_t channels) {                                     \
    for (int64_t c = 0; c < channels; c += LANES) {                                                                    \
      vector half[rows][source], in[source], out[rows];                                                                \
      _Pragma("GCC unroll 9") for (int j = 0; j < (source); j++) {                                                     \
        _Pragma("GCC unroll 9") for (int i = 0; i < (source); i++) in[i] = load(from[i * (source) + j] + c);           \
        line(out, in);                                                                                                 \
        _Pragma("GCC unroll 9") for (int i = 0; i < (rows); i++) half[i][j] = out[i];                                  \
      }                                                                                                                \
      _Pragma("GCC unroll 9") for (int i = 0; i < (rows); i++) {                                                       \
        line(out, half[i]);                                                                                            \
        _Pragma("GCC unroll 9") for (int j = 0; j < (rows); j++) put(to[i * (rows) + j] + c, out[j]);                  \
      }                                                                                                                \
    }                                                                                                                  \
  }
/* id: 2, 4, 4s2; t outputs and s inputs a side, k of them with matrices of their own */
#define TRANSFORMS(id, t, step, s, k)                                                                                  \
  TRANSFORM(input_tile##id, input##id, s, s, store)                                                                    \
  TRANSFORM(output_tile##id, output##id, t, s, store)                                                                  \
  TRANSFORM(weights_tile##id, weights##id, k, 3, store)                                                                \
  TRANSFORM(output_grad_tile##id, output_grad##id, s, t, store)                                                        \
  TRANSFORM(input_grad_tile##id, input_grad##id, s, s, store_sum)                                                      \
  TRANSFORM(weights_grad_tile##id, weights_grad##id, 3, k, store)                                                      \
  TRANSFORM(weights_grad_add_tile##id, weights_grad##id, 3, k, store_sum)                                              \
  extern const lg_winograd CONCAT(lg_k_winograd##id##_, LG_ISA);                                                       \
  const lg_winograd CONCAT(lg_k_winograd##id##_, LG_ISA) = {                                                           \
      .m = t,                                                                                                          \
      .stride = step,                                                                                                  \
      .n = s,                                                                                                          \
      .kinds = k,                                                                                                      \
      .input = input_tile##id,                                                                                         \
      .output = output_tile##id,                                                                                       \
      .weights = weights_tile##id,                                                                                     \
      .output_grad = output_grad_tile##id,                                                                             \
      .input_grad = input_grad_tile##id,                                                                               \
      .weights_grad = weights_grad_tile##id,                                                                           \
      .weights_grad_add = weights_grad_add_tile##id,                                                                   \
  };
TRANSFORMS(2, 2, 1, 4, 4)
TRANSFORMS(4, 4, 1, 6, 6)
TRANSFORMS(4s2, 4, 2, 9, 6)
