/* test_tensor.c: tensors from C: NULL and closed handles, bounds of views, writable views, failing memory, kernels for
 * ops. What tensors compute is tested from Lua (tests/spec/tensor_*_spec.lua). */
#include "../../src/core/memory.h"
#include "../../src/kernels/elementwise.h"
#include "../../src/kernels/reduce.h"
#include "../../src/tensor/walk.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

static lg_tensor *make(int32_t dtype, int64_t rows, int64_t cols) {
  lg_tensor *t = NULL;
  if (lg_tensor_new(&t, dtype, 2, (int64_t[]){rows, cols}) != LG_OK) {
    printf("FAILED: a tensor of %lld elements (%s)\n", (long long)(rows * cols), lg_last_error());
    exit(1);
  }
  return t;
}

/* Every call with a handle that is missing or closed is an error with a text, never a crash. */
static void refused_handles(void) {
  lg_tensor *t = make(LG_F32, 2, 3), *closed = make(LG_F32, 2, 3), *out = NULL;
  lg_tensor_close(closed);
  lg_tensor_close(closed);
  lg_tensor_close(NULL);
  lg_tensor_free(NULL);
  expect(lg_tensor_dtype(closed) == -1 && lg_tensor_size(closed) == 0 && !lg_tensor_data(closed), "a closed handle");
  lg_tensor *const bad[] = {NULL, closed};
  for (int i = 0; i < 2; i++) {
    lg_tensor *b = bad[i];
    int32_t dtype, rank, yes;
    int64_t shape[LG_MAX_RANK];
    expect(lg_tensor_view(&out, b, 0, NULL, NULL, 0) != LG_OK && !out, "view");
    expect(lg_tensor_copy(b, t) != LG_OK && lg_tensor_copy(t, b) != LG_OK, "copy");
    expect(lg_tensor_fill(b, 1) != LG_OK, "fill");
    expect(lg_tensor_binary(t, 0, b, t) != LG_OK && lg_tensor_binary(t, 0, t, b) != LG_OK, "binary");
    expect(lg_tensor_binary(b, 0, t, t) != LG_OK && lg_tensor_unary(b, 0, t) != LG_OK, "out");
    expect(lg_tensor_unary(t, 0, b) != LG_OK, "unary");
    expect(lg_tensor_where(t, b, t, t) != LG_OK && lg_tensor_where(t, t, b, t) != LG_OK, "where");
    expect(lg_tensor_where(t, t, t, b) != LG_OK && lg_tensor_where(b, t, t, t) != LG_OK, "where");
    expect(lg_tensor_reduce(t, 0, b, -1) != LG_OK && lg_tensor_reduce(b, 0, t, -1) != LG_OK, "reduce");
    expect(lg_tensor_matmul(t, b, t) != LG_OK && lg_tensor_matmul(t, t, b) != LG_OK, "matmul");
    expect(lg_tensor_matmul_shape(&dtype, &rank, shape, b, t) != LG_OK, "matmul_shape");
    expect(lg_tensor_broadcast(&rank, shape, t, b) != LG_OK, "broadcast");
    expect(lg_tensor_uniform(b, 0, 1, 0, 0) != LG_OK && lg_tensor_normal(b, 0, 1, 0, 0) != LG_OK, "random");
    expect(lg_tensor_gate(t, 0, b, NULL) != LG_OK && lg_tensor_gate(b, 0, t, NULL) != LG_OK, "gate");
    expect(lg_tensor_gate_grad(b, NULL, 0, t, NULL) != LG_OK, "gate_grad");
    expect(lg_tensor_all_finite(&yes, b) != LG_OK, "all_finite");
    expect(lg_npy_write(b, "/nonexistent/x.npy") != LG_OK, "npy_write");
  }
  expect(lg_tensor_gate(t, 0, t, closed) != LG_OK, "closed lambda");
  expect(lg_tensor_new(NULL, LG_F32, 0, NULL) != LG_OK && lg_npy_read(&out, NULL) != LG_OK, "NULL arguments");
  expect(lg_tensor_new(&out, LG_F32, 2, NULL) == LG_EARG && lg_tensor_new(&out, 9, 0, NULL) == LG_EDTYPE, "new");
  expect(lg_tensor_new(&out, LG_F32, 9, (int64_t[9]){0}) == LG_ESHAPE, "rank 9");
  expect(lg_tensor_new(&out, LG_F32, 1, (int64_t[]){-1}) == LG_ESHAPE, "negative dimension");
  expect(lg_tensor_new(&out, LG_U8, 2, (int64_t[]){INT64_MAX, 2}) == LG_ESHAPE, "overflowing shape");
  expect(lg_tensor_unary(t, 99, t) == LG_EARG && lg_tensor_binary(t, -1, t, t) == LG_EARG, "unknown function");
  expect(lg_tensor_reduce(t, 0, t, 2) == LG_EARG && lg_tensor_reduce(t, 0, t, -2) == LG_EARG, "axis out of range");
  lg_tensor_free(t);
  lg_tensor_free(closed);
}

