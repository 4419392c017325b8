/* conv_winograd.c: 3×3 convolutions of stride 1 or 2 as matrix products between Winograd's transforms. See conv.h for
 * the convolution, winograd.h for the transforms.
 *
 * With V[point, tile, ci] the transformed input, U[point, …] the transformed weights and M[point, tile, co]:
 *   forward  M = V·U, y from M;   backward  dM from dy, dU = dMᵀ·V, dV = dM·U, dw from dU, dx from dV;
 * one product a matrix of U, of which each point has one (but for stride 2: winograd.h). U is [point, ci, co] for small
 * products, which OpenBLAS does fastest so, else [point, co, ci]. V is computed again in backward rather than kept: it
 * is 36/16 of x. Two ways to go:
 * - in blocks of tiles, while U is small: V and M of a block stay in a core's second-level cache; each slot (a fixed
 *   share of the images) sums a dU of its own, and these are added in the order of the slots;
 * - by points, where U is large and tiles are few: all of V and M, then a product a point, then all of y. Backward does
 *   so for dw, then for dx: U takes the place of dU, and dV that of V, which are done with by then.
 * How work is cut depends on the shapes only. */
#include "../core/threads.h"
#include "conv.h"
#include "elementwise.h"
#include "gemm.h"
#include "winograd.h"
#include <string.h>

enum {
  SLOTS = 16,              /* shares of the tiles in forward, of the images in backward */
  CHUNK = 16,              /* tiles, or rows of weights, that are transformed at once */
  PRODUCT_ROWS = 256,      /* of a product by points */
  SMALL_WEIGHTS = 64 * 64, /* beyond, half as many slots in backward, for each has a dU to be added */
  LARGE_WEIGHTS = 1 << 20, /* floats of U from which on it goes by points */
  BLOCK_FLOATS = 163840,   /* of V and M of a block */
  LEAST_BLOCK = 32,
  PADDING = 16, /* floats: a line of cache */
  MATRICES = 36,
};

/* How the tiles lie on images [batch, h, w, channels]: tile (ty, tx) covers side×side pixels from ty·pitch - top,
 * tx·pitch - left on. outside: where pixels beyond the border are read (zeros) or written (nobody reads it).
 * How they lie in matrices: those of the points begin at start; of tile t, point i is place[i] + t·pace[i] floats on.
 */
typedef struct plane {
  float *data, *outside;
  int64_t h, w, channels, top, left, side, pitch;
  int64_t start[MATRICES], place[LG_WINOGRAD_MOST], pace[LG_WINOGRAD_MOST];
} plane;

typedef struct winograd_run {
  const lg_conv *c;
  const lg_winograd *f;
  const lg_conv_tail *tail;
  const float *w;
  float *dw;
  plane x, y, dx; /* y: the output, or in backward its gradient */
  int acc_dx, acc_dw, by_point;
  int64_t across, an_image, tiles;    /* tiles in a row, an image, in all */
  int64_t matrices, rows[MATRICES];   /* kinds²; rows that a tile has in each */
  int64_t block, units, slots, parts; /* units: blocks of tiles in forward, images in backward; parts: of products */
  float *zeros, *dump, *turned, *u, *v, *m, *du; /* work; dump: one row a slot */
  int64_t u_step, slot_floats; /* from one matrix of weights, from one slot's v, m or du to the next */
} winograd_run;

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t widest(const lg_conv *c) { return c->ci > c->co ? c->ci : c->co; }

int64_t lg_conv_winograd_tile(const lg_conv *c) {
  const int lanes = LG_WINOGRAD_LANES;
  if (c->kh != 3 || c->kw != 3 || c->stride_h != c->stride_w || c->stride_h > 2 || c->groups != 1) return 0;
  if (c->ci % lanes || c->co % lanes) return 0;
  const int64_t by4 = ceil_div(c->oh, 4) * ceil_div(c->ow, 4) * (c->stride_h == 2 ? 81 : 36);
  const int64_t by2 = c->stride_h == 2 ? by4 : ceil_div(c->oh, 2) * ceil_div(c->ow, 2) * 16;
  if (3 * lesser(by2, by4) > 2 * c->oh * c->ow * 9) return 0; /* transforms would eat what is gained */
  return by4 <= by2 ? 4 : 2;
}

static float *take(float *work, int64_t *at, int64_t floats) {
  float *p = work ? work + *at : NULL;
  *at += (floats + 15) / 16 * 16;
  return p;
}

