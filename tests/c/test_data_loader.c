/* test_data_loader.c: batches, their order, resume, threads and fork; the split; the channel statistics. */
#include "../../src/core/rng.h"
#include "../../src/core/status.h"
#include "../../src/core/threads.h"
#include "../../src/tensor/tensor.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 103, C = 3, P = 5, W = C * P }; /* rows of C channels of P elements */
static int failures;
static const double mean[C] = {0.1, 0.4, 0.7}, sd[C] = {0.2, 0.5, 1.5}, scale = 1 / 255.0;
static lg_tensor *x, *y;
static int64_t every[N];

static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (last error: %s)\n", what, lg_last_error());
}

static void expect_refused(lg_status got, lg_status status, const char *text) {
  char message[200];
  snprintf(message, sizeof message, "status %s with '%s', found %s", lg_status_name(status), text, lg_status_name(got));
  expect(got == status && strstr(lg_last_error(), text), message);
}

static lg_loader *loader_of(lg_tensor *data, int64_t n, int64_t batch, int32_t last) {
  lg_loader *l = NULL;
  expect(lg_loader_new(&l, data, y, every, n, batch, last, scale, mean, sd, C) == LG_OK, "lg_loader_new");
  return l;
}

static float normalized(int64_t row, int64_t i) {
  const uint8_t *v = (const uint8_t *)lg_tensor_data(x) + row * W + i;
  return (float)((*v * scale - mean[i / P]) / sd[i / P]);
}

/* Reads one epoch into rows[] (from the labels, which are row numbers) and checks every value; returns how many. */
static int64_t read_epoch(int64_t *rows, lg_loader *l) {
  int64_t n = 0, got;
  lg_tensor *bx, *by;
  for (;;) {
    expect(lg_loader_next(&bx, &by, &got, l) == LG_OK, "lg_loader_next");
    if (got == 0) break;
    expect(bx->dtype == LG_F32 && bx->rank == 3 && bx->shape[0] == got && bx->shape[1] == C && bx->shape[2] == P,
           "shape of x");
    expect(by->dtype == LG_I32 && by->rank == 1 && by->shape[0] == got, "shape of y");
    const float *v = lg_tensor_data(bx);
    const int32_t *label = lg_tensor_data(by);
    for (int64_t i = 0; i < got; i++) {
      for (int64_t k = 0; k < W; k++)
        if (fabsf(v[i * W + k] - normalized(label[i], k)) > 1e-5f) expect(0, "a value of x");
      if (rows) rows[n + i] = label[i];
    }
    n += got;
    lg_tensor_free(bx);
    lg_tensor_free(by);
  }
  expect(bx == NULL && by == NULL, "no tensors at the end");
  return n;
}

static void start(lg_loader *l, int32_t shuffle, uint64_t seed, uint64_t epoch, int64_t skip) {
  expect(lg_loader_start(l, shuffle, seed, epoch, skip) == LG_OK, "lg_loader_start");
}

static void test_order(void) {
  int64_t perm[N], rows[N], again[N];
  for (int64_t batch = 1; batch <= N + 10; batch += 17)
    for (int32_t last = 0; last <= (batch <= N ? 1 : 0); last++) {
      lg_loader *l = loader_of(x, N, batch, last);
      int64_t count = last ? N / batch * batch : N, batches = last ? N / batch : (N + batch - 1) / batch;
      expect(lg_loader_batches(l) == batches, "number of batches");
      start(l, 0, 7, 0, 0);
      expect(read_epoch(rows, l) == count && !memcmp(rows, every, (size_t)count * sizeof *rows), "index order");
      expect(lg_rng_permutation(perm, N, 7, lg_stream(LG_STREAM_ORDER, 3)) == LG_OK, "permutation");
      start(l, 1, 7, 3, 0);
      expect(read_epoch(rows, l) == count && !memcmp(rows, perm, (size_t)count * sizeof *rows),
             "order = permutation(seed, epoch)");
      start(l, 1, 7, 4, 0);
      read_epoch(again, l);
      expect(memcmp(rows, again, (size_t)count * sizeof *rows) != 0, "epochs differ");
      for (int64_t skip = 0; skip <= batches; skip++) {
        start(l, 1, 7, 3, skip);
        int64_t left = count - skip * batch > 0 ? count - skip * batch : 0;
        expect(read_epoch(again, l) == left && !memcmp(rows + skip * batch, again, (size_t)left * sizeof *rows),
               "resume in the middle of an epoch");
      }
      lg_loader_free(l);
    }
}

