/* elementwise.c: the kernels of elementwise.h: floats from elementwise_template.h, i32 with checked overflow here, and
 * conversion between dtypes. */
#include "elementwise.h"
#include "../tensor/tensor.h"
#include <math.h>

/* Iterations are independent: out may be an input itself, which rules `restrict` out but not vectors. */
#define SIMD _Pragma("omp simd")

#define EXPR_add(a, b) ((a) + (b))
#define EXPR_sub(a, b) ((a) - (b))
#define EXPR_mul(a, b) ((a) * (b))
#define EXPR_div(a, b) ((a) / (b))
#define EXPR_pow(a, b) M(pow)(a, b)
#define EXPR_min(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define EXPR_max(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
#define EXPR_eq(a, b) ((a) == (b))
#define EXPR_ne(a, b) ((a) != (b))
#define EXPR_lt(a, b) ((a) < (b))
#define EXPR_le(a, b) ((a) <= (b))
#define EXPR_gt(a, b) ((a) > (b))
#define EXPR_ge(a, b) ((a) >= (b))
#define EXPR_neg(a) (-(a))
#define EXPR_abs(a) M(fabs)(a)
#define EXPR_exp(a) M(exp)(a)
#define EXPR_log(a) M(log)(a)
#define EXPR_sqrt(a) M(sqrt)(a)
#define EXPR_tanh(a) M(tanh)(a)
#define EXPR_sin(a) M(sin)(a)
#define EXPR_cos(a) M(cos)(a)
#define EXPR_erf(a) M(erf)(a)
#define EXPR_floor(a) M(floor)(a)
#define EXPR_ceil(a) M(ceil)(a)
#define EXPR_round(a) M(rint)(a)
#define EXPR_sign(a) ((a) > 0 ? 1 : (a) < 0 ? -1 : (a))
#define EXPR_not(a) ((a) == 0)
#define TYPE_ARITH REAL
#define TYPE_PICK REAL
#define TYPE_FLOAT REAL
#define TYPE_KEEP REAL
#define TYPE_COMPARE uint8_t
#define TYPE_TRUTH uint8_t

#define REAL float
#define NAME(x) x##_f32
#define M(fn) fn##f
#include "elementwise_template.h"

#define REAL double
#define NAME(x) x##_f64
#define M(fn) fn
#include "elementwise_template.h"

/* -- i32: a function gives 0 when the result is no i32 ------------------------------------------------------------ */

static int i32_add(int32_t *z, int32_t a, int32_t b) { return !__builtin_add_overflow(a, b, z); }
static int i32_sub(int32_t *z, int32_t a, int32_t b) { return !__builtin_sub_overflow(a, b, z); }
static int i32_mul(int32_t *z, int32_t a, int32_t b) { return !__builtin_mul_overflow(a, b, z); }

/* By squaring. The last square is not needed and may overflow without harm, so it is not taken. */
static int i32_pow(int32_t *z, int32_t a, int32_t b) {
  if (b < 0) return 0;
  int32_t result = 1;
  while (b > 0) {
    if (b & 1 && __builtin_mul_overflow(result, a, &result)) return 0;
    b >>= 1;
    if (b > 0 && __builtin_mul_overflow(a, a, &a)) return 0;
  }
  *z = result;
  return 1;
}

static int i32_neg(int32_t *z, int32_t a) { return !__builtin_sub_overflow(0, a, z); }
static int i32_abs(int32_t *z, int32_t a) { return a < 0 ? i32_neg(z, a) : (*z = a, 1); }

#define I32_CHECKED_BINARY(name)                                                                                       \
  static int64_t binary_##name##_i32(void *out, const void *a, const void *b, int64_t n) {                             \
    int32_t *z = out;                                                                                                  \
    const int32_t *x = a, *y = b;                                                                                      \
    for (int64_t i = 0; i < n; i++)                                                                                    \
      if (!i32_##name(z + i, x[i], y[i])) return i;                                                                    \
    return n;                                                                                                          \
  }
#define I32_PLAIN_BINARY(name, type)                                                                                   \
  static int64_t binary_##name##_i32(void *out, const void *a, const void *b, int64_t n) {                             \
    type *z = out;                                                                                                     \
    const int32_t *x = a, *y = b;                                                                                      \
    SIMD for (int64_t i = 0; i < n; i++) z[i] = (type)EXPR_##name(x[i], y[i]);                                         \
    return n;                                                                                                          \
  }