/* Lays out the matrices of `tiles` tiles; returns their floats. Matrices are apart by a little more than they are long:
 * by a power of two, all points of a tile would fall into one set of the caches. */
static int64_t place_points(plane *p, winograd_run *r, int64_t tiles) {
  const int64_t n = r->f->n, kinds = r->f->kinds, repeats = n - kinds + 1;
  int64_t at = 0;
  for (int64_t i = 0; i < r->matrices; i++) {
    r->rows[i] = (i / kinds == kinds - 1 ? repeats : 1) * (i % kinds == kinds - 1 ? repeats : 1);
    p->start[i] = at;
    at += tiles * r->rows[i] * p->channels + PADDING;
  }
  for (int64_t i = 0; i < n * n; i++) {
    const int64_t ky = lesser(i / n, kinds - 1), kx = lesser(i % n, kinds - 1), matrix = ky * kinds + kx;
    const int64_t row = (i / n - ky) * (kx == kinds - 1 ? repeats : 1) + i % n - kx;
    p->place[i] = p->start[matrix] + row * p->channels;
    p->pace[i] = r->rows[matrix] * p->channels;
  }
  return at;
}

static int64_t block_tiles(const lg_conv *c, const lg_winograd *f) {
  const int64_t tiles = BLOCK_FLOATS / (f->n * f->n * (c->ci + c->co)) / CHUNK * CHUNK;
  return tiles < LEAST_BLOCK ? LEAST_BLOCK : tiles;
}

/* Cuts the work, and lays out the scratch; returns its size in floats. */
static int64_t arrange(winograd_run *r, const lg_conv *c, int64_t m, int backward, float *work) {
  const lg_winograd *f = lg_winograd_get(m, c->stride_h);
  int64_t at = 0;
  r->c = c;
  r->f = f;
  r->across = ceil_div(c->ow, m);
  r->an_image = ceil_div(c->oh, m) * r->across;
  r->tiles = c->batch * r->an_image;
  r->matrices = f->kinds * f->kinds;
  r->by_point = r->matrices * c->ci * c->co > LARGE_WEIGHTS;
  r->block = block_tiles(c, f);
  r->units = backward ? c->batch : ceil_div(r->tiles, r->block);
  r->slots = lesser(r->units, backward && c->ci * c->co > SMALL_WEIGHTS ? SLOTS / 2 : SLOTS);
  r->u_step = c->ci * c->co + PADDING;
  r->zeros = take(work, &at, widest(c));
  r->dump = take(work, &at, SLOTS * widest(c));
  r->u = take(work, &at, r->matrices * r->u_step);
  r->x = r->dx = (plane){.outside = r->zeros,
                         .h = c->h,
                         .w = c->w,
                         .channels = c->ci,
                         .top = c->top,
                         .left = c->left,
                         .side = f->n,
                         .pitch = m * f->stride};
  r->y = (plane){.outside = r->zeros, .h = c->oh, .w = c->ow, .channels = c->co, .side = m, .pitch = m};
  const int64_t held = r->by_point ? r->tiles : r->block, start = at;
  const int64_t x_floats = place_points(&r->x, r, held), y_floats = place_points(&r->y, r, held);
  place_points(&r->dx, r, held);
  r->v = take(work, &at, x_floats);
  r->m = take(work, &at, y_floats);
  if (r->by_point) {
    r->du = r->u;
  } else {
    if (backward) r->du = take(work, &at, r->matrices * r->u_step);
    r->slot_floats = at - start;
    at = start + r->slots * r->slot_floats;
    if (!backward) r->turned = take(work, &at, 9 * c->ci * c->co);
  }
  for (int64_t i = 0; i < r->matrices; i++) r->parts += ceil_div(r->tiles * r->rows[i], PRODUCT_ROWS);
  return at;
}

size_t lg_conv_winograd_bytes(const lg_conv *c, int64_t m, int backward) {
  winograd_run r = {0};
  return (size_t)arrange(&r, c, m, backward, NULL) * sizeof(float);
}

/* -- between images and points ---------------------------------------------------------------------------------------
 */

static void pixels_of(float **to, const winograd_run *r, const plane *p, int64_t tile) {
  const int64_t image = tile / r->an_image, in_image = tile % r->an_image;
  const int64_t y0 = in_image / r->across * p->pitch - p->top, x0 = in_image % r->across * p->pitch - p->left;
  for (int64_t i = 0; i < p->side; i++) {
    const int64_t y = y0 + i, row = (image * p->h + y) * p->w;
    for (int64_t j = 0; j < p->side; j++) {
      const int64_t x = x0 + j;
      const int inside = y >= 0 && y < p->h && x >= 0 && x < p->w;
      to[i * p->side + j] = inside ? p->data + (row + x) * p->channels : p->outside;
    }
  }
}

