/* winograd.c: picks the build of winograd_isa.c that fits the CPU. See winograd.h. */
#include "winograd.h"
#include "../core/cpu.h"

#ifdef LG_HAVE_X86_ISA
#define BUILDS(X, m) X(base, m) X(avx2, m) X(avx512, m) /* ORDER LG_ISA_LIST */
#else
#define BUILDS(X, m) X(base, m)
#endif
#define DECLARE(isa, m) extern const lg_winograd lg_k_winograd##m##_##isa;
BUILDS(DECLARE, 2)
BUILDS(DECLARE, 4)
BUILDS(DECLARE, 4s2)

const lg_winograd *lg_winograd_get(int64_t m, int64_t stride) {
#define ADDRESS(isa, m) &lg_k_winograd##m##_##isa,
  static const lg_winograd *const two[] = {BUILDS(ADDRESS, 2)}, *const four[] = {BUILDS(ADDRESS, 4)},
                                  *const four_apart[] = {BUILDS(ADDRESS, 4s2)};
  return (stride == 2 ? four_apart : m == 2 ? two : four)[lg_isa_index()];
}
