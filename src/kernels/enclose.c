/* enclose.c: enclosures through gates, sums and pools, and the lead of a class. See enclose.h; convolutions and linear
 * layers are in enclose_conv.c. */
#include "enclose.h"
#include "enclose_round.h"
#include <stddef.h>

static const double SQRT_HALF = 0.70710678118654752440; /* 1/√2 */
/* h(m) = m·Φ(−λm), m ≥ 0, is PEAK/λ at most, there at PLACE/λ, rising before and falling behind. */
static const double PEAK = 0.16997120747990370;
static const double PLACE = 0.75179152469356446;
static const double NEAR = 1e-12; /* relative: closer than this to the peak counts as at it */

typedef struct range {
  double lo, hi;
} range;

static range range_of(double centre, double radius) {
  return (range){lg_below(centre - radius), lg_above(centre + radius)};
}
static int is_known(range r) { return r.hi - r.lo < INFINITY; } /* NaN is not less */

static void put(double *centre, double *radius, range r) {
  const double c = 0.5 * r.lo + 0.5 * r.hi;
  *centre = c;
  *radius = lg_above(lg_larger(r.hi - c, c - r.lo));
}

static void put_unknown(const lg_enclosure *out, int64_t i) {
  out->centre[i] = out->change[i] = 0;
  out->radius[i] = out->change_radius[i] = INFINITY;
}

/* ---- gate ---- */

static double peak_of_gap(double lambda) { return PEAK / lambda * (1 + 8 * LG_U); }

/* Where h(m), m ≥ 0, lies. erfc is taken to be within 9 ulp; its argument w, within 4 roundings of the exact one, moves
 * it by (2w² + 1) times as much, relatively. */
static range gap_at(double m, double lambda) {
  const double w = lambda * m * SQRT_HALF, h = 0.5 * m * erfc(w);
  const double slack = (h > 0 ? (32 + 10 * w * w) * LG_U * h : 0) + LG_TINY * (m + 1);
  return (range){lg_larger(h - slack, 0), h + slack};
}

/* Where h lies for m between those of the ends of z; a, b: h at |z.lo| and |z.hi|. */
static range gap_range(range z, range a, range b, double lambda) {
  const double from = fabs(z.lo), to = fabs(z.hi), place = PLACE / lambda;
  const double least = z.lo <= 0 && z.hi >= 0 ? 0 : lg_lesser(from, to), most = lg_larger(from, to);
  range h = {lg_lesser(a.lo, b.lo), lg_larger(a.hi, b.hi)};
  if (least == 0) h.lo = 0;
  if (h.hi > peak_of_gap(lambda) || (least <= place * (1 + NEAR) && most >= place * (1 - NEAR)))
    h.hi = peak_of_gap(lambda);
  return h;
}

/* Where f = ReLU − h lies: it falls to −PEAK/λ at −PLACE/λ and rises from there on. */
static range value_range(range z, range a, range b, double lambda) {
  const double lo = lg_larger(z.lo, 0), hi = lg_larger(z.hi, 0), place = PLACE / lambda;
  range f = {lg_lesser(lg_below(lo - a.hi), lg_below(hi - b.hi)), lg_larger(lg_above(lo - a.lo), lg_above(hi - b.lo))};
  if (z.lo <= -place * (1 - NEAR) && z.hi >= -place * (1 + NEAR)) f.lo = -peak_of_gap(lambda);
  return f;
}

/* Where ReLU(z + d) − ReLU(z) lies: it rises with d; with z it rises for d > 0 and falls for d < 0. */
static range step_range(range z, range d) {
  range s;
  s.hi = d.hi >= 0 ? lg_lesser(d.hi, lg_larger(lg_above(z.hi + d.hi), 0)) : lg_larger(d.hi, -lg_larger(z.lo, 0));
  s.lo = d.lo >= 0 ? lg_lesser(d.lo, lg_larger(lg_below(z.lo + d.lo), 0)) : lg_larger(d.lo, -lg_larger(z.hi, 0));
  return s;
}

