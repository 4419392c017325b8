/* conv_im2col.c: any convolution as matrix products over patches. See conv.h.
 *
 * Forward and the gradient of the input go over blocks of output rows, whose patches stay in a core's second-level
 * cache; the gradient of the weights over blocks of weights, each summing over all rows. A 1×1 kernel of stride 1
 * without padding needs no patches: the image itself is the matrix. How work is cut depends on the shapes only. */
#include "../core/threads.h"
#include "conv.h"
#include "elementwise.h"
#include "gate.h"
#include "gemm.h"
#include <string.h>

enum {
  SLOTS = 32,           /* regions of scratch, each worked on by one thread at a time */
  PATCH_FLOATS = 98304, /* elements of patches that a block should hold */
  LEAST_ROWS = 128,     /* a product's longer side, for fewer rows would pack the weights too often */
  MOST_ROWS = 512,
  DW_COLUMNS = 256, /* of the weights' gradient that a tile should compute */
  DW_UNITS = 128,
  DW_TILES = 16, /* below this many, rows are split, and partial sums added in order */
  SUM_TILE = 4096,
};

static int64_t lesser(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }
static int64_t patch_size(const lg_conv *c) { return c->kh * c->kw * (c->ci / c->groups); }
static int64_t all_rows(const lg_conv *c) { return c->batch * c->oh * c->ow; }
static int64_t block_rows(int64_t columns) {
  const int64_t rows = PATCH_FLOATS / columns;
  return rows < LEAST_ROWS ? LEAST_ROWS : lesser(rows, MOST_ROWS);
}
/* Is x itself the matrix of patches? */
static int is_direct(const lg_conv *c) {
  return c->kh == 1 && c->kw == 1 && c->stride_h == 1 && c->stride_w == 1 && c->oh == c->h && c->ow == c->w &&
         c->top == 0 && c->left == 0;
}

/* Forward, and dx where is_direct: units are blocks of rows. dx else: units are whole images, since patches overlap. */
typedef struct row_cut {
  int64_t rows, unit_rows, units, slots;
} row_cut;
static row_cut cut_rows(const lg_conv *c, int pass) {
  row_cut r = {.rows = block_rows(patch_size(c))};
  const int64_t image = c->oh * c->ow;
  r.unit_rows = pass == LG_CONV_FWD || is_direct(c) ? r.rows : image > r.rows ? image : r.rows / image * image;
  r.units = ceil_div(all_rows(c), r.unit_rows);
  r.slots = lesser(r.units, SLOTS);
  return r;
}

/* dw: a tile is a few taps of a few output channels of one group, over one of `splits` parts of the rows. */
typedef struct dw_cut {
  int64_t taps, tap_blocks, units, unit_blocks, rows, row_blocks, splits, tiles, slots;
} dw_cut;
static dw_cut cut_weights(const lg_conv *c) {
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups;
  dw_cut d = {.taps = lesser(ceil_div(DW_COLUMNS, cig), c->kh * c->kw), .units = lesser(cog, DW_UNITS)};
  d.tap_blocks = ceil_div(c->kh * c->kw, d.taps);
  d.unit_blocks = ceil_div(cog, d.units);
  d.rows = block_rows(d.taps * cig);
  d.row_blocks = ceil_div(all_rows(c), d.rows);
  const int64_t tiles = c->groups * d.tap_blocks * d.unit_blocks;
  d.splits = lesser(ceil_div(DW_TILES, tiles), d.row_blocks);
  d.tiles = tiles * d.splits;
  d.slots = lesser(d.tiles, SLOTS);
  return d;
}

static size_t slot_bytes(const lg_conv *c, int pass, size_t width) {
  if (is_direct(c)) return 0;
  const int64_t cig = c->ci / c->groups;
  if (pass == LG_CONV_DW) {
    const dw_cut d = cut_weights(c);
    return aligned((size_t)(d.rows * d.taps * cig) * width);
  }
  return aligned((size_t)(cut_rows(c, pass).rows * patch_size(c)) * width);
}

size_t lg_conv_im2col_bytes(const lg_conv *c, int pass, size_t width) {
  if (pass != LG_CONV_DW) return (size_t)cut_rows(c, pass).slots * slot_bytes(c, pass, width);
  const dw_cut d = cut_weights(c);
  const size_t partial = d.splits > 1 ? (size_t)d.splits * aligned((size_t)(c->co * patch_size(c)) * width) : 0;
  return partial + (size_t)d.slots * slot_bytes(c, pass, width);
}

typedef struct conv_run {
  const lg_conv *c;
  void *out;
  const void *a, *b; /* inputs in the order of the call */
  const lg_conv_tail *tail;
  char *work;
  size_t slot_bytes, partial_bytes;
  int acc;
  row_cut cut;
  dw_cut dw;
} conv_run;

#define REAL float
#define GEMM lg_k_gemm_f32
#define IM2COL lg_k_im2col_f32
#define COL2IM lg_k_col2im_f32
#define ADD lg_k_add_f32
#define BIAS_GATE lg_k_bias_gate_fwd_f32
#define NAME(name) lg_conv_##name##_f32
#include "conv_im2col_template.h"

#define REAL double
#define GEMM lg_k_gemm_f64
#define IM2COL lg_k_im2col_f64
#define COL2IM lg_k_col2im_f64
#define ADD lg_k_add_f64
#define BIAS_GATE lg_k_bias_gate_fwd_f64
#define NAME(name) lg_conv_##name##_f64
#include "conv_im2col_template.h"
