/* schedule.c: the base rate's multiplier as a pure function of the step, so that it never depends on what was set
 * before, nor on a resume. */
#include "optim.h"
#include <math.h>

static const char *const names[] = {
#define X(id, name, doc) name,
    LG_SCHEDULE_LIST(X)
#undef X
};
static const char *const docs[] = {
#define X(id, name, doc) doc,
    LG_SCHEDULE_LIST(X)
#undef X
};
const lg_list lg_list_schedule = {"schedule", names, docs, LG_SCHEDULE_COUNT};

static double cosine(double from, double to, double x) { return to + (from - to) * 0.5 * (1 + cos(M_PI * x)); }

/* The multiplier at a step in range. */
static double multiplier_at(int32_t schedule, int64_t step, int64_t total, int64_t warmup, double p1, double p2,
                            double p3) {
  if (step < warmup) {
    double risen = (double)(step + 1) / (double)warmup;
    return schedule == LG_SCHEDULE_ONE_CYCLE ? risen / p2 : risen;
  }
  double x = (double)(step - warmup) / (double)(total - warmup); /* in [0, 1) */
  switch (schedule) {
  case LG_SCHEDULE_STEP: return pow(p1, floor(x * p2));
  case LG_SCHEDULE_LINEAR: return 1 + (p1 - 1) * x;
  case LG_SCHEDULE_COSINE: return cosine(1, p1, x);
  case LG_SCHEDULE_ONE_CYCLE: return x < p1 ? cosine(1 / p2, 1, x / p1) : cosine(1, 1 / (p2 * p3), (x - p1) / (1 - p1));
  default: return 1;
  }
}

lg_status lg_schedule(double *multiplier, int32_t schedule, int64_t step, int64_t total, int64_t warmup, double p1,
                      double p2, double p3) {
  if (!multiplier) return lg_fail(LG_EARG, "multiplier is NULL");
  if (schedule < 0 || schedule >= LG_SCHEDULE_COUNT)
    return lg_fail(LG_EMISSING, "schedule %d is none of the list", schedule);
  if (total < 1) return lg_fail(LG_EARG, "a training of %lld steps", (long long)total);
  if (step < 0 || step >= total)
    return lg_fail(LG_EARG, "step %lld is outside 0..%lld", (long long)step, (long long)total - 1);
  if (warmup < 0 || warmup >= total)
    return lg_fail(LG_EARG, "a warm-up of %lld steps does not fit a training of %lld: expected 0..%lld",
                   (long long)warmup, (long long)total, (long long)total - 1);
  double m = multiplier_at(schedule, step, total, warmup, p1, p2, p3);
  if (!isfinite(m) || m < 0)
    return lg_fail(LG_EARG, "schedule %s with %g, %g, %g gives the multiplier %g at step %lld", names[schedule], p1, p2,
                   p3, m, (long long)step);
  *multiplier = m;
  return LG_OK;
}
