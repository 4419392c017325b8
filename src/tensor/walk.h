/* walk.h: one pass over up to four tensors of one (broadcast) shape, as runs along the innermost dimension.
 * Dimensions that lie one behind the other in all operands are merged, so contiguous tensors are a single run.
 * Not arithmetic: the caller's function does that. Called by api/tensor_*.c. */
#ifndef LG_WALK_H
#define LG_WALK_H
#include "tensor.h"

enum { LG_WALK_MAX = 4 };

typedef struct {
  int32_t rank, operands;
  int64_t shape[LG_MAX_RANK];             /* of the merged dimensions */
  int64_t step[LG_WALK_MAX][LG_MAX_RANK]; /* in bytes, 0 where an operand is broadcast */
  char *base[LG_WALK_MAX];
  int64_t size; /* elements */
} lg_walk;

/* One run: n elements from flat index `at` (C order of the whole shape) on; data[i] is operand i's first element and
 * step[i] its distance in bytes from one element to the next. */
typedef void (*lg_run_fn)(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n);

/* Operand 0 gives the shape; the others broadcast to it as numpy does. Fails with both shapes when one does not. */
lg_status lg_walk_plan(lg_walk *w, int32_t operands, const lg_tensor *const *t);
/* The part [begin, end) of the flat indices, in order, in this thread. */
void lg_walk_part(const lg_walk *w, int64_t begin, int64_t end, lg_run_fn fn, void *context);
/* All of it in tiles of `grain` elements over the team. A tile starts at a multiple of grain. */
void lg_walk_run(const lg_walk *w, int64_t grain, lg_run_fn fn, void *context);

/* Broadcast shape of a and b as numpy has it; shape[8]. */
lg_status lg_shape_broadcast(int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b);
/* 1 when writing to out could change what is read from in later: they share elements and are not the very same view. */
int32_t lg_tensor_clash(const lg_tensor *out, const lg_tensor *in);
/* Fails when two elements of t may be the same memory (an expanded view): nothing may be written to it. */
lg_status lg_tensor_writable(const lg_tensor *t);
#endif
