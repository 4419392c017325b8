/* gauss.c: see gauss.h. Formulas: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.1 and 26.2.29. */
#include "gauss.h"
#include <math.h> /* erfc, exp, fma */

static const double SQRT_HALF = 0.70710678118654752440;    /* 1/√2 */
static const double INV_SQRT_2PI = 0.39894228040143267794; /* 1/√(2π) */

double lg_gauss_cdf(double z) { return 0.5 * erfc(-z * SQRT_HALF); }

double lg_gauss_pdf(double z) {
  if (fabs(z) > 40.0) return 0.0; /* below the least subnormal; also keeps ∞ − ∞ out of the next line */
  double square = z * z;
  double rounding = fma(z, z, -square);
  return INV_SQRT_2PI * exp(-0.5 * square) * (1.0 - 0.5 * rounding);
}
