/* conv_winograd.c: 3×3 convolutions of stride 1 as matrix products between Winograd's transforms. See conv.h for the
 * convolution, winograd.h for the transforms.
 *
 * With V[point, tile, ci] the transformed input, U[point, …] the transformed weights and M[point, tile, co]:
 *   forward  M = V·U, y from M;   backward  dM from dy, dU = dMᵀ·V, dV = dM·U, dw from dU, dx from dV;
 * one product a point. U is [point, ci, co] for small products, which OpenBLAS does fastest so, else [point, co, ci]. V
 * is computed again in backward rather than kept: it is 36/16 of x. Two ways to go:
 * - in blocks of tiles, while U is small: V and M of a block stay in a core's second-level cache; each slot (a fixed
 *   share of the images) sums a dU of its own, and these are added in the order of the slots;
 * - by points, where U is large and tiles are few: all of V and M, then a product a point, then all of y. dU takes the
 *   place of U.
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
};

/* How the tiles lie on images [batch, h, w, channels]: tile (ty, tx) covers side×side pixels from ty·m - top, tx·m -
 * left on. outside: where pixels beyond the border are read (zeros) or written (nobody reads it). */
typedef struct plane {
  float *data, *outside;
  int64_t h, w, channels, top, left, side;
  int64_t step; /* of its points: floats from one's matrix [tiles, channels] to the next */
} plane;

typedef struct winograd_run {
  const lg_conv *c;
  const lg_winograd *f;
  const lg_conv_tail *tail;
  const float *w;
  float *dw;
  plane x, y, dx; /* y: the output, or in backward its gradient */
  int acc_dx, acc_dw;
  int64_t across, an_image, tiles; /* tiles in a row, an image, in all */
  int by_point;
  int64_t block, units, slots;                        /* units: blocks of tiles in forward, images in backward */
  float *zeros, *dump, *turned, *u, *v, *m, *dv, *du; /* work; dump: one row a slot */
  int64_t slot_floats;                                /* from one slot's v, m or du to the next */
  int64_t v_step, m_step, u_step;                     /* from one point to the next */
} winograd_run;

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t widest(const lg_conv *c) { return c->ci > c->co ? c->ci : c->co; }

int64_t lg_conv_winograd_tile(const lg_conv *c) {
  const int lanes = LG_WINOGRAD_LANES;
  if (c->kh != 3 || c->kw != 3 || c->stride_h != 1 || c->stride_w != 1 || c->groups != 1) return 0;
  if (c->ci % lanes || c->co % lanes) return 0;
  const int64_t by4 = ceil_div(c->oh, 4) * ceil_div(c->ow, 4) * 36, by2 = ceil_div(c->oh, 2) * ceil_div(c->ow, 2) * 16;
  const int64_t products = lesser(by2, by4);
  if (2 * products > c->oh * c->ow * 9) return 0; /* transforms would eat what is gained */
  return by4 <= by2 ? 4 : 2;
}

/* From one point's matrix to the next. A power of two would put all points of a tile into one set of the caches. */
static int64_t point_step(int64_t rows, int64_t columns) { return rows * columns + PADDING; }

static float *take(float *work, int64_t *at, int64_t floats) {
  float *p = work ? work + *at : NULL;
  *at += (floats + 15) / 16 * 16;
  return p;
}

