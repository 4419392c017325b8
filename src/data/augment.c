/* augment.c: random crop, horizontal flip, cutout and erasing of one image. Called by loader.c.
 * Sources: crop after padding and flip as in He, Zhang, Ren, Sun, "Deep residual learning for image recognition", 2016,
 * section 4.2, with a black border; cutout: DeVries and Taylor, "Improved regularization of convolutional neural
 * networks with cutout", 2017: the square's centre is any pixel, and what lies outside the image is cut off; erasing:
 * Zhong, Zheng, Kang, Li, Yang, "Random erasing data augmentation", 2020: a rectangle of 2 to 33 % of the image's area,
 * its sides' ratio from 0.3 to 1/0.3, wholly inside, becomes noise. */
#include "augment.h"
#include "../core/rng.h"
#include <math.h>

enum { MOST_SIDE = 1 << 15 }; /* pixels are drawn by 32 bits */

/* What happens to one image. */
typedef struct {
  int64_t down, across; /* the window's place, −crop..crop */
  int32_t flip;
  int64_t top, bottom, left, right; /* erased: rows top..bottom−1, columns left..right−1 */
} draw;

/* A whole number in [0, bound) from 32 random bits; no result is likelier than another by more than bound/2^32. */
static int64_t below(uint32_t bits, int64_t bound) { return (int64_t)((uint64_t)bits * (uint64_t)bound >> 32); }

static double uniform(uint32_t bits) { return bits * 0x1p-32; }

static int64_t clip(int64_t v, int64_t high) { return v < 0 ? 0 : v > high ? high : v; }

/* Every image draws one block of four words, whatever is switched on, so that switching one change on or off leaves
 * the others as they are. */
static draw draw_of(const lg_augment *a, uint64_t seed, uint64_t epoch, int64_t row) {
  uint32_t bits[4];
  lg_philox(bits, seed, lg_stream(LG_STREAM_AUGMENT, (uint32_t)epoch), (uint64_t)row);
  int64_t centre = below(bits[2], a->height * a->width);
  int64_t top = centre / a->width - a->cutout / 2, left = centre % a->width - a->cutout / 2;
  return (draw){.down = below(bits[0], 2 * a->crop + 1) - a->crop,
                .across = below(bits[1], 2 * a->crop + 1) - a->crop,
                .flip = a->flip && bits[3] >> 31,
                .top = clip(top, a->height),
                .bottom = clip(top + a->cutout, a->height),
                .left = clip(left, a->width),
                .right = clip(left + a->cutout, a->width)};
}

static void fill(float *to, int64_t n, float value) {
  for (int64_t i = 0; i < n; i++) to[i] = value;
}

static void reverse(float *v, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n / 2; i++) {
    float keep = v[i];
    v[i] = v[n - 1 - i];
    v[n - 1 - i] = keep;
  }
}

/* One plane [H, W]. */
static void plane(float *to, const char *from, int32_t dtype, lg_affine affine, const lg_augment *a, const draw *d) {
  int64_t h = a->height, w = a->width, bytes = lg_dtype_bytes(dtype);
  int64_t first = clip(-d->across, w), end = clip(w - d->across, w); /* columns that the image covers */
  float border = (0.0f - affine.centre) * affine.gain;
  for (int64_t i = 0; i < h; i++, to += w) {
    int64_t source = i + d->down;
    if (source < 0 || source >= h) {
      fill(to, w, border);
      continue;
    }
    fill(to, first, border);
    lg_convert(to + first, from + (source * w + first + d->across) * bytes, dtype, end - first, affine);
    fill(to + end, w - end, border);
    if (d->flip) reverse(to, w);
  }
}

/* The rectangle of one image, rows top..bottom−1 and columns left..right−1; 0: none. Ratios are drawn evenly on a
 * logarithmic scale; a rectangle that does not fit is drawn again, at most ten times. */
