/* tensor.c: creation, views and release of tensors. No arithmetic. */
#include "tensor.h"
#include "../core/lists.h"
#include "../core/memory.h"
#include <stdio.h>
#include <string.h>

static const int32_t dtype_sizes[] = {
#define X(id, name, type, doc) (int32_t)sizeof(type),
    LG_DTYPE_LIST(X)
#undef X
};
static const char *const dtype_names[] = {
#define X(id, name, type, doc) name,
    LG_DTYPE_LIST(X)
#undef X
};
static const char *const dtype_docs[] = {
#define X(id, name, type, doc) doc,
    LG_DTYPE_LIST(X)
#undef X
};
const lg_list lg_list_dtype = {"dtype", dtype_names, dtype_docs, LG_DTYPE_COUNT};

int32_t lg_dtype_bytes(int32_t d) { return d >= 0 && d < LG_DTYPE_COUNT ? dtype_sizes[d] : 0; }
const char *lg_dtype_name(int32_t d) { return d >= 0 && d < LG_DTYPE_COUNT ? dtype_names[d] : "?"; }

int64_t lg_shape_size(int32_t rank, const int64_t *shape) {
  int64_t n = 1; /* over the dimensions other than 0, as their product is also the strides' bound */
  int empty = 0;
  for (int32_t i = 0; i < rank; i++) {
    if (shape[i] < 0 || __builtin_mul_overflow(n, shape[i] ? shape[i] : 1, &n)) return -1;
    empty |= shape[i] == 0;
  }
  return empty ? 0 : n;
}

char *lg_shape_text(char *text, size_t bytes, int32_t dtype, int32_t rank, const int64_t *shape) {
  size_t n = (size_t)snprintf(text, bytes, "%s[", dtype < 0 ? "" : lg_dtype_name(dtype));
  for (int32_t i = 0; i < rank && n < bytes; i++)
    n += (size_t)snprintf(text + n, bytes - n, shape[i] < 0 ? "%sbatch" : "%s%lld", i ? ", " : "", (long long)shape[i]);
  if (n < bytes) snprintf(text + n, bytes - n, "]");
  return text;
}

lg_status lg_storage_new(lg_storage **out, size_t bytes) {
  *out = NULL;
  lg_storage *s = lg_alloc(sizeof *s);
  if (s) s->data = lg_alloc(bytes);
  if (!s || !s->data) {
    lg_release(s);
    return lg_fail(LG_EMEM, "cannot allocate %zu bytes (%lld bytes in use)", bytes, (long long)lg_mem_live());
  }
  atomic_init(&s->refs, 1);
  s->bytes = bytes;
  *out = s;
  return LG_OK;
}

lg_storage *lg_storage_retain(lg_storage *s) {
  atomic_fetch_add(&s->refs, 1);
  return s;
}

void lg_storage_drop(lg_storage *s) {
  if (s && atomic_fetch_sub(&s->refs, 1) == 1) {
    lg_release(s->data);
    lg_release(s);
  }
}

static lg_status check_shape(int32_t dtype, int32_t rank, const int64_t *shape, int64_t *size) {
  if (dtype < 0 || dtype >= LG_DTYPE_COUNT) return lg_fail(LG_EDTYPE, "dtype %d is none of the list", dtype);
  if (rank < 0 || rank > LG_MAX_RANK) return lg_fail(LG_ESHAPE, "rank %d is outside 0..%d", rank, LG_MAX_RANK);
  if (rank > 0 && !shape) return lg_fail(LG_EARG, "shape is NULL");
  *size = lg_shape_size(rank, shape);
  int64_t bytes;
  if (*size < 0 || __builtin_mul_overflow(*size, (int64_t)8, &bytes)) {
    char text[256];
    return lg_fail(LG_ESHAPE, "%s has a negative or too large dimension",
                   lg_shape_text(text, sizeof text, dtype, rank, shape));
  }
  return LG_OK;
}

static void set_contiguous(lg_tensor *t, int32_t dtype, int32_t rank, const int64_t *shape) {
  t->dtype = dtype;
  t->rank = rank;
  int64_t step = 1;
  for (int32_t i = rank - 1; i >= 0; i--) {
    t->shape[i] = shape[i];
    t->stride[i] = step;
    step *= shape[i];
  }
}

lg_status lg_tensor_over(lg_tensor **out, lg_storage *s, size_t offset_bytes, int32_t dtype, int32_t rank,
                         const int64_t *shape) {
  *out = NULL;
  int64_t size;
  LG_TRY(check_shape(dtype, rank, shape, &size));
  size_t width = (size_t)lg_dtype_bytes(dtype);
  if (offset_bytes % width || offset_bytes > s->bytes || (size_t)size * width > s->bytes - offset_bytes)
    return lg_fail(LG_EINTERNAL, "a tensor of %lld elements does not fit its storage", (long long)size);
  lg_tensor *t = lg_alloc(sizeof *t);
  if (!t) return lg_fail(LG_EMEM, "cannot allocate a tensor handle");
  set_contiguous(t, dtype, rank, shape);
  t->offset = (int64_t)(offset_bytes / width);
  t->storage = lg_storage_retain(s);
  *out = t;
  return LG_OK;
}

