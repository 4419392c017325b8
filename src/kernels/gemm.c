/* gemm.c: the matrix product of one tile, through OpenBLAS, and by plain loops for reference. See gemm.h. */
#include "gemm.h"
#include "../core/blas.h"
#include <limits.h>

/* A matrix of one row may come with any distance to its next: BLAS refuses one shorter than the row. */
static int64_t leading(int64_t ld, int64_t rows, int64_t columns) { return rows <= 1 ? columns : ld; }

/* The library counts in int. A larger matrix (8 GiB a row) goes through the plain loop: slow, but right. */
static int fits_int(int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc) {
  return m <= INT_MAX && n <= INT_MAX && k <= INT_MAX && lda <= INT_MAX && ldb <= INT_MAX && ldc <= INT_MAX;
}

#define REAL float
#define GEMM lg_k_gemm_f32
#define GEMM_REF lg_k_gemm_f32_ref
#define BLAS lg_blas.sgemm
#include "gemm_template.h"

#define REAL double
#define GEMM lg_k_gemm_f64
#define GEMM_REF lg_k_gemm_f64_ref
#define BLAS lg_blas.dgemm
#include "gemm_template.h"