static int32_t rectangle(draw *d, const lg_augment *a, uint64_t seed, uint64_t epoch, int64_t row) {
  enum { TRIES = 10, BLOCKS = TRIES + 1 };
  const double least = 0.02, most = 0.33, flattest = 0.3;
  uint32_t bits[4];
  uint64_t stream = lg_stream(LG_STREAM_ERASE, (uint32_t)epoch), at = (uint64_t)row * BLOCKS;
  lg_philox(bits, seed, stream, at);
  if (uniform(bits[0]) >= a->erase) return 0;
  for (uint64_t try = 1; try <= TRIES; try++) {
    lg_philox(bits, seed, stream, at + try);
    double area = (least + (most - least) * uniform(bits[0])) * (double)(a->height * a->width);
    double ratio = exp(log(flattest) * (1 - 2 * uniform(bits[1])));
    int64_t h = llrint(sqrt(area * ratio)), w = llrint(sqrt(area / ratio));
    if (h < 1 || w < 1 || h >= a->height || w >= a->width) continue;
    d->top = below(bits[2], a->height - h + 1);
    d->left = below(bits[3], a->width - w + 1);
    d->bottom = d->top + h;
    d->right = d->left + w;
    return 1;
  }
  return 0;
}

static void erase(float *to, const lg_rows *x, const lg_augment *a, uint64_t seed, uint64_t epoch, int64_t row) {
  draw d = {0};
  if (!rectangle(&d, a, seed, epoch, row)) return;
  uint64_t stream = lg_stream(LG_STREAM_NOISE, (uint32_t)epoch), first = (uint64_t)(row * x->width);
  for (int64_t at = 0; at < x->width; at += a->height * a->width)
    for (int64_t i = d.top; i < d.bottom; i++)
      for (int64_t k = at + i * a->width + d.left; k < at + i * a->width + d.right; k++)
        to[k] = (float)lg_rng_normal(seed, stream, first + (uint64_t)k);
}

void lg_augment_row(float *to, const void *from, const lg_rows *x, const lg_affine *affine, const lg_augment *a,
                    uint64_t seed, uint64_t epoch, int64_t row) {
  draw d = draw_of(a, seed, epoch, row);
  int64_t size = a->height * a->width, bytes = lg_dtype_bytes(x->dtype);
  for (int64_t at = 0; at < x->width; at += size) {
    plane(to + at, (const char *)from + at * bytes, x->dtype, affine[at / x->channel_size], a, &d);
    for (int64_t i = d.top; i < d.bottom; i++) fill(to + at + i * a->width + d.left, d.right - d.left, 0.0f);
  }
  if (a->erase > 0) erase(to, x, a, seed, epoch, row);
}

lg_status lg_augment_init(lg_augment *out, int32_t dtype, int32_t rank, const int64_t *shape, int32_t crop,
                          int32_t flip, int32_t cutout) {
  if (rank != 4 || (dtype != LG_U8 && dtype != LG_F32)) {
    char text[256];
    return lg_fail(LG_ESHAPE, "x is %s: only images, u8 or f32 [N, C, H, W], can be cropped, flipped or cut out of",
                   lg_shape_text(text, sizeof text, dtype, rank, shape));
  }
  int64_t h = shape[2], w = shape[3], side = h < w ? h : w;
  if (h > MOST_SIDE || w > MOST_SIDE)
    return lg_fail(LG_EARG, "images of %lld×%lld pixels are too large to augment", (long long)h, (long long)w);
  if (crop < 0 || crop >= side)
    return lg_fail(LG_EARG, "crop = %d pixels around images of %lld×%lld, expected 0 to %lld", crop, (long long)h,
                   (long long)w, (long long)side - 1);
  if (flip != 0 && flip != 1) return lg_fail(LG_EARG, "flip = %d, expected 0 or 1", flip);
  if (cutout < 0 || cutout > side)
    return lg_fail(LG_EARG, "cutout = %d pixels of images of %lld×%lld, expected 0 to %lld", cutout, (long long)h,
                   (long long)w, (long long)side);
  *out = (lg_augment){.height = h, .width = w, .crop = crop, .flip = flip, .cutout = cutout};
  return LG_OK;
}
