/* tensor_internal.h: what the files api/tensor_*.c share: checks of arguments and results' dtypes. */
#ifndef LG_TENSOR_INTERNAL_H
#define LG_TENSOR_INTERNAL_H
#include "../kernels/elementwise.h"
#include "../tensor/walk.h"

enum { LG_TILE = 1 << 15 }; /* elements of a tile of elementwise work: 128 KiB of f32 */

/* Fails unless 0 ≤ op < count and a, b are dtypes. */
lg_status lg_op_check(const char *list, int32_t op, int32_t count, int32_t a, int32_t b);
/* The smallest dtype that holds both. */
int32_t lg_dtype_promote(int32_t a, int32_t b);
/* The dtype (f32, f64, i32) in which the function works. op and dtypes must be valid. */
int32_t lg_binary_compute_dtype(int32_t op, int32_t a, int32_t b);
int32_t lg_unary_compute_dtype(int32_t op, int32_t a);
static inline int lg_dtype_is_float(int32_t d) { return d == LG_F32 || d == LG_F64; }

/* Fails unless out is open, writable and of that shape, and of that dtype (or both are floats). what: for the message.
 */
lg_status lg_out_check(const lg_tensor *out, const char *what, int32_t dtype, int32_t rank, const int64_t *shape);
/* Makes *in safe to read while out is written: where they share memory in different places, *in becomes a contiguous
 * copy, also in *copy, which the caller frees. *copy is NULL otherwise. */
lg_status lg_detach(const lg_tensor **in, lg_tensor **copy, const lg_tensor *out);
/* A contiguous copy in dtype. */
lg_status lg_tensor_clone(lg_tensor **out, const lg_tensor *t, int32_t dtype);
#endif
