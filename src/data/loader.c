/* loader.c: batches, prepared two ahead by one thread of the loader's own. Not from the team of core/threads.c: the
 * thread sleeps on a condition when it is ahead, so it takes a core only while it gathers. Knows rows and their order,
 * not what they mean: a row goes alone through lg_gather_row or, with augmentation, through lg_augment_row, which is a
 * function of (seed, epoch, row), as is the place of a random window. Called by lua/lgelu/data/loader.lua, from one
 * thread at a time. */
#include "../core/memory.h"
#include "../core/rng.h"
#include "augment.h"
#include "gather.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* One batch in the caller's hands, AHEAD behind it. */
enum { AHEAD = 2, SLOTS = AHEAD + 1 };

struct lg_loader {
  lg_rows x, y;
  lg_storage *held[2]; /* keeps the rows of x and y alive */
  int32_t x_rank, y_rank;
  int64_t x_shape[LG_MAX_RANK], y_shape[LG_MAX_RANK]; /* entry 0 unused */
  lg_affine *affine;                                  /* [max(channels, 1)] */
  lg_augment augment;
  bool augmented;
  double mixup;         /* > 0: α of Beta(α, α), the share of a row in what it becomes */
  float *partner;       /* [x.width], for mixup */
  int64_t starts;       /* > 0: a row is a window at a random one of so many places */
  uint64_t seed, epoch; /* of the present epoch, for augmentation and windows */
  int64_t n, batch, batches;
  int64_t *index, *order;     /* [n]: the rows; the rows in this epoch's order */
  lg_storage *slot[SLOTS][2]; /* x [batch, …], y [batch, …] */
  pid_t owner;                /* a forked child has no thread to wait for */
  bool running;               /* the thread and what it waits on exist */
  pthread_t thread;
  pthread_mutex_t lock;       /* guards what follows */
  pthread_cond_t wake, ready; /* for the thread; for the caller */
  int64_t made, taken, end;   /* batches of this epoch: finished, handed out, when it is over */
  bool started, filling, stop;
};

/* Where the window of a row starts, in elements: 0..starts-1, f(seed, epoch, row). */
static int64_t window_start(const lg_loader *l, int64_t row) {
  uint32_t bits[4];
  lg_philox(bits, l->seed, lg_stream(LG_STREAM_AUGMENT, (uint32_t)l->epoch), (uint64_t)row);
  uint64_t draw = (uint64_t)bits[0] << 32 | bits[1];
  return (int64_t)((unsigned __int128)draw * (uint64_t)l->starts >> 64);
}

/* One row of x, by itself. */
static void put_row(float *to, const lg_loader *l, int64_t row) {
  const char *from = l->x.data + row * l->x.stride_bytes;
  if (l->augmented)
    lg_augment_row(to, from, &l->x, l->affine, &l->augment, l->seed, l->epoch, row);
  else
    lg_gather_row(to, from, &l->x, l->affine);
}

/* A draw from Beta(α, α), α ≤ 1, by Jöhnk's method (1964): pairs (u^(1/α), v^(1/α)) until their sum is at most 1. */
static double beta(const lg_loader *l, uint64_t stream, uint64_t row) {
  enum { TRIES = 64 }; /* the chance that all fail is below (1 − π/4)^64 */
  for (uint64_t try = 1; try < TRIES; try++) {
    double pair[2];
    lg_rng_uniform_pair(pair, l->seed, stream, row * TRIES + try);
    double a = pow(pair[0], 1 / l->mixup), c = pow(pair[1], 1 / l->mixup);
    if (a + c <= 1 && a + c > 0) return a / (a + c);
  }
  return 1;
}

/* Mixup (Zhang, Cisse, Dauphin, Lopez-Paz 2018) of a row with another of the index. Labels stay whole numbers: the row
 * has its own with the probability that is its share, and the other's otherwise, which is mixup's loss in expectation.
 */
