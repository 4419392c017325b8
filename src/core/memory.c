/* memory.c: counted allocation. A header before each block remembers its size, so that live bytes stay exact. */
#include "memory.h"
#include "../lgelu.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HEADER = 64, HUGE_FROM = 4 << 20 };
static atomic_int_fast64_t live, peak, fail_in;

int64_t lg_mem_live(void) { return atomic_load(&live); }
int64_t lg_mem_peak(void) { return atomic_load(&peak); }
void lg_mem_reset_peak(void) { atomic_store(&peak, atomic_load(&live)); }
void lg_mem_fail_at(int64_t n) { atomic_store(&fail_in, n); }

void *lg_alloc(size_t bytes) {
  if (atomic_load(&fail_in) > 0 && atomic_fetch_sub(&fail_in, 1) == 1) return NULL;
  if (bytes > SIZE_MAX - 2 * HEADER) return NULL;
  size_t whole = (bytes + HEADER + 63) / 64 * 64;
  char *p = aligned_alloc(64, whole);
  if (!p) return NULL;
  if (whole >= HUGE_FROM) madvise(p, whole, MADV_HUGEPAGE); /* a hint: fewer TLB misses in large arenas */
  memset(p, 0, whole);
  *(size_t *)p = bytes;
  int64_t now = atomic_fetch_add(&live, (int64_t)bytes) + (int64_t)bytes, top = atomic_load(&peak);
  while (now > top && !atomic_compare_exchange_weak(&peak, &top, now)) {
  }
  return p + HEADER;
}

void lg_release(void *p) {
  if (!p) return;
  char *block = (char *)p - HEADER;
  atomic_fetch_sub(&live, (int64_t) * (size_t *)block);
  free(block);
}
