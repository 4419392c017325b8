/* rows.c: checks that a tensor can be read row by row. Moves no data. Called by loader.c and stats.c. */
#include "rows.h"

lg_status lg_rows_of(lg_rows *out, const lg_tensor *t, int32_t channels, const char *what) {
  LG_TRY(lg_tensor_check(t, what));
  char text[256];
  if (t->rank < 1) return lg_fail(LG_ESHAPE, "%s is a scalar, expected rows along its first axis", what);
  int64_t step = 1;
  for (int32_t i = t->rank - 1; i >= 1; i--) {
    if (t->shape[i] != 1 && t->stride[i] != step)
      return lg_fail(LG_ESHAPE, "the rows of %s are not contiguous: axis %d has stride %lld, expected %lld", what, i,
                     (long long)t->stride[i], (long long)step);
    step *= t->shape[i];
  }
  if (step < 1)
    return lg_fail(LG_ESHAPE, "%s is %s: its rows are empty", what,
                   lg_shape_text(text, sizeof text, t->dtype, t->rank, t->shape));
  if (channels < 0) return lg_fail(LG_EARG, "channels = %d is negative", channels);
  if (channels > 1 && (t->rank < 2 || t->shape[1] != channels))
    return lg_fail(LG_ESHAPE, "%s is %s, expected %d channels along axis 1", what,
                   lg_shape_text(text, sizeof text, t->dtype, t->rank, t->shape), channels);
  int64_t bytes = lg_dtype_bytes(t->dtype);
  *out = (lg_rows){.data = (const char *)t->storage->data + t->offset * bytes,
                   .dtype = t->dtype,
                   .rows = t->shape[0],
                   .width = step,
                   .stride = t->stride[0],
                   .row_bytes = step * bytes,
                   .stride_bytes = t->stride[0] * bytes,
                   .channels = channels,
                   .channel_size = channels > 1 ? step / channels : step};
  return LG_OK;
}

lg_status lg_rows_check_index(const int64_t *index, int64_t n, int64_t rows) {
  if (!index) return lg_fail(LG_EARG, "index is NULL");
  if (n < 1) return lg_fail(LG_EARG, "index holds %lld rows, expected at least 1", (long long)n);
  for (int64_t i = 0; i < n; i++)
    if (index[i] < 0 || index[i] >= rows)
      return lg_fail(LG_EARG, "index[%lld] = %lld is outside 0..%lld", (long long)i, (long long)index[i],
                     (long long)rows - 1);
  return LG_OK;
}