lg_status lg_tensor_new(lg_tensor **out, int32_t dtype, int32_t rank, const int64_t *shape) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  int64_t size;
  LG_TRY(check_shape(dtype, rank, shape, &size));
  lg_storage *s;
  LG_TRY(lg_storage_new(&s, (size_t)size * (size_t)lg_dtype_bytes(dtype)));
  lg_status status = lg_tensor_over(out, s, 0, dtype, rank, shape);
  lg_storage_drop(s);
  return status;
}

lg_status lg_tensor_view(lg_tensor **out, lg_tensor *parent, int32_t rank, const int64_t *shape, const int64_t *strides,
                         int64_t offset) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  LG_TRY(lg_tensor_check(parent, "the tensor"));
  if (rank > 0 && !strides) return lg_fail(LG_EARG, "strides is NULL");
  int64_t size;
  LG_TRY(check_shape(parent->dtype, rank, shape, &size));
  if (size == 0) offset = 0; /* it touches no element, so any offset is right */
  int64_t low, high, all = (int64_t)(parent->storage->bytes / (size_t)lg_dtype_bytes(parent->dtype));
  if (__builtin_add_overflow(parent->offset, offset, &low))
    return lg_fail(LG_EARG, "offset %lld overflows", (long long)offset);
  high = low;
  for (int32_t i = 0; i < rank && size > 0; i++) {
    int64_t reach;
    int64_t *end = strides[i] < 0 ? &low : &high;
    if (__builtin_mul_overflow(shape[i] - 1, strides[i], &reach) || __builtin_add_overflow(*end, reach, end))
      return lg_fail(LG_EARG, "stride %lld overflows", (long long)strides[i]);
  }
  if (size > 0 && (low < 0 || high >= all))
    return lg_fail(LG_ESHAPE, "a view reaches elements %lld to %lld of a storage of %lld", (long long)low,
                   (long long)high, (long long)all);
  lg_tensor *t = lg_alloc(sizeof *t);
  if (!t) return lg_fail(LG_EMEM, "cannot allocate a tensor handle");
  t->dtype = parent->dtype;
  t->rank = rank;
  if (rank) {
    memcpy(t->shape, shape, (size_t)rank * sizeof *shape);
    memcpy(t->stride, strides, (size_t)rank * sizeof *strides);
  }
  t->offset = parent->offset + offset;
  t->storage = lg_storage_retain(parent->storage);
  *out = t;
  return LG_OK;
}

void lg_tensor_close(lg_tensor *t) {
  if (!t) return;
  lg_storage_drop(t->storage);
  /* No dtype and no elements: what does not check for it finds nothing to do. */
  *t = (lg_tensor){.dtype = -1, .rank = 1};
}

void lg_tensor_free(lg_tensor *t) {
  if (!t) return;
  lg_storage_drop(t->storage);
  lg_release(t);
}

lg_status lg_tensor_check(const lg_tensor *t, const char *what) {
  if (!t) return lg_fail(LG_EARG, "%s is NULL", what);
  if (t->dtype < 0) return lg_fail(LG_ESTATE, "%s was freed: it has no elements any more", what);
  return LG_OK;
}

int32_t lg_tensor_dtype(const lg_tensor *t) { return t ? t->dtype : -1; }
int32_t lg_tensor_rank(const lg_tensor *t) { return t ? t->rank : -1; }
int64_t lg_tensor_dim(const lg_tensor *t, int32_t i) { return t && i >= 0 && i < t->rank ? t->shape[i] : -1; }
int64_t lg_tensor_stride(const lg_tensor *t, int32_t i) { return t && i >= 0 && i < t->rank ? t->stride[i] : 0; }
int64_t lg_tensor_size(const lg_tensor *t) { return t ? lg_shape_size(t->rank, t->shape) : -1; }

int32_t lg_tensor_contiguous(const lg_tensor *t) {
  if (!t) return 0;
  int64_t step = 1;
  for (int32_t i = t->rank - 1; i >= 0; i--) {
    if (t->shape[i] != 1 && t->stride[i] != step) return 0;
    step *= t->shape[i];
  }
  return 1;
}

void *lg_tensor_data(lg_tensor *t) {
  return t && t->storage ? (char *)t->storage->data + t->offset * lg_dtype_bytes(t->dtype) : NULL;
}
