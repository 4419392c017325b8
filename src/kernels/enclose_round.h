/* enclose_round.h: outward rounding, shared by enclose.c and enclose_conv.c. Round to nearest; u = 2⁻⁵³. */
#ifndef LG_ENCLOSE_ROUND_H
#define LG_ENCLOSE_ROUND_H
#include <math.h>
#include <stdint.h>

#define LG_U 0x1p-53   /* half a unit in the last place of 1 */
#define LG_TINY 1e-300 /* more than any number of underflows adds up to */

/* A sum of k products in any order, fused or not, is within gamma(k)·Σ|terms| of the exact one (Higham, Accuracy and
 * Stability of Numerical Algorithms, 2nd ed., 3.1); 16 more roundings pay for what stands around the sum. */
static inline double lg_gamma_of(int64_t k) { return 1.01 * (double)(k + 16) * LG_U; }

/* The next number outward of a result that was rounded once: the exact result lies within. */
static inline double lg_above(double x) { return nextafter(x, INFINITY); }
static inline double lg_below(double x) { return nextafter(x, -INFINITY); }

static inline double lg_larger(double a, double b) { return a > b ? a : b; }
static inline double lg_lesser(double a, double b) { return a < b ? a : b; }
#endif