#define I32_CHECKED_UNARY(name)                                                                                        \
  static int64_t unary_##name##_i32(void *out, const void *a, int64_t n) {                                             \
    int32_t *z = out;                                                                                                  \
    const int32_t *x = a;                                                                                              \
    for (int64_t i = 0; i < n; i++)                                                                                    \
      if (!i32_##name(z + i, x[i])) return i;                                                                          \
    return n;                                                                                                          \
  }
#define I32_PLAIN_UNARY(name, type, expression)                                                                        \
  static int64_t unary_##name##_i32(void *out, const void *a, int64_t n) {                                             \
    type *z = out;                                                                                                     \
    const int32_t *x = a;                                                                                              \
    SIMD for (int64_t i = 0; i < n; i++) z[i] = (type)(expression);                                                    \
    return n;                                                                                                          \
  }
I32_CHECKED_BINARY(add)
I32_CHECKED_BINARY(sub)
I32_CHECKED_BINARY(mul)
I32_CHECKED_BINARY(pow)
I32_PLAIN_BINARY(eq, uint8_t)
I32_PLAIN_BINARY(ne, uint8_t)
I32_PLAIN_BINARY(lt, uint8_t)
I32_PLAIN_BINARY(le, uint8_t)
I32_PLAIN_BINARY(gt, uint8_t)
I32_PLAIN_BINARY(ge, uint8_t)
I32_CHECKED_UNARY(neg)
I32_CHECKED_UNARY(abs)
I32_PLAIN_UNARY(floor, int32_t, x[i])
I32_PLAIN_UNARY(ceil, int32_t, x[i])
I32_PLAIN_UNARY(round, int32_t, x[i])
I32_PLAIN_UNARY(sign, int32_t, (x[i] > 0) - (x[i] < 0))
I32_PLAIN_UNARY(not, uint8_t, x[i] == 0)

static int64_t binary_min_i32(void *out, const void *a, const void *b, int64_t n) {
  int32_t *z = out;
  const int32_t *x = a, *y = b;
  SIMD for (int64_t i = 0; i < n; i++) z[i] = x[i] < y[i] ? x[i] : y[i];
  return n;
}

static int64_t binary_max_i32(void *out, const void *a, const void *b, int64_t n) {
  int32_t *z = out;
  const int32_t *x = a, *y = b;
  SIMD for (int64_t i = 0; i < n; i++) z[i] = x[i] > y[i] ? x[i] : y[i];
  return n;
}

static const lg_binary_fn binary_i32[LG_BINARY_COUNT] = {
    [LG_BINARY_ADD] = binary_add_i32, [LG_BINARY_SUB] = binary_sub_i32, [LG_BINARY_MUL] = binary_mul_i32,
    [LG_BINARY_POW] = binary_pow_i32, [LG_BINARY_MIN] = binary_min_i32, [LG_BINARY_MAX] = binary_max_i32,
    [LG_BINARY_EQ] = binary_eq_i32,   [LG_BINARY_NE] = binary_ne_i32,   [LG_BINARY_LT] = binary_lt_i32,
    [LG_BINARY_LE] = binary_le_i32,   [LG_BINARY_GT] = binary_gt_i32,   [LG_BINARY_GE] = binary_ge_i32,
};
static const lg_unary_fn unary_i32[LG_UNARY_COUNT] = {
    [LG_UNARY_NEG] = unary_neg_i32,   [LG_UNARY_ABS] = unary_abs_i32,     [LG_UNARY_FLOOR] = unary_floor_i32,
    [LG_UNARY_CEIL] = unary_ceil_i32, [LG_UNARY_ROUND] = unary_round_i32, [LG_UNARY_SIGN] = unary_sign_i32,
    [LG_UNARY_NOT] = unary_not_i32,
};

