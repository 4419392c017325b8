/* row_norm_isa.c: the float32 loops of row_norm.h, compiled once per instruction set (LG_ISA); row_norm.c picks one. */
#include "row_norm.h"
#include <math.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_row_norm_##name##_f32_, LG_ISA)
#define REAL float
#define SQRT_F64 sqrt

void NAME(fwd)(float *, float *, const float *, const float *, const float *, int64_t, int64_t, double, int);
void NAME(bwd)(float *, float *, float *, const float *, const float *, const float *, const float *, int64_t, int64_t,
               int, int);
#include "row_norm_template.h"
