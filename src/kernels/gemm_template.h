/* gemm_template.h: the matrix product for one element type. Not a header of its own: kernels/gemm.c includes it once
 * a type, with REAL (the type), GEMM and GEMM_REF (the functions' names) and BLAS (the library's function) defined. */

void GEMM_REF(REAL *c, const REAL *a, const REAL *b, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
              int64_t ldc, int trans_a, int trans_b, REAL alpha, REAL beta) {
  for (int64_t i = 0; i < m; i++) {
    for (int64_t j = 0; j < n; j++) {
      double sum = 0;
      for (int64_t p = 0; p < k; p++) {
        sum += (double)(trans_a ? a[p * lda + i] : a[i * lda + p]) * (trans_b ? b[j * ldb + p] : b[p * ldb + j]);
      }
      REAL *to = c + i * ldc + j;
      double before = beta == 0 ? 0 : (double)beta * *to;
      *to = (REAL)(k == 0 ? before : alpha * sum + before);
    }
  }
}

void GEMM(REAL *c, const REAL *a, const REAL *b, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb, int64_t ldc,
          int trans_a, int trans_b, REAL alpha, REAL beta) {
  if (m == 0 || n == 0) return;
  lda = leading(lda, trans_a ? k : m, trans_a ? m : k);
  ldb = leading(ldb, trans_b ? n : k, trans_b ? k : n);
  ldc = leading(ldc, m, n);
  if (k == 0 || !BLAS || !fits_int(m, n, k, lda, ldb, ldc)) {
    GEMM_REF(c, a, b, m, n, k, lda, ldb, ldc, trans_a, trans_b, alpha, beta);
    return;
  }
  BLAS(LG_BLAS_ROW_MAJOR, trans_a ? LG_BLAS_TRANSPOSED : LG_BLAS_PLAIN, trans_b ? LG_BLAS_TRANSPOSED : LG_BLAS_PLAIN,
       (int)m, (int)n, (int)k, alpha, a, (int)lda, b, (int)ldb, beta, c, (int)ldc);
}
#undef REAL
#undef GEMM
#undef GEMM_REF
#undef BLAS