static void test_subset(void) {
  const int64_t some[] = {102, 5, 5, 0};
  int64_t rows[4], sorted = 0;
  lg_loader *l = NULL;
  expect(lg_loader_new(&l, x, y, some, 4, 3, 0, scale, mean, sd, C) == LG_OK, "a subset");
  start(l, 0, 0, 0, 0);
  expect(read_epoch(rows, l) == 4 && !memcmp(rows, some, sizeof some), "rows of an index in its order, also twice");
  start(l, 1, 0, 1, 0);
  expect(read_epoch(rows, l) == 4, "shuffled");
  for (int i = 0; i < 4; i++) sorted += rows[i];
  expect(sorted == 112, "shuffled rows are the index's");
  lg_loader_free(l);
}

/* f32 with one pair for all, i32 token ids as they are, y of floats with columns, and views with a row stride. */
static void test_dtypes(void) {
  const int64_t shape[] = {6, 2}, strides[] = {4, 1}, view[] = {3, 2};
  lg_tensor *f, *ids, *target, *odd, *bx, *by;
  int64_t rows;
  lg_loader *l;
  expect(!lg_tensor_new(&f, LG_F32, 2, shape) && !lg_tensor_new(&ids, LG_I32, 2, shape) &&
             !lg_tensor_new(&target, LG_F32, 2, shape),
         "tensors");
  for (int i = 0; i < 12; i++) {
    ((float *)lg_tensor_data(f))[i] = (float)i;
    ((int32_t *)lg_tensor_data(ids))[i] = i - 6;
    ((float *)lg_tensor_data(target))[i] = 0.5f * (float)i;
  }
  expect(!lg_tensor_view(&odd, f, 2, view, strides, 2), "rows 1, 3, 5");
  const int64_t index[] = {2, 0, 1};
  expect(lg_loader_new(&l, f, target, index, 3, 2, 0, 2, (double[]){3}, (double[]){0.5}, 1) == LG_OK, "f32");
  start(l, 0, 0, 0, 0);
  expect(!lg_loader_next(&bx, &by, &rows, l) && rows == 2, "next");
  expect(((float *)lg_tensor_data(bx))[0] == (2 * 4 - 3) / 0.5f &&
             ((float *)lg_tensor_data(bx))[3] == (2 * 1 - 3) / 0.5f,
         "one pair for all");
  expect(by->dtype == LG_F32 && by->rank == 2 && ((float *)lg_tensor_data(by))[1] == 2.5f, "y as it is");
  lg_loader_free(l); /* the last batch's tensors outlive the loader */
  expect(((float *)lg_tensor_data(by))[1] == 2.5f, "after the loader's end");
  lg_tensor_free(bx), lg_tensor_free(by);
  expect(lg_loader_new(&l, ids, target, index, 3, 3, 0, 1, NULL, NULL, 0) == LG_OK, "i32");
  start(l, 0, 0, 0, 0);
  expect(!lg_loader_next(&bx, &by, &rows, l) && bx->dtype == LG_I32 && ((int32_t *)lg_tensor_data(bx))[0] == -2,
         "ids as they are");
  lg_tensor_free(bx), lg_tensor_free(by);
  lg_loader_free(l);
  const int64_t three[] = {3, 2};
  lg_tensor *short_target;
  expect(!lg_tensor_new(&short_target, LG_F32, 2, three), "y of three rows");
  expect(lg_loader_new(&l, odd, short_target, index, 3, 3, 0, 1, NULL, NULL, 0) == LG_OK, "view");
  lg_tensor_free(odd), lg_tensor_free(f), lg_tensor_free(short_target); /* the loader holds their storage */
  start(l, 0, 0, 0, 0);
  expect(!lg_loader_next(&bx, &by, &rows, l) && ((float *)lg_tensor_data(bx))[0] == 10 &&
             ((float *)lg_tensor_data(bx))[3] == 3,
         "rows of a view, no normalization");
  lg_tensor_free(bx), lg_tensor_free(by);
  lg_loader_free(l);
  lg_tensor_free(ids), lg_tensor_free(target);
}

