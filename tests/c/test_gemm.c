/* test_gemm.c: the start-up of BLAS, and lg_k_gemm_* against the plain loops over shapes, transposes, α and β. */
#include "../../src/core/blas.h"
#include "../../src/core/rng.h"
#include "../../src/core/threads.h"
#include "../../src/kernels/gemm.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

enum { ROOM = 400 * 400 };
static double a[ROOM], b[ROOM], c[ROOM], right[ROOM];
static float af[ROOM], bf[ROOM], cf[ROOM], rightf[ROOM];

static void compare(int64_t m, int64_t n, int64_t k, int64_t pad, int ta, int tb, double alpha, double beta) {
  int64_t lda = (ta ? m : k) + pad, ldb = (tb ? k : n) + pad, ldc = n + pad;
  for (int64_t i = 0; i < ROOM; i++) {
    c[i] = right[i] = beta == 0 ? NAN : b[i];
    cf[i] = rightf[i] = (float)c[i];
  }
  lg_k_gemm_f64(c, a, b, m, n, k, lda, ldb, ldc, ta, tb, alpha, beta);
  lg_k_gemm_f64_ref(right, a, b, m, n, k, lda, ldb, ldc, ta, tb, alpha, beta);
  lg_k_gemm_f32(cf, af, bf, m, n, k, lda, ldb, ldc, ta, tb, (float)alpha, (float)beta);
  lg_k_gemm_f32_ref(rightf, af, bf, m, n, k, lda, ldb, ldc, ta, tb, (float)alpha, (float)beta);
  double worst = 0, worstf = 0; /* in units of the sum's scale, √k */
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      int64_t at = i * ldc + j;
      double e = fabs(c[at] - right[at]) / sqrt((double)k + 1), ef = fabs(cf[at] - rightf[at]) / sqrt((double)k + 1);
      worst = e > worst || isnan(e) ? e : worst;
      worstf = ef > worstf || isnan(ef) ? ef : worstf;
    }
  }
  if (!(worst < 2e-14) || !(worstf < 1e-5)) {
    failures++;
    printf("FAILED: %lldx%lldx%lld pad %lld trans %d %d alpha %g beta %g: f64 off by %g, f32 by %g\n", (long long)m,
           (long long)n, (long long)k, (long long)pad, ta, tb, alpha, beta, worst, worstf);
  }
}

static void product(void *context, int64_t tile) {
  float *out = context;
  lg_k_gemm_f32(out + tile * 64 * 64, af, bf, 64, 64, 300, 300, 64, 64, 0, 0, 1, 0);
}

int main(void) {
  for (uint64_t i = 0; i < ROOM; i++) {
    af[i] = (float)(a[i] = lg_rng_normal(1, 1, i));
    bf[i] = (float)(b[i] = lg_rng_normal(1, 2, i));
  }
  expect(lg_init(257) == LG_EARG, "257 threads are refused");
  expect(lg_init(-1) == LG_EARG, "-1 threads are refused");
  const int64_t sizes[] = {0, 1, 2, 17, 65};
  for (int before = 1; before >= 0; before--) { /* before lg_init: the plain loop; after: BLAS */
    expect((lg_blas.sgemm == NULL) == before, "BLAS is there after lg_init only");
    for (int i = 0; i < 5 * 5 * 5 * 4; i++) {
      int64_t m = sizes[i % 5], n = sizes[i / 5 % 5], k = sizes[i / 25 % 5];
      int t = i / 125;
      compare(m, n, k, i % 3, t & 1, t >> 1, 1, 0);
      compare(m, n, k, i % 3, t & 1, t >> 1, -0.5, 1.5);
    }
    if (before) expect(lg_init(2) == LG_OK, "lg_init");
  }
  for (int t = 0; t < 4; t++) compare(131, 129, 257, 3, t & 1, t >> 1, 2, -1);
  /* A matrix of one row may have any leading dimension. */
  float one[3] = {1, 2, 3}, sum = NAN;
  lg_k_gemm_f32(&sum, one, one, 1, 1, 3, 1, 1, 1, 0, 1, 1, 0);
  expect(sum == 14, "one row with a short leading dimension");
  /* Tiles of several threads at once give what one thread gives. */
  enum { TILES = 64 };
  float *out = calloc(2 * TILES * 64 * 64, sizeof *out);
  for (int64_t i = 0; i < TILES; i++) product(out, i);
  for (int repeat = 0; repeat < 20; repeat++) {
    lg_parallel(TILES, product, out + TILES * 64 * 64);
    expect(memcmp(out, out + TILES * 64 * 64, TILES * 64 * 64 * sizeof *out) == 0, "tiles in parallel");
  }
  free(out);
  expect(lg_init(1) == LG_OK && lg_threads() == 1, "a second lg_init changes the threads");
  printf("%s, kernel %s (%s)\n", lg_blas_name(), lg_blas_core(), lg_blas_origin());
  return failures != 0;
}
