/* clock.c: monotonic time in seconds. Not the time of day. Called by the train loop, the profiler and the probes. */
#include "../lgelu.h"
#include <time.h>

double lg_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
