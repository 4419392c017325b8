/* blas_selftest.c: does a BLAS library compute right? Called by core/blas.c at each start; takes a few milliseconds.
 *
 * All entries are multiples of 1/8 below 2, so every product and sum is exact in float32 in any order, with or without
 * FMA: the comparison needs no tolerance. Expected values come from integer arithmetic. Cases are those in which
 * kernels were found wrong: k = 0, one row, one column, rows longer than the matrix, β = 0 over NaN, each transpose,
 * and sizes beyond OpenBLAS's shortcut for small matrices (m·n·k ≤ 10^6) with odd borders. */
#include "blas.h"
#include "memory.h"
#include <math.h>

typedef struct {
  const char *text;
  int m, n, k, pad; /* pad: how much longer rows are in memory than in the matrix */
  double alpha, beta;
} test_case;

static const test_case cases[] = {
    {"k = 0, beta = 0", 3, 5, 0, 0, 1, 0}, {"k = 0, beta = 2", 3, 5, 0, 2, 1, 2},
    {"m = 1", 1, 37, 19, 0, 1, 0},         {"n = 1", 37, 1, 19, 0, 1, 1},
    {"1x1x1", 1, 1, 1, 0, 0.5, -1},        {"padded rows", 7, 9, 11, 3, -0.5, 0.5},
    {"65x67x300", 65, 67, 300, 5, 1, 0},   {"17x49x1301", 17, 49, 1301, 1, 0.5, 1},
};
enum { CASES = sizeof cases / sizeof *cases, MAX_ENTRIES = 80 * 1400 };

/* Entry (row, column) of operand which, in eighths: −15 … 15 in a pattern without symmetry. */
static int eighths(int which, int row, int column) {
  return (int)((unsigned)(row * 7 + column * 13 + row * column + which * 5) % 31) - 15;
}

typedef struct {
  float *f[3]; /* a, b, c */
  double *d[3];
  int32_t *right; /* [m, n]: 64 times op(a)·op(b) */
} buffers;

/* Stores [rows, columns] (transposed if asked) with padded rows; returns the leading dimension. */
static int store(buffers *t, int which, int rows, int columns, int transpose, int pad) {
  int ld = (transpose ? rows : columns) + pad;
  if (ld == 0) ld = 1;
  for (int r = 0; r < rows; r++) {
    for (int c = 0; c < columns; c++) {
      int64_t at = transpose ? (int64_t)c * ld + r : (int64_t)r * ld + c;
      t->d[which][at] = eighths(which, r, c) / 8.0;
      t->f[which][at] = (float)t->d[which][at];
    }
  }
  return ld;
}

static void multiply(buffers *t, const test_case *x) {
  for (int64_t i = 0; i < (int64_t)x->m * x->n; i++) t->right[i] = 0;
  for (int i = 0; i < x->m; i++) {
    int32_t *row = t->right + (int64_t)i * x->n;
    for (int p = 0; p < x->k; p++) {
      int32_t a = eighths(0, i, p);
      for (int j = 0; j < x->n; j++) row[j] += a * (int32_t)(t->d[1][(int64_t)p * x->n + j] * 8);
    }
  }
}

/* 1 when both libraries' functions give exactly the right c, and leave the padding alone. */
static int right(buffers *t, const lg_blas_fns *blas, const test_case *x, int trans_a, int trans_b) {
  int lda = store(t, 0, x->m, x->k, trans_a, x->pad), ldb = store(t, 1, x->k, x->n, trans_b, x->pad);
  int ldc = store(t, 2, x->m, x->n, 0, x->pad);
  for (int64_t i = 0; x->beta == 0 && i < (int64_t)x->m * ldc; i++) t->d[2][i] = t->f[2][i] = NAN;
  for (int i = 0; i < x->m; i++) {
    for (int p = x->n; p < ldc; p++) t->d[2][(int64_t)i * ldc + p] = t->f[2][(int64_t)i * ldc + p] = 99;
  }
  int ta = trans_a ? LG_BLAS_TRANSPOSED : LG_BLAS_PLAIN, tb = trans_b ? LG_BLAS_TRANSPOSED : LG_BLAS_PLAIN;
  blas->sgemm(LG_BLAS_ROW_MAJOR, ta, tb, x->m, x->n, x->k, (float)x->alpha, t->f[0], lda, t->f[1], ldb, (float)x->beta,
              t->f[2], ldc);
  blas->dgemm(LG_BLAS_ROW_MAJOR, ta, tb, x->m, x->n, x->k, x->alpha, t->d[0], lda, t->d[1], ldb, x->beta, t->d[2], ldc);
  for (int i = 0; i < x->m; i++) {
    for (int j = 0; j < ldc; j++) {
      double expected = x->alpha * t->right[(int64_t)i * x->n + (j < x->n ? j : 0)] / 64;
      if (x->beta != 0) expected += x->beta * eighths(2, i, j) / 8.0;
      if (j >= x->n) expected = 99;
      int64_t at = (int64_t)i * ldc + j;
      if (t->f[2][at] != (float)expected || t->d[2][at] != expected) return 0;
    }
  }
  return 1;
}

static const char *run(buffers *t, const lg_blas_fns *blas) {
  for (int i = 0; i < CASES; i++) {
    store(t, 1, cases[i].k, cases[i].n, 0, 0);
    multiply(t, &cases[i]);
    for (int transposes = 0; transposes < 4; transposes++) {
      if (!right(t, blas, &cases[i], transposes & 1, transposes >> 1)) return cases[i].text;
    }
  }
  return NULL;
}

const char *lg_blas_selftest(const lg_blas_fns *blas) {
  buffers t;
  char *block = lg_alloc((size_t)MAX_ENTRIES * (3 * sizeof(double) + 3 * sizeof(float) + sizeof(int32_t)));
  if (!block) return "no memory for the self-test";
  for (int i = 0; i < 3; i++) t.d[i] = (double *)block + (int64_t)i * MAX_ENTRIES;
  for (int i = 0; i < 3; i++) t.f[i] = (float *)(t.d[2] + MAX_ENTRIES) + (int64_t)i * MAX_ENTRIES;
  t.right = (int32_t *)(t.f[2] + MAX_ENTRIES);
  const char *wrong = run(&t, blas);
  lg_release(block);
  return wrong;
}
