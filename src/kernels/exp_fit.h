/* exp_fit.h: the polynomial behind the float32 exponentials: constants only. The gates and the softmax share it; it is
 * a minimax fit of tests/ref/gate_fit.py. */
#ifndef LG_EXP_FIT_H
#define LG_EXP_FIT_H

/* exp(r) = 1 + r + r²·(C2 + C3·r + …), |r| ≤ 0.3468 (½·log 2 and what rounding adds): minimax, relative error 2⁻²⁸. */
#define EXP_C2 0.499999934418
#define EXP_C3 0.166665204741
#define EXP_C4 0.0416683885978
#define EXP_C5 0.00836873796755
#define EXP_C6 0.00138146573475
#define LOG2_E 1.44269504088896340736
#endif
