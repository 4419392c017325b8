/* threads.c: the OpenMP team behind lg_parallel. */
#define _GNU_SOURCE
#include "threads.h"
#include <omp.h>
#include <sched.h>

static int32_t team = 1;

int32_t lg_threads(void) { return team; }

lg_status lg_threads_set(int32_t threads) {
  if (threads == 0) {
    cpu_set_t set;
    threads = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    if (threads > 256) threads = 256;
  }
  if (threads < 1 || threads > 256) return lg_fail(LG_EARG, "threads = %d is outside 1..256", threads);
  team = threads;
  return LG_OK;
}

void lg_parallel(int64_t tiles, lg_tile_fn fn, void *context) {
  if (team == 1 || tiles <= 1) {
    for (int64_t i = 0; i < tiles; i++) fn(context, i);
    return;
  }
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (int64_t i = 0; i < tiles; i++) fn(context, i);
}