static void mix_row(float *to, char *label, const lg_loader *l, int64_t row) {
  uint64_t stream = lg_stream(LG_STREAM_MIX, (uint32_t)l->epoch);
  double draws[2], share = beta(l, stream, (uint64_t)row);
  lg_rng_uniform_pair(draws, l->seed, stream, (uint64_t)row * 64);
  int64_t other = l->index[(int64_t)(draws[0] * (double)l->n)];
  put_row(l->partner, l, other);
  float mine = (float)share, rest = 1.0f - mine;
  for (int64_t k = 0; k < l->x.width; k++) to[k] = mine * to[k] + rest * l->partner[k];
  if (draws[1] >= share) memcpy(label, l->y.data + other * l->y.stride_bytes, (size_t)l->y.row_bytes);
}

static void fill(const lg_loader *l, int64_t b) {
  char *x = l->slot[b % SLOTS][0]->data, *y = l->slot[b % SLOTS][1]->data;
  int64_t x_bytes = l->x.width * (l->x.dtype == LG_U8 ? (int64_t)sizeof(float) : lg_dtype_bytes(l->x.dtype));
  int64_t first = b * l->batch, rows = l->n - first < l->batch ? l->n - first : l->batch;
  for (int64_t i = 0; i < rows; i++) {
    int64_t row = l->order[first + i];
    if (l->starts) {
      int64_t start = window_start(l, row) * (int64_t)sizeof(int32_t);
      memcpy(x + i * x_bytes, l->x.data + start, (size_t)l->x.row_bytes);
      memcpy(y + i * l->y.row_bytes, l->y.data + start, (size_t)l->y.row_bytes);
      continue;
    }
    put_row((float *)(x + i * x_bytes), l, row);
    memcpy(y + i * l->y.row_bytes, l->y.data + row * l->y.stride_bytes, (size_t)l->y.row_bytes);
    if (l->mixup > 0) mix_row((float *)(x + i * x_bytes), y + i * l->y.row_bytes, l, row);
  }
}

static void *prefetch(void *argument) {
  lg_loader *l = argument;
  pthread_mutex_lock(&l->lock);
  for (;;) {
    while (!l->stop && (l->made >= l->end || l->made - l->taken >= AHEAD)) pthread_cond_wait(&l->wake, &l->lock);
    if (l->stop) break;
    int64_t b = l->made;
    l->filling = true;
    pthread_mutex_unlock(&l->lock);
    fill(l, b);
    pthread_mutex_lock(&l->lock);
    l->filling = false;
    l->made = b + 1;
    pthread_cond_signal(&l->ready);
  }
  pthread_mutex_unlock(&l->lock);
  return NULL;
}

/* The thread takes no signals: Ctrl-C belongs to the caller's thread. */
static lg_status start_thread(lg_loader *l) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_mutex_init(&l->lock, NULL);
  pthread_cond_init(&l->wake, NULL);
  pthread_cond_init(&l->ready, NULL);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int rc = pthread_create(&l->thread, NULL, prefetch, l);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (rc != 0) {
    pthread_cond_destroy(&l->ready);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
    return lg_fail(LG_EMEM, "cannot start the loader's thread: %s", strerror(rc));
  }
  l->owner = getpid();
  l->running = true;
  return LG_OK;
}

void lg_loader_free(lg_loader *l) {
  if (!l) return;
  if (l->running && l->owner == getpid()) {
    pthread_mutex_lock(&l->lock);
    l->stop = true;
    pthread_cond_signal(&l->wake);
    pthread_mutex_unlock(&l->lock);
    pthread_join(l->thread, NULL);
    pthread_cond_destroy(&l->ready);
    pthread_cond_destroy(&l->wake);
    pthread_mutex_destroy(&l->lock);
  }
  for (int i = 0; i < SLOTS; i++)
    for (int k = 0; k < 2; k++) lg_storage_drop(l->slot[i][k]);
  for (int k = 0; k < 2; k++) lg_storage_drop(l->held[k]);
  lg_release(l->affine);
  lg_release(l->index);
  lg_release(l->order);
  lg_release(l->partner);
  lg_release(l);
}

