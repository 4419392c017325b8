/* enclose_conv.c: enclosures through convolutions and linear layers. See enclose.h.
 *
 * Radii pass through |w|. Were centres rounded as in an ordinary product, by up to k·u·Σ|w||x| each, that error would
 * grow from layer to layer with |w| too, and drown the result of a deep network. So each number of a patch and of a
 * filter is cut into a high part of few bits and the rest (Ozaki et al. 2012, Numerical Algorithms 59): the product of
 * the high parts is exact in float64 in whatever order it is summed, and the rest is small enough for its rounding not
 * to count. What remains is one rounding of the result. */
#include "../core/threads.h"
#include "enclose.h"
#include "enclose_round.h"
#include "gemm.h"
#include <stddef.h>

enum { SLOTS = 8, PATCH_NUMBERS = 65536, LEAST_ROWS = 32, MOST_ROWS = 512 };
static const double LEAST = 1e-200; /* below this a number is all rest: its high part's unit could underflow */

typedef struct affine {
  const lg_conv *c;
  const lg_enclosure *out, *in;
  const double *bias;
  const double *high, *rest, *size; /* of the weights: high + rest = w; size = |w| */
  const double *most, *most_rest;   /* [co]: largest |w| and |rest| of a filter */
  double *scratch;
  int64_t k, rows, blocks, slots, bits;
} affine;

static int64_t patch_size(const lg_conv *c) { return c->kh * c->kw * (c->ci / c->groups); }
static int64_t all_rows(const lg_conv *c) { return c->batch * c->oh * c->ow; }
static int64_t block_rows(const lg_conv *c) {
  const int64_t rows = PATCH_NUMBERS / patch_size(c);
  return rows < LEAST_ROWS ? LEAST_ROWS : rows > MOST_ROWS ? MOST_ROWS : rows;
}
static int64_t slots_of(const lg_conv *c) {
  const int64_t blocks = (all_rows(c) + block_rows(c) - 1) / block_rows(c);
  return blocks < SLOTS ? blocks : SLOTS;
}
/* Of a block: patches, their high parts, the rest; the two products; largest numbers by row. */
static int64_t slot_numbers(const lg_conv *c) {
  return block_rows(c) * (3 * patch_size(c) + 2 * (c->co / c->groups) + 2);
}

size_t lg_enclose_conv_bytes(const lg_conv *c) {
  const int64_t weights = c->co * patch_size(c);
  return (size_t)(3 * weights + 2 * c->co + slots_of(c) * slot_numbers(c)) * sizeof(double);
}

/* x[n] = high + rest, with `bits` bits below the largest |x| in high; returns the largest |x| and bounds |rest|. */
static double cut(double *high, double *rest, double *most_rest, const double *x, int64_t n, int64_t bits) {
  double most = 0;
  for (int64_t i = 0; i < n; i++) most = fabs(x[i]) <= most ? most : fabs(x[i]); /* keeps a NaN */
  int exponent = 0;
  frexp(most, &exponent);
  const double unit = ldexp(1, exponent - (int)bits), shift = 0x1.8p52 * unit;
  for (int64_t i = 0; i < n; i++) {
    high[i] = most < LEAST ? 0 : (x[i] + shift) - shift; /* rounded to a multiple of unit */
    rest[i] = x[i] - high[i];                            /* exact */
  }
  *most_rest = most < LEAST ? most : unit;
  return most;
}

