/* tensor_dtype.c: which dtype the result of a function has, and the lists of functions by name.
 * The one place for these rules: the functions themselves (tensor.c, tensor_reduce.c) and Lua ask here. */
#include "tensor_internal.h"
#include "../core/lists.h"
#include "../kernels/reduce.h"

#define X(id, name, kind, doc) #name,
static const char *const binary_names[] = {LG_BINARY_LIST(X)};
static const char *const unary_names[] = {LG_UNARY_LIST(X)};
static const char *const reduce_names[] = {LG_REDUCE_LIST(X)};
#undef X
#define X(id, name, kind, doc) doc,
static const char *const binary_docs[] = {LG_BINARY_LIST(X)};
static const char *const unary_docs[] = {LG_UNARY_LIST(X)};
static const char *const reduce_docs[] = {LG_REDUCE_LIST(X)};
#undef X
const lg_list lg_list_binary = {"binary", binary_names, binary_docs, LG_BINARY_COUNT};
const lg_list lg_list_unary = {"unary", unary_names, unary_docs, LG_UNARY_COUNT};
const lg_list lg_list_reduce = {"reduce", reduce_names, reduce_docs, LG_REDUCE_COUNT};

static int is_dtype(int32_t d) { return d >= 0 && d < LG_DTYPE_COUNT; }

lg_status lg_op_check(const char *list, int32_t op, int32_t count, int32_t a, int32_t b) {
  if (op < 0 || op >= count) return lg_fail(LG_EARG, "%s function %d is outside 0..%d", list, op, count - 1);
  if (!is_dtype(a) || !is_dtype(b)) return lg_fail(LG_EDTYPE, "dtype %d is none of the list", is_dtype(a) ? b : a);
  return LG_OK;
}

int32_t lg_dtype_promote(int32_t a, int32_t b) {
  if (a == LG_F64 || b == LG_F64) return LG_F64;
  if (a == LG_F32 || b == LG_F32) return LG_F32;
  return a == LG_I32 || b == LG_I32 ? LG_I32 : LG_U8;
}

static int32_t widened(int32_t d) { return d == LG_U8 ? LG_I32 : d; }
static int32_t fractional(int32_t d) { return d == LG_F64 ? LG_F64 : LG_F32; }

lg_status lg_tensor_binary_dtype(int32_t *dtype, int32_t op, int32_t a, int32_t b) {
  if (!dtype) return lg_fail(LG_EARG, "dtype is NULL");
  LG_TRY(lg_op_check("binary", op, LG_BINARY_COUNT, a, b));
  int32_t common = lg_dtype_promote(a, b);
  switch (lg_binary_kind(op)) {
  case LG_KIND_COMPARE: *dtype = LG_U8; break;
  case LG_KIND_FLOAT: *dtype = fractional(common); break;
  case LG_KIND_ARITH: *dtype = widened(common); break;
  default: *dtype = common;
  }
  return LG_OK;
}

int32_t lg_binary_compute_dtype(int32_t op, int32_t a, int32_t b) {
  int32_t common = lg_dtype_promote(a, b);
  /* Comparing an i32 with an f32 is exact in neither of them. */
  if (lg_binary_kind(op) == LG_KIND_COMPARE && common == LG_F32 && (a == LG_I32 || b == LG_I32)) return LG_F64;
  return lg_binary_kind(op) == LG_KIND_FLOAT ? fractional(common) : widened(common);
}

lg_status lg_tensor_unary_dtype(int32_t *dtype, int32_t op, int32_t a) {
  if (!dtype) return lg_fail(LG_EARG, "dtype is NULL");
  LG_TRY(lg_op_check("unary", op, LG_UNARY_COUNT, a, a));
  switch (lg_unary_kind(op)) {
  case LG_KIND_TRUTH: *dtype = LG_U8; break;
  case LG_KIND_FLOAT: *dtype = fractional(a); break;
  default: *dtype = op == LG_UNARY_NEG ? widened(a) : a;
  }
  return LG_OK;
}

int32_t lg_unary_compute_dtype(int32_t op, int32_t a) {
  return lg_unary_kind(op) == LG_KIND_FLOAT ? fractional(a) : widened(a);
}

lg_status lg_tensor_reduce_dtype(int32_t *dtype, int32_t op, int32_t a) {
  if (!dtype) return lg_fail(LG_EARG, "dtype is NULL");
  LG_TRY(lg_op_check("reduce", op, LG_REDUCE_COUNT, a, a));
  switch (lg_reduce_kind(op)) {
  case LG_REDUCE_NUMBER: *dtype = a == LG_F32 ? LG_F32 : LG_F64; break;
  case LG_REDUCE_INDEX: *dtype = LG_I32; break;
  case LG_REDUCE_TRUTH: *dtype = LG_U8; break;
  default: *dtype = a;
  }
  return LG_OK;
}
