/* test_winograd.c: convolutions by Winograd's algorithm and over patches against the plain loops in float64: error of
 * forward and both gradients, within bounds; results added to what is there; scratch and outputs full of NaN before;
 * nothing written outside; the same bits for any number of threads; when Winograd's way is taken. */
#include "../../src/core/rng.h"
#include "../../src/core/threads.h"
#include "../../src/kernels/conv.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

enum { GUARD = 64 };
static const float SENTINEL = 12345.5f;

/* n floats and a guard behind them, all NaN or the guard's value. */
static float *room(int64_t n) {
  float *p = malloc((size_t)(n + GUARD) * sizeof *p);
  if (!p) exit(2);
  for (int64_t i = 0; i < n; i++) p[i] = NAN;
  for (int64_t i = n; i < n + GUARD; i++) p[i] = SENTINEL;
  return p;
}
static int guarded(const float *p, int64_t n) {
  for (int64_t i = n; i < n + GUARD; i++)
    if (p[i] != SENTINEL) return 0;
  return 1;
}

static double *wide(const float *x, int64_t n) {
  double *p = malloc((size_t)n * sizeof *p);
  if (!p) exit(2);
  for (int64_t i = 0; i < n; i++) p[i] = x ? x[i] : 0;
  return p;
}

/* Root mean square and largest error, relative to the same of the right result. */
typedef struct error {
  double rms, most;
} error;
static error compare(const float *x, const double *right, int64_t n) {
  double square = 0, scale = 0, most = 0, largest = 0;
  for (int64_t i = 0; i < n; i++) {
    double e = fabs(x[i] - right[i]);
    if (isnan(e)) e = INFINITY;
    square += e * e, scale += right[i] * right[i];
    most = fmax(most, e), largest = fmax(largest, fabs(right[i]));
  }
  return (error){sqrt(square / scale), most / largest};
}

/* A convolution with its data: x, dy ~ N(0, 1), w ~ N(0, 2/(9·ci)). */
typedef struct sample {
  lg_conv c;
  int64_t nx, ny, nw;
  float *x, *w, *dy, *bias;
  double *y64, *dx64, *dw64;
} sample;

static sample make(int64_t batch, int64_t h, int64_t w, int64_t ci, int64_t co, int64_t top, int64_t left,
                   int64_t bottom, int64_t right, int64_t stride) {
  sample s = {.c = {.batch = batch,
                    .h = h,
                    .w = w,
                    .ci = ci,
                    .co = co,
                    .kh = 3,
                    .kw = 3,
                    .groups = 1,
                    .top = top,
                    .left = left,
                    .stride_h = stride,
                    .stride_w = stride}};
  s.c.oh = (h + top + bottom - 3) / stride + 1, s.c.ow = (w + left + right - 3) / stride + 1;
  s.nx = batch * h * w * ci, s.ny = batch * s.c.oh * s.c.ow * co, s.nw = 9 * ci * co;
  s.x = room(s.nx), s.w = room(s.nw), s.dy = room(s.ny), s.bias = room(co);
  for (int64_t i = 0; i < s.nx; i++) s.x[i] = (float)lg_rng_normal(1, 1, (uint64_t)i);
  for (int64_t i = 0; i < s.nw; i++)
    s.w[i] = (float)(sqrt(2.0 / (9.0 * (double)ci)) * lg_rng_normal(1, 2, (uint64_t)i));
  for (int64_t i = 0; i < s.ny; i++) s.dy[i] = (float)lg_rng_normal(1, 3, (uint64_t)i);
  for (int64_t i = 0; i < co; i++) s.bias[i] = (float)lg_rng_normal(1, 4, (uint64_t)i);
  double *x64 = wide(s.x, s.nx), *w64 = wide(s.w, s.nw), *dy64 = wide(s.dy, s.ny);
  s.y64 = wide(NULL, s.ny), s.dx64 = wide(NULL, s.nx), s.dw64 = wide(NULL, s.nw);
  lg_k_conv_fwd_f64_ref(s.y64, x64, w64, &s.c);
  lg_k_conv_dx_f64_ref(s.dx64, dy64, w64, &s.c, 0);
  lg_k_conv_dw_f64_ref(s.dw64, dy64, x64, &s.c, 0);
  free(x64), free(w64), free(dy64);
  return s;
}
static void drop(sample *s) {
  free(s->x), free(s->w), free(s->dy), free(s->bias), free(s->y64), free(s->dx64), free(s->dw64);
}

