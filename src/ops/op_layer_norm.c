/* op_layer_norm.c: each row of x[…, n] with mean 0 and variance 1, · gamma[n] + beta[n] (Ba et al. 2016,
 * arXiv:1607.06450). The variance is the biased one. */
#include "op_list.h"
#include "row_norm.h"

static lg_status forward(const lg_call *c) { return lg_row_norm_forward(c, 1); }
static void rows(const lg_call *c, int64_t first, int64_t count) { lg_row_norm_rows(c, first, count, 1); }
static lg_status backward(const lg_call *c) { return lg_row_norm_backward(c, 1); }

const lg_op lg_op_layer_norm = {
    .min_inputs = 3,
    .max_inputs = 3,
    .attrs = lg_row_norm_attrs,
    .flags = LG_OP_GRAD_INPLACE,
    .reads = 1u << 0 | 1u << 1,
    .infer = lg_row_norm_infer,
    .forward = forward,
    .backward = backward,
    .rows = rows,
    .saved_bytes = lg_row_norm_saved_bytes,
    .work_bytes = lg_row_norm_work_bytes,
    .flops = lg_row_norm_flops,
};
