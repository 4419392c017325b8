/* norm_template.h: the loops of norm.h for one REAL type; NAME(x) gives the function's name. No include guard: it is
 * included once per type by norm.c (float64) and norm_isa.c (float32 per instruction set). */

/* Four rows at a time, so that the sums are fetched and stored once for four. */
void NAME(sums)(double *sum, double *square, const REAL *x, const REAL *origin, int64_t rows, int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4, x += 4 * n) {
    const REAL *x1 = x + n, *x2 = x1 + n, *x3 = x2 + n;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      double o = origin[k], a = x[k] - o, b = x1[k] - o, c = x2[k] - o, d = x3[k] - o;
      sum[k] += (a + b) + (c + d);
      square[k] += (a * a + b * b) + (c * c + d * d);
    }
  }
  for (; i < rows; i++, x += n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      double a = x[k] - (double)origin[k];
      sum[k] += a;
      square[k] += a * a;
    }
  }
}

void NAME(grad_sums)(double *sum, double *product, const REAL *d, const REAL *x, const REAL *mean, int64_t rows,
                     int64_t n) {
  int64_t i = 0;
  for (; i + 4 <= rows; i += 4, x += 4 * n, d += 4 * n) {
    const REAL *x1 = x + n, *x2 = x1 + n, *x3 = x2 + n, *d1 = d + n, *d2 = d1 + n, *d3 = d2 + n;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      double m = mean[k], a = d[k], b = d1[k], c = d2[k], e = d3[k];
      sum[k] += (a + b) + (c + e);
      product[k] += (a * (x[k] - m) + b * (x1[k] - m)) + (c * (x2[k] - m) + e * (x3[k] - m));
    }
  }
  for (; i < rows; i++, x += n, d += n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
      double a = d[k];
      sum[k] += a;
      product[k] += a * (x[k] - (double)mean[k]);
    }
  }
}

void NAME(grad_apply)(REAL *dx, const REAL *d, const REAL *x, const REAL *mean, const REAL *scale, const REAL *offset,
                      const REAL *slope, int64_t rows, int64_t n, int accumulate) {
  for (int64_t i = 0; i < rows; i++, dx += n, d += n, x += n) {
    if (accumulate) {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) dx[k] += scale[k] * d[k] - offset[k] - slope[k] * (x[k] - mean[k]);
    } else {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) dx[k] = scale[k] * d[k] - offset[k] - slope[k] * (x[k] - mean[k]);
    }
  }
}