static lg_status check_normalization(double scale, const double *mean, const double *sd, int32_t channels) {
  if (!isfinite(scale) || scale == 0)
    return lg_fail(LG_EARG, "scale = %g, expected a finite number other than 0", scale);
  if (channels > 0 && (!mean || !sd)) return lg_fail(LG_EARG, "mean or sd is NULL with %d channels", channels);
  for (int32_t c = 0; c < channels; c++)
    if (!isfinite(mean[c]) || !isfinite(sd[c]) || sd[c] <= 0)
      return lg_fail(LG_EARG, "channel %d has mean %g and sd %g, expected finite numbers and sd > 0", c, mean[c],
                     sd[c]);
  return LG_OK;
}

static lg_status check_tensors(lg_loader *l, const lg_tensor *x, const lg_tensor *y, const int64_t *index, int64_t n,
                               int32_t channels) {
  LG_TRY(lg_rows_of(&l->x, x, channels, "x"));
  LG_TRY(lg_rows_of(&l->y, y, 0, "y"));
  if (x->dtype != LG_U8 && x->dtype != LG_F32 && x->dtype != LG_I32)
    return lg_fail(LG_EDTYPE, "x is %s, expected u8, f32 or i32", lg_dtype_name(x->dtype));
  if (y->dtype != LG_I32 && y->dtype != LG_F32)
    return lg_fail(LG_EDTYPE, "y is %s, expected i32 or f32", lg_dtype_name(y->dtype));
  if (l->x.rows != l->y.rows)
    return lg_fail(LG_ESHAPE, "x has %lld rows and y has %lld", (long long)l->x.rows, (long long)l->y.rows);
  return lg_rows_check_index(index, n, l->x.rows);
}

static lg_status allocate(lg_loader *l, int32_t channels) {
  l->index = lg_alloc((size_t)l->n * sizeof *l->index);
  l->order = lg_alloc((size_t)l->n * sizeof *l->order);
  l->affine = lg_alloc((size_t)(channels > 1 ? channels : 1) * sizeof *l->affine);
  if (!l->index || !l->order || !l->affine)
    return lg_fail(LG_EMEM, "cannot allocate the order of %lld rows", (long long)l->n);
  int64_t width = l->x.dtype == LG_U8 ? (int64_t)sizeof(float) : lg_dtype_bytes(l->x.dtype), x_bytes, y_bytes;
  if (__builtin_mul_overflow(l->batch, l->x.width * width, &x_bytes) ||
      __builtin_mul_overflow(l->batch, l->y.row_bytes, &y_bytes))
    return lg_fail(LG_EARG, "a batch of %lld rows overflows", (long long)l->batch);
  for (int i = 0; i < SLOTS; i++) {
    LG_TRY(lg_storage_new(&l->slot[i][0], (size_t)x_bytes));
    LG_TRY(lg_storage_new(&l->slot[i][1], (size_t)y_bytes));
  }
  return LG_OK;
}

