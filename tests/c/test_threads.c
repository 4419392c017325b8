/* test_threads.c: every tile once, whatever the number of threads; nested and concurrent calls; fork. */
#include "../../src/core/threads.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;
static void expect(int yes, const char *what) {
  if (!yes) failures++, printf("FAILED: %s (%s)\n", what, lg_last_error());
}

enum { MOST = 3000 };
typedef struct {
  atomic_int count[MOST];
} counts;

static void count(void *context, int64_t tile) { atomic_fetch_add(&((counts *)context)->count[tile], 1); }

static int once_each(counts *c, int64_t tiles) {
  for (int64_t i = 0; i < MOST; i++) {
    if (atomic_load(&c->count[i]) != (i < tiles)) return 0;
  }
  return 1;
}

static void every_tile_once(void) {
  const int32_t teams[] = {1, 2, 3, 16, 2, 5};
  const int64_t sizes[] = {0, 1, 2, 3, 7, 64, 999, MOST};
  for (size_t t = 0; t < sizeof teams / sizeof *teams; t++) {
    expect(lg_threads_set(teams[t]) == LG_OK && lg_threads() == teams[t], "team size");
    for (int i = 0; i < 400; i++) {
      static counts c;
      memset(&c, 0, sizeof c);
      int64_t tiles = sizes[i % 8];
      lg_parallel(tiles, count, &c);
      if (!once_each(&c, tiles)) expect(0, "every tile once");
      if (i % 100 == 99) usleep(1000); /* so that workers fall asleep */
    }
  }
  expect(lg_threads_set(257) == LG_EARG && lg_threads_set(-1) == LG_EARG, "team sizes that are refused");
}

/* A sum that every thread can see only if tiles' writes have arrived when the region ends. */
static void results_arrive(void) {
  lg_threads_set(4);
  static counts c;
  long sum = 0;
  memset(&c, 0, sizeof c);
  for (int i = 0; i < 5000; i++) {
    lg_parallel(8, count, &c);
    for (int j = 0; j < 8; j++) sum += atomic_load_explicit(&c.count[j], memory_order_relaxed) - i - 1;
  }
  expect(sum == 0, "all tiles are done when the region ends");
}

static void nested(void *context, int64_t tile) {
  (void)tile;
  lg_parallel(10, count, context);
}

static void nested_calls(void) {
  static counts c;
  memset(&c, 0, sizeof c);
  lg_parallel(20, nested, &c);
  for (int i = 0; i < 10; i++) expect(atomic_load(&c.count[i]) == 20, "a region inside a tile");
}

static void *second_caller(void *context) {
  for (int i = 0; i < 2000; i++) lg_parallel(30, count, context);
  return NULL;
}

static void two_callers(void) {
  static counts a, b;
  pthread_t other;
  pthread_create(&other, NULL, second_caller, &a);
  second_caller(&b);
  pthread_join(other, NULL);
  int right = 1;
  for (int i = 0; i < 30; i++) right &= atomic_load(&a.count[i]) == 2000 && atomic_load(&b.count[i]) == 2000;
  expect(right, "two threads call at once");
}

static atomic_int helped; /* tiles that another thread than the caller did */
static pthread_t caller;
static void wait_for_help(void *context, int64_t tile) {
  (void)context, (void)tile;
  if (!pthread_equal(pthread_self(), caller)) atomic_store(&helped, 1);
  for (int i = 0; i < 1000 && !atomic_load(&helped); i++) usleep(1000);
}

/* The team works at all, in the parent and, with threads of its own, in a forked child. */
static void team_works(void) {
  lg_threads_set(2);
  caller = pthread_self();
  lg_parallel(2, wait_for_help, NULL);
  expect(atomic_load(&helped), "a worker does tiles");
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    alarm(20); /* a child that hangs dies of it */
    atomic_store(&helped, 0);
    lg_parallel(2, wait_for_help, NULL);
    static counts c;
    for (int i = 0; i < 100; i++) lg_parallel(MOST, count, &c);
    int right = atomic_load(&helped);
    for (int i = 0; i < MOST; i++) right &= atomic_load(&c.count[i]) == 100;
    _exit(!right);
  }
  int how;
  waitpid(child, &how, 0);
  expect(WIFEXITED(how) && WEXITSTATUS(how) == 0, "a forked child has a team of its own");
}

static void default_size(void) {
  unsetenv("OMP_NUM_THREADS");
  expect(lg_threads_set(0) == LG_OK && lg_threads() >= 1, "as many as the process may use");
  int32_t all = lg_threads();
  setenv("OMP_NUM_THREADS", "3", 1);
  lg_threads_set(0);
  expect(lg_threads() == 3, "OMP_NUM_THREADS is heard");
  lg_threads_set(2);
  expect(lg_threads() == 2, "but an explicit number wins");
  setenv("OMP_NUM_THREADS", "many", 1);
  lg_threads_set(0);
  expect(lg_threads() == all, "a senseless OMP_NUM_THREADS is passed over");
}

int main(void) {
  every_tile_once();
  results_arrive();
  nested_calls();
  two_callers();
  team_works();
  default_size();
  return failures != 0;
}