/* Cuts the work, and lays out the scratch; returns its size in floats. */
static int64_t arrange(winograd_run *r, const lg_conv *c, int64_t m, int backward, float *work) {
  const lg_winograd *f = lg_winograd_get(m);
  const int64_t tile = f->points * (c->ci + c->co);
  int64_t at = 0;
  r->c = c;
  r->f = f;
  r->across = ceil_div(c->ow, m);
  r->an_image = ceil_div(c->oh, m) * r->across;
  r->tiles = c->batch * r->an_image;
  r->by_point = f->points * c->ci * c->co > LARGE_WEIGHTS;
  r->block = BLOCK_FLOATS / tile / CHUNK * CHUNK;
  if (r->block < LEAST_BLOCK) r->block = LEAST_BLOCK;
  r->units = backward ? c->batch : ceil_div(r->tiles, r->block);
  r->slots = lesser(r->units, backward && c->ci * c->co > SMALL_WEIGHTS ? SLOTS / 2 : SLOTS);
  const int64_t rows = r->by_point ? r->tiles : r->block;
  r->v_step = point_step(rows, c->ci);
  r->m_step = point_step(rows, c->co);
  r->u_step = point_step(c->ci, c->co);
  r->zeros = take(work, &at, widest(c));
  r->dump = take(work, &at, SLOTS * widest(c));
  r->u = take(work, &at, f->points * r->u_step);
  if (!backward && !r->by_point) r->turned = take(work, &at, 9 * c->ci * c->co);
  if (r->by_point) {
    r->v = take(work, &at, f->points * r->v_step);
    r->m = take(work, &at, f->points * r->m_step);
    if (backward) r->dv = take(work, &at, f->points * r->v_step);
    r->du = r->u;
  } else {
    const int64_t start = at;
    r->v = r->dv = take(work, &at, f->points * r->v_step);
    r->m = take(work, &at, f->points * r->m_step);
    if (backward) r->du = take(work, &at, f->points * r->u_step);
    r->slot_floats = at - start;
    at = start + r->slots * r->slot_floats;
  }
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
  const int64_t y0 = in_image / r->across * r->f->m - p->top, x0 = in_image % r->across * r->f->m - p->left;
  for (int64_t i = 0; i < p->side; i++) {
    const int64_t y = y0 + i, row = (image * p->h + y) * p->w;
    for (int64_t j = 0; j < p->side; j++) {
      const int64_t x = x0 + j;
      const int inside = y >= 0 && y < p->h && x >= 0 && x < p->w;
      to[i * p->side + j] = inside ? p->data + (row + x) * p->channels : p->outside;
    }
  }
}

static void points_of(float **to, const winograd_run *r, float *first, int64_t distance) {
  for (int64_t i = 0; i < r->f->points; i++) to[i] = first + i * distance;
}

/* v[point, rows, channels] = transform of tiles tile0 … tile0+count-1; v: the first tile's row in the first point. */
static void read_tiles(const winograd_run *r, const plane *p, lg_winograd_fn *transform, float *v, int64_t tile0,
                       int64_t count) {
  float *pixel[LG_WINOGRAD_MOST], *point[LG_WINOGRAD_MOST];
  for (int64_t t = 0; t < count; t++) {
    pixels_of(pixel, r, p, tile0 + t);
    points_of(point, r, v + t * p->channels, p->step);
    transform(point, (const float *const *)pixel, p->channels);
  }
}

