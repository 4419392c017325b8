/* blas.h: the BLAS library as the engine uses it: two functions, found when the engine starts.
 * What it is not: the matrix product that kernels call, which is kernels/gemm.h. Called by core/init.c. */
#ifndef LG_BLAS_H
#define LG_BLAS_H
#include "status.h"

enum { LG_BLAS_ROW_MAJOR = 101, LG_BLAS_PLAIN = 111, LG_BLAS_TRANSPOSED = 112 }; /* CBLAS's numbers */
typedef void lg_sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                         const float *b, int ldb, float beta, float *c, int ldc);
typedef void lg_dgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,
                         int lda, const double *b, int ldb, double beta, double *c, int ldc);

/* c[m, n] = alpha·op(a)[m, k]·op(b)[k, n] + beta·c. NULL until lg_blas_start has found a kernel that computes right. */
typedef struct {
  lg_sgemm_fn *sgemm;
  lg_dgemm_fn *dgemm;
} lg_blas_fns;
extern lg_blas_fns lg_blas;

/* Loads the library with the kernel that fits the CPU (or the user's choice in OPENBLAS_CORETYPE) and tests it;
 * LG_EBLAS when there is none that works. To be called once, before any other use. */
lg_status lg_blas_start(void);
/* Compares both functions with plain arithmetic; NULL when all is right, else a static text of the first wrong case. */
const char *lg_blas_selftest(const lg_blas_fns *blas);
#endif
