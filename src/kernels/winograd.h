/* winograd.h: the transforms of Winograd's convolutions (Lavin & Gray 2016, arXiv:1509.09308) on tiles of channels-last
 * images, vectorized over channels. Called by conv_winograd.c, which joins them with matrix products.
 *
 * F(m×m, 3×3) computes m×m outputs of a 3×3 convolution of stride 1 from n×n inputs, n = m + 2, with n² products a pair
 * of channels instead of 9·m²:
 *   y = Aᵀ[(G g Gᵀ) ⊙ (Bᵀ d B)]A,   and for gradients the transposes:
 *   dM = A dy Aᵀ,   dd = B[(G g Gᵀ) ⊙ dM]Bᵀ,   dg = Gᵀ[dM ⊙ (Bᵀ d B)]G, summed over channels, tiles.
 * m = 2 interpolates at 0, ±1, ∞; m = 4 at 0, ±5/8, ±3/2, ∞, whose error is less than half of that at 0, ±1, ±2, ∞.
 *
 * Stride 2 falls into two convolutions of stride 1 a direction: taps 0 and 2 over the inputs 0, 2, …, 8, five points
 * ±1/2, ±5/4, ∞ for four outputs, and tap 1 over the inputs 1, 3, 5, 7, four products. So 81 products for 16 outputs
 * instead of 144; the four inputs of the second kind share their weights, so there are 6² matrices of weights. */
#ifndef LG_WINOGRAD_H
#define LG_WINOGRAD_H
#include <stdint.h>

enum { LG_WINOGRAD_LANES = 16, LG_WINOGRAD_MOST = 81 }; /* channels come in multiples; n² at most */

/* to[…][channels] = transform of from[…][channels]: arrays of pointers, one a pixel, tap or point, row by row. */
typedef void lg_winograd_fn(float *const *to, const float *const *from, int64_t channels);

/* X(field, what it does) */
#define LG_WINOGRAD_LIST(X)                                                                                            \
  X(input, "Bᵀ d B: n² pixels → n² points")                                                                            \
  X(output, "Aᵀ M A: n² points → m² pixels")                                                                           \
  X(weights, "G g Gᵀ: 9 taps → kinds² points")                                                                         \
  X(output_grad, "A dy Aᵀ: m² pixels → n² points")                                                                     \
  X(input_grad, "B dV Bᵀ: n² points, added to n² pixels")                                                              \
  X(weights_grad, "Gᵀ dU G: kinds² points → 9 taps")                                                                   \
  X(weights_grad_add, "the same, added to the taps")

typedef struct lg_winograd {
  int64_t m, stride, n; /* outputs a side, stride, inputs a side */
  int64_t kinds;        /* points a side with weights of their own: all n, or 6 where the last 4 of 9 share theirs */
#define X(field, doc) lg_winograd_fn *field;
  LG_WINOGRAD_LIST(X)
#undef X
} lg_winograd;

/* The transforms for m = 2 or 4 outputs a side and stride 1, or m = 4 and stride 2, in the instruction set in use. */
const lg_winograd *lg_winograd_get(int64_t m, int64_t stride);
#endif