/* -- tables -------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  int32_t kind;
} binaries[] =
    {
#define X(id, name, kind, doc) {#name, LG_KIND_##kind},
        LG_BINARY_LIST(X)
#undef X
},
  unaries[] = {
#define X(id, name, kind, doc) {#name, LG_KIND_##kind},
      LG_UNARY_LIST(X)
#undef X
};

int32_t lg_binary_kind(int32_t op) { return binaries[op].kind; }
int32_t lg_unary_kind(int32_t op) { return unaries[op].kind; }
const char *lg_binary_name(int32_t op) { return binaries[op].name; }
const char *lg_unary_name(int32_t op) { return unaries[op].name; }

lg_binary_fn lg_k_binary(int32_t op, int32_t dtype) {
  if (op < 0 || op >= LG_BINARY_COUNT) return NULL;
  return dtype == LG_F32 ? binary_f32[op] : dtype == LG_F64 ? binary_f64[op] : dtype == LG_I32 ? binary_i32[op] : NULL;
}

lg_unary_fn lg_k_unary(int32_t op, int32_t dtype) {
  if (op < 0 || op >= LG_UNARY_COUNT) return NULL;
  return dtype == LG_F32 ? unary_f32[op] : dtype == LG_F64 ? unary_f64[op] : dtype == LG_I32 ? unary_i32[op] : NULL;
}

/* -- conversion ---------------------------------------------------------------------------------------------------- */

/* Whether a value of the type fits dst once truncated; comparisons with NaN are false. */
#define FITS_f32(v) 1
#define FITS_f64(v) 1
#define FITS_i32(v) ((double)(v) > -2147483649.0 && (double)(v) < 2147483648.0)
#define FITS_u8(v) ((double)(v) > -1.0 && (double)(v) < 256.0)
#define LG_CONVERSIONS(Y)                                                                                              \
  Y(f32, float, f32, float)                                                                                            \
  Y(f32, float, f64, double)                                                                                           \
  Y(f32, float, i32, int32_t)                                                                                          \
  Y(f32, float, u8, uint8_t)                                                                                           \
  Y(f64, double, f32, float)                                                                                           \
  Y(f64, double, f64, double)                                                                                          \
  Y(f64, double, i32, int32_t)                                                                                         \
  Y(f64, double, u8, uint8_t)                                                                                          \
  Y(i32, int32_t, f32, float)                                                                                          \
  Y(i32, int32_t, f64, double)                                                                                         \
  Y(i32, int32_t, i32, int32_t)                                                                                        \
  Y(i32, int32_t, u8, uint8_t)                                                                                         \
  Y(u8, uint8_t, f32, float) Y(u8, uint8_t, f64, double) Y(u8, uint8_t, i32, int32_t) Y(u8, uint8_t, u8, uint8_t)

#define Y(to, to_type, from, from_type)                                                                                \
  static int64_t convert_##to##_##from(char *dst, int64_t dst_step, const char *src, int64_t src_step, int64_t n) {    \
    if (dst_step == (int64_t)sizeof(to_type) && src_step == (int64_t)sizeof(from_type)) {                              \
      to_type *z = (to_type *)dst;                                                                                     \
      const from_type *x = (const from_type *)src;                                                                     \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        if (!FITS_##to(x[i])) return i;                                                                                \
        z[i] = (to_type)x[i];                                                                                          \
      }                                                                                                                \
      return n;                                                                                                        \
    }                                                                                                                  \
    for (int64_t i = 0; i < n; i++, dst += dst_step, src += src_step) {                                                \
      from_type v = *(const from_type *)src;                                                                           \
      if (!FITS_##to(v)) return i;                                                                                     \
      *(to_type *)dst = (to_type)v;                                                                                    \
    }                                                                                                                  \
    return n;                                                                                                          \
  }
LG_CONVERSIONS(Y)
#undef Y

typedef int64_t (*convert_fn)(char *, int64_t, const char *, int64_t, int64_t);
/* ORDER LG_DTYPE_LIST, in both dimensions: to, from. */
static const convert_fn conversions[LG_DTYPE_COUNT * LG_DTYPE_COUNT] = {
#define Y(to, to_type, from, from_type) convert_##to##_##from,
    LG_CONVERSIONS(Y)
#undef Y
};

int64_t lg_k_convert(void *dst, int32_t dst_dtype, int64_t dst_step, const void *src, int32_t src_dtype,
                     int64_t src_step, int64_t n) {
  return conversions[dst_dtype * LG_DTYPE_COUNT + src_dtype](dst, dst_step, src, src_step, n);
}
