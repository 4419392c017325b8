/* memory.c: counted allocation. A header before each block remembers its size, so that live bytes stay exact.
 * Large blocks are mappings of their own, on huge pages where the system has them (fewer TLB misses in arenas); the
 * system gives them zeroed, so nothing is touched before it is used, and takes them back whole at release. */
#define _GNU_SOURCE
#include "memory.h"
#include "../lgelu.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 64, LARGE_FROM = 4 << 20, HUGE_PAGE = 2 << 20, PAGE = 1 << 16 }; /* PAGE: a multiple of any system's */
static atomic_int_fast64_t live, peak, fail_in;

int64_t lg_mem_live(void) { return atomic_load(&live); }
int64_t lg_mem_peak(void) { return atomic_load(&peak); }
void lg_mem_reset_peak(void) { atomic_store(&peak, atomic_load(&live)); }
void lg_mem_fail_at(int64_t n) { atomic_store(&fail_in, n); }

/* A mapping of whole bytes that begins on a huge page: mapped larger, then cut. */
static void *map_large(size_t whole) {
  char *p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  size_t before = -(uintptr_t)p & (HUGE_PAGE - 1), after = HUGE_PAGE - before;
  if (before) munmap(p, before);
  if (after) munmap(p + before + whole, after);
  madvise(p + before, whole, MADV_HUGEPAGE); /* a hint: without huge pages it is as good */
  return p + before;
}

/* The block of a request, header included, as it is mapped or allocated. */
static size_t whole_size(size_t bytes) {
  size_t unit = bytes >= LARGE_FROM ? PAGE : HEADER;
  return (bytes + HEADER + unit - 1) / unit * unit;
}

void *lg_alloc(size_t bytes) {
  if (atomic_load(&fail_in) > 0 && atomic_fetch_sub(&fail_in, 1) == 1) return NULL;
  if (bytes > PTRDIFF_MAX - 2 * HUGE_PAGE) return NULL;
  size_t whole = whole_size(bytes);
  char *p = bytes >= LARGE_FROM ? map_large(whole) : aligned_alloc(64, whole);
  if (!p) return NULL;
  if (bytes < LARGE_FROM) memset(p, 0, whole);
  *(size_t *)p = bytes;
  int64_t now = atomic_fetch_add(&live, (int64_t)bytes) + (int64_t)bytes, top = atomic_load(&peak);
  while (now > top && !atomic_compare_exchange_weak(&peak, &top, now)) {
  }
  return p + HEADER;
}

void lg_release(void *p) {
  if (!p) return;
  char *block = (char *)p - HEADER;
  size_t bytes = *(size_t *)block;
  atomic_fetch_sub(&live, (int64_t)bytes);
  if (bytes >= LARGE_FROM) {
    munmap(block, whole_size(bytes));
  } else {
    free(block);
  }
}
