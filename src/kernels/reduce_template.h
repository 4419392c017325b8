/* reduce_template.h: the folds of one element type. Not a header of its own: kernels/reduce.c includes it once a
 * type, with TYPE and NAME(x) (x with the type's suffix) defined, after FOLD_<reduction>(accumulator, value). */

/* Eight lanes hide the latency of the fold and fill a vector; the step is a constant in the contiguous case. */
#define ALONG(name, start)                                                                                             \
  static inline double NAME(lanes_##name)(const TYPE *x, int64_t step, int64_t n) {                                    \
    double lane[LANES];                                                                                                \
    for (int l = 0; l < LANES; l++) lane[l] = start;                                                                   \
    int64_t i = 0;                                                                                                     \
    for (; i + LANES <= n; i += LANES)                                                                                 \
      for (int l = 0; l < LANES; l++) lane[l] = FOLD_##name(lane[l], (double)x[(i + l) * step]);                       \
    for (int l = 0; i < n; i++, l++) lane[l] = FOLD_##name(lane[l], (double)x[i * step]);                              \
    for (int half = LANES / 2; half > 0; half /= 2)                                                                    \
      for (int l = 0; l < half; l++) lane[l] = FOLD_##name(lane[l], lane[l + half]);                                   \
    return lane[0];                                                                                                    \
  }                                                                                                                    \
  static double NAME(along_##name)(const TYPE *x, int64_t step, int64_t n) {                                           \
    return step == 1 ? NAME(lanes_##name)(x, 1, n) : NAME(lanes_##name)(x, step, n);                                   \
  }                                                                                                                    \
  static void NAME(across_##name)(lg_fold * f, const TYPE *x, int64_t step, int64_t n) {                               \
    for (int64_t j = 0; j < n; j++) f[j].value = FOLD_##name(f[j].value, (double)x[j * step]);                         \
  }
ALONG(sum, 0)
ALONG(prod, 1)
ALONG(min, INFINITY)
ALONG(max, -INFINITY)
ALONG(any, 0)
ALONG(all, 1)
#undef ALONG

/* sign: 1 for argmax, -1 for argmin. A NaN beats all but an earlier NaN. */
static void NAME(pick)(lg_fold *f, double sign, TYPE x, int64_t at) {
  double v = sign * (double)x, best = sign * f->value;
  if (f->at < 0 || v > best || (v != v && best == best)) *f = (lg_fold){(double)x, at};
}

static void NAME(fold_along)(lg_fold *f, int32_t op, const void *data, int64_t step, int64_t n, int64_t at) {
  const TYPE *x = data;
  switch (op) {
  case LG_REDUCE_SUM:
  case LG_REDUCE_MEAN: f->value += NAME(along_sum)(x, step, n); break;
  case LG_REDUCE_PROD: f->value *= NAME(along_prod)(x, step, n); break;
  case LG_REDUCE_MIN: f->value = FOLD_min(f->value, NAME(along_min)(x, step, n)); break;
  case LG_REDUCE_MAX: f->value = FOLD_max(f->value, NAME(along_max)(x, step, n)); break;
  case LG_REDUCE_ANY: f->value = FOLD_any(f->value, NAME(along_any)(x, step, n)); break;
  case LG_REDUCE_ALL: f->value = FOLD_all(f->value, NAME(along_all)(x, step, n)); break;
  default:
    for (int64_t i = 0; i < n; i++) NAME(pick)(f, op == LG_REDUCE_ARGMAX ? 1 : -1, x[i * step], at + i);
  }
}

static void NAME(fold_across)(lg_fold *f, int32_t op, const void *data, int64_t step, int64_t n, int64_t at) {
  const TYPE *x = data;
  switch (op) {
  case LG_REDUCE_SUM:
  case LG_REDUCE_MEAN: NAME(across_sum)(f, x, step, n); break;
  case LG_REDUCE_PROD: NAME(across_prod)(f, x, step, n); break;
  case LG_REDUCE_MIN: NAME(across_min)(f, x, step, n); break;
  case LG_REDUCE_MAX: NAME(across_max)(f, x, step, n); break;
  case LG_REDUCE_ANY: NAME(across_any)(f, x, step, n); break;
  case LG_REDUCE_ALL: NAME(across_all)(f, x, step, n); break;
  default:
    for (int64_t j = 0; j < n; j++) NAME(pick)(f + j, op == LG_REDUCE_ARGMAX ? 1 : -1, x[j * step], at);
  }
}
#undef TYPE
#undef NAME