static void test_refusals(void) {
  lg_loader *l = (lg_loader *)1;
  lg_tensor *bx, *by;
  int64_t rows;
  const int64_t outside[] = {0, N};
  expect_refused(lg_loader_new(&l, x, y, outside, 2, 1, 0, scale, mean, sd, C), LG_EARG,
                 "index[1] = 103 is outside 0..102");
  expect(l == NULL, "out is NULL after a failure");
  expect_refused(lg_loader_new(&l, x, y, every, 0, 1, 0, scale, mean, sd, C), LG_EARG, "0 rows");
  expect_refused(lg_loader_new(&l, x, y, every, N, 0, 0, scale, mean, sd, C), LG_EARG, "batch = 0");
  expect_refused(lg_loader_new(&l, x, y, every, N, N + 1, 1, scale, mean, sd, C), LG_EARG, "leaves none of 103 rows");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 2, scale, mean, sd, C), LG_EARG, "last = 2");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 0, 0, mean, sd, C), LG_EARG, "scale = 0");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 0, NAN, mean, sd, C), LG_EARG, "scale = nan");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 0, scale, mean, (double[]){1, 0, 1}, C), LG_EARG, "channel 1");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 0, scale, NULL, sd, C), LG_EARG, "mean or sd is NULL");
  expect_refused(lg_loader_new(&l, x, y, every, N, 1, 0, scale, mean, sd, 2), LG_ESHAPE,
                 "expected 2 channels along axis 1");
  expect_refused(lg_loader_new(&l, x, NULL, every, N, 1, 0, scale, mean, sd, C), LG_EARG, "y is NULL");
  expect_refused(lg_loader_new(&l, x, x, every, N, 1, 0, scale, mean, sd, C), LG_EDTYPE, "y is u8");
  l = loader_of(x, N, 10, 0);
  expect_refused(lg_loader_next(&bx, &by, &rows, l), LG_ESTATE, "not been started");
  expect_refused(lg_loader_start(l, 0, 0, 0, 12), LG_EARG, "skip 12 of 11");
  expect_refused(lg_loader_start(l, 0, 0, 0, -1), LG_EARG, "skip -1");
  expect_refused(lg_loader_start(NULL, 0, 0, 0, 0), LG_EARG, "NULL");
  expect_refused(lg_loader_next(&bx, &by, NULL, l), LG_EARG, "NULL");
  lg_loader_free(l);
  lg_loader_free(NULL);
}

/* Freed before the first start, while batches are prepared, with all prepared, in the middle; nothing may leak or hang.
 */
static void test_free_anywhere(void) {
  int64_t live = lg_mem_live(), rows;
  for (int i = 0; i < 300; i++) {
    lg_loader *l = loader_of(x, N, 1 + i % 40, 0);
    if (i % 5 > 0) start(l, 1, 1, (uint64_t)i, 0);
    for (int k = 0; k < i % 5 - 1; k++) {
      lg_tensor *bx, *by;
      expect(lg_loader_next(&bx, &by, &rows, l) == LG_OK, "next");
      lg_tensor_free(bx);
      lg_tensor_free(by);
    }
    if (i % 7 == 0) start(l, 0, 1, 1, 0); /* again, with batches under way */
    if (i % 11 == 0) usleep(200);
    lg_loader_free(l);
  }
  expect(lg_mem_live() == live, "memory after freeing loaders");
  for (int64_t k = 1; k < 40; k++) {
    lg_loader *l = NULL;
    lg_mem_fail_at(k);
    lg_status status = lg_loader_new(&l, x, y, every, N, 8, 0, scale, mean, sd, C);
    lg_mem_fail_at(0);
    expect((status == LG_OK) == (l != NULL) && (status == LG_OK || status == LG_EMEM), "a failing allocation");
    lg_loader_free(l);
  }
  expect(lg_mem_live() == live, "memory after failing allocations");
}

