/* probe.c: what the machine can do now: multiply-adds, matrix products, copies, gates. Called by lgelu doctor and
 * lgelu bench. What it is not: a profile of training (graph/ has that).
 * Every probe repeats passes for the time given and keeps the fastest: the others were disturbed. */
#include "probe.h"
#include "gate.h"
#include "gemm.h"
#include "../core/cpu.h"
#include "../core/memory.h"
#include "../core/threads.h"
#include <math.h>

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X) X(base) X(avx2) X(avx512) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X) X(base)
#endif
#define X(isa)                                                                                                         \
  double lg_k_fma_burst_##isa(float *, int64_t);                                                                       \
  void lg_k_copy_##isa(float *, const float *, int64_t);
BUILDS(X)
#undef X

double lg_k_fma_burst(float *sink, int64_t rounds) {
  static double (*const builds[])(float *, int64_t) = {
#define X(isa) lg_k_fma_burst_##isa,
      BUILDS(X)
#undef X
  };
  return builds[lg_isa_index()](sink, rounds);
}

void lg_k_copy(float *y, const float *x, int64_t n) {
  static void (*const builds[])(float *, const float *, int64_t) = {
#define X(isa) lg_k_copy_##isa,
      BUILDS(X)
#undef X
  };
  builds[lg_isa_index()](y, x, n);
}

enum { TILE = 1 << 14 }; /* floats: 64 KiB, so that a gate's three streams fit in a core's second-level cache */

/* Seconds of the fastest of several passes of tiles 0 … tiles−1 on threads threads (0: the present team). */
static lg_status fastest(double *best, lg_tile_fn fn, void *context, int64_t tiles, int32_t threads, double seconds) {
  if (!(seconds > 0 && seconds <= 3600)) return lg_fail(LG_EARG, "probe: seconds = %g is outside (0, 3600]", seconds);
  int32_t team = lg_threads();
  if (threads) LG_TRY(lg_threads_set(threads));
  lg_parallel(tiles, fn, context); /* wakes the team, touches the memory, raises the clock */
  double until = lg_clock() + seconds, now;
  *best = INFINITY;
  do {
    double start = lg_clock();
    lg_parallel(tiles, fn, context);
    now = lg_clock();
    if (now - start < *best) *best = now - start;
  } while (now < until);
  return lg_threads_set(team);
}

/* -- multiply-adds ---------------------------------------------------------------------------------------------- */

enum { BURSTS = 4, BURST_ROUNDS = 20000 }; /* a thread and pass: about a millisecond, seldom interrupted */
typedef struct {
  _Alignas(64) float sink;
  double flops;
} burst;

static void fma_tile(void *context, int64_t tile) {
  burst *b = (burst *)context + tile;
  b->flops = lg_k_fma_burst(&b->sink, BURST_ROUNDS);
}

lg_status lg_probe_fma(double *gflops, int32_t threads, double seconds) {
  if (!gflops) return lg_fail(LG_EARG, "probe of multiply-adds: gflops is NULL");
  int64_t tiles = (int64_t)BURSTS * (threads > 0 ? threads : lg_threads());
  burst *bursts = lg_alloc((size_t)tiles * sizeof *bursts);
  if (!bursts) return lg_fail(LG_EMEM, "probe of multiply-adds: no memory");
  double best;
  lg_status status = fastest(&best, fma_tile, bursts, tiles, threads, seconds);
  if (status == LG_OK) *gflops = (double)tiles * bursts[0].flops / best * 1e-9;
  lg_release(bursts);
  return status;
}

/* -- matrix products -------------------------------------------------------------------------------------------- */

typedef struct {
  float *a, *b, *c; /* c: [tiles, m, n] */
  int64_t m, n, k;
  int trans_a, trans_b;
} products;

static void gemm_tile(void *context, int64_t tile) {
  const products *p = context;
  lg_k_gemm_f32(p->c + tile * p->m * p->n, p->a, p->b, p->m, p->n, p->k, p->trans_a ? p->m : p->k,
                p->trans_b ? p->k : p->n, p->n, p->trans_a, p->trans_b, 1, 0);
}

/* Each thread multiplies the same a and b into a c of its own, as tiles of the engine do. */
lg_status lg_probe_gemm(double *gflops, int64_t m, int64_t n, int64_t k, int32_t trans_a, int32_t trans_b,
                        int32_t threads, double seconds) {
  const int64_t MOST = 1 << 16;
  if (!gflops) return lg_fail(LG_EARG, "probe of gemm: gflops is NULL");
  if (m < 1 || n < 1 || k < 1 || m > MOST || n > MOST || k > MOST) {
    return lg_fail(LG_EARG, "probe of gemm: m, n, k = %lld, %lld, %lld, expected 1 to %lld each", (long long)m,
                   (long long)n, (long long)k, (long long)MOST);
  }
  int64_t tiles = threads > 0 ? threads : lg_threads();
  products p = {.m = m, .n = n, .k = k, .trans_a = trans_a, .trans_b = trans_b};
  float *room = lg_alloc((size_t)(m * k + k * n + tiles * m * n) * sizeof *room);
  if (!room)
    return lg_fail(LG_EMEM, "probe of gemm: no memory for m, n, k = %lld, %lld, %lld", (long long)m, (long long)n,
                   (long long)k);
  p.a = room, p.b = p.a + m * k, p.c = p.b + k * n;
  for (int64_t i = 0; i < m * k + k * n; i++) room[i] = (float)(i % 17 - 8) / 16;
  double best;
  lg_status status = fastest(&best, gemm_tile, &p, tiles, threads, seconds);
  if (status == LG_OK) *gflops = 2.0 * (double)(tiles * m * n) * (double)k / best * 1e-9;
  lg_release(room);
  return status;
}

