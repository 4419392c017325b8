/* elementwise_template.h: the elementwise kernels of one float type. Not a header of its own: kernels/elementwise.c
 * includes it once a type, with REAL (the type), NAME(x) (x with the type's suffix) and M(f) (libm's function of the
 * type) defined, after the expressions EXPR_<function> and the result types TYPE_<kind>. */

#define X(id, name, kind, doc)                                                                                         \
  static int64_t NAME(binary_##name)(void *out, const void *a, const void *b, int64_t n) {                             \
    TYPE_##kind *z = out;                                                                                              \
    const REAL *x = a, *y = b;                                                                                         \
    SIMD for (int64_t i = 0; i < n; i++) z[i] = (TYPE_##kind)EXPR_##name(x[i], y[i]);                                  \
    return n;                                                                                                          \
  }
LG_BINARY_LIST(X)
#undef X

#define X(id, name, kind, doc)                                                                                         \
  static int64_t NAME(unary_##name)(void *out, const void *a, int64_t n) {                                             \
    TYPE_##kind *z = out;                                                                                              \
    const REAL *x = a;                                                                                                 \
    SIMD for (int64_t i = 0; i < n; i++) z[i] = (TYPE_##kind)EXPR_##name(x[i]);                                        \
    return n;                                                                                                          \
  }
LG_UNARY_LIST(X)
#undef X

static const lg_binary_fn NAME(binary)[] = {
#define X(id, name, kind, doc) NAME(binary_##name),
    LG_BINARY_LIST(X)
#undef X
};
static const lg_unary_fn NAME(unary)[] = {
#define X(id, name, kind, doc) NAME(unary_##name),
    LG_UNARY_LIST(X)
#undef X
};

void NAME(lg_k_add)(REAL *out, const REAL *a, const REAL *b, int64_t n) {
  SIMD for (int64_t i = 0; i < n; i++) out[i] = a[i] + b[i];
}
#undef REAL
#undef NAME
#undef M