static lg_status set_up(lg_loader *l, lg_tensor *x, lg_tensor *y, const int64_t *index, int64_t n, int64_t batch,
                        int32_t last, double scale, const double *mean, const double *sd, int32_t channels) {
  LG_TRY(check_tensors(l, x, y, index, n, channels));
  if (batch < 1) return lg_fail(LG_EARG, "batch = %lld, expected at least 1", (long long)batch);
  if (last != 0 && last != 1) return lg_fail(LG_EARG, "last = %d, expected 0 (keep) or 1 (drop)", last);
  if (last == 1 && batch > n)
    return lg_fail(LG_EARG, "a batch of %lld rows with the last one dropped leaves none of %lld rows", (long long)batch,
                   (long long)n);
  LG_TRY(check_normalization(scale, mean, sd, channels));
  l->n = n;
  l->batch = batch < n ? batch : n;
  l->batches = last == 1 ? n / batch : (n - 1) / l->batch + 1;
  LG_TRY(allocate(l, channels));
  memcpy(l->index, index, (size_t)n * sizeof *index);
  l->affine[0] = (lg_affine){0.0f, (float)scale};
  for (int32_t c = 0; c < channels; c++) l->affine[c] = (lg_affine){(float)(mean[c] / scale), (float)(scale / sd[c])};
  l->x_rank = x->rank;
  l->y_rank = y->rank;
  memcpy(l->x_shape, x->shape, sizeof l->x_shape);
  memcpy(l->y_shape, y->shape, sizeof l->y_shape);
  l->held[0] = lg_storage_retain(x->storage);
  l->held[1] = lg_storage_retain(y->storage);
  return start_thread(l);
}

lg_status lg_loader_new(lg_loader **out, lg_tensor *x, lg_tensor *y, const int64_t *index, int64_t n, int64_t batch,
                        int32_t last, double scale, const double *mean, const double *sd, int32_t channels) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  lg_loader *l = lg_alloc(sizeof *l);
  if (!l) return lg_fail(LG_EMEM, "cannot allocate a loader");
  lg_status status = set_up(l, x, y, index, n, batch, last, scale, mean, sd, channels);
  if (status == LG_OK)
    *out = l;
  else
    lg_loader_free(l);
  return status;
}

static lg_status check_alive(const lg_loader *l) {
  if (!l) return lg_fail(LG_EARG, "the loader is NULL");
  if (l->owner != getpid())
    return lg_fail(LG_ESTATE, "the loader's thread lives in process %d: make a new loader after a fork", (int)l->owner);
  return LG_OK;
}

lg_status lg_loader_augment(lg_loader *l, int32_t crop, int32_t flip, int32_t cutout) {
  LG_TRY(check_alive(l));
  if (l->started) return lg_fail(LG_ESTATE, "augmentation is chosen before the loader is started");
  double erase = l->augment.erase;
  LG_TRY(lg_augment_init(&l->augment, l->x.dtype, l->x_rank, l->x_shape, crop, flip, cutout));
  l->augment.erase = erase;
  l->augmented = crop || flip || cutout || erase > 0;
  return LG_OK;
}

lg_status lg_loader_erase(lg_loader *l, double p) {
  LG_TRY(check_alive(l));
  if (l->started) return lg_fail(LG_ESTATE, "erasing is chosen before the loader is started");
  if (!(p >= 0 && p <= 1)) return lg_fail(LG_EARG, "p = %g, expected a probability", p);
  const lg_augment *a = &l->augment;
  LG_TRY(lg_augment_init(&l->augment, l->x.dtype, l->x_rank, l->x_shape, a->crop, a->flip, a->cutout));
  l->augment.erase = p;
  l->augmented = l->augmented || p > 0;
  return LG_OK;
}

lg_status lg_loader_mix(lg_loader *l, double alpha) {
  LG_TRY(check_alive(l));
  if (l->started) return lg_fail(LG_ESTATE, "mixup is chosen before the loader is started");
  if (!(alpha >= 0 && alpha <= 1)) return lg_fail(LG_EARG, "alpha = %g, expected 0 to 1", alpha);
  if ((l->x.dtype != LG_U8 && l->x.dtype != LG_F32) || l->y.dtype != LG_I32 || l->y.width != 1)
    return lg_fail(LG_ESHAPE, "only rows of numbers (u8 or f32) with one label each can be mixed");
  if (!l->partner) l->partner = lg_alloc((size_t)l->x.width * sizeof *l->partner);
  if (!l->partner) return lg_fail(LG_EMEM, "cannot allocate a row of %lld numbers", (long long)l->x.width);
  l->mixup = alpha;
  return LG_OK;
}

