/* walk.c: merging of dimensions, and the loop over what remains. No arithmetic on elements. */
#include "walk.h"
#include "../core/threads.h"

static lg_status fail_broadcast(const lg_tensor *a, const lg_tensor *b) {
  char x[160], y[160];
  return lg_fail(LG_ESHAPE, "%s and %s do not broadcast: dimensions are aligned at the right and must be equal or 1",
                 lg_shape_text(x, sizeof x, a->dtype, a->rank, a->shape),
                 lg_shape_text(y, sizeof y, b->dtype, b->rank, b->shape));
}

lg_status lg_shape_broadcast(int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b) {
  int32_t r = a->rank > b->rank ? a->rank : b->rank;
  for (int32_t i = 0; i < r; i++) { /* i counts from the right */
    int64_t x = i < a->rank ? a->shape[a->rank - 1 - i] : 1, y = i < b->rank ? b->shape[b->rank - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return fail_broadcast(a, b);
    shape[r - 1 - i] = x == 1 ? y : x;
  }
  *rank = r;
  return LG_OK;
}

/* Whether dimension d and the one after it, d + 1, are one dimension in every operand. */
static int mergeable(const lg_walk *w, int32_t d) {
  for (int32_t k = 0; k < w->operands; k++)
    if (w->step[k][d] != w->step[k][d + 1] * w->shape[d + 1]) return 0;
  return 1;
}

static void drop_dimension(lg_walk *w, int32_t d) {
  for (int32_t i = d; i + 1 < w->rank; i++) {
    w->shape[i] = w->shape[i + 1];
    for (int32_t k = 0; k < w->operands; k++) w->step[k][i] = w->step[k][i + 1];
  }
  w->rank--;
}

static void merge_dimensions(lg_walk *w) {
  for (int32_t d = w->rank - 1; d >= 0; d--)
    if (w->shape[d] == 1) drop_dimension(w, d);
  for (int32_t d = w->rank - 2; d >= 0; d--)
    if (mergeable(w, d)) {
      w->shape[d + 1] *= w->shape[d]; /* the inner step stays */
      drop_dimension(w, d);
    }
}

lg_status lg_walk_plan(lg_walk *w, int32_t operands, const lg_tensor *const *t) {
  *w = (lg_walk){.operands = operands, .rank = t[0]->rank, .size = lg_tensor_size(t[0])};
  for (int32_t i = 0; i < w->rank; i++) w->shape[i] = t[0]->shape[i];
  for (int32_t k = 0; k < operands; k++) {
    int64_t width = lg_dtype_bytes(t[k]->dtype);
    int32_t lead = w->rank - t[k]->rank;
    if (lead < 0) return fail_broadcast(t[0], t[k]);
    for (int32_t i = lead; i < w->rank; i++) {
      int64_t n = t[k]->shape[i - lead];
      if (n != w->shape[i] && n != 1) return fail_broadcast(t[0], t[k]);
      w->step[k][i] = n == 1 ? 0 : t[k]->stride[i - lead] * width;
    }
    w->base[k] = (char *)t[k]->storage->data + t[k]->offset * width;
  }
  if (w->size > 0) merge_dimensions(w);
  return LG_OK;
}

void lg_walk_part(const lg_walk *w, int64_t begin, int64_t end, lg_run_fn fn, void *context) {
  if (begin >= end) return;
  int64_t at[LG_MAX_RANK] = {0}, step[LG_WALK_MAX], rest = begin;
  char *data[LG_WALK_MAX];
  int32_t inner = w->rank - 1;
  for (int32_t k = 0; k < w->operands; k++) {
    data[k] = w->base[k];
    step[k] = inner >= 0 ? w->step[k][inner] : 0;
  }
  for (int32_t d = inner; d >= 0; d--) {
    at[d] = rest % w->shape[d];
    rest /= w->shape[d];
    for (int32_t k = 0; k < w->operands; k++) data[k] += at[d] * w->step[k][d];
  }
  for (;;) {
    int64_t n = inner >= 0 ? w->shape[inner] - at[inner] : 1;
    if (n > end - begin) n = end - begin;
    fn(context, begin, data, step, n);
    begin += n;
    if (begin >= end) return;
    /* The run ended at the end of the innermost dimension: carry into the outer ones. */
    for (int32_t k = 0; k < w->operands; k++) data[k] -= at[inner] * step[k];
    at[inner] = 0;
    for (int32_t d = inner - 1; d >= 0; d--) {
      for (int32_t k = 0; k < w->operands; k++) data[k] += w->step[k][d];
      if (++at[d] < w->shape[d]) break;
      for (int32_t k = 0; k < w->operands; k++) data[k] -= w->shape[d] * w->step[k][d];
      at[d] = 0;
    }
  }
}

typedef struct {
  const lg_walk *walk;
  int64_t grain;
  lg_run_fn fn;
  void *context;
} walk_job;

static void walk_tile(void *context, int64_t tile) {
  walk_job *j = context;
  int64_t begin = tile * j->grain, end = begin + j->grain;
  lg_walk_part(j->walk, begin, end < j->walk->size ? end : j->walk->size, j->fn, j->context);
}

void lg_walk_run(const lg_walk *w, int64_t grain, lg_run_fn fn, void *context) {
  walk_job job = {w, grain, fn, context};
  lg_parallel((w->size + grain - 1) / grain, walk_tile, &job);
}

/* First and last element that t touches, from its storage's start. */
static void reach(int64_t *low, int64_t *high, const lg_tensor *t) {
  *low = *high = t->offset;
  for (int32_t i = 0; i < t->rank; i++) *(t->stride[i] < 0 ? low : high) += (t->shape[i] - 1) * t->stride[i];
}

int32_t lg_tensor_clash(const lg_tensor *out, const lg_tensor *in) {
  if (out->storage != in->storage || lg_tensor_size(out) == 0 || lg_tensor_size(in) == 0) return 0;
  int32_t same = out->rank == in->rank && out->offset == in->offset;
  for (int32_t i = 0; same && i < out->rank; i++)
    same = out->shape[i] == in->shape[i] && (out->stride[i] == in->stride[i] || out->shape[i] == 1);
  if (same) return 0;
  int64_t out_low, out_high, in_low, in_high;
  reach(&out_low, &out_high, out);
  reach(&in_low, &in_high, in);
  return out_low <= in_high && in_low <= out_high;
}

lg_status lg_tensor_writable(const lg_tensor *t) {
  if (lg_tensor_size(t) <= 1) return LG_OK;
  /* In ascending order of |stride|, each stride must step past all that the smaller ones reach. */
  int64_t stride[LG_MAX_RANK], extent[LG_MAX_RANK], covered = 0;
  int32_t n = 0;
  for (int32_t i = 0; i < t->rank; i++) {
    if (t->shape[i] == 1) continue;
    int64_t s = t->stride[i] < 0 ? -t->stride[i] : t->stride[i];
    int32_t j = n++;
    for (; j > 0 && stride[j - 1] > s; j--) {
      stride[j] = stride[j - 1];
      extent[j] = extent[j - 1];
    }
    stride[j] = s;
    extent[j] = t->shape[i] - 1;
  }
  for (int32_t i = 0; i < n; i++) {
    if (stride[i] <= covered) {
      char text[160];
      return lg_fail(LG_EARG,
                     "cannot write to %s: some of its elements are the same memory (an expanded view); clone it first",
                     lg_shape_text(text, sizeof text, t->dtype, t->rank, t->shape));
    }
    covered += stride[i] * extent[i];
  }
  return LG_OK;
}