static void points_of(float **to, const winograd_run *r, const plane *p, float *matrices, int64_t place) {
  for (int64_t i = 0; i < r->f->n * r->f->n; i++) to[i] = matrices + p->place[i] + place * p->pace[i];
}

/* Transforms tiles tile0 … tile0+count-1 to their points; the first is at `place` in the matrices. */
static void read_tiles(const winograd_run *r, const plane *p, lg_winograd_fn *transform, float *matrices, int64_t place,
                       int64_t tile0, int64_t count) {
  float *pixel[LG_WINOGRAD_MOST], *point[LG_WINOGRAD_MOST];
  for (int64_t t = 0; t < count; t++) {
    pixels_of(pixel, r, p, tile0 + t);
    points_of(point, r, p, matrices, place + t);
    transform(point, (const float *const *)pixel, p->channels);
  }
}

static void write_tiles(const winograd_run *r, const plane *p, lg_winograd_fn *transform, float *matrices,
                        int64_t place, int64_t tile0, int64_t count) {
  float *pixel[LG_WINOGRAD_MOST], *point[LG_WINOGRAD_MOST];
  for (int64_t t = 0; t < count; t++) {
    pixels_of(pixel, r, p, tile0 + t);
    points_of(point, r, p, matrices, place + t);
    transform(pixel, (const float *const *)point, p->channels);
  }
}

/* The tail on the pixels of finished tiles. */
static void finish_tiles(const winograd_run *r, int64_t tile0, int64_t count) {
  const lg_conv *c = r->c;
  if (!r->tail->bias && !r->tail->gated) return;
  for (int64_t t = tile0; t < tile0 + count; t++) {
    const int64_t y0 = t % r->an_image / r->across * r->f->m, x0 = t % r->across * r->f->m;
    for (int64_t y = y0; y < lesser(y0 + r->f->m, c->oh); y++) {
      const int64_t row = (t / r->an_image * c->oh + y) * c->ow + x0;
      lg_conv_tail_rows_f32(r->y.data, row, lesser(r->f->m, c->ow - x0), c->co, r->tail);
    }
  }
}

static void output_tiles(const winograd_run *r, float *m, int64_t place, int64_t tile0, int64_t count, int64_t slot) {
  plane y = r->y;
  y.outside = r->dump + slot * widest(r->c);
  write_tiles(r, &y, r->f->output, m, place, tile0, count);
  finish_tiles(r, tile0, count);
}

/* dx of tiles in their order: the first of an image clears it, since tiles overlap. */
static void input_grad_tiles(const winograd_run *r, float *dv, int64_t place, int64_t tile0, int64_t count,
                             int64_t slot) {
  plane dx = r->dx;
  dx.outside = r->dump + slot * widest(r->c);
  const int64_t floats = dx.h * dx.w * dx.channels;
  for (int64_t t = 0; t < count; t++) {
    if ((tile0 + t) % r->an_image == 0 && !r->acc_dx)
      memset(dx.data + (tile0 + t) / r->an_image * floats, 0, (size_t)floats * sizeof(float));
    write_tiles(r, &dx, r->f->input_grad, dv, place + t, tile0 + t, 1);
  }
}

/* -- weights
 * ------------------------------------------------------------------------------------------------------------ */

/* turned[9, ci, co] from w[co, 9, ci]: CHUNK rows of turned. */
static void turn_tile(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t rows = 9 * r->c->ci, co = r->c->co, first = tile * CHUNK;
  for (int64_t o0 = 0; o0 < co; o0 += CHUNK)
    for (int64_t i = first; i < first + CHUNK; i++)
      for (int64_t o = o0; o < o0 + CHUNK; o++) r->turned[i * co + o] = r->w[o * rows + i];
}

static void matrices_of(float **to, const winograd_run *r, float *u) {
  for (int64_t i = 0; i < r->matrices; i++) to[i] = u + i * r->u_step;
}

/* CHUNK rows of U: u[matrix, co, ci] from w[co, 9, ci], or where there is turned[9, ci, co], u[matrix, ci, co] from it.
 */
