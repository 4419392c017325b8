/* tensor_random.c: tensors of random values. Element i of a tensor, in C order, is a function of (seed, stream, i),
 * whatever its strides and however many threads there are. */
#include "tensor_internal.h"
#include "../core/rng.h"
#include <math.h>

typedef struct {
  int32_t dtype, normal;
  double a, b; /* uniform: lo, hi; normal: mean, sd */
  uint64_t seed, stream;
} random_job;

static void put(const random_job *j, char *out, double raw) {
  double v = j->normal ? j->a + j->b * raw : j->a + (j->b - j->a) * raw;
  if (j->dtype == LG_F64) {
    /* Rounding may reach hi, which [lo, hi) excludes. */
    *(double *)out = !j->normal && v >= j->b && j->b > j->a ? nextafter(j->b, j->a) : v;
  } else {
    float f = (float)v;
    *(float *)out = !j->normal && f >= (float)j->b && j->b > j->a ? nextafterf((float)j->b, (float)j->a) : f;
  }
}

static void random_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  const random_job *j = context;
  double pair[2];
  for (int64_t i = 0; i < n; i++) {
    uint64_t index = (uint64_t)(at + i);
    if (i == 0 || index % 2 == 0)
      (j->normal ? lg_rng_normal_pair : lg_rng_uniform_pair)(pair, j->seed, j->stream, index / 2);
    put(j, data[0] + i * step[0], pair[index % 2]);
  }
}

static lg_status fill_random(lg_tensor *t, const char *what, random_job job) {
  LG_TRY(lg_tensor_check(t, "the tensor"));
  LG_TRY(lg_tensor_writable(t));
  if (!lg_dtype_is_float(t->dtype))
    return lg_fail(LG_EDTYPE, "%s values need f32 or f64, not %s", what, lg_dtype_name(t->dtype));
  job.dtype = t->dtype;
  const lg_tensor *one[] = {t};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, one));
  lg_walk_run(&w, LG_TILE, random_run, &job);
  return LG_OK;
}

lg_status lg_tensor_uniform(lg_tensor *t, double lo, double hi, uint64_t seed, uint64_t stream) {
  if (!(lo <= hi) || !isfinite(hi - lo)) return lg_fail(LG_EARG, "uniform [%g, %g) is not a finite range", lo, hi);
  return fill_random(t, "uniform", (random_job){.a = lo, .b = hi, .seed = seed, .stream = stream});
}

lg_status lg_tensor_normal(lg_tensor *t, double mean, double sd, uint64_t seed, uint64_t stream) {
  if (!isfinite(mean) || !(sd >= 0) || !isfinite(sd))
    return lg_fail(LG_EARG, "normal with mean %g and standard deviation %g: expected finite, sd at least 0", mean, sd);
  return fill_random(t, "normal", (random_job){.normal = 1, .a = mean, .b = sd, .seed = seed, .stream = stream});
}
