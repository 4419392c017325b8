/* op_rms_norm.c: each row of x[…, n] divided by the root of its mean square, · gamma[n] (Zhang and Sennrich 2019,
 * arXiv:1910.07467). */
#include "op_list.h"
#include "row_norm.h"

static lg_status forward(const lg_call *c) { return lg_row_norm_forward(c, 0); }
static void rows(const lg_call *c, int64_t first, int64_t count) { lg_row_norm_rows(c, first, count, 0); }
static lg_status backward(const lg_call *c) { return lg_row_norm_backward(c, 0); }

const lg_op lg_op_rms_norm = {
    .min_inputs = 2,
    .max_inputs = 2,
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