static void weights_tile(const winograd_run *r, int64_t tile) {
  const int64_t ci = r->c->ci, co = r->c->co, columns = r->turned ? co : ci;
  float *tap[9], *matrix[MATRICES];
  for (int64_t row = tile * CHUNK; row < (tile + 1) * CHUNK; row++) {
    for (int64_t i = 0; i < 9; i++)
      tap[i] = r->turned ? r->turned + (i * ci + row) * co : (float *)r->w + (row * 9 + i) * ci;
    matrices_of(matrix, r, r->u + row * columns);
    r->f->weights(matrix, (const float *const *)tap, columns);
  }
}

/* CHUNK rows of dw[co, 9, ci] from the slots' du[matrix, co, ci]. */
static void weights_grad_tile(const winograd_run *r, int64_t tile) {
  const int64_t ci = r->c->ci;
  float *tap[9], *matrix[MATRICES];
  for (int64_t row = tile * CHUNK; row < (tile + 1) * CHUNK; row++) {
    matrices_of(matrix, r, r->du + row * ci);
    for (int64_t s = 1; s < r->slots && !r->by_point; s++)
      for (int64_t i = 0; i < r->matrices; i++) lg_k_add_f32(matrix[i], matrix[i], matrix[i] + s * r->slot_floats, ci);
    for (int64_t i = 0; i < 9; i++) tap[i] = r->dw + (row * 9 + i) * ci;
    (r->acc_dw ? r->f->weights_grad_add : r->f->weights_grad)(tap, (const float *const *)matrix, ci);
  }
}

static void weights_only(void *context, int64_t tile) { weights_tile(context, tile); }
static void weights_grad_only(void *context, int64_t tile) { weights_grad_tile(context, tile); }

/* -- in blocks
 * ---------------------------------------------------------------------------------------------------------- */

static void forward_slot(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, end = (slot + 1) * r->units / r->slots;
  float *v = r->v + slot * r->slot_floats, *m = r->m + slot * r->slot_floats;
  for (int64_t b = slot * r->units / r->slots; b < end; b++) {
    const int64_t tile0 = b * r->block, count = lesser(r->block, r->tiles - tile0);
    read_tiles(r, &r->x, r->f->input, v, 0, tile0, count);
    for (int64_t i = 0; i < r->matrices; i++)
      lg_k_gemm_f32(m + r->y.start[i], v + r->x.start[i], r->u + i * r->u_step, count * r->rows[i], co, ci, ci, co, co,
                    0, 0, 1, 0);
    output_tiles(r, m, 0, tile0, count, slot);
  }
}

static void backward_slot(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, shift = slot * r->slot_floats;
  const int64_t first = slot * r->units / r->slots * r->an_image, end = (slot + 1) * r->units / r->slots * r->an_image;
  float *v = r->v + shift, *dm = r->m + shift, *du = r->du + shift;
  for (int64_t tile0 = first; tile0 < end; tile0 += r->block) {
    const int64_t count = lesser(r->block, end - tile0);
    if (r->dw) read_tiles(r, &r->x, r->f->input, v, 0, tile0, count);
    read_tiles(r, &r->y, r->f->output_grad, dm, 0, tile0, count);
    for (int64_t i = 0; i < r->matrices; i++) {
      float *vi = v + r->x.start[i], *dmi = dm + r->y.start[i];
      const int64_t rows = count * r->rows[i], step = i * r->u_step;
      if (r->dw) lg_k_gemm_f32(du + step, dmi, vi, co, ci, rows, co, ci, ci, 1, 0, 1, tile0 > first ? 1 : 0);
      if (r->dx.data) lg_k_gemm_f32(vi, dmi, r->u + step, rows, ci, co, co, ci, ci, 0, 0, 1, 0);
    }
    if (r->dx.data) input_grad_tiles(r, v, 0, tile0, count, slot);
  }
}

/* -- by points
 * ---------------------------------------------------------------------------------------------------------- */

/* Tiles' chunks first, then the weights' rows. */
static void forward_read(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t chunks = ceil_div(r->tiles, CHUNK), tile0 = tile * CHUNK;
  if (tile >= chunks)
    weights_tile(r, tile - chunks);
  else
    read_tiles(r, &r->x, r->f->input, r->v, tile0, tile0, lesser(CHUNK, r->tiles - tile0));
}

static void forward_product(void *context, int64_t part) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co;
  int64_t i = 0, parts;
  while (part >= (parts = ceil_div(r->tiles * r->rows[i], PRODUCT_ROWS))) part -= parts, i++;
  const int64_t row0 = part * PRODUCT_ROWS, rows = lesser(PRODUCT_ROWS, r->tiles * r->rows[i] - row0);
  lg_k_gemm_f32(r->m + r->y.start[i] + row0 * co, r->v + r->x.start[i] + row0 * ci, r->u + i * r->u_step, rows, co, ci,
                ci, ci, co, 0, 1, 1, 0);
}