void lg_k_enclose_gate(const lg_enclosure *out, const lg_enclosure *in, double lambda, int rule, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const range z = range_of(in->centre[i], in->radius[i]), d = range_of(in->change[i], in->change_radius[i]);
    if (!is_known(z) || !is_known(d)) {
      put_unknown(out, i);
      continue;
    }
    range f = {lg_larger(z.lo, 0), lg_larger(z.hi, 0)}, h = {0, 0};
    if (lambda < INFINITY) {
      const range a = gap_at(fabs(z.lo), lambda), b = gap_at(fabs(z.hi), lambda);
      f = value_range(z, a, b, lambda);
      h = rule == LG_ENCLOSE_VALUE ? gap_range(z, a, b, lambda) : (range){0, peak_of_gap(lambda)};
    }
    const range s = step_range(z, d);
    put(&out->centre[i], &out->radius[i], f);
    put(&out->change[i], &out->change_radius[i], (range){lg_below(s.lo + h.lo), lg_above(s.hi + h.hi)});
  }
}

/* ---- sums and pools ---- */

/* to[n] = radius + gamma·|centre|: what an input brings into the radius of a sum. */
static void widen(double *to, const double *centre, const double *radius, double gamma, int64_t n) {
  for (int64_t i = 0; i < n; i++) to[i] = radius[i] + gamma * fabs(centre[i]);
}

/* Radii of sums of nonnegative terms, computed with their own roundings. */
static void finish(double *radius, double gamma, int64_t n) {
  for (int64_t i = 0; i < n; i++) radius[i] = radius[i] * (1 + 4 * gamma) + LG_TINY;
}

void lg_k_enclose_add(const lg_enclosure *out, const lg_enclosure *a, const lg_enclosure *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const double centre = a->centre[i] + b->centre[i], change = a->change[i] + b->change[i];
    out->radius[i] = lg_above(lg_above(a->radius[i] + b->radius[i]) + LG_U * fabs(centre));
    out->change_radius[i] = lg_above(lg_above(a->change_radius[i] + b->change_radius[i]) + LG_U * fabs(change));
    out->centre[i] = centre;
    out->change[i] = change;
  }
}

void lg_k_enclose_mean(const lg_enclosure *out, const lg_enclosure *in, const lg_windows *w, double *spare) {
  const int64_t inputs = w->height * w->width * w->n, outputs = w->out_h * w->out_w * w->n;
  const double gamma = lg_gamma_of(w->kernel_h * w->kernel_w + 2);
  lg_k_avg_pool_f64(out->centre, in->centre, w);
  lg_k_avg_pool_f64(out->change, in->change, w);
  widen(spare, in->centre, in->radius, gamma, inputs);
  widen(spare + inputs, in->change, in->change_radius, gamma, inputs);
  lg_k_avg_pool_f64(out->radius, spare, w);
  lg_k_avg_pool_f64(out->change_radius, spare + inputs, w);
  finish(out->radius, gamma, outputs);
  finish(out->change_radius, gamma, outputs);
}

/* The part of the image that a window sees: rows top … bottom − 1, columns left … right − 1. */
typedef struct window {
  int64_t top, bottom, left, right;
} window;

static window window_of(const lg_windows *w, int64_t output) {
  const int64_t y0 = output / w->out_w * w->stride_h - w->pad_top, x0 = output % w->out_w * w->stride_w - w->pad_left;
  const int64_t y1 = y0 + w->kernel_h, x1 = x0 + w->kernel_w;
  return (window){y0 < 0 ? 0 : y0, y1 > w->height ? w->height : y1, x0 < 0 ? 0 : x0, x1 > w->width ? w->width : x1};
}

/* Of the largest of a window's elements: its range, and the second largest upper end. */
typedef struct peak {
  range value;
  double second;
  int64_t best; /* whose upper end is the largest */
  int known;
} peak;

static peak peak_of(const lg_enclosure *in, const lg_windows *w, window at, int64_t k) {
  peak p = {.value = {-INFINITY, -INFINITY}, .second = -INFINITY, .best = -1, .known = 1};
  for (int64_t y = at.top; y < at.bottom; y++)
    for (int64_t x = at.left; x < at.right; x++) {
      const int64_t i = (y * w->width + x) * w->n + k;
      const range v = range_of(in->centre[i], in->radius[i]);
      if (!is_known(v) || !is_known(range_of(in->change[i], in->change_radius[i]))) p.known = 0;
      if (v.lo > p.value.lo) p.value.lo = v.lo;
      if (v.hi > p.value.hi) {
        p.second = p.value.hi;
        p.value.hi = v.hi;
        p.best = i;
      } else if (v.hi > p.second) {
        p.second = v.hi;
      }
    }
  return p;
}

/* max(y + d) − max(y). Element i contributes dᵢ + (yᵢ − max y): at most its d.hi, less what it lies below the largest
 * for certain; and at least its d.lo, less what it can lie below. The largest y itself gives the other lower bound. */