/* All passes by Winograd's tiles of m outputs, or over patches where m is 0. */
static void passes(float *y, float *dx, float *dw, const sample *s, int64_t m, int acc) {
  const lg_conv_tail tail = {0};
  for (int pass = 0; pass < 3; pass++) {
    const size_t bytes =
        m ? lg_conv_winograd_bytes(&s->c, m, pass > 0) : lg_conv_im2col_bytes(&s->c, pass, sizeof(float));
    const int64_t floats = (int64_t)(bytes / sizeof(float));
    float *work = room(floats);
    if (pass == LG_CONV_FWD && m) lg_conv_winograd_fwd(y, s->x, s->w, &s->c, m, &tail, work);
    if (pass == LG_CONV_FWD && !m) lg_conv_im2col_fwd_f32(y, s->x, s->w, &s->c, &tail, work);
    if (pass == LG_CONV_DX && m) lg_conv_winograd_bwd(dx, dw, s->dy, s->x, s->w, &s->c, m, acc, acc, work);
    if (pass == LG_CONV_DX && !m) lg_conv_im2col_dx_f32(dx, s->dy, s->w, &s->c, acc, work);
    if (pass == LG_CONV_DW && !m) lg_conv_im2col_dw_f32(dw, s->dy, s->x, &s->c, acc, work);
    expect(guarded(work, floats), "nothing is written behind the scratch");
    free(work);
  }
}

static void fill(float *p, int64_t n, float value) {
  for (int64_t i = 0; i < n; i++) p[i] = value;
}

/* Bounds of rms and largest error, about three times what is measured (printed below). */
static const error BOUND[4] = {{1e-6, 2e-6}, {1.2e-6, 1.8e-6}, {5e-6, 8e-6}, {1.5e-6, 3e-6}};
static error seen[4][3]; /* [way][pass] */

static void check(const sample *s, int64_t m, const char *name) {
  const int way = s->c.stride_h == 2 && m ? 3 : (int)m / 2;
  float *y = room(s->ny), *dx = room(s->nx), *dw = room(s->nw);
  float *y2 = room(s->ny), *dx2 = room(s->nx), *dw2 = room(s->nw);
  lg_threads_set(1);
  passes(y, dx, dw, s, m, 0);
  const error e[3] = {compare(y, s->y64, s->ny), compare(dx, s->dx64, s->nx), compare(dw, s->dw64, s->nw)};
  for (int pass = 0; pass < 3; pass++) {
    error *most = &seen[way][pass];
    const error *bound = &BOUND[way];
    most->rms = fmax(most->rms, e[pass].rms), most->most = fmax(most->most, e[pass].most);
    if (e[pass].rms <= bound->rms && e[pass].most <= bound->most) continue;
    failures++;
    printf("FAILED: %s, m = %d, pass %d: rms error %.3g, largest %.3g\n", name, (int)m, pass, e[pass].rms,
           e[pass].most);
  }
  expect(guarded(y, s->ny) && guarded(dx, s->nx) && guarded(dw, s->nw), "nothing is written behind the results");
  for (int32_t threads = 2; threads <= 5; threads += 3) {
    lg_threads_set(threads);
    passes(y2, dx2, dw2, s, m, 0);
    expect(!memcmp(y, y2, (size_t)s->ny * 4) && !memcmp(dx, dx2, (size_t)s->nx * 4) &&
               !memcmp(dw, dw2, (size_t)s->nw * 4),
           "the same bits for any number of threads");
  }
  fill(dx2, s->nx, 0.5f), fill(dw2, s->nw, 0.5f);
  passes(y2, dx2, dw2, s, m, 1);
  double far = 0;
  for (int64_t i = 0; i < s->nx; i++) far = fmax(far, fabs(dx2[i] - 0.5f - dx[i]) / (1 + fabs(dx[i])));
  for (int64_t i = 0; i < s->nw; i++) far = fmax(far, fabs(dw2[i] - 0.5f - dw[i]) / (1 + fabs(dw[i])));
  if (!(far < 1e-5))
    failures++, printf("FAILED: %s, m = %d: gradients that are added to 0.5: off by %g\n", name, (int)m, far);
  free(y), free(dx), free(dw), free(y2), free(dx2), free(dw2);
}

/* One gradient alone has the bits of both together, and a bias is added. */
static void check_alone(const sample *s, int64_t m) {
  float *y = room(s->ny), *dx = room(s->nx), *dw = room(s->nw), *dx2 = room(s->nx), *dw2 = room(s->nw);
  float *y2 = room(s->ny), *work = room((int64_t)(lg_conv_winograd_bytes(&s->c, m, 1) / sizeof(float)));
  float *forward = room((int64_t)(lg_conv_winograd_bytes(&s->c, m, 0) / sizeof(float)));
  passes(y, dx, dw, s, m, 0);
  lg_conv_winograd_bwd(dx2, NULL, s->dy, s->x, s->w, &s->c, m, 0, 0, work);
  lg_conv_winograd_bwd(NULL, dw2, s->dy, s->x, s->w, &s->c, m, 0, 0, work);
  expect(!memcmp(dx, dx2, (size_t)s->nx * 4) && !memcmp(dw, dw2, (size_t)s->nw * 4), "one gradient alone");
  const lg_conv_tail tail = {.bias = s->bias};
  lg_conv_winograd_fwd(y2, s->x, s->w, &s->c, m, &tail, forward);
  int right = 1;
  for (int64_t i = 0; i < s->ny; i++) right &= y2[i] == y[i] + s->bias[i % s->c.co];
  expect(right, "a bias is added to finished outputs");
  free(y), free(dx), free(dw), free(dx2), free(dw2), free(y2), free(work), free(forward);
}