static void view_bounds(void) {
  lg_tensor *t = make(LG_F64, 2, 3), *v = NULL;
  const int64_t shape[] = {3}, none[] = {0}, one[] = {1}, back[] = {-1}, huge[] = {INT64_MAX / 2};
  expect(lg_tensor_view(&v, t, 1, shape, one, 4) == LG_ESHAPE && !v, "past the end");
  expect(lg_tensor_view(&v, t, 1, shape, back, 1) == LG_ESHAPE && !v, "before the start");
  expect(lg_tensor_view(&v, t, 1, shape, huge, 0) != LG_OK && !v, "overflowing stride");
  expect(lg_tensor_view(&v, t, 1, shape, one, INT64_MAX) != LG_OK && !v, "overflowing offset");
  expect(lg_tensor_view(&v, t, 1, none, one, 100) == LG_OK, "no elements, anywhere");
  lg_tensor_free(v);
  expect(lg_tensor_view(&v, t, 1, shape, back, 5) == LG_OK, "backwards");
  lg_tensor *w = NULL;
  expect(lg_tensor_view(&w, v, 1, shape, one, 0) == LG_ESHAPE && !w, "a view of a view, past the end");
  expect(lg_tensor_view(&w, v, 1, shape, one, -5) == LG_OK, "a view of a view, in the parent's storage");
  ((double *)lg_tensor_data(w))[2] = 7;
  expect(((double *)lg_tensor_data(t))[2] == 7, "the same memory");
  lg_tensor_free(t);
  lg_tensor_free(v);
  expect(((double *)lg_tensor_data(w))[2] == 7, "a view outlives its parents");
  lg_tensor_free(w);
}

static void writable(void) {
  lg_tensor *t = make(LG_F32, 4, 4), *v = NULL;
  const struct {
    int64_t shape[2], strides[2];
    int yes;
  } cases[] = {{{4, 4}, {4, 1}, 1}, {{4, 4}, {1, 4}, 1}, {{2, 2}, {-1, 8}, 1}, {{3, 4}, {0, 1}, 0},
               {{3, 3}, {1, 1}, 0}, {{1, 4}, {0, 1}, 1}, {{3, 2}, {2, 3}, 0},  {{0, 4}, {0, 0}, 1}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    expect(lg_tensor_view(&v, t, 2, cases[i].shape, cases[i].strides, 1 - (i < 2)) == LG_OK, "a view");
    expect((lg_tensor_fill(v, 1) == LG_OK) == cases[i].yes, "writable exactly when no two elements may meet");
    lg_tensor_free(v);
  }
  lg_tensor_free(t);
}

/* Each allocation in turn fails: a status, and no byte is lost. */
static void failing_memory(void) {
  lg_tensor *a = make(LG_F32, 5, 9000), *b = make(LG_F64, 9000, 5), *c = make(LG_F64, 5, 5), *column = NULL;
  const int64_t five[] = {5}, transposed[] = {9000, 5}, strides[] = {1, 9000};
  expect(lg_tensor_new(&column, LG_F32, 1, five) == LG_OK, "column");
  lg_tensor *at = NULL, *read = NULL;
  expect(lg_tensor_view(&at, a, 2, transposed, strides, 0) == LG_OK, "transpose");
  const char *file = "test_tensor.npy";
  expect(lg_npy_write(a, file) == LG_OK, "write");
  int64_t before = lg_mem_live();
  int finished[5] = {0};
  for (int n = 1; n <= 20; n++) {
    for (int k = 0; k < 5; k++) {
      lg_mem_fail_at(n);
      lg_status status = k == 0   ? lg_tensor_matmul(c, a, b)
                         : k == 1 ? lg_tensor_reduce(column, LG_REDUCE_SUM, at, 0)
                         : k == 2 ? lg_tensor_copy(b, at)
                         : k == 3 ? lg_npy_read(&read, file)
                                  : lg_npy_write(a, file);
      lg_mem_fail_at(0);
      expect(status == LG_OK || status == LG_EMEM, "memory or nothing");
      finished[k] |= status == LG_OK;
      lg_tensor_free(read);
      read = NULL;
      expect(lg_mem_live() == before, "nothing is lost");
    }
  }
  for (int k = 0; k < 5; k++) expect(finished[k], "it works once memory suffices");
  remove(file);
  lg_tensor_free(a);
  lg_tensor_free(at);
  lg_tensor_free(b);
  lg_tensor_free(c);
  lg_tensor_free(column);
}

static void kernels(void) {
  enum { N = 1003 };
  static float x[N], out[N];
  double squares = 0;
  for (int i = 0; i < N; i++) {
    x[i] = (float)(i % 17) - 8;
    squares += (double)x[i] * x[i];
  }
  expect(lg_k_sumsq_f32(x, N) == squares && lg_k_sumsq_f32(x, 0) == 0, "sums of squares");
  lg_k_add_f32(out, x, x, N);
  expect(lg_k_sumsq_f32(out, N) == 4 * squares, "x + x");
  expect(lg_k_find_nonfinite_f32(x, N) == -1, "all finite");
  x[1000] = INFINITY;
  x[1001] = NAN;
  expect(lg_k_find_nonfinite_f32(x, N) == 1000, "the first that is not");
}

int main(void) {
  refused_handles();
  view_bounds();
  writable();
  failing_memory();
  kernels();
  expect(lg_mem_live() == 0, "nothing is left");
  if (failures) printf("%d failed\n", failures);
  return failures != 0;
}