/* One plane's rows of a block for group g: y = w·x + bias and, added to radius, what its rounding can be. */
static void centre_rows(const affine *a, double *y, double *radius, const double *x, const double *bias, int64_t g,
                        int64_t row0, int64_t rows, double *scratch) {
  const lg_conv *c = a->c;
  const int64_t k = a->k, cog = c->co / c->groups, all = block_rows(c);
  double *patch = scratch, *high = patch + all * k, *rest = high + all * k, *main = rest + all * k;
  double *small = main + all * cog, *most = small + all * cog, *most_rest = most + all;
  const double *w_high = a->high + g * cog * k, *w_rest = a->rest + g * cog * k;
  lg_k_im2col_f64(patch, x, c, g, row0, rows, 0, c->kh * c->kw);
  for (int64_t r = 0; r < rows; r++)
    most[r] = cut(high + r * k, rest + r * k, most_rest + r, patch + r * k, k, a->bits);
  lg_k_gemm_f64(main, high, w_high, rows, cog, k, k, k, cog, 0, 1, 1, 0);
  lg_k_gemm_f64(small, rest, w_high, rows, cog, k, k, k, cog, 0, 1, 1, 0);
  lg_k_gemm_f64(small, patch, w_rest, rows, cog, k, k, k, cog, 0, 1, 1, 1);
  const double gamma = 2 * lg_gamma_of(2 * k) * (double)k;
  for (int64_t r = 0; r < rows; r++)
    for (int64_t o = 0; o < cog; o++) {
      const int64_t filter = g * cog + o, at = (row0 + r) * c->co + filter;
      const double shift = bias ? bias[filter] : 0, sum = main[r * cog + o] + (small[r * cog + o] + shift);
      const double terms = most_rest[r] * a->most[filter] + most[r] * a->most_rest[filter];
      y[at] = sum;
      radius[at] = lg_above(radius[at] + (LG_U * fabs(sum) + (2 * LG_U * fabs(shift) + (gamma * terms + LG_TINY))));
    }
}

/* radius = |w|·radius of a block for group g. */
static void radius_rows(const affine *a, double *y, const double *x, int64_t g, int64_t row0, int64_t rows,
                        double *patch) {
  const lg_conv *c = a->c;
  const int64_t k = a->k, cog = c->co / c->groups;
  const double wider = 1 + 4 * lg_gamma_of(k);
  double *to = y + row0 * c->co + g * cog;
  lg_k_im2col_f64(patch, x, c, g, row0, rows, 0, c->kh * c->kw);
  lg_k_gemm_f64(to, patch, a->size + g * cog * k, rows, cog, k, k, k, c->co, 0, 1, 1, 0);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t o = 0; o < cog; o++) to[r * c->co + o] = to[r * c->co + o] * wider + LG_TINY;
}

static void affine_slot(void *context, int64_t slot) {
  const affine *a = context;
  double *scratch = a->scratch + slot * slot_numbers(a->c);
  const int64_t end = (slot + 1) * a->blocks / a->slots;
  for (int64_t block = slot * a->blocks / a->slots; block < end; block++) {
    const int64_t row0 = block * a->rows, left = all_rows(a->c) - row0, rows = left < a->rows ? left : a->rows;
    for (int64_t g = 0; g < a->c->groups; g++) {
      radius_rows(a, a->out->radius, a->in->radius, g, row0, rows, scratch);
      centre_rows(a, a->out->centre, a->out->radius, a->in->centre, a->bias, g, row0, rows, scratch);
      radius_rows(a, a->out->change_radius, a->in->change_radius, g, row0, rows, scratch);
      centre_rows(a, a->out->change, a->out->change_radius, a->in->change, NULL, g, row0, rows, scratch);
    }
  }
}

void lg_k_enclose_conv(const lg_enclosure *out, const lg_enclosure *in, const double *w, const double *bias,
                       const lg_conv *c, void *work) {
  const int64_t k = patch_size(c), weights = c->co * k;
  double *high = work, *rest = high + weights, *size = rest + weights, *most = size + weights;
  double *most_rest = most + c->co;
  int64_t bits = 53, terms = 1;
  for (; terms < k; terms *= 2) bits--; /* k products of two numbers of bits/2 bits add up to less than 2⁵³ units */
  bits /= 2;
  for (int64_t i = 0; i < weights; i++) size[i] = fabs(w[i]);
  for (int64_t o = 0; o < c->co; o++) most[o] = cut(high + o * k, rest + o * k, most_rest + o, w + o * k, k, bits);
  affine a = {.c = c,
              .out = out,
              .in = in,
              .bias = bias,
              .high = high,
              .rest = rest,
              .size = size,
              .most = most,
              .most_rest = most_rest,
              .scratch = most_rest + c->co,
              .k = k,
              .rows = block_rows(c),
              .bits = bits};
  a.blocks = (all_rows(c) + a.rows - 1) / a.rows;
  a.slots = slots_of(c);
  lg_parallel(a.slots, affine_slot, &a);
}
