/* threads.c: the team of threads behind lg_parallel.
 *
 * What it is: workers that wait on a futex, one job at a time. Thread p of the team starts with the p-th block of the
 * tiles, so that a tile tends to find its data where the previous op left it, and then takes what is left of the other
 * blocks. A region ends when its tiles are done: a worker that has not woken by then is not waited for. That is why it
 * is not OpenMP, whose regions end when every thread has come by: where two runs share the cores, that costs a time
 * slice of the scheduler a region.
 * What it is not: a scheduler of several jobs. A call from inside a tile, or while another thread has the team, runs
 * its tiles in the caller.
 * After fork() the child starts a team of its own at its first region. Signals go to the other threads. */
#define _GNU_SOURCE
#include "threads.h"
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_TEAM = 256, PAUSES = 4 };
/* How long a worker without work stays awake, and a caller without work waits for the last tiles, before they sleep:
 * about what waking takes (35 µs on a virtual machine), so that neither choice costs more than twice the better one. */
enum { SPIN_NS = 40000 };
static atomic_int_fast64_t spin_ns = SPIN_NS; /* 0 when there are fewer CPUs than threads */

/* A block of tiles: next … end−1 are still to be done. A cache line each: every thread counts in its own first. */
typedef struct {
  _Alignas(64) atomic_int_fast64_t next;
  int64_t end;
} tile_block;

static atomic_int team = 1;                  /* what was asked for, the caller included */
static int32_t workers;                      /* threads started so far */
static atomic_flag taken = ATOMIC_FLAG_INIT; /* somebody has the team */

/* The job. fn … blocks change only while it is closed and nobody is in it. */
static struct {
  _Alignas(64) atomic_uint number; /* of the job; futex of waiting workers */
  _Alignas(64) atomic_uint open;   /* 1: workers may enter */
  _Alignas(64) atomic_uint inside; /* workers in it; futex of the waiting caller */
  _Alignas(64) atomic_uint asleep; /* workers that wait in the kernel */
  atomic_uint caller_asleep;
  lg_tile_fn fn;
  void *context;
  int32_t blocks;
  tile_block block[MAX_TEAM];
} job;

int32_t lg_threads(void) { return team; }

static void futex_wait(atomic_uint *word, unsigned value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0); /* may return early: callers look again */
}
static void futex_wake(atomic_uint *word, int count) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static inline void pause_briefly(void) {
  for (int i = 0; i < PAUSES; i++) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

/* Does tiles as long as there are any: its own block's first, then those of the others in turn. */
static void work(int32_t self) {
  lg_tile_fn fn = job.fn;
  void *context = job.context;
  int32_t blocks = job.blocks;
  for (int32_t i = 0; i < blocks; i++) {
    tile_block *b = &job.block[(self + i) % blocks];
    int64_t tile;
    while (atomic_load_explicit(&b->next, memory_order_relaxed) < b->end &&
           (tile = atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed)) < b->end) {
      fn(context, tile);
    }
  }
}

/* Waits until the job is another one than number; returns its number. */
static unsigned wait_for_job(unsigned number) {
  int64_t until = now_ns() + spin_ns;
  for (;;) {
    for (int look = 0; look < 8; look++) {
      unsigned current = atomic_load_explicit(&job.number, memory_order_acquire);
      if (current != number) return current;
      pause_briefly();
    }
    if (now_ns() < until) continue;
    atomic_fetch_add(&job.asleep, 1);
    futex_wait(&job.number, number);
    atomic_fetch_sub(&job.asleep, 1);
  }
}

static void *worker_main(void *argument) {
  int32_t self = (int32_t)(intptr_t)argument;
  unsigned number = atomic_load(&job.number);
  for (;;) {
    /* Enter before looking whether it is open; the caller closes before it looks who is inside: one sees the other. */
    atomic_fetch_add(&job.inside, 1);
    if (atomic_load(&job.open) && self < job.blocks) work(self);
    if (atomic_fetch_sub(&job.inside, 1) == 1 && atomic_load(&job.caller_asleep)) futex_wake(&job.inside, 1);
    number = wait_for_job(number);
  }
  return NULL;
}

