/* cpu.c: the CPU's name and instruction sets. Called by kernels' dispatch, core/blas.c and lgelu doctor.
 * What it is not: a list of CPU models. Decisions rest on feature bits, so that a CPU made after this file is served.
 */
#include "cpu.h"
#include "../lgelu.h"
#include <cpuid.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const isa_names[] = {
#define X(id, name, doc) name,
    LG_ISA_LIST(X)
#undef X
};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int32_t best, in_use;
static const char *cores[4];
static char brand[96];

#if defined(__x86_64__)
/* The 48-byte brand string of leaves 0x80000002–4, without its padding; left as it is where the CPU has none. */
static void read_brand(char *text, size_t bytes) {
  unsigned word[13] = {0}, a, b, c, d;
  if (!__get_cpuid(0x80000000u, &a, &b, &c, &d) || a < 0x80000004u) return;
  for (unsigned i = 0; i < 3; i++) {
    unsigned *w = word + 4 * i;
    __get_cpuid(0x80000002u + i, w, w + 1, w + 2, w + 3);
  }
  const char *start = (const char *)word + strspn((const char *)word, " ");
  size_t length = strlen(start);
  while (length && start[length - 1] == ' ') length--;
  if (length) snprintf(text, bytes, "%.*s", (int)length, start);
}

static int32_t find_best(void) {
  __builtin_cpu_init(); /* its answers include the operating system's consent (XGETBV) */
  int avx = __builtin_cpu_supports("avx"), avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  int avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512cd");
  int n = 0;
  if (avx512) cores[n++] = "SkylakeX";
  if (avx2) cores[n++] = "Haswell";
  if (avx) cores[n++] = "Sandybridge";
  return avx512 ? LG_ISA_AVX512 : avx2 ? LG_ISA_AVX2 : LG_ISA_BASE;
}
#else
static void read_brand(char *text, size_t bytes) { (void)text, (void)bytes; }
static int32_t find_best(void) { return LG_ISA_BASE; } /* OpenBLAS knows such CPUs by itself */
#endif

static void detect(void) {
  best = find_best();
  in_use = best;
  const char *wish = getenv("LGELU_ISA");
  for (int32_t i = 0; wish && i < best; i++) {
    if (strcmp(wish, isa_names[i]) == 0) in_use = i;
  }
  char name[64] = "a CPU without a name";
  read_brand(name, sizeof name);
  snprintf(brand, sizeof brand, "%s (%s)", name, isa_names[in_use]);
}

int32_t lg_isa_index(void) {
  pthread_once(&once, detect);
  return in_use;
}

int32_t lg_isa_best(void) {
  pthread_once(&once, detect);
  return best;
}

const char *lg_isa(void) { return isa_names[lg_isa_index()]; }

const char *lg_cpu_name(void) {
  pthread_once(&once, detect);
  return brand;
}

const char *const *lg_cpu_blas_cores(void) {
  pthread_once(&once, detect);
  return cores;
}
