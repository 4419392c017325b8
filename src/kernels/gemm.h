/* gemm.h: the matrix product of one tile. Called by ops inside lg_parallel, by matmul of tensors and by the probe.
 * What it is not: threaded. Each call runs on its caller's thread, and several threads may call at once. */
#ifndef LG_GEMM_H
#define LG_GEMM_H
#include <stdint.h>

/* c[m, n] = alpha·op(a)[m, k]·op(b)[k, n] + beta·c, all row-major; ld*: elements from one row to the next in memory.
 * op(a) = a [m, k], or the transpose of a [k, m] when trans_a is 1; op(b) = b [k, n], or that of b [n, k].
 * m, n, k ≥ 0. beta = 0 overwrites c whatever it holds (NaN too); k = 0 gives beta·c. c overlaps neither a nor b.
 * One OpenBLAS call; before lg_init has found a library, the plain loop below. */
void lg_k_gemm_f32(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k, int64_t lda, int64_t ldb,
                   int64_t ldc, int trans_a, int trans_b, float alpha, float beta);
void lg_k_gemm_f64(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k, int64_t lda,
                   int64_t ldb, int64_t ldc, int trans_a, int trans_b, double alpha, double beta);

/* The same by plain loops, summed in float64: the reference of tests. */
void lg_k_gemm_f32_ref(float *c, const float *a, const float *b, int64_t m, int64_t n, int64_t k, int64_t lda,
                       int64_t ldb, int64_t ldc, int trans_a, int trans_b, float alpha, float beta);
void lg_k_gemm_f64_ref(double *c, const double *a, const double *b, int64_t m, int64_t n, int64_t k, int64_t lda,
                       int64_t ldb, int64_t ldc, int trans_a, int trans_b, double alpha, double beta);
#endif
