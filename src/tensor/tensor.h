/* tensor.h: dtypes, storage and views. Not arithmetic: that is in kernels/ and api/tensor.c. */
#ifndef LG_TENSOR_H
#define LG_TENSOR_H
#include "../core/status.h"
#include <stdatomic.h>
#include <stddef.h>

enum { LG_MAX_RANK = 8 };

#define LG_DTYPE_LIST(X)                                                                                               \
  X(F32, "f32", float, "32-bit float: values and gradients")                                                           \
  X(F64, "f64", double, "64-bit float: gate parameters, gradient checks, statistics")                                  \
  X(I32, "i32", int32_t, "32-bit signed integer: labels, token ids")                                                   \
  X(U8, "u8", uint8_t, "8-bit unsigned integer: images, truth values")
enum {
#define X(id, name, type, doc) LG_##id,
  LG_DTYPE_LIST(X)
#undef X
      LG_DTYPE_COUNT
};

/* A block of memory with a count of the tensors that look into it; the last one to go frees it. */
typedef struct lg_storage {
  atomic_int refs;
  size_t bytes;
  void *data;
} lg_storage;

struct lg_tensor {
  lg_storage *storage;                             /* holds one reference; NULL once closed */
  int32_t dtype, rank;                             /* dtype -1 once closed */
  int64_t shape[LG_MAX_RANK], stride[LG_MAX_RANK]; /* in elements */
  int64_t offset;                                  /* in elements, from the storage's start */
};

/* Fails when t is NULL or closed; what: the argument's name ("a", "dst"). */
lg_status lg_tensor_check(const lg_tensor *t, const char *what);
lg_status lg_storage_new(lg_storage **out, size_t bytes);
lg_storage *lg_storage_retain(lg_storage *s);
void lg_storage_drop(lg_storage *s);
/* A contiguous tensor over part of a storage, which it retains; offset in bytes, a multiple of the element size. */
lg_status lg_tensor_over(lg_tensor **out, lg_storage *s, size_t offset_bytes, int32_t dtype, int32_t rank,
                         const int64_t *shape);
/* "f32[128, 784]" into text; returns text. */
char *lg_shape_text(char *text, size_t bytes, int32_t dtype, int32_t rank, const int64_t *shape);
/* shape's number of elements; -1 when it is negative or overflows. */
int64_t lg_shape_size(int32_t rank, const int64_t *shape);
const char *lg_dtype_name(int32_t dtype);
#endif