static range peak_change(const lg_enclosure *in, const lg_windows *w, window at, int64_t k, const peak *p) {
  range all = {-INFINITY, -INFINITY};
  double least = INFINITY;
  for (int64_t y = at.top; y < at.bottom; y++)
    for (int64_t x = at.left; x < at.right; x++) {
      const int64_t i = (y * w->width + x) * w->n + k;
      const range v = range_of(in->centre[i], in->radius[i]), d = range_of(in->change[i], in->change_radius[i]);
      const double rival = i == p->best ? p->second : p->value.hi;
      all.hi = lg_larger(all.hi, lg_above(d.hi + lg_lesser(0, lg_above(v.hi - p->value.lo))));
      all.lo = lg_larger(all.lo, lg_below(d.lo + lg_lesser(0, lg_below(v.lo - rival))));
      if (v.hi >= p->value.lo) least = lg_lesser(least, d.lo); /* may be the largest */
    }
  all.lo = lg_larger(all.lo, least);
  return all;
}

void lg_k_enclose_max(const lg_enclosure *out, const lg_enclosure *in, const lg_windows *w) {
  for (int64_t i = 0; i < w->out_h * w->out_w * w->n; i++) {
    const window at = window_of(w, i / w->n);
    const peak p = peak_of(in, w, at, i % w->n);
    if (!p.known) {
      put_unknown(out, i);
      continue;
    }
    put(&out->centre[i], &out->radius[i], p.value);
    put(&out->change[i], &out->change_radius[i], peak_change(in, w, at, i % w->n, &p));
  }
}

/* ---- margin ---- */

/* A sum of k products, and what its exact value can be away from it. */
typedef struct form {
  double sum, radius, size; /* size: Σ|terms|, for the roundings */
} form;

static void form_add(form *f, double weight, double centre, double radius) {
  f->sum += weight * centre;
  f->radius += fabs(weight) * radius;
  f->size += fabs(weight * centre);
}

static double form_least(const form *f, int64_t k) {
  const double gamma = lg_gamma_of(k);
  const double least = lg_below(f->sum - ((f->radius + gamma * f->size) * (1 + 4 * gamma) + LG_TINY));
  return least > -INFINITY ? least : -INFINITY; /* NaN knows nothing */
}

static double logit(const lg_enclosure *in, const double *w, const double *bias, int64_t j, int64_t k) {
  if (!w) return in->centre[j];
  double sum = bias ? bias[j] : 0;
  for (int64_t i = 0; i < k; i++) sum += w[j * k + i] * in->centre[i];
  return sum;
}

/* Logit p minus logit j in the smooth network (value) and what the change adds. */
static void compare(form *value, form *change, const lg_enclosure *in, const double *w, const double *bias, int64_t p,
                    int64_t j, int64_t k) {
  if (!w) {
    const int64_t of[2] = {p, j};
    for (int s = 0; s < 2; s++) {
      form_add(value, s ? -1 : 1, in->centre[of[s]], in->radius[of[s]]);
      form_add(change, s ? -1 : 1, in->change[of[s]], in->change_radius[of[s]]);
    }
    return;
  }
  for (int64_t i = 0; i < k; i++) {
    const double weight = w[p * k + i] - w[j * k + i];
    form_add(value, weight, in->centre[i], in->radius[i]);
    form_add(change, weight, in->change[i], in->change_radius[i]);
  }
  if (bias) {
    form_add(value, 1, bias[p], 0);
    form_add(value, -1, bias[j], 0);
  }
}

int32_t lg_k_enclose_margin(double *smooth, double *relu, const lg_enclosure *in, const double *w, const double *bias,
                            int64_t classes, int64_t k) {
  int64_t p = 0;
  double best = logit(in, w, bias, 0, k);
  for (int64_t j = 1; j < classes; j++) {
    const double y = logit(in, w, bias, j, k);
    if (y > best) best = y, p = j;
  }
  *smooth = *relu = INFINITY;
  for (int64_t j = 0; j < classes; j++) {
    if (j == p) continue;
    form value = {0, 0, 0}, change = {0, 0, 0};
    compare(&value, &change, in, w, bias, p, j, k);
    const int64_t terms = 2 * k + 4;
    const form both = {value.sum + change.sum, value.radius + change.radius, value.size + change.size};
    *smooth = lg_lesser(form_least(&value, terms), *smooth);
    *relu = lg_lesser(form_least(&both, terms), *relu);
  }
  return (int32_t)p;
}
