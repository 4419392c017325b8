/* probe_isa.c: the bursts of probe.h, compiled once per instruction set (LG_ISA); probe.c picks one. */
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_##name##_, LG_ISA)

#if defined(__AVX512F__)
typedef __m512 vector;
#define MULTIPLY_ADD(a, b, c) _mm512_fmadd_ps(a, b, c)
#elif defined(__FMA__)
typedef __m256 vector;
#define MULTIPLY_ADD(a, b, c) _mm256_fmadd_ps(a, b, c)
#else
typedef float vector __attribute__((vector_size(16)));
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif
enum { LANES = sizeof(vector) / sizeof(float), CHAINS = 12, UNROLL = 8 };

double NAME(fma_burst)(float *sink, int64_t rounds);
void NAME(copy)(float *y, const float *x, int64_t n);

/* CHAINS independent chains hide the latency of an FMA (4 cycles, two a cycle) and still fit in 16 registers. Values
 * go to 1 from below: never subnormal, never the same twice in a row. */
double NAME(fma_burst)(float *sink, int64_t rounds) {
  vector sum[CHAINS], shrink = {0}, step = {0};
  for (int j = 0; j < LANES; j++) shrink[j] = 0.999999f, step[j] = 0.000001f;
  for (int i = 0; i < CHAINS; i++) {
    for (int j = 0; j < LANES; j++) sum[i][j] = (float)(i * LANES + j) / (CHAINS * LANES);
  }
  for (int64_t r = 0; r < rounds; r++) {
#pragma GCC unroll 8
    for (int u = 0; u < UNROLL; u++) {
#pragma GCC unroll 12
      for (int i = 0; i < CHAINS; i++) sum[i] = MULTIPLY_ADD(sum[i], shrink, step);
    }
  }
  float total = 0;
  for (int i = 0; i < CHAINS; i++) {
    for (int j = 0; j < LANES; j++) total += sum[i][j];
  }
  *sink = total;
  return 2.0 * LANES * CHAINS * UNROLL * (double)rounds;
}

/* The barrier keeps the compiler from making this a call of memcpy, which may store past the caches. */
void NAME(copy)(float *y, const float *x, int64_t n) {
  int64_t i = 0;
  for (; i + LANES <= n; i += LANES) {
    vector v;
    memcpy(&v, x + i, sizeof v);
    __asm__ volatile("" : "+x"(v));
    memcpy(y + i, &v, sizeof v);
  }
  for (; i < n; i++) y[i] = x[i];
}
