/* cpu.h: what the CPU is and which of its instruction sets the leaf kernels use. Called by kernels' dispatch tables,
 * core/blas.c and lgelu doctor. */
#ifndef LG_CPU_H
#define LG_CPU_H
#include <stdint.h>

/* Levels of the leaf kernels: each *_isa.c is compiled once a level, and tables of kernels are indexed by it. */
#define LG_ISA_LIST(X)                                                                                                 \
  X(BASE, "base", "x86-64 as every such CPU has it (SSE2)")                                                            \
  X(AVX2, "avx2", "AVX2 with FMA")                                                                                     \
  X(AVX512, "avx512", "AVX-512 F, DQ, BW, VL, CD")
enum {
#define X(id, name, doc) LG_ISA_##id,
  LG_ISA_LIST(X)
#undef X
      LG_ISA_COUNT
};

/* The level in use: the CPU's best, lowered by LGELU_ISA=base|avx2|avx512 in the environment. Fixed for the process. */
int32_t lg_isa_index(void);
/* The CPU's best level, whatever the environment says. */
int32_t lg_isa_best(void);
/* OpenBLAS kernels that run on this CPU, the best first, ended by NULL; empty where OpenBLAS should choose. */
const char *const *lg_cpu_blas_cores(void);
#endif
