/* enclose.h: intervals that hold what a network computes in exact arithmetic, and how much that changes when its gates
 * become ReLU, carried through one layer at a time. Called by api/enclose.c. docs/CERTIFICATE.md has the derivation.
 * What it is not: an evaluation of a network; and it knows no graph: lua/lgelu/certificate.lua walks the layers.
 *
 * An enclosure of n numbers is four planes of n float64: centre and radius of the value, centre and radius of the
 * difference (ReLU network minus smooth network). Radii are at least 0 and already hold every rounding so far. A centre
 * or radius that is not finite stands for "anything", and makes everything that depends on it so. */
#ifndef LG_ENCLOSE_H
#define LG_ENCLOSE_H
#include "conv.h"
#include "pool.h"

typedef struct lg_enclosure {
  double *centre, *radius, *change, *change_radius; /* [n] each */
} lg_enclosure;

/* out = w·in + bias (NULL: none) as convolution c says; a linear layer is a 1×1 one of 1×1 images. Runs on the team.
 * The bias does not enter the difference. w is taken as exact. work: of lg_enclose_conv_bytes. */
size_t lg_enclose_conv_bytes(const lg_conv *c);
void lg_k_enclose_conv(const lg_enclosure *out, const lg_enclosure *in, const double *w, const double *bias,
                       const lg_conv *c, void *work);

/* Where the difference of a gate comes from: its own value at its own input, or only 0 ≤ ReLU − f ≤ 0.16998/λ. */
enum { LG_ENCLOSE_VALUE, LG_ENCLOSE_CONSTANT };
/* out[n] = f(in; λ), which becomes ReLU; λ = ∞: it is one already. out may be in. */
void lg_k_enclose_gate(const lg_enclosure *out, const lg_enclosure *in, double lambda, int rule, int64_t n);
/* out[n] = a + b; out may be either. */
void lg_k_enclose_add(const lg_enclosure *out, const lg_enclosure *a, const lg_enclosure *b, int64_t n);
/* One image: largest element, and mean (padding counts as zeros). spare[2·height·width·n] */
void lg_k_enclose_max(const lg_enclosure *out, const lg_enclosure *in, const lg_windows *w);
void lg_k_enclose_mean(const lg_enclosure *out, const lg_enclosure *in, const lg_windows *w, double *spare);

/* One row in[k] in front of the last layer, w[classes, k] and bias (NULL: none); w = NULL: in[classes] are the logits.
 * Returns the class p of the largest centre of the smooth logits, the first of equals; smooth and relu: the least that
 * logit p can be above another one in each network (−∞ where nothing is known, ∞ for a single class). The difference
 * of two logits is taken as one linear form: what both share cancels. */
int32_t lg_k_enclose_margin(double *smooth, double *relu, const lg_enclosure *in, const double *w, const double *bias,
                            int64_t classes, int64_t k);
#endif
