/* op_gate.h: what a gate tells an op that computes it as its epilogue. Called by op_gate.c and op_linear.c. */
#ifndef LG_OP_GATE_H
#define LG_OP_GATE_H
#include "op.h"

/* The gate's activation (list "activation"). */
int32_t lg_gate_activation(const lg_call *gate);
/* λ of a gate's call: from s (input 1) by its reparameterization, or the attribute `lambda`; the attribute `floor`
 * where that is larger. Also put into stat[0]. dlds (may be NULL): dλ/ds, 0 without s and where the floor holds. Fails
 * when s is not finite. */
lg_status lg_gate_resolve(double *lambda, double *dlds, const lg_call *gate);
#endif