/* Only the forking thread lives on in the child. */
static void forget_team(void) {
  workers = 0;
  atomic_store(&job.open, 0);
  atomic_store(&job.inside, 0);
  atomic_store(&job.asleep, 0);
  atomic_store(&job.caller_asleep, 0);
  atomic_flag_clear(&taken);
}

static void register_fork(void) { pthread_atfork(NULL, NULL, forget_team); }

/* Starts what is missing of the team. Where the system gives no more threads, those that there are do the work. */
static void start_workers(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* inherited: Ctrl-C is for the main thread */
  while (workers < team - 1) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, worker_main, (void *)(intptr_t)(workers + 1))) break;
    pthread_detach(thread);
    workers++;
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void open_job(int64_t tiles, lg_tile_fn fn, void *context) {
  job.fn = fn;
  job.context = context;
  int32_t threads = team;
  job.blocks = tiles < threads ? (int32_t)tiles : threads;
  for (int32_t p = 0; p < job.blocks; p++) {
    atomic_store_explicit(&job.block[p].next, tiles * p / job.blocks, memory_order_relaxed);
    job.block[p].end = tiles * (p + 1) / job.blocks;
  }
  atomic_store(&job.open, 1);
  atomic_fetch_add(&job.number, 1);
  if (atomic_load(&job.asleep)) futex_wake(&job.number, INT_MAX);
}

/* Lets nobody in any more and waits for those who are inside: each has one tile at most to finish. */
static void close_job(void) {
  atomic_store(&job.open, 0);
  int64_t until = 0;
  unsigned inside;
  while ((inside = atomic_load(&job.inside)) > 0) {
    pause_briefly();
    int64_t now = now_ns();
    if (!until) until = now + spin_ns;
    if (now < until) continue;
    atomic_store(&job.caller_asleep, 1);
    futex_wait(&job.inside, inside);
    atomic_store(&job.caller_asleep, 0);
  }
}

void lg_parallel(int64_t tiles, lg_tile_fn fn, void *context) {
  if (team == 1 || tiles <= 1 || atomic_flag_test_and_set(&taken)) {
    for (int64_t i = 0; i < tiles; i++) fn(context, i);
    return;
  }
  if (workers < team - 1) start_workers();
  open_job(tiles, fn, context);
  work(0);
  close_job();
  atomic_flag_clear(&taken);
}

/* CPUs that a control group lets the process use, rounded up; 0 when there is no limit. (cgroup v2: "quota period".) */
static int32_t quota(void) {
  long long limit, period;
  FILE *f = fopen("/sys/fs/cgroup/cpu.max", "r");
  int found = f ? fscanf(f, "%lld %lld", &limit, &period) : 0;
  if (f) fclose(f);
  return found == 2 && limit > 0 && period > 0 ? (int32_t)((limit + period - 1) / period) : 0;
}

static int32_t usable_cpus(void) {
  cpu_set_t set;
  int32_t cpus = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0, limit = quota();
  if (!cpus) cpus = (int32_t)sysconf(_SC_NPROCESSORS_ONLN); /* more CPUs than the set has room for */
  if (limit && limit < cpus) cpus = limit;
  return cpus < MAX_TEAM ? cpus : MAX_TEAM;
}

lg_status lg_threads_set(int32_t threads) {
  if (threads < 0 || threads > MAX_TEAM) return lg_fail(LG_EARG, "threads = %d is outside 1..%d", threads, MAX_TEAM);
  const char *wish = getenv("OMP_NUM_THREADS"); /* what users and batch systems set for every numeric program */
  int32_t cpus = usable_cpus(), wished = wish ? atoi(wish) : 0;
  team = threads ? threads : wished > 0 && wished <= MAX_TEAM ? wished : cpus;
  spin_ns = team <= cpus ? SPIN_NS : 0;
  return LG_OK;
}