static void check_choice(void) {
  lg_conv c = {.batch = 1,
               .h = 8,
               .w = 8,
               .ci = 16,
               .oh = 8,
               .ow = 8,
               .co = 32,
               .kh = 3,
               .kw = 3,
               .groups = 1,
               .stride_h = 1,
               .stride_w = 1,
               .top = 1,
               .left = 1};
  expect(lg_conv_winograd_tile(&c) == 4, "8×8 images by tiles of 4×4");
  c.h = c.w = c.oh = c.ow = 2;
  expect(lg_conv_winograd_tile(&c) == 2, "2×2 images by tiles of 2×2");
  c.h = c.w = c.oh = c.ow = 1;
  expect(lg_conv_winograd_tile(&c) == 0, "1×1 images over patches");
  c.h = c.w = c.oh = c.ow = 8, c.ci = 24;
  expect(lg_conv_winograd_tile(&c) == 0, "24 channels over patches");
  c.ci = 32, c.groups = 2;
  expect(lg_conv_winograd_tile(&c) == 0, "groups over patches");
  c.groups = 1, c.stride_w = 2, c.ow = 4;
  expect(lg_conv_winograd_tile(&c) == 0, "unequal strides over patches");
  c.stride_h = 2, c.oh = 4;
  expect(lg_conv_winograd_tile(&c) == 4, "stride 2 by tiles of 4×4");
  c.oh = c.ow = 2;
  expect(lg_conv_winograd_tile(&c) == 0, "stride 2 to 2×2 over patches");
  c.stride_h = c.stride_w = 3;
  expect(lg_conv_winograd_tile(&c) == 0, "stride 3 over patches");
  c.stride_h = c.stride_w = 1, c.oh = c.ow = 8, c.kw = 1, c.left = 0;
  expect(lg_conv_winograd_tile(&c) == 0, "3×1 kernels over patches");
}

int main(void) {
  expect(lg_init(2) == LG_OK, "lg_init");
  check_choice();
  static const struct {
    const char *name;
    int64_t shape[10]; /* batch, h, w, ci, co, padding top, left, bottom, right, stride */
  } cases[] = {
      {"one tile", {1, 4, 4, 16, 16, 1, 1, 1, 1, 1}},
      {"odd sizes", {3, 7, 9, 16, 48, 1, 1, 1, 1, 1}},
      {"no padding", {2, 9, 6, 32, 16, 0, 0, 0, 0, 1}},
      {"asymmetric padding", {2, 5, 5, 16, 16, 2, 0, 1, 4, 1}},
      {"one row", {2, 1, 9, 16, 16, 1, 1, 1, 1, 1}},
      {"many tiles", {5, 17, 16, 32, 32, 1, 1, 1, 1, 1}},
      {"more images than slots", {19, 4, 4, 80, 64, 1, 1, 1, 1, 1}},
      {"by points", {2, 8, 7, 160, 192, 1, 1, 1, 1, 1}},
      {"many channels", {2, 4, 4, 512, 64, 1, 1, 1, 1, 1}},
      {"stride 2, one tile", {1, 8, 8, 16, 16, 1, 1, 1, 1, 2}},
      {"stride 2, odd sizes", {3, 15, 9, 16, 48, 1, 1, 1, 1, 2}},
      {"stride 2, no padding", {2, 9, 12, 32, 16, 0, 0, 0, 0, 2}},
      {"stride 2, asymmetric padding", {2, 5, 5, 16, 16, 2, 0, 1, 4, 2}},
      {"stride 2, a last row that no output sees", {2, 8, 8, 16, 16, 0, 0, 0, 0, 2}},
      {"stride 2, many tiles", {5, 33, 32, 32, 16, 1, 1, 1, 1, 2}},
      {"stride 2, by points", {2, 16, 14, 160, 192, 1, 1, 1, 1, 2}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const int64_t *k = cases[i].shape;
    sample s = make(k[0], k[1], k[2], k[3], k[4], k[5], k[6], k[7], k[8], k[9]);
    const int64_t step = k[9] == 2 ? 4 : 2;
    for (int64_t m = 0; m <= 4; m += step) check(&s, m, cases[i].name);
    for (int64_t m = step; m <= 4; m += step) check_alone(&s, m);
    drop(&s);
  }
  static const char *const ways[] = {"over patches", "F(2x2,3x3)", "F(4x4,3x3)", "F(4x4,3x3), stride 2"};
  for (int way = 0; way < 4; way++)
    printf("%s: rms error of y %.2g, dx %.2g, dw %.2g; largest %.2g, %.2g, %.2g\n", ways[way], seen[way][0].rms,
           seen[way][1].rms, seen[way][2].rms, seen[way][0].most, seen[way][1].most, seen[way][2].most);
  return failures != 0;
}
