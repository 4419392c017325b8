/* conv_template.h: plain convolutions and patches for one element type. Not a header of its own: conv.c includes it
 * once a type, with REAL (the type), NAME(x) and REF(x) (the functions' names) defined. */

void REF(fwd)(REAL *y, const REAL *x, const REAL *w, const lg_conv *c) {
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups;
  for (int64_t row = 0; row < c->batch * c->oh * c->ow; row++) {
    const patch p = patch_at(c, row);
    for (int64_t o = 0; o < c->co; o++) {
      double sum = 0;
      for (int64_t tap = 0; tap < c->kh * c->kw; tap++) {
        const int64_t pixel = pixel_at(c, &p, tap);
        const REAL *from = x + pixel * c->ci + o / cog * cig, *by = w + (o * c->kh * c->kw + tap) * cig;
        for (int64_t i = 0; pixel >= 0 && i < cig; i++) sum += (double)by[i] * from[i];
      }
      y[row * c->co + o] = (REAL)sum;
    }
  }
}

void REF(dx)(REAL *dx, const REAL *dy, const REAL *w, const lg_conv *c, int acc) {
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups, taps = c->kh * c->kw;
  for (int64_t pixel = 0; pixel < c->batch * c->h * c->w; pixel++) {
    const int64_t image = pixel / (c->h * c->w), py = pixel / c->w % c->h, px = pixel % c->w;
    for (int64_t i = 0; i < c->ci; i++) {
      double sum = 0;
      for (int64_t tap = 0; tap < taps; tap++) {
        const int64_t ty = py + c->top - tap / c->kw, tx = px + c->left - tap % c->kw;
        const int64_t oy = ty / c->stride_h, ox = tx / c->stride_w, first = i / cig * cog;
        if (ty < 0 || tx < 0 || ty % c->stride_h || tx % c->stride_w || oy >= c->oh || ox >= c->ow) continue;
        const REAL *from = dy + ((image * c->oh + oy) * c->ow + ox) * c->co;
        for (int64_t o = first; o < first + cog; o++) sum += (double)from[o] * w[(o * taps + tap) * cig + i % cig];
      }
      REAL *to = dx + pixel * c->ci + i;
      *to = (REAL)(acc ? *to + sum : sum);
    }
  }
}

void REF(dw)(REAL *dw, const REAL *dy, const REAL *x, const lg_conv *c, int acc) {
  const int64_t cig = c->ci / c->groups, cog = c->co / c->groups, taps = c->kh * c->kw;
  for (int64_t at = 0; at < c->co * taps * cig; at++) {
    const int64_t o = at / (taps * cig), tap = at / cig % taps, i = o / cog * cig + at % cig;
    double sum = 0;
    for (int64_t row = 0; row < c->batch * c->oh * c->ow; row++) {
      const patch p = patch_at(c, row);
      const int64_t pixel = pixel_at(c, &p, tap);
      if (pixel >= 0) sum += (double)dy[row * c->co + o] * x[pixel * c->ci + i];
    }
    dw[at] = (REAL)(acc ? dw[at] + sum : sum);
  }
}

static void NAME(zero)(REAL *to, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = 0;
}

/* One row of the kernel over one patch: taps kx0 … kx1-1 of input row py. Without groups they lie side by side. */
static void NAME(patch_row)(REAL *col, const REAL *x, const lg_conv *c, int64_t group, const patch *p, int64_t py,
                            int64_t kx0, int64_t kx1) {
  const int64_t cig = c->ci / c->groups;
  int64_t first = kx0, end = kx1; /* the taps inside the image */
  if (first < -p->x) first = -p->x < kx1 ? -p->x : kx1;
  if (end > c->w - p->x) end = c->w - p->x;
  if (py < 0 || py >= c->h || end < first) end = first;
  const int64_t left = (first - kx0) * cig, inside = (end - first) * cig, right = (kx1 - end) * cig;
  if (left) NAME(zero)(col, left);
  if (right) NAME(zero)(col + left + inside, right);
  if (!inside) return;
  const REAL *from = x + ((p->image * c->h + py) * c->w + p->x + first) * c->ci + group * cig;
  if (c->groups == 1 && inside > SHORT_COPY) {
    memcpy(col + left, from, (size_t)inside * sizeof *col);
  } else if (c->groups == 1) {
    for (int64_t i = 0; i < inside; i++) col[left + i] = from[i];
  } else {
    for (int64_t kx = first; kx < end; kx++, from += c->ci)
      for (int64_t i = 0; i < cig; i++) col[(kx - kx0) * cig + i] = from[i];
  }
}

void NAME(im2col)(REAL *col, const REAL *x, const lg_conv *c, int64_t group, int64_t row0, int64_t rows, int64_t tap0,
                  int64_t taps) {
  const int64_t cig = c->ci / c->groups;
  for (int64_t row = row0; row < row0 + rows; row++) {
    const patch p = patch_at(c, row);
    for (int64_t tap = tap0; tap < tap0 + taps;) {
      const int64_t ky = tap / c->kw, kx = tap % c->kw, left = tap0 + taps - tap;
      const int64_t count = c->kw - kx < left ? c->kw - kx : left;
      NAME(patch_row)(col, x, c, group, &p, p.y + ky, kx, kx + count);
      col += count * cig;
      tap += count;
    }
  }
}

void NAME(col2im)(REAL *dx, const REAL *col, const lg_conv *c, int64_t group, int64_t row0, int64_t rows) {
  const int64_t cig = c->ci / c->groups;
  for (int64_t row = row0; row < row0 + rows; row++) {
    const patch p = patch_at(c, row);
    for (int64_t tap = 0; tap < c->kh * c->kw; tap++, col += cig) {
      const int64_t pixel = pixel_at(c, &p, tap);
      if (pixel < 0) continue;
      REAL *to = dx + pixel * c->ci + group * cig;
#pragma omp simd
      for (int64_t i = 0; i < cig; i++) to[i] += col[i];
    }
  }
}
#undef NAME
#undef REF
#undef REAL
