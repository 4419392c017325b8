/* census_isa.c: the loops of a census (census.h), compiled once per instruction set (LG_ISA); census.c picks one. */
#include <stdint.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_census_##name##_, LG_ISA)

int32_t NAME(finite)(const float *x, int32_t n);
void NAME(counts)(int32_t *counts, float *extremes, const float *x, const float *y, float edge, int32_t n);
void NAME(bins)(int32_t *bin, const float *x, double low, double scale, int32_t bins, int32_t n);

/* How many of x[n] are neither NaN nor infinite. */
int32_t NAME(finite)(const float *x, int32_t n) {
  int32_t finite = 0;
#pragma omp simd reduction(+ : finite)
  for (int32_t i = 0; i < n; i++) finite += x[i] - x[i] == 0 ? 1 : 0;
  return finite;
}

/* Of finite x[n] and y = f(x): counts[3] += |x| < edge, x ≤ 0, y = 0; extremes[3]: least x, greatest x, greatest
 * |y − max(x, 0)|, from the values given. */
void NAME(counts)(int32_t *counts, float *extremes, const float *x, const float *y, float edge, int32_t n) {
  int32_t band = 0, nonpositive = 0, zeros = 0;
  float least = extremes[0], greatest = extremes[1], deviation = extremes[2];
#pragma omp simd reduction(+ : band, nonpositive, zeros) reduction(min : least) reduction(max : greatest, deviation)
  for (int32_t i = 0; i < n; i++) {
    float size = __builtin_fabsf(x[i]), away = __builtin_fabsf(y[i] - (x[i] > 0 ? x[i] : 0));
    band += size < edge ? 1 : 0;
    nonpositive += x[i] <= 0 ? 1 : 0;
    zeros += y[i] == 0 ? 1 : 0;
    least = x[i] < least ? x[i] : least;
    greatest = x[i] > greatest ? x[i] : greatest;
    deviation = away > deviation ? away : deviation;
  }
  counts[0] += band, counts[1] += nonpositive, counts[2] += zeros;
  extremes[0] = least, extremes[1] = greatest, extremes[2] = deviation;
}

/* bin[n]: 0 below low, 1 + ⌊(x − low)·scale⌋, bins + 1 from there on; x finite. */
void NAME(bins)(int32_t *bin, const float *x, double low, double scale, int32_t bins, int32_t n) {
  double last = bins + 1;
#pragma omp simd
  for (int32_t i = 0; i < n; i++) {
    double at = (x[i] - low) * scale + 1;
    at = at < 0 ? 0 : at;
    at = at > last ? last : at;
    bin[i] = (int32_t)at;
  }
}