static void write_tiles(const winograd_run *r, const plane *p, lg_winograd_fn *transform, float *v, int64_t tile0,
                        int64_t count) {
  float *pixel[LG_WINOGRAD_MOST], *point[LG_WINOGRAD_MOST];
  for (int64_t t = 0; t < count; t++) {
    pixels_of(pixel, r, p, tile0 + t);
    points_of(point, r, v + t * p->channels, p->step);
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

static void output_tiles(const winograd_run *r, float *m, int64_t tile0, int64_t count, int64_t slot) {
  plane y = r->y;
  y.outside = r->dump + slot * widest(r->c);
  write_tiles(r, &y, r->f->output, m, tile0, count);
  finish_tiles(r, tile0, count);
}

/* dx of tiles in their order: the first of an image clears it, since tiles overlap. */
static void input_grad_tiles(const winograd_run *r, float *dv, int64_t tile0, int64_t count, int64_t slot) {
  plane dx = r->dx;
  dx.outside = r->dump + slot * widest(r->c);
  const int64_t floats = dx.h * dx.w * dx.channels;
  for (int64_t t = tile0; t < tile0 + count; t++) {
    if (t % r->an_image == 0 && !r->acc_dx)
      memset(dx.data + t / r->an_image * floats, 0, (size_t)floats * sizeof(float));
    write_tiles(r, &dx, r->f->input_grad, dv + (t - tile0) * dx.channels, t, 1);
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

/* CHUNK rows of U: in forward u[point, ci, co] from turned[9, ci, co], in backward u[point, co, ci] from w[co, 9, ci].
 */
static void weights_tile(const winograd_run *r, int64_t tile) {
  const int64_t ci = r->c->ci, co = r->c->co, columns = r->turned ? co : ci;
  float *tap[9], *point[LG_WINOGRAD_MOST];
  for (int64_t row = tile * CHUNK; row < (tile + 1) * CHUNK; row++) {
    for (int64_t i = 0; i < 9; i++)
      tap[i] = r->turned ? r->turned + (i * ci + row) * co : (float *)r->w + (row * 9 + i) * ci;
    points_of(point, r, r->u + row * columns, r->u_step);
    r->f->weights(point, (const float *const *)tap, columns);
  }
}

/* CHUNK rows of dw[co, 9, ci] from the slots' du[point, co, ci]. */
static void weights_grad_tile(const winograd_run *r, int64_t tile) {
  const int64_t ci = r->c->ci;
  float *tap[9], *point[LG_WINOGRAD_MOST];
  for (int64_t row = tile * CHUNK; row < (tile + 1) * CHUNK; row++) {
    points_of(point, r, r->du + row * ci, r->u_step);
    for (int64_t s = 1; s < r->slots && !r->by_point; s++)
      for (int64_t i = 0; i < r->f->points; i++) lg_k_add_f32(point[i], point[i], point[i] + s * r->slot_floats, ci);
    for (int64_t i = 0; i < 9; i++) tap[i] = r->dw + (row * 9 + i) * ci;
    (r->acc_dw ? r->f->weights_grad_add : r->f->weights_grad)(tap, (const float *const *)point, ci);
  }
}

static void weights_only(void *context, int64_t tile) { weights_tile(context, tile); }
static void weights_grad_only(void *context, int64_t tile) { weights_grad_tile(context, tile); }

/* -- in blocks
 * ---------------------------------------------------------------------------------------------------------- */

static void forward_slot(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, rows = r->block, end = (slot + 1) * r->units / r->slots;
  float *v = r->v + slot * r->slot_floats, *m = r->m + slot * r->slot_floats;
  for (int64_t b = slot * r->units / r->slots; b < end; b++) {
    const int64_t tile0 = b * rows, count = lesser(rows, r->tiles - tile0);
    read_tiles(r, &r->x, r->f->input, v, tile0, count);
    for (int64_t p = 0; p < r->f->points; p++)
      lg_k_gemm_f32(m + p * r->m_step, v + p * r->v_step, r->u + p * r->u_step, count, co, ci, ci, co, co, 0, 0, 1, 0);
    output_tiles(r, m, tile0, count, slot);
  }
}

static void backward_slot(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, rows = r->block, shift = slot * r->slot_floats;
  const int64_t first = slot * r->units / r->slots * r->an_image, end = (slot + 1) * r->units / r->slots * r->an_image;
  float *v = r->v + shift, *dm = r->m + shift, *du = r->du + shift;
  for (int64_t tile0 = first; tile0 < end; tile0 += rows) {
    const int64_t count = lesser(rows, end - tile0);
    if (r->dw) read_tiles(r, &r->x, r->f->input, v, tile0, count);
    read_tiles(r, &r->y, r->f->output_grad, dm, tile0, count);
    for (int64_t p = 0; p < r->f->points; p++) {
      float *vp = v + p * r->v_step, *dmp = dm + p * r->m_step;
      if (r->dw) lg_k_gemm_f32(du + p * r->u_step, dmp, vp, co, ci, count, co, ci, ci, 1, 0, 1, tile0 > first ? 1 : 0);
      if (r->dx.data) lg_k_gemm_f32(vp, dmp, r->u + p * r->u_step, count, ci, co, co, ci, ci, 0, 0, 1, 0);
    }
    if (r->dx.data) input_grad_tiles(r, v, tile0, count, slot);
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
    read_tiles(r, &r->x, r->f->input, r->v + tile0 * r->c->ci, tile0, lesser(CHUNK, r->tiles - tile0));
}

static void forward_product(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, parts = ceil_div(r->tiles, PRODUCT_ROWS), p = tile / parts;
  const int64_t row0 = tile % parts * PRODUCT_ROWS, rows = lesser(PRODUCT_ROWS, r->tiles - row0);
  lg_k_gemm_f32(r->m + p * r->m_step + row0 * co, r->v + p * r->v_step + row0 * ci, r->u + p * r->u_step, rows, co, ci,
                ci, ci, co, 0, 1, 1, 0);
}

static void forward_write(void *context, int64_t slot) {
  const winograd_run *r = context;
  const int64_t first = slot * r->tiles / r->slots, end = (slot + 1) * r->tiles / r->slots;
  output_tiles(r, r->m + first * r->c->co, first, end - first, slot);
}

static void backward_read(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t chunks = ceil_div(r->tiles, CHUNK), tile0 = tile * CHUNK, count = lesser(CHUNK, r->tiles - tile0);
  if (tile >= chunks) {
    weights_tile(r, tile - chunks);
    return;
  }
  if (r->dw) read_tiles(r, &r->x, r->f->input, r->v + tile0 * r->c->ci, tile0, count);
  read_tiles(r, &r->y, r->f->output_grad, r->m + tile0 * r->c->co, tile0, count);
}

static void backward_product(void *context, int64_t p) {
  const winograd_run *r = context;
  const int64_t ci = r->c->ci, co = r->c->co, rows = r->tiles;
  float *u = r->u + p * r->u_step, *dm = r->m + p * r->m_step;
  if (r->dx.data) lg_k_gemm_f32(r->dv + p * r->v_step, dm, u, rows, ci, co, co, ci, ci, 0, 0, 1, 0);
  if (r->dw) lg_k_gemm_f32(u, dm, r->v + p * r->v_step, co, ci, rows, co, ci, ci, 1, 0, 1, 0);
}

/* Slots of images first, then the weights' rows. */
static void backward_write(void *context, int64_t tile) {
  const winograd_run *r = context;
  const int64_t slots = r->dx.data ? r->slots : 0;
  if (tile >= slots) {
    weights_grad_tile(r, tile - slots);
    return;
  }
  const int64_t first = tile * r->units / slots * r->an_image, end = (tile + 1) * r->units / slots * r->an_image;
  input_grad_tiles(r, r->dv + first * r->c->ci, first, end - first, tile);
}

/* -- passes
 * ------------------------------------------------------------------------------------------------------------- */

static plane input_plane(const winograd_run *r, const float *data) {
  const lg_conv *c = r->c;
  return (plane){(float *)data, r->zeros, c->h, c->w, c->ci, c->top, c->left, r->f->n, r->v_step};
}
static plane output_plane(const winograd_run *r, const float *data) {
  const lg_conv *c = r->c;
  return (plane){(float *)data, r->zeros, c->oh, c->ow, c->co, 0, 0, r->f->m, r->m_step};
}

void lg_conv_winograd_fwd(float *y, const float *x, const float *w, const lg_conv *c, int64_t m,
                          const lg_conv_tail *tail, void *work) {
  winograd_run r = {.w = w, .tail = tail};
  arrange(&r, c, m, 0, work);
  r.x = input_plane(&r, x);
  r.y = output_plane(&r, y);
  memset(r.zeros, 0, (size_t)widest(c) * sizeof(float));
  if (r.by_point) {
    lg_parallel(ceil_div(r.tiles, CHUNK) + c->co / CHUNK, forward_read, &r);
    lg_parallel(r.f->points * ceil_div(r.tiles, PRODUCT_ROWS), forward_product, &r);
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
  r.x = input_plane(&r, x);
  r.y = output_plane(&r, dy);
  r.dx = input_plane(&r, dx);
  memset(r.zeros, 0, (size_t)widest(c) * sizeof(float));
  const int64_t weights = dx ? c->co / CHUNK : 0, gradients = dw ? c->co / CHUNK : 0;
  if (r.by_point) {
    lg_parallel(ceil_div(r.tiles, CHUNK) + weights, backward_read, &r);
    lg_parallel(r.f->points, backward_product, &r);
    lg_parallel((dx ? r.slots : 0) + gradients, backward_write, &r);
  } else {
    if (dx) lg_parallel(weights, weights_only, &r);
    lg_parallel(r.slots, backward_slot, &r);
    if (dw) lg_parallel(gradients, weights_grad_only, &r);
  }
}
