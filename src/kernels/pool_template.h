/* pool_template.h: the loops of pool.h for one REAL type; NAME(x) gives the function's name. No include guard: included
 * once per type by pool.c. All innermost loops go over channels. */

void NAME(lg_k_max_pool)(REAL *y, uint16_t *from, const REAL *x, const lg_windows *w) {
  for (int64_t i = 0; i < w->out_h * w->out_w; i++, y += w->n, from += w->n) {
    reach r = reach_of(w, i);
    int first = 1;
    for (int64_t a = r.top; a < r.bottom; a++)
      for (int64_t b = r.left; b < r.right; b++, first = 0) {
        const REAL *in = x + (a * w->width + b) * w->n;
        uint16_t place = (uint16_t)((a - r.y0) * w->kernel_w + (b - r.x0));
#pragma omp simd
        for (int64_t k = 0; k < w->n; k++) {
          int better = first || in[k] > y[k] || (in[k] != in[k] && y[k] == y[k]);
          y[k] = better ? in[k] : y[k];
          from[k] = better ? place : from[k];
        }
      }
  }
}

void NAME(lg_k_max_pool_bwd)(REAL *dx, const REAL *dy, const uint16_t *from, const lg_windows *w) {
  for (int64_t i = 0; i < w->out_h * w->out_w; i++, dy += w->n, from += w->n) {
    reach r = reach_of(w, i);
    for (int64_t a = r.top; a < r.bottom; a++)
      for (int64_t b = r.left; b < r.right; b++) {
        REAL *to = dx + (a * w->width + b) * w->n;
        uint16_t place = (uint16_t)((a - r.y0) * w->kernel_w + (b - r.x0));
#pragma omp simd
        for (int64_t k = 0; k < w->n; k++) to[k] += from[k] == place ? dy[k] : 0;
      }
  }
}

void NAME(lg_k_avg_pool)(REAL *y, const REAL *x, const lg_windows *w) {
  const REAL share = (REAL)1 / (REAL)(w->kernel_h * w->kernel_w);
  for (int64_t i = 0; i < w->out_h * w->out_w; i++, y += w->n) {
    reach r = reach_of(w, i);
    for (int64_t k = 0; k < w->n; k++) y[k] = 0;
    for (int64_t a = r.top; a < r.bottom; a++)
      for (int64_t b = r.left; b < r.right; b++) {
        const REAL *in = x + (a * w->width + b) * w->n;
#pragma omp simd
        for (int64_t k = 0; k < w->n; k++) y[k] += in[k];
      }
    for (int64_t k = 0; k < w->n; k++) y[k] *= share;
  }
}

void NAME(lg_k_avg_pool_bwd)(REAL *dx, const REAL *dy, const lg_windows *w) {
  const REAL share = (REAL)1 / (REAL)(w->kernel_h * w->kernel_w);
  for (int64_t i = 0; i < w->out_h * w->out_w; i++, dy += w->n) {
    reach r = reach_of(w, i);
    for (int64_t a = r.top; a < r.bottom; a++)
      for (int64_t b = r.left; b < r.right; b++) {
        REAL *to = dx + (a * w->width + b) * w->n;
#pragma omp simd
        for (int64_t k = 0; k < w->n; k++) to[k] += share * dy[k];
      }
  }
}
