/* threads.h: the one owner of threads. Work is cut into fixed tiles, numbered from 0, whose number and borders never
 * depend on how many threads there are; each tile writes its own output, so the bits do not either. */
#ifndef LG_THREADS_H
#define LG_THREADS_H
#include "status.h"

typedef void (*lg_tile_fn)(void *context, int64_t tile);
/* Runs fn(context, 0 … tiles-1) on the team; returns when all are done. tiles = 1 runs in the caller. Not nested. */
void lg_parallel(int64_t tiles, lg_tile_fn fn, void *context);
/* Sets the team's size (1..256). */
lg_status lg_threads_set(int32_t threads);
#endif
