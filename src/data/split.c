/* split.c: the stratified validation split. Touches labels only. Called by lua/lgelu/data once a run. */
#include "../core/memory.h"
#include "../core/rng.h"
#include "../tensor/tensor.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_LABEL = 1 << 20 };

typedef struct {
  int64_t remainder, label;
} share;

/* Larger remainder first; equal ones by label, so that the order is total. */
static int by_remainder(const void *a, const void *b) {
  const share *p = a, *q = b;
  if (p->remainder != q->remainder) return p->remainder < q->remainder ? 1 : -1;
  return p->label < q->label ? -1 : 1;
}

/* quota[classes] from count[classes]: n_val·count/n rounded down, and one more each to the largest remainders until the
 * sum is n_val (Hamilton's method). */
static void divide(int64_t *quota, const int64_t *count, share *shares, int64_t classes, int64_t n, int64_t n_val) {
  int64_t left = n_val;
  for (int64_t c = 0; c < classes; c++) {
    __int128 exact = (__int128)n_val * count[c];
    quota[c] = (int64_t)(exact / n);
    shares[c] = (share){(int64_t)(exact % n), c};
    left -= quota[c];
  }
  qsort(shares, (size_t)classes, sizeof *shares, by_remainder);
  for (int64_t i = 0; i < left; i++) quota[shares[i].label]++;
}

static lg_status count_labels(int64_t *classes, const int32_t *labels, int64_t n) {
  int32_t top = 0;
  for (int64_t i = 0; i < n; i++) {
    if (labels[i] < 0 || labels[i] >= MAX_LABEL)
      return lg_fail(LG_EARG, "label %d of row %lld is outside 0..%d", labels[i], (long long)i, MAX_LABEL - 1);
    if (labels[i] > top) top = labels[i];
  }
  *classes = (int64_t)top + 1;
  return LG_OK;
}

/* Draws the validation rows: the first quota[class] rows of each class in the order perm[n], marked in chosen[n]. */
static void choose(char *chosen, const int64_t *perm, int64_t *quota, const int32_t *labels, int64_t n) {
  for (int64_t i = 0; i < n; i++)
    if (quota[labels[perm[i]]] > 0) {
      quota[labels[perm[i]]]--;
      chosen[perm[i]] = 1;
    }
}

static lg_status split(int64_t *index, int64_t n, int64_t n_val, const int32_t *labels, uint64_t seed) {
  int64_t classes = 0;
  LG_TRY(count_labels(&classes, labels, n));
  LG_TRY(lg_rng_permutation(index, n, seed, lg_stream(LG_STREAM_SPLIT, 0)));
  size_t per_class = (size_t)classes * sizeof(int64_t);
  char *block = lg_alloc(2 * per_class + (size_t)classes * sizeof(share) + (size_t)n);
  if (!block) return lg_fail(LG_EMEM, "cannot allocate the split of %lld rows", (long long)n);
  int64_t *count = (int64_t *)block, *quota = count + classes;
  share *shares = (share *)(quota + classes);
  char *chosen = (char *)(shares + classes);
  for (int64_t i = 0; i < n; i++) count[labels[i]]++;
  divide(quota, count, shares, classes, n, n_val);
  choose(chosen, index, quota, labels, n);
  for (int64_t i = 0, val = 0, train = n_val; i < n; i++) index[chosen[i] ? val++ : train++] = i;
  lg_release(block);
  return LG_OK;
}

lg_status lg_split(int64_t *index, int64_t n, int64_t n_val, const lg_tensor *labels, uint64_t seed) {
  if (!index) return lg_fail(LG_EARG, "index is NULL");
  LG_TRY(lg_tensor_check(labels, "labels"));
  if (labels->dtype != LG_I32 || labels->rank != 1 || labels->shape[0] != n || !lg_tensor_contiguous(labels)) {
    char text[256];
    return lg_fail(LG_ESHAPE, "labels are %s, expected contiguous i32[%lld]",
                   lg_shape_text(text, sizeof text, labels->dtype, labels->rank, labels->shape), (long long)n);
  }
  if (n < 1 || n_val < 0 || n_val > n)
    return lg_fail(LG_EARG, "cannot take %lld of %lld rows for validation", (long long)n_val, (long long)n);
  return split(index, n, n_val, (const int32_t *)labels->storage->data + labels->offset, seed);
}