/* A child has no prefetch thread: it must get an error, and be able to free, without hanging. */
static void test_fork(void) {
  lg_loader *l = loader_of(x, N, 10, 0);
  start(l, 1, 1, 1, 0);
  pid_t child = fork();
  if (child == 0) {
    lg_tensor *bx, *by;
    int64_t rows;
    alarm(10);
    int ok = lg_loader_next(&bx, &by, &rows, l) == LG_ESTATE && lg_loader_start(l, 0, 0, 0, 0) == LG_ESTATE &&
             strstr(lg_last_error(), "fork");
    lg_loader_free(l);
    _exit(ok ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a loader in a forked child");
  expect(read_epoch(NULL, l) == N, "the parent goes on");
  lg_loader_free(l);
}

static void test_split(void) {
  enum { M = 1000 };
  const int64_t shape[] = {M};
  int64_t index[M], again[M], counts[4] = {0}, seen[M] = {0};
  lg_tensor *labels;
  expect(lg_tensor_new(&labels, LG_I32, 1, shape) == LG_OK, "labels");
  int32_t *v = lg_tensor_data(labels);
  for (int i = 0; i < M; i++) v[i] = i < 600 ? 0 : i < 875 ? 1 : i < 996 ? 3 : 2; /* 600, 275, 4, 121 */
  expect(lg_split(index, M, 101, labels, 5) == LG_OK, "lg_split");
  for (int i = 0; i < M; i++) seen[index[i]]++;
  for (int i = 0; i < M; i++)
    if (seen[i] != 1) expect(0, "every row once");
  for (int i = 1; i < M; i++)
    if (i != 101 && index[i] <= index[i - 1]) expect(0, "both parts ascend");
  for (int i = 0; i < 101; i++) counts[v[index[i]]]++;
  /* shares of 101: 60.6, 27.775, 0.404, 12.221: rounded down 60 27 0 12, two more to .775 and .6 */
  expect(counts[0] == 61 && counts[1] == 28 && counts[2] == 0 && counts[3] == 12, "largest remainders");
  expect(!lg_split(again, M, 101, labels, 5) && !memcmp(index, again, sizeof index), "the same seed");
  expect(!lg_split(again, M, 101, labels, 6) && memcmp(index, again, sizeof index), "another seed");
  expect(!lg_split(again, M, 0, labels, 5) && again[0] == 0 && again[M - 1] == M - 1, "no validation");
  expect(!lg_split(again, M, M, labels, 5) && again[0] == 0 && again[M - 1] == M - 1, "all validation");
  expect_refused(lg_split(again, M, M + 1, labels, 5), LG_EARG, "cannot take 1001 of 1000 rows");
  expect_refused(lg_split(again, M - 1, 0, labels, 5), LG_ESHAPE, "expected contiguous i32[999]");
  v[17] = -1;
  expect_refused(lg_split(again, M, 1, labels, 5), LG_EARG, "label -1 of row 17");
  lg_tensor_free(labels);
}

static void test_stats(void) {
  double m[C], s[C], one_m, one_s, again[C], right_m[C], right_s[C], all = 0, squares = 0;
  for (int c = 0; c < C; c++) {
    const uint8_t *v = lg_tensor_data(x);
    double sum = 0, dev = 0;
    for (int i = 0; i < N; i++)
      for (int k = 0; k < P; k++) sum += v[i * W + c * P + k];
    for (int i = 0; i < N; i++)
      for (int k = 0; k < P; k++) dev += pow(v[i * W + c * P + k] - sum / (N * P), 2);
    right_m[c] = sum / (N * P);
    right_s[c] = sqrt(dev / (N * P));
    all += sum;
    for (int i = 0; i < N; i++)
      for (int k = 0; k < P; k++) squares += pow(v[i * W + c * P + k], 2);
  }
  expect(lg_channel_stats(m, s, x, every, N, C) == LG_OK, "u8");
  for (int c = 0; c < C; c++)
    expect(fabs(m[c] - right_m[c]) < 1e-12 && fabs(s[c] - right_s[c]) < 1e-11, "mean and sd of a channel");
  expect(lg_channel_stats(&one_m, &one_s, x, every, N, 1) == LG_OK, "one channel");
  expect(fabs(one_m - all / (N * W)) < 1e-12 && fabs(one_s - sqrt(squares / (N * W) - pow(all / (N * W), 2))) < 1e-9,
         "over all");
  lg_tensor *f;
  const int64_t shape[] = {N, C, P};
  expect(lg_tensor_new(&f, LG_F32, 3, shape) == LG_OK, "f32");
  for (int i = 0; i < N * W; i++)
    ((float *)lg_tensor_data(f))[i] = 16777216.0f + 2.0f * (float)((uint8_t *)lg_tensor_data(x))[i];
  expect(lg_threads_set(2) == LG_OK && lg_channel_stats(m, s, f, every, N, C) == LG_OK, "f32 far from 0, 2 threads");
  for (int c = 0; c < C; c++)
    expect(fabs(s[c] - 2 * right_s[c]) < 1e-9 && fabs(m[c] - 16777216 - 2 * right_m[c]) < 1e-7, "f32");
  expect(lg_threads_set(1) == LG_OK && lg_channel_stats(again, right_s, f, every, N, C) == LG_OK &&
             !memcmp(again, m, sizeof m) && !memcmp(right_s, s, sizeof s),
         "the same bits for 1 thread");
  ((float *)lg_tensor_data(f))[W + P] = INFINITY;
  expect_refused(lg_channel_stats(m, s, f, every, N, C), LG_ENAN, "channel 1");
  expect_refused(lg_channel_stats(m, s, y, every, N, 1), LG_EDTYPE, "i32");
  expect_refused(lg_channel_stats(m, s, x, every, N, 0), LG_EARG, "channels = 0");
  lg_tensor_free(f);
}

int main(void) {
  const int64_t shape[] = {N, C, P};
  if (lg_tensor_new(&x, LG_U8, 3, shape) != LG_OK || lg_tensor_new(&y, LG_I32, 1, shape) != LG_OK) return 1;
  for (int64_t i = 0; i < N * W; i++)
    ((uint8_t *)lg_tensor_data(x))[i] = (uint8_t)(256 * lg_rng_uniform(1, 1, (uint64_t)i));
  for (int32_t i = 0; i < N; i++) ((int32_t *)lg_tensor_data(y))[i] = i, every[i] = i;
  test_order();
  test_subset();
  test_dtypes();
  test_refusals();
  test_free_anywhere();
  test_fork();
  test_split();
  test_stats();
  lg_tensor_free(x);
  lg_tensor_free(y);
  expect(lg_mem_live() == 0, "all memory is given back");
  return failures != 0;
}
