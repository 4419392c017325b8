/* update_isa.c: the float32 optimizer loops, compiled once per instruction set (LG_ISA); update.c picks one. */
#include "update.h"
#include <math.h>

#define CONCAT_(a, b) a##b
#define CONCAT(a, b) CONCAT_(a, b)
#define NAME(name) CONCAT(lg_k_##name##_f32_, LG_ISA)
#define REAL float
#define SQRT sqrtf
#define SQRT_F64 sqrt

void NAME(adam)(float *, float *, float *, const float *, int64_t, const lg_adam_step *);
void NAME(sgd)(float *, float *, const float *, int64_t, const lg_sgd_step *);
#include "update_template.h"
