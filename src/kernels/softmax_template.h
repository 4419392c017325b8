/* softmax_template.h: the loops of softmax.h for one REAL type; NAME(x) gives the function's name, EXP(v) is exp(v) for
 * v ≤ 0. No include guard: it is included once per type by softmax.c (float64) and softmax_isa.c (float32 per
 * instruction set). */

void NAME(row)(REAL *row, REAL stat[2], REAL scale, int64_t n) {
  REAL max = row[0], sum = 0;
#pragma omp simd reduction(max : max)
  for (int64_t k = 1; k < n; k++) max = row[k] > max ? row[k] : max;
#pragma omp simd reduction(+ : sum)
  for (int64_t k = 0; k < n; k++) {
    REAL e = EXP(scale * (row[k] - max));
    row[k] = e;
    sum += e;
  }
  REAL inverse = 1 / sum;
#pragma omp simd
  for (int64_t k = 0; k < n; k++) row[k] *= inverse;
  stat[0] = max;
  stat[1] = inverse;
}

void NAME(again)(REAL *row, const REAL stat[2], REAL scale, int64_t n) {
  REAL max = stat[0], inverse = stat[1];
#pragma omp simd
  for (int64_t k = 0; k < n; k++) row[k] = EXP(scale * (row[k] - max)) * inverse;
}

void NAME(grad)(REAL *dp, const REAL *p, REAL dot, REAL scale, int64_t n) {
#pragma omp simd
  for (int64_t k = 0; k < n; k++) dp[k] = p[k] * (dp[k] - dot) * scale;
}