static void forward_write(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t first = slot * r->tiles / r->slots, end = (slot + 1) * r->tiles / r->slots;
  output_tiles(r, r->m, first, first, end - first, slot);
}

static void backward_read(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t chunks = ceil_div(r->tiles, CHUNK), tile0 = tile * CHUNK, count = lesser(CHUNK, r->tiles - tile0);
  if (tile >= chunks) {
    weights_tile(r, tile - chunks);
    return;
  }
  if (r->dw) read_tiles(r, &r->x, r->f->input, r->v, tile0, tile0, count);
  read_tiles(r, &r->y, r->f->output_grad, r->m, tile0, tile0, count);
}

/* The last matrix has the most rows (stride 2), so it comes first. */
static void weights_grad_product(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, i = r->matrices - 1 - tile, rows = r->tiles * r->rows[i];
  lg_k_gemm_f32(r->du + i * r->u_step, r->m + r->y.start[i], r->v + r->x.start[i], co, ci, rows, co, ci, ci, 1, 0, 1,
                0);
}

static void input_grad_product(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, i = r->matrices - 1 - tile, rows = r->tiles * r->rows[i];
  lg_k_gemm_f32(r->v + r->x.start[i], r->m + r->y.start[i], r->u + i * r->u_step, rows, ci, co, co, ci, ci, 0, 0, 1, 0);
}

/* Rows of dw from dU; then rows of U, where dx needs it, in their place. */
static void backward_weights(void *context, int64_t tile) {
  const winograd_run *r = context;
  weights_grad_tile(r, tile);
  if (r->dx.data) weights_tile(r, tile);
}

static void backward_write(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t first = slot * r->units / r->slots * r->an_image, end = (slot + 1) * r->units / r->slots * r->an_image;
  input_grad_tiles(r, r->v, first, first, end - first, slot);
}

static void backward_by_point(winograd_run *r) {
  const int64_t weights = r->c->co / CHUNK, chunks = ceil_div(r->tiles, CHUNK);
  lg_parallel(chunks + (r->dw ? 0 : weights), backward_read, r);
  if (r->dw) {
    lg_parallel(r->matrices, weights_grad_product, r);
    lg_parallel(weights, backward_weights, r);
  }
  if (r->dx.data) {
    lg_parallel(r->matrices, input_grad_product, r);
    lg_parallel(r->slots, backward_write, r);
  }
}

/* -- passes
 * ------------------------------------------------------------------------------------------------------------- */

void lg_conv_winograd_fwd(float *y, const float *x, const float *w, const lg_conv *c, int64_t m,
                          const lg_conv_tail *tail, void *work) {
  winograd_run r = {.w = w, .tail = tail};
  arrange(&r, c, m, 0, work);
  r.x.data = (float *)x;
  r.y.data = y;
  memset(r.zeros, 0, (size_t)widest(c) * sizeof(float));
  if (r.by_point) {
    lg_parallel(ceil_div(r.tiles, CHUNK) + c->co / CHUNK, forward_read, &r);
    lg_parallel(r.parts, forward_product, &r);
    lg_parallel(r.slots, forward_write, &r);
  } else {
    lg_parallel(9 * c->ci / CHUNK, turn_tile, &r);
    lg_parallel(c->ci / CHUNK, weights_only, &r);
    lg_parallel(r.slots, forward_slot, &r);
  }
}

void lg_conv_winograd_bwd(float *dx, float *dw, const float *dy, const float *x, const float *w, const lg_conv *c,
                          int64_t m, int acc_dx, int acc_dw, void *work) {
  winograd_run r = {.w = w, .dw = dw, .acc_dx = acc_dx, .acc_dw = acc_dw};
  arrange(&r, c, m, 1, work);
  r.x.data = (float *)x;
  r.y.data = (float *)dy;
  r.dx.data = dx;
  memset(r.zeros, 0, (size_t)widest(c) * sizeof(float));
  if (r.by_point) {
    backward_by_point(&r);
  } else {
    if (dx) lg_parallel(c->co / CHUNK, weights_only, &r);
    lg_parallel(r.slots, backward_slot, &r);
    if (dw) lg_parallel(c->co / CHUNK, weights_grad_only, &r);
  }
}