lg_status lg_loader_windows(lg_loader *l, int64_t starts) {
  LG_TRY(check_alive(l));
  if (l->started) return lg_fail(LG_ESTATE, "windows are chosen before the loader is started");
  if (l->x.dtype != LG_I32 || l->y.dtype != LG_I32 || l->x.width != l->y.width || l->x.stride != l->y.stride)
    return lg_fail(LG_ESHAPE, "random windows are cut out of ids: x and y must be i32 with rows of the same shape");
  int64_t most = (l->x.rows - 1) * l->x.stride + 1;
  if (starts < 1 || starts > most)
    return lg_fail(LG_EARG, "starts = %lld, expected 1 to %lld: so many windows lie in the rows", (long long)starts,
                   (long long)most);
  l->starts = starts;
  return LG_OK;
}

lg_status lg_loader_start(lg_loader *l, int32_t shuffle, uint64_t seed, uint64_t epoch, int64_t skip) {
  LG_TRY(check_alive(l));
  if (skip < 0 || skip > l->batches)
    return lg_fail(LG_EARG, "cannot skip %lld of %lld batches", (long long)skip, (long long)l->batches);
  if (epoch > UINT32_MAX) return lg_fail(LG_EARG, "epoch %llu is outside 0..2^32-1", (unsigned long long)epoch);
  pthread_mutex_lock(&l->lock);
  l->end = l->made; /* no new batch of the old epoch; the one being filled is waited for */
  while (l->filling) pthread_cond_wait(&l->ready, &l->lock);
  lg_status status = LG_OK;
  if (shuffle) {
    status = lg_rng_permutation(l->order, l->n, seed, lg_stream(LG_STREAM_ORDER, (uint32_t)epoch));
    for (int64_t i = 0; status == LG_OK && i < l->n; i++) l->order[i] = l->index[l->order[i]];
  } else {
    memcpy(l->order, l->index, (size_t)l->n * sizeof *l->order);
  }
  l->seed = seed;
  l->epoch = epoch;
  l->made = l->taken = skip;
  l->end = status == LG_OK ? l->batches : skip;
  l->started = status == LG_OK;
  pthread_cond_signal(&l->wake);
  pthread_mutex_unlock(&l->lock);
  return status;
}

/* Waits for the next batch: its number, or -1 at the end of the epoch. */
static int64_t take(lg_loader *l) {
  int64_t b = -1;
  pthread_mutex_lock(&l->lock);
  while (l->taken < l->end && l->made <= l->taken) pthread_cond_wait(&l->ready, &l->lock);
  if (l->taken < l->end) b = l->taken++;
  pthread_cond_signal(&l->wake);
  pthread_mutex_unlock(&l->lock);
  return b;
}

lg_status lg_loader_next(lg_tensor **x, lg_tensor **y, int64_t *rows, lg_loader *l) {
  if (!x || !y || !rows) return lg_fail(LG_EARG, "x, y or rows is NULL");
  *x = *y = NULL;
  *rows = 0;
  LG_TRY(check_alive(l));
  if (!l->started) return lg_fail(LG_ESTATE, "the loader has not been started");
  int64_t b = take(l);
  if (b < 0) return LG_OK;
  int64_t left = l->n - b * l->batch;
  l->x_shape[0] = l->y_shape[0] = left < l->batch ? left : l->batch;
  LG_TRY(lg_tensor_over(x, l->slot[b % SLOTS][0], 0, l->x.dtype == LG_U8 ? LG_F32 : l->x.dtype, l->x_rank, l->x_shape));
  lg_status status = lg_tensor_over(y, l->slot[b % SLOTS][1], 0, l->y.dtype, l->y_rank, l->y_shape);
  if (status != LG_OK) {
    lg_tensor_free(*x);
    *x = NULL;
    return status;
  }
  *rows = l->x_shape[0];
  return LG_OK;
}

int64_t lg_loader_batches(const lg_loader *l) { return l ? l->batches : -1; }
