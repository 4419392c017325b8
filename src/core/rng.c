/* rng.c: Philox4x32-10, a counter-based generator, and what is drawn from it.
 *
 * What it is: pure functions of (seed, stream, index), so that a permutation, a dropout mask or an initial weight
 * can be computed anywhere, in any order, by any thread, and again after a resume.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. The key is the seed,
 * the counter is (index, stream). Called by data loading, initialization, dropout and tensors. */
#include "rng.h"
#include "status.h"
#include <math.h>

enum { ROUNDS = 10 };
static const uint32_t MULTIPLIER_0 = 0xD2511F53u, MULTIPLIER_1 = 0xCD9E8D57u; /* the paper's table 2 */
static const uint32_t WEYL_0 = 0x9E3779B9u, WEYL_1 = 0xBB67AE85u;             /* golden ratio, √3 − 1 */

void lg_philox(uint32_t out[4], uint64_t seed, uint64_t stream, uint64_t index) {
  uint32_t c0 = (uint32_t)index, c1 = (uint32_t)(index >> 32), c2 = (uint32_t)stream, c3 = (uint32_t)(stream >> 32);
  uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
  for (int round = 0; round < ROUNDS; round++) {
    uint64_t p0 = (uint64_t)MULTIPLIER_0 * c0, p1 = (uint64_t)MULTIPLIER_1 * c2;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c1 = (uint32_t)p1;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c3 = (uint32_t)p0;
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

/* The two 64-bit halves of block pair. */
static void block(uint64_t out[2], uint64_t seed, uint64_t stream, uint64_t pair) {
  uint32_t w[4];
  lg_philox(w, seed, stream, pair);
  out[0] = (uint64_t)w[1] << 32 | w[0];
  out[1] = (uint64_t)w[3] << 32 | w[2];
}

void lg_rng_uniform_pair(double out[2], uint64_t seed, uint64_t stream, uint64_t pair) {
  uint64_t w[2];
  block(w, seed, stream, pair);
  out[0] = (double)(w[0] >> 11) * 0x1p-53;
  out[1] = (double)(w[1] >> 11) * 0x1p-53;
}

/* Box and Muller 1958: two independent normals from two uniforms. */
void lg_rng_normal_pair(double out[2], uint64_t seed, uint64_t stream, uint64_t pair) {
  double u[2];
  lg_rng_uniform_pair(u, seed, stream, pair);
  double radius = sqrt(-2 * log(1 - u[0])); /* 1 − u is in (0, 1]: the logarithm is finite */
  double angle = 6.283185307179586477 * u[1];
  out[0] = radius * cos(angle);
  out[1] = radius * sin(angle);
}

double lg_rng_uniform(uint64_t seed, uint64_t stream, uint64_t index) {
  double out[2];
  lg_rng_uniform_pair(out, seed, stream, index / 2);
  return out[index % 2];
}

double lg_rng_normal(uint64_t seed, uint64_t stream, uint64_t index) {
  double out[2];
  lg_rng_normal_pair(out, seed, stream, index / 2);
  return out[index % 2];
}

/* Lemire, "Fast random integer generation in an interval", 2019: the high word of x·bound, where the few x that would
 * favour some results are drawn again. */
uint64_t lg_rng_below(uint64_t *cursor, uint64_t bound, uint64_t seed, uint64_t stream) {
  uint64_t unfair = -bound % bound; /* 2^64 mod bound */
  for (;;) {
    uint64_t w[2], at = (*cursor)++;
    block(w, seed, stream, at / 2);
    unsigned __int128 product = (unsigned __int128)w[at % 2] * bound;
    if ((uint64_t)product >= unfair) return (uint64_t)(product >> 64);
  }
}

/* Fisher and Yates, from the end; Knuth, TAOCP vol. 2, algorithm 3.4.2P. */
lg_status lg_rng_permutation(int64_t *perm, int64_t n, uint64_t seed, uint64_t stream) {
  if (n < 0) return lg_fail(LG_EARG, "permutation: n = %lld, expected at least 0", (long long)n);
  if (!perm && n) return lg_fail(LG_EARG, "permutation: perm is NULL, expected room for %lld numbers", (long long)n);
  for (int64_t i = 0; i < n; i++) perm[i] = i;
  uint64_t cursor = 0;
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = (int64_t)lg_rng_below(&cursor, (uint64_t)i + 1, seed, stream), keep = perm[i];
    perm[i] = perm[j];
    perm[j] = keep;
  }
  return LG_OK;
}
