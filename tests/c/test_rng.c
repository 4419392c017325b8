/* test_rng.c: Philox4x32-10 against its authors' known answers, and the properties of what is drawn from it. */
#include "../../src/core/rng.h"
#include "../../src/core/status.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s\n", what);
}

/* kat_vectors of the authors' Random123: counter words 0-3 and key words 0-1 → output. */
static void known_answers(void) {
  static const struct {
    uint64_t seed, stream, index;
    uint32_t out[4];
  } known[] = {
      {0, 0, 0, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {UINT64_MAX, UINT64_MAX, UINT64_MAX, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {0x299f31d0a4093822, 0x0370734413198a2e, 0x85a308d3243f6a88, {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint32_t out[4];
    lg_philox(out, known[i].seed, known[i].stream, known[i].index);
    expect(memcmp(out, known[i].out, sizeof out) == 0, "philox known answer");
  }
}

/* Mean, variance and the share below a quantile, each within 4 standard errors. */
static void moments(void) {
  enum { N = 400000 };
  double us = 0, uu = 0, ns = 0, nn = 0, low = 0, lag = 0, before = 0;
  for (uint64_t i = 0; i < N; i++) {
    double u = lg_rng_uniform(7, 3, i), z = lg_rng_normal(7, 4, i);
    if (!(u >= 0 && u < 1)) expect(0, "uniform outside [0, 1)");
    us += u, uu += u * u, ns += z, nn += z * z, low += z < -1.959963985, lag += z * before, before = z;
  }
  expect(fabs(us / N - 0.5) < 4 * sqrt(1.0 / 12 / N), "mean of uniform");
  expect(fabs(uu / N - 1.0 / 3) < 4 * sqrt(4.0 / 45 / N), "second moment of uniform");
  expect(fabs(ns / N) < 4 / sqrt(N), "mean of normal");
  expect(fabs(nn / N - 1) < 4 * sqrt(2.0 / N), "variance of normal");
  expect(fabs(low / N - 0.025) < 4 * sqrt(0.025 * 0.975 / N), "2.5 % quantile of normal");
  expect(fabs(lag / N) < 4 / sqrt(N), "lag-1 correlation of normal");
}

static void pairs(void) {
  for (uint64_t i = 0; i < 20; i++) {
    double u[2], z[2];
    lg_rng_uniform_pair(u, 1, 2, i);
    lg_rng_normal_pair(z, 1, 2, i);
    for (uint64_t j = 0; j < 2; j++) {
      expect(u[j] == lg_rng_uniform(1, 2, 2 * i + j), "uniform pair is uniform");
      expect(z[j] == lg_rng_normal(1, 2, 2 * i + j), "normal pair is normal");
    }
  }
}

static void below(void) {
  enum { N = 60000, SIDES = 6 };
  int64_t count[SIDES] = {0};
  uint64_t cursor = 0;
  for (int i = 0; i < N; i++) {
    uint64_t side = lg_rng_below(&cursor, SIDES, 11, 5);
    expect(side < SIDES, "draw below its bound");
    count[side % SIDES]++;
  }
  double chi = 0;
  for (int i = 0; i < SIDES; i++) chi += pow((double)count[i] - N / SIDES, 2) / (N / SIDES);
  expect(chi < 20.5, "die is fair (chi-square, 5 degrees of freedom, 0.1 %)");
  cursor = 0;
  for (int i = 0; i < 100; i++) expect(lg_rng_below(&cursor, 1, 11, 5) == 0, "bound 1 gives 0");
  expect(cursor == 100, "bound 1 rejects nothing");
  /* Half of all draws are rejected at this bound: the cursor must run on, and no result may exceed it. */
  uint64_t bound = (UINT64_C(1) << 63) + 1;
  cursor = 0;
  for (int i = 0; i < 1000; i++) expect(lg_rng_below(&cursor, bound, 11, 5) < bound, "draw below a large bound");
  expect(cursor > 1800 && cursor < 2200, "rejections at a large bound");
}

/* All 24 orders of 4 come up equally often; large ones are permutations; seed, stream and only they decide. */
static void permutations(void) {
  enum { N = 24000, LARGE = 100003 };
  int64_t count[256] = {0}, p[4];
  for (uint64_t seed = 0; seed < N; seed++) {
    expect(lg_rng_permutation(p, 4, seed, 9) == LG_OK, "permutation of 4");
    count[p[0] * 64 + p[1] * 16 + p[2] * 4 + p[3]]++;
  }
  double chi = 0;
  int seen = 0;
  for (int i = 0; i < 256; i++) seen += count[i] > 0, chi += count[i] ? pow((double)count[i] - 1000, 2) / 1000 : 0;
  expect(seen == 24 && chi < 49.7, "24 orders of 4, equally often (chi-square, 23 degrees of freedom, 0.1 %)");
  int64_t *a = malloc(3 * LARGE * sizeof *a), *b = a + LARGE, *hit = b + LARGE;
  memset(hit, 0, LARGE * sizeof *hit);
  lg_rng_permutation(a, LARGE, 1, 2);
  lg_rng_permutation(b, LARGE, 1, 2);
  expect(memcmp(a, b, LARGE * sizeof *a) == 0, "same seed and stream, same permutation");
  for (int i = 0; i < LARGE; i++) hit[a[i]]++;
  int once = 1;
  for (int i = 0; i < LARGE; i++) once &= hit[i] == 1;
  expect(once, "each number once");
  lg_rng_permutation(b, LARGE, 1, 3);
  expect(memcmp(a, b, LARGE * sizeof *a) != 0, "another stream, another permutation");
  free(a);
  expect(lg_rng_permutation(NULL, 0, 1, 1) == LG_OK, "permutation of nothing");
  expect(lg_rng_permutation(NULL, 3, 1, 1) == LG_EARG, "NULL permutation");
  expect(lg_rng_permutation(p, -1, 1, 1) == LG_EARG, "permutation of -1");
}

int main(void) {
  known_answers();
  moments();
  pairs();
  below();
  permutations();
  return failures != 0;
}
