/* row_norm_template.h: the loops of row_norm.h for one REAL type; NAME(x) gives the function's name. No include guard:
 * it is included once per type by row_norm.c (float64) and row_norm_isa.c (float32 per instruction set). */

void NAME(fwd)(REAL *y, REAL *stat, const REAL *x, const REAL *gamma, const REAL *beta, int64_t rows, int64_t n,
               double eps, int centred) {
  for (int64_t i = 0; i < rows; i++, x += n, y += n) {
    REAL mean = 0, square = 0;
    if (centred) {
#pragma omp simd reduction(+ : mean)
      for (int64_t k = 0; k < n; k++) mean += x[k];
      mean /= (REAL)n;
    }
#pragma omp simd reduction(+ : square)
    for (int64_t k = 0; k < n; k++) square += (x[k] - mean) * (x[k] - mean);
    REAL r = (REAL)(1 / SQRT_F64((double)square / (double)n + eps));
    stat[2 * i] = mean;
    stat[2 * i + 1] = r;
    if (beta) {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) y[k] = (x[k] - mean) * r * gamma[k] + beta[k];
    } else {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) y[k] = (x[k] - mean) * r * gamma[k];
    }
  }
}

/* With g = dy·gamma and u = (x − mean)·r: dx = r·(g − mean(g) − u·mean(g·u)); without centring there is no mean(g). */
void NAME(bwd)(REAL *dx, REAL *dgamma, REAL *dbeta, const REAL *dy, const REAL *x, const REAL *stat, const REAL *gamma,
               int64_t rows, int64_t n, int centred, int accumulate) {
  for (int64_t i = 0; i < rows; i++, x += n, dy += n) {
    REAL mean = stat[2 * i], r = stat[2 * i + 1], sum = 0, product = 0;
#pragma omp simd reduction(+ : sum, product)
    for (int64_t k = 0; k < n; k++) {
      REAL g = dy[k] * gamma[k];
      sum += g;
      product += g * (x[k] - mean);
    }
    REAL shift = centred ? sum / (REAL)n : 0, slope = product * r * r / (REAL)n;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) dgamma[k] += dy[k] * ((x[k] - mean) * r);
    if (dbeta) {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) dbeta[k] += dy[k];
    }
    if (!dx) continue;
    if (accumulate) {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) dx[k] += r * (dy[k] * gamma[k] - shift - (x[k] - mean) * slope);
    } else {
#pragma omp simd
      for (int64_t k = 0; k < n; k++) dx[k] = r * (dy[k] * gamma[k] - shift - (x[k] - mean) * slope);
    }
    dx += n;
  }
}