/* -- streams ------------------------------------------------------------------------------------------------------ */

typedef struct {
  float *x, *y, *dx;
  double *dlambda; /* [tiles] */
  int64_t floats;
  float lambda;
  int32_t activation;
} streams;

static int64_t tile_floats(const streams *s, int64_t tile) {
  int64_t left = s->floats - tile * TILE;
  return left < TILE ? left : TILE;
}

/* Inputs in about [−3, 3], where no shortcut of a kernel applies, and the first touch of every page. */
static void fill_tile(void *context, int64_t tile) {
  const streams *s = context;
  int64_t n = tile_floats(s, tile), first = tile * TILE;
  for (int64_t i = first; i < first + n; i++) {
    s->x[i] = (float)((uint32_t)i * 2654435761u >> 8) * 0x6p-24f - 3;
    s->y[i] = 1;
    if (s->dx) s->dx[i] = 0;
  }
}

static void copy_tile(void *context, int64_t tile) {
  const streams *s = context;
  lg_k_copy(s->y + tile * TILE, s->x + tile * TILE, tile_floats(s, tile));
}

static void forward_tile(void *context, int64_t tile) {
  const streams *s = context;
  lg_k_gate_fwd_f32(s->y + tile * TILE, s->x + tile * TILE, s->lambda, tile_floats(s, tile), s->activation);
}

static void backward_tile(void *context, int64_t tile) {
  const streams *s = context;
  int64_t at = tile * TILE;
  s->dlambda[tile] =
      lg_k_gate_bwd_f32(s->dx + at, s->y + at, s->x + at, s->lambda, tile_floats(s, tile), s->activation, 0);
}

/* Makes the streams (dx and dlambda only for a gate), touched tile by tile by the team. *room: to be released. */
static lg_status new_streams(streams *s, void **room, int64_t floats, int gate) {
  if (floats < 1 || floats > INT64_C(1) << 34) {
    return lg_fail(LG_EARG, "probe: %lld floats, expected 1 to 2^34", (long long)floats);
  }
  int64_t tiles = (floats + TILE - 1) / TILE, stream = tiles * TILE;
  size_t bytes = (size_t)(stream * (gate ? 3 : 2)) * sizeof(float) + (size_t)tiles * sizeof(double);
  *room = lg_alloc(bytes);
  if (!*room) return lg_fail(LG_EMEM, "probe: no memory for %lld floats", (long long)floats);
  s->floats = floats;
  s->x = *room;
  s->y = s->x + stream;
  s->dx = gate ? s->y + stream : NULL;
  s->dlambda = (double *)(s->y + stream * (gate ? 2 : 1));
  lg_parallel(tiles, fill_tile, s);
  return LG_OK;
}

lg_status lg_probe_copy(double *bytes_per_s, int64_t floats, int32_t threads, double seconds) {
  if (!bytes_per_s) return lg_fail(LG_EARG, "probe of copies: bytes_per_s is NULL");
  streams s;
  void *room;
  LG_TRY(new_streams(&s, &room, floats, 0));
  double best;
  lg_status status = fastest(&best, copy_tile, &s, (floats + TILE - 1) / TILE, threads, seconds);
  if (status == LG_OK) *bytes_per_s = 8.0 * (double)floats / best;
  lg_release(room);
  return status;
}

lg_status lg_probe_gate(double *fwd_s, double *bwd_s, int32_t activation, double lambda, int64_t floats,
                        int32_t threads, double seconds) {
  if (!fwd_s || !bwd_s) return lg_fail(LG_EARG, "probe of gates: fwd_s or bwd_s is NULL");
  if (activation < 0 || activation >= lg_list_activation.count) {
    return lg_fail(LG_EARG, "probe of gates: activation %d is not in the list of %d", activation,
                   lg_list_activation.count);
  }
  if (!(lambda >= 0 && lambda < INFINITY)) return lg_fail(LG_EARG, "probe of gates: lambda = %g", lambda);
  streams s = {.lambda = (float)lambda, .activation = activation};
  void *room;
  LG_TRY(new_streams(&s, &room, floats, 1));
  int64_t tiles = (floats + TILE - 1) / TILE;
  lg_status status = fastest(fwd_s, forward_tile, &s, tiles, threads, seconds / 2);
  lg_parallel(tiles, fill_tile,
              &s); /* forward's output, subnormal in places at large λ, is no gradient to measure with */
  if (status == LG_OK) status = fastest(bwd_s, backward_tile, &s, tiles, threads, seconds / 2);
  lg_release(room);
  return status;
}
