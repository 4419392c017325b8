/* probe.h: bursts of one kind of work, for measuring what the machine can do. Called by probe.c only. */
#ifndef LG_PROBE_H
#define LG_PROBE_H
#include <stdint.h>

/* Does rounds of multiply-adds on registers, nothing else; returns how many floating-point operations that were. */
double lg_k_fma_burst(float *sink, int64_t rounds);
/* y[n] = x[n] by vector loads and ordinary stores, as the gate kernels do them; nothing overlaps. */
void lg_k_copy(float *y, const float *x, int64_t n);
#endif
