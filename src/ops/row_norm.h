/* row_norm.h: what layer_norm and rms_norm share: each row of x[…, n] normalized over its n elements, · gamma[n]
 * (+ beta[n]). Not an op. */
#ifndef LG_OPS_ROW_NORM_H
#define LG_OPS_ROW_NORM_H
#include "op.h"

extern const lg_attr lg_row_norm_attrs[];
lg_status lg_row_norm_infer(const lg_call *c);
/* centred: 1 takes the mean off. Input 2, beta, may be missing. */
lg_status lg_row_norm_forward(const lg_call *c, int centred);
void lg_row_norm_rows(const lg_call *c, int64_t first, int64_t count, int centred); /* as lg_op.rows */
lg_status lg_row_norm_backward(const lg_call *c, int centred);
size_t lg_row_norm_saved_bytes(const lg_call *c);
size_t lg_row_norm_work_bytes(const lg_call *c, int backward);
double lg_row_norm_flops(const lg_call *c);
#endif
