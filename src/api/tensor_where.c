/* tensor_where.c: elements chosen from one of two tensors by a third. */
#include "tensor_internal.h"

typedef struct {
  int32_t dtype[LG_WALK_MAX]; /* of out, cond, a, b */
} where_job;

static void where_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  const int32_t *dtype = ((const where_job *)context)->dtype;
  for (int64_t i = 0; i < n; i++) {
    double cond;
    lg_k_convert(&cond, LG_F64, 0, data[1] + i * step[1], dtype[1], 0, 1);
    int k = cond != 0 ? 2 : 3;
    lg_k_convert(data[0] + i * step[0], dtype[0], 0, data[k] + i * step[k], dtype[k], 0, 1);
  }
}

static lg_status where_apart(lg_tensor *out, const lg_tensor *const *in) {
  const lg_tensor *t[] = {out, in[0], in[1], in[2]};
  where_job job;
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 4, t));
  for (int k = 0; k < 4; k++) job.dtype[k] = t[k]->dtype;
  lg_walk_run(&w, LG_TILE, where_run, &job);
  return LG_OK;
}

lg_status lg_tensor_where_shape(int32_t *dtype, int32_t *rank, int64_t *shape, const lg_tensor *cond,
                                const lg_tensor *a, const lg_tensor *b) {
  if (!dtype || !rank || !shape) return lg_fail(LG_EARG, "dtype, rank or shape is NULL");
  LG_TRY(lg_tensor_check(cond, "the condition"));
  LG_TRY(lg_tensor_check(a, "the first tensor"));
  LG_TRY(lg_tensor_check(b, "the second tensor"));
  *dtype = lg_dtype_promote(a->dtype, b->dtype);
  lg_tensor both = {.dtype = *dtype}; /* a shape only */
  LG_TRY(lg_shape_broadcast(&both.rank, both.shape, a, b));
  return lg_shape_broadcast(rank, shape, cond, &both);
}

lg_status lg_tensor_where(lg_tensor *out, const lg_tensor *cond, const lg_tensor *a, const lg_tensor *b) {
  int32_t dtype, rank;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(lg_tensor_where_shape(&dtype, &rank, shape, cond, a, b));
  LG_TRY(lg_out_check(out, "out", dtype, rank, shape));
  const lg_tensor *in[] = {cond, a, b};
  lg_tensor *copies[3] = {NULL};
  lg_status status = LG_OK;
  for (int k = 0; k < 3 && status == LG_OK; k++) status = lg_detach(in + k, copies + k, out);
  if (status == LG_OK) status = where_apart(out, in);
  for (int k = 0; k < 3; k++) lg_tensor_free(copies[k]);
  return status;
}
