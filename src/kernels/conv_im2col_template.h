/* conv_im2col_template.h: the passes for one element type. Not a header of its own: conv_im2col.c includes it once a
 * type, with REAL (the type), NAME(x) (these functions' names) and the leaf kernels of that type defined. */

void NAME(tail_rows)(REAL *y, int64_t row0, int64_t rows, int64_t co, const lg_conv_tail *tail) {
  REAL *z = y + row0 * co;
  if (tail->gated) {
    BIAS_GATE((REAL *)tail->gated + row0 * co, z, tail->bias, (REAL)tail->lambda, rows, co, co, co, tail->activation);
  } else if (tail->bias) {
    for (int64_t i = 0; i < rows; i++) ADD(z + i * co, z + i * co, tail->bias, co);
  }
}

/* y[rows, co] of one block, group by group: patches[rows, k] · w[co/groups, k]ᵀ. */
static void NAME(fwd_block)(const conv_run *r, int64_t block, REAL *col) {
  const lg_conv *c = r->c;
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups, k = patch_size(c);
  const int64_t row0 = block * r->cut.rows, rows = lesser(r->cut.rows, all_rows(c) - row0);
  const REAL *x = r->a, *w = r->b;
  REAL *y = r->out;
  for (int64_t g = 0; g < c->groups; g++) {
    const REAL *patches = col ? col : x + row0 * c->ci + g * cig;
    if (col) IM2COL(col, x, c, g, row0, rows, 0, c->kh * c->kw);
    GEMM(y + row0 * c->co + g * cog, patches, w + g * cog * k, rows, cog, k, col ? k : c->ci, k, c->co, 0, 1, 1, 0);
  }
  NAME(tail_rows)(y, row0, rows, c->co, r->tail);
}

static void NAME(fwd_slot)(void *context, int64_t slot) {
  const conv_run *r = context;
  REAL *col = is_direct(r->c) ? NULL : (REAL *)(r->work + (size_t)slot * r->slot_bytes);
  const int64_t end = (slot + 1) * r->cut.units / r->cut.slots;
  for (int64_t block = slot * r->cut.units / r->cut.slots; block < end; block++) NAME(fwd_block)(r, block, col);
}

void NAME(im2col_fwd)(REAL *y, const REAL *x, const REAL *w, const lg_conv *c, const lg_conv_tail *tail, void *work) {
  conv_run r = {.c = c, .out = y, .a = x, .b = w, .tail = tail, .work = work, .cut = cut_rows(c, LG_CONV_FWD)};
  r.slot_bytes = slot_bytes(c, LG_CONV_FWD, sizeof(REAL));
  lg_parallel(r.cut.slots, NAME(fwd_slot), &r);
}

/* dx of the images of one unit: dy[rows, co/groups] · w[co/groups, k] are gradients of patches, added where these lie.
 */
static void NAME(dx_images)(const conv_run *r, int64_t unit, REAL *col) {
  const lg_conv *c = r->c;
  const int64_t cog = c->co / c->groups, k = patch_size(c), pixels = c->h * c->w * c->ci, image_rows = c->oh * c->ow;
  const int64_t first = unit * r->cut.unit_rows, end = lesser(first + r->cut.unit_rows, all_rows(c));
  const REAL *dy = r->a, *w = r->b;
  REAL *dx = r->out;
  if (!r->acc) memset(dx + first / image_rows * pixels, 0, (size_t)((end - first) / image_rows * pixels) * sizeof *dx);
  for (int64_t row0 = first; row0 < end; row0 += r->cut.rows) {
    const int64_t rows = lesser(r->cut.rows, end - row0);
    for (int64_t g = 0; g < c->groups; g++) {
      GEMM(col, dy + row0 * c->co + g * cog, w + g * cog * k, rows, k, cog, c->co, k, k, 0, 0, 1, 0);
      COL2IM(dx, col, c, g, row0, rows);
    }
  }
}

static void NAME(dx_block)(const conv_run *r, int64_t block) {
  const lg_conv *c = r->c;
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups;
  const int64_t row0 = block * r->cut.rows, rows = lesser(r->cut.rows, all_rows(c) - row0);
  for (int64_t g = 0; g < c->groups; g++)
    GEMM((REAL *)r->out + row0 * c->ci + g * cig, (const REAL *)r->a + row0 * c->co + g * cog,
         (const REAL *)r->b + g * cog * cig, rows, cig, cog, c->co, cig, c->ci, 0, 0, 1, r->acc ? 1 : 0);
}

