/* norm_isa.c: the float32 loops of norm.h, compiled once per instruction set (LG_ISA); norm.c picks one. */
#include "norm.h"

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_norm_##name##_f32_, LG_ISA)
#define REAL float

void NAME(sums)(double *, double *, const float *, const float *, int64_t, int64_t);
void NAME(grad_sums)(double *, double *, const float *, const float *, const float *, int64_t, int64_t);
void NAME(grad_apply)(float *, const float *, const float *, const float *, const float *, const float *, const float *,
                      int64_t, int64_t, int);
#include "norm_template.h"
