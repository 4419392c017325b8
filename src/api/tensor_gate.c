/* tensor_gate.c: activations of tensors and their derivatives: the graph's gate kernels over runs of constant λ. */
#include "tensor_internal.h"
#include "../kernels/gate.h"
#include <math.h>
#include <string.h>

enum { BLOCK = 512 }; /* elements gathered at a time where a run is strided */

/* Operands of the walk: out, [dfdl,] x, λ. The outputs and x have dtype `real`, f32 or f64. */
typedef struct {
  int32_t activation, real, lambda_dtype, gradient, with_dfdl;
} gate_job;

/* One contiguous block of constant λ; out and dfdl are not x. */
static void gate_block(const gate_job *j, void *out, void *dfdl, const void *x, double lambda, int64_t n) {
  if (j->real == LG_F32 && j->gradient)
    lg_k_gate_grad_f32(out, dfdl, x, (float)lambda, n, j->activation);
  else if (j->real == LG_F32)
    lg_k_gate_fwd_f32(out, x, (float)lambda, n, j->activation);
  else if (j->gradient)
    lg_k_gate_grad_f64(out, dfdl, x, lambda, n, j->activation);
  else
    lg_k_gate_fwd_f64(out, x, lambda, n, j->activation);
}

static double lambda_at(const gate_job *j, const char *p) {
  double v;
  lg_k_convert(&v, LG_F64, 0, p, j->lambda_dtype, 0, 1);
  return v;
}

static void gate_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  const gate_job *j = context;
  int ix = j->with_dfdl ? 2 : 1, il = ix + 1;
  int64_t width = lg_dtype_bytes(j->real), count;
  double in[BLOCK], out[2][BLOCK]; /* room for either dtype */
  for (int64_t i = 0; i < n; i += count) {
    const char *l = data[il] + i * step[il];
    double lambda = lambda_at(j, l);
    int64_t most = n - i < BLOCK ? n - i : BLOCK;
    count = step[il] == 0 ? most : 1;
    while (count < most && lambda_at(j, l + count * step[il]) == lambda) count++;
    lg_k_convert(in, j->real, width, data[ix] + i * step[ix], j->real, step[ix], count);
    gate_block(j, out[0], j->with_dfdl ? out[1] : NULL, in, lambda, count);
    for (int k = 0; k < ix; k++) lg_k_convert(data[k] + i * step[k], j->real, step[k], out[k], j->real, width, count);
  }
}

typedef struct {
  int32_t dtype, found;
  double bad;
} lambda_check;

static void check_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  lambda_check *c = context;
  for (int64_t i = 0; i < n; i++) {
    double v;
    lg_k_convert(&v, LG_F64, 0, data[0] + i * step[0], c->dtype, 0, 1);
    if (!(v >= 0) || isinf(v)) c->bad = v, c->found = 1;
  }
}

/* λ must be finite and at least 0. */
static lg_status check_lambda(const lg_tensor *lambda) {
  const lg_tensor *one[] = {lambda};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, one));
  lambda_check c = {.dtype = lambda->dtype};
  lg_walk_part(&w, 0, w.size, check_run, &c);
  if (c.found) return lg_fail(LG_EARG, "lambda = %g: expected a finite value of at least 0", c.bad);
  return LG_OK;
}

static lg_status gate_apart(lg_tensor *out, lg_tensor *dfdl, gate_job job, const lg_tensor *x,
                            const lg_tensor *lambda) {
  const lg_tensor *t[4] = {out, dfdl, x, lambda};
  if (!dfdl) t[1] = x, t[2] = lambda;
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, dfdl ? 4 : 3, t));
  lg_walk_run(&w, LG_TILE / 4, gate_run, &job); /* an element costs about four times an addition */
  return LG_OK;
}

static lg_status gate(lg_tensor *out, lg_tensor *dfdl, gate_job job, const lg_tensor *x, const lg_tensor *lambda) {
  char a[160], b[160];
  if (job.activation < 0 || job.activation >= LG_ACT_COUNT)
    return lg_fail(LG_EARG, "activation %d is outside 0..%d", job.activation, LG_ACT_COUNT - 1);
  LG_TRY(lg_tensor_check(x, "x"));
  if (!lg_dtype_is_float(x->dtype))
    return lg_fail(LG_EDTYPE, "x is %s: an activation needs f32 or f64",
                   lg_shape_text(a, sizeof a, x->dtype, x->rank, x->shape));
  double one = 1;
  lg_storage storage = {.refs = 1, .bytes = sizeof one, .data = &one};
  lg_tensor unit = {.storage = &storage, .dtype = LG_F64}; /* on the stack */
  if (!lambda) lambda = &unit;
  LG_TRY(lg_tensor_check(lambda, "lambda"));
  int32_t rank;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(lg_shape_broadcast(&rank, shape, x, lambda));
  if (rank != x->rank || memcmp(shape, x->shape, (size_t)rank * sizeof *shape) != 0)
    return lg_fail(LG_ESHAPE, "lambda %s does not broadcast to x %s",
                   lg_shape_text(a, sizeof a, lambda->dtype, lambda->rank, lambda->shape),
                   lg_shape_text(b, sizeof b, x->dtype, x->rank, x->shape));
  LG_TRY(check_lambda(lambda));
  lg_tensor *outs[] = {out, dfdl};
  const char *names[] = {job.gradient ? "dfdx" : "out", "dfdl"};
  for (int k = 0; k < 2; k++) {
    if (k == 1 && !dfdl) break;
    LG_TRY(lg_out_check(outs[k], names[k], x->dtype, rank, shape));
    if (outs[k]->dtype != x->dtype)
      return lg_fail(LG_EDTYPE, "%s is %s, but x is %s", names[k], lg_dtype_name(outs[k]->dtype),
                     lg_dtype_name(x->dtype));
  }
  job.real = x->dtype;
  job.lambda_dtype = lambda->dtype;
  job.with_dfdl = dfdl != NULL;
  lg_tensor *copies[4] = {NULL};
  lg_status status = lg_detach(&x, &copies[0], out);
  if (status == LG_OK && dfdl) status = lg_detach(&x, &copies[1], dfdl);
  if (status == LG_OK) status = lg_detach(&lambda, &copies[2], out);
  if (status == LG_OK && dfdl) status = lg_detach(&lambda, &copies[3], dfdl);
  if (status == LG_OK) status = gate_apart(out, dfdl, job, x, lambda);
  for (int k = 0; k < 4; k++) lg_tensor_free(copies[k]);
  return status;
}

lg_status lg_tensor_gate(lg_tensor *out, int32_t activation, const lg_tensor *x, const lg_tensor *lambda) {
  return gate(out, NULL, (gate_job){.activation = activation}, x, lambda);
}

lg_status lg_tensor_gate_grad(lg_tensor *dfdx, lg_tensor *dfdl, int32_t activation, const lg_tensor *x,
                              const lg_tensor *lambda) {
  return gate(dfdx, dfdl, (gate_job){.activation = activation, .gradient = 1}, x, lambda);
}