static void NAME(dx_slot)(void *context, int64_t slot) {
  const conv_run *r = context;
  const int64_t end = (slot + 1) * r->cut.units / r->cut.slots;
  for (int64_t unit = slot * r->cut.units / r->cut.slots; unit < end; unit++) {
    if (is_direct(r->c))
      NAME(dx_block)(r, unit);
    else
      NAME(dx_images)(r, unit, (REAL *)(r->work + (size_t)slot * r->slot_bytes));
  }
}

void NAME(im2col_dx)(REAL *dx, const REAL *dy, const REAL *w, const lg_conv *c, int acc, void *work) {
  conv_run r = {.c = c, .out = dx, .a = dy, .b = w, .acc = acc, .work = work, .cut = cut_rows(c, LG_CONV_DX)};
  r.slot_bytes = slot_bytes(c, LG_CONV_DX, sizeof(REAL));
  lg_parallel(r.cut.slots, NAME(dx_slot), &r);
}

/* dw[units, taps·ci/groups] of one tile: dyᵀ[units, rows] · patches[rows, …], summed over its rows block by block. */
static void NAME(dw_tile)(const conv_run *r, int64_t tile, REAL *col) {
  const lg_conv *c = r->c;
  const dw_cut *d = &r->dw;
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups, k = patch_size(c), split = tile % d->splits;
  const int64_t tap0 = tile / d->splits % d->tap_blocks * d->taps, taps = lesser(d->taps, c->kh * c->kw - tap0);
  const int64_t unit0 = tile / d->splits / d->tap_blocks % d->unit_blocks * d->units;
  const int64_t g = tile / d->splits / d->tap_blocks / d->unit_blocks, units = lesser(d->units, cog - unit0);
  const REAL *dy = (const REAL *)r->a + g * cog + unit0, *x = r->b;
  REAL *to = d->splits > 1 ? (REAL *)(r->work + (size_t)split * r->partial_bytes) : r->out;
  to += (g * cog + unit0) * k + tap0 * cig;
  int add = d->splits == 1 && r->acc;
  for (int64_t b = split * d->row_blocks / d->splits; b < (split + 1) * d->row_blocks / d->splits; b++) {
    const int64_t row0 = b * d->rows, rows = lesser(d->rows, all_rows(c) - row0);
    const REAL *patches = col ? col : x + row0 * c->ci + g * cig;
    if (col) IM2COL(col, x, c, g, row0, rows, tap0, taps);
    GEMM(to, dy + row0 * c->co, patches, units, taps * cig, rows, c->co, col ? taps * cig : c->ci, k, 1, 0, 1,
         add ? 1 : 0);
    add = 1;
  }
}

static void NAME(dw_slot)(void *context, int64_t slot) {
  const conv_run *r = context;
  const dw_cut *d = &r->dw;
  char *scratch = r->work + (d->splits > 1 ? (size_t)d->splits * r->partial_bytes : 0);
  REAL *col = is_direct(r->c) ? NULL : (REAL *)(scratch + (size_t)slot * r->slot_bytes);
  const int64_t end = (slot + 1) * d->tiles / d->slots;
  for (int64_t tile = slot * d->tiles / d->slots; tile < end; tile++) NAME(dw_tile)(r, tile, col);
}

static void NAME(dw_sum_tile)(void *context, int64_t tile) {
  const conv_run *r = context;
  const int64_t first = tile * SUM_TILE, n = lesser(SUM_TILE, r->c->co * patch_size(r->c) - first);
  REAL *to = (REAL *)r->out + first;
  for (int64_t i = 0; i < n; i++) {
    double sum = r->acc ? to[i] : 0;
    for (int64_t s = 0; s < r->dw.splits; s++)
      sum += ((const REAL *)(r->work + (size_t)s * r->partial_bytes))[first + i];
    to[i] = (REAL)sum;
  }
}

void NAME(im2col_dw)(REAL *dw, const REAL *dy, const REAL *x, const lg_conv *c, int acc, void *work) {
  conv_run r = {.c = c, .out = dw, .a = dy, .b = x, .acc = acc, .work = work, .dw = cut_weights(c)};
  r.slot_bytes = slot_bytes(c, LG_CONV_DW, sizeof(REAL));
  r.partial_bytes = aligned((size_t)(c->co * patch_size(c)) * sizeof(REAL));
  lg_parallel(r.dw.slots, NAME(dw_slot), &r);
  if (r.dw.splits > 1) lg_parallel(ceil_div(c->co * patch_size(c), SUM_TILE), NAME(dw_sum_tile), &r);
}
#undef REAL
#undef GEMM
#undef IM2COL
#undef COL2IM
#undef ADD
#undef BIAS_GATE
#undef NAME
