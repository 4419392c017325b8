/* winograd.h: the transforms of Winograd's convolutions (Lavin & Gray 2016, arXiv:1509.09308) on tiles of channels-last
 * images, vectorized over channels. Called by conv_winograd.c, which joins them with matrix products.
 *
 * F(m×m, 3×3) computes m×m outputs of a 3×3 convolution of stride 1 from n×n inputs, n = m + 2, with n² products a pair
 * of channels instead of 9·m²:
 *   y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A,   and for gradients the transposes:
 *   dM = A dy Aᵀ,   dd = B[(G g Gᵀ) ⊙ dM]Bᵀ,   dg = Gᵀ[dM ⊙ (Bᵀ d B)]G, summed over channels, tiles.
 * m = 2 interpolates at 0, ±1, ∞; m = 4 at 0, ±5/8, ±3/2, ∞, whose error is less than half of that at 0, ±1, ±2, ∞. */
#ifndef LG_WINOGRAD_H
#define LG_WINOGRAD_H
#include <stdint.h>

enum { LG_WINOGRAD_LANES = 16, LG_WINOGRAD_MOST = 36 }; /* channels come in multiples; n² at most */

/* to[…][channels] = transform of from[…][channels]: arrays of pointers, one a pixel, tap or point, row by row. */
typedef void lg_winograd_fn(float *const *to, const float *const *from, int64_t channels);

/* X(field, what it does) */
#define LG_WINOGRAD_LIST(X)                                                                                            \
  X(input, "Bᵀ d B: n² pixels → n² points")                                                                            \
  X(output, "Aᵀ M A: n² points → m² pixels")                                                                           \
  X(weights, "G g Gᵀ: 9 taps → n² points")                                                                             \
  X(output_grad, "A dy Aᵀ: m² pixels → n² points")                                                                     \
  X(input_grad, "B dV Bᵀ: n² points, added to n² pixels")                                                              \
  X(weights_grad, "Gᵀ dU G: n² points → 9 taps")                                                                       \
  X(weights_grad_add, "the same, added to the taps")

typedef struct lg_winograd {
  int64_t m, n, points; /* outputs a side, inputs a side, n² */
#define X(field, doc) lg_winograd_fn *field;
  LG_WINOGRAD_LIST(X)
#undef X
} lg_winograd;

/* The transforms for m = 2 or 4 in the instruction set in use. */
const lg_winograd *lg_winograd_get(int64_t m);
#endif
