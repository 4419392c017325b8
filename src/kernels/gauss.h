/* gauss.h: the standard normal distribution function and density in float64, for the plain reference kernels and the
 * scalars of the API. Not the float32 kernels: gate_isa.c has their own evaluation. Called by gate.c, gate_plain.h,
 * api/gate.c. */
#ifndef LG_GAUSS_H
#define LG_GAUSS_H

/* Φ(z) = ½·erfc(−z/√2): the lower tail keeps its digits; 0 and 1 at ∓∞, NaN for NaN. */
double lg_gauss_cdf(double z);
/* φ(z) = exp(−z²/2)/√(2π), with the rounding of z² carried into the exponential; 0 at ±∞, NaN for NaN. */
double lg_gauss_pdf(double z);
#endif
