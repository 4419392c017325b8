/* tensor_reduce.c: reductions over one axis or all, by the folds of kernels/reduce.h, and the test for finite values.
 * Tiles are fixed by shapes and strides alone and join in their order, so the bits do not depend on threads. */
#include "tensor_internal.h"
#include "../core/memory.h"
#include "../core/threads.h"
#include "../kernels/reduce.h"

enum {
  OUTPUTS =
      128,      /* results folded together where the reduced axis is not the innermost: a row of them is read at once */
  PIECE = 4096, /* elements of the axis per tile where there are few results */
  FEW = 64,     /* results up to which the axis itself is cut */
  ALL_TILE = 65536 /* elements per tile of a reduction over all */
};

typedef struct {
  int32_t op, dtype, out_dtype;
  int64_t length, axis_step; /* of the reduced axis: elements, elements from one to the next */
  lg_fold *folds;            /* [pieces, outputs], or NULL: results go straight to out */
  const lg_walk *walk;       /* of out and of a without the axis */
  int64_t begin, end;        /* the part of the axis that this piece folds */
} reduce_job;

/* Folds of n results into out, from `step` bytes to `step` bytes. */
static void store(const reduce_job *j, char *out, int64_t step, const lg_fold *f, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    double v = lg_reduce_kind(j->op) == LG_REDUCE_INDEX ? (double)f[i].at : f[i].value;
    if (j->op == LG_REDUCE_MEAN) v /= (double)j->length;
    lg_k_convert(out + i * step, j->out_dtype, step, &v, LG_F64, 0, 1);
  }
}

static void axis_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  const reduce_job *j = context;
  int64_t width = lg_dtype_bytes(j->dtype), a_step = step[1] / width;
  int64_t across = a_step < 0 ? -a_step : a_step, along = j->axis_step < 0 ? -j->axis_step : j->axis_step;
  for (int64_t start = 0; start < n; start += OUTPUTS) {
    int64_t count = n - start < OUTPUTS ? n - start : OUTPUTS;
    const char *x = data[1] + start * step[1] + j->begin * j->axis_step * width;
    lg_fold local[OUTPUTS], *f = j->folds ? j->folds + at + start : local;
    for (int64_t i = 0; i < count; i++) f[i] = lg_k_fold_start(j->op);
    if (count > 1 && across < along) {
      for (int64_t i = j->begin; i < j->end; i++, x += j->axis_step * width)
        lg_k_fold_across(f, j->op, x, j->dtype, a_step, count, i);
    } else {
      for (int64_t i = 0; i < count; i++, x += step[1])
        lg_k_fold_along(f + i, j->op, x, j->dtype, j->axis_step, j->end - j->begin, j->begin);
    }
    if (!j->folds) store(j, data[0] + start * step[0], step[0], f, count);
  }
}

static void piece_tile(void *context, int64_t tile) {
  reduce_job j = *(const reduce_job *)context;
  j.folds += tile * j.walk->size;
  j.begin = tile * PIECE;
  j.end = j.begin + PIECE < j.length ? j.begin + PIECE : j.length;
  lg_walk_part(j.walk, 0, j.walk->size, axis_run, &j);
}

static void store_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  const reduce_job *j = context;
  store(j, data[0], step[0], j->folds + at, n);
}

/* Joins the pieces in their order and stores them. */
static lg_status reduce_pieces(reduce_job *j) {
  int64_t pieces = (j->length + PIECE - 1) / PIECE, n = j->walk->size;
  j->folds = lg_alloc((size_t)(pieces * n) * sizeof *j->folds);
  if (!j->folds) return lg_fail(LG_EMEM, "cannot allocate %lld partial results", (long long)(pieces * n));
  lg_parallel(pieces, piece_tile, j);
  for (int64_t p = 1; p < pieces; p++)
    for (int64_t i = 0; i < n; i++) lg_k_fold_join(j->folds + i, j->op, j->folds + p * n + i);
  lg_walk_part(j->walk, 0, n, store_run, j);
  lg_release(j->folds);
  return LG_OK;
}

static lg_status reduce_axis(lg_tensor *out, int32_t op, const lg_tensor *a, int32_t axis) {
  lg_tensor kept = *a; /* a without the axis, on the stack: its storage is a's */
  kept.rank--;
  for (int32_t i = axis; i < kept.rank; i++) {
    kept.shape[i] = a->shape[i + 1];
    kept.stride[i] = a->stride[i + 1];
  }
  const lg_tensor *t[] = {out, &kept};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 2, t));
  if (w.size == 0) return LG_OK;
  reduce_job job = {.op = op, .dtype = a->dtype, .out_dtype = out->dtype, .walk = &w};
  job.length = job.end = a->shape[axis];
  job.axis_step = a->stride[axis];
  if (w.size <= FEW && job.length > PIECE) return reduce_pieces(&job);
  int64_t grain = LG_TILE / (job.length + 1);
  lg_walk_run(&w, grain < OUTPUTS ? OUTPUTS : grain, axis_run, &job);
  return LG_OK;
}

/* -- over all ------------------------------------------------------------------------------------------------------ */

typedef struct {
  int32_t op, dtype;
  lg_fold *folds; /* [tiles] */
} all_job;

static void all_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  const all_job *j = context;
  lg_k_fold_along(j->folds + at / ALL_TILE, j->op, data[0], j->dtype, step[0] / lg_dtype_bytes(j->dtype), n, at);
}

static lg_status reduce_all(lg_tensor *out, int32_t op, const lg_tensor *a) {
  const lg_tensor *t[] = {a};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, t));
  int64_t tiles = (w.size + ALL_TILE - 1) / ALL_TILE;
  all_job job = {op, a->dtype, lg_alloc((size_t)(tiles + 1) * sizeof(lg_fold))};
  if (!job.folds) return lg_fail(LG_EMEM, "cannot allocate %lld partial results", (long long)tiles);
  for (int64_t i = 0; i <= tiles; i++) job.folds[i] = lg_k_fold_start(op);
  lg_walk_run(&w, ALL_TILE, all_run, &job);
  for (int64_t i = 1; i < tiles; i++) lg_k_fold_join(job.folds, op, job.folds + i);
  reduce_job result = {.op = op, .out_dtype = out->dtype, .length = w.size};
  store(&result, lg_tensor_data(out), lg_dtype_bytes(out->dtype), job.folds, 1);
  lg_release(job.folds);
  return LG_OK;
}

/* -- checks -----------------------------------------------------------------------------------------------------------
 */

static lg_status check_length(int32_t op, const lg_tensor *a, int64_t length) {
  char text[160];
  lg_shape_text(text, sizeof text, a->dtype, a->rank, a->shape);
  int32_t kind = lg_reduce_kind(op);
  if (length == 0 && (op == LG_REDUCE_MEAN || kind == LG_REDUCE_VALUE || kind == LG_REDUCE_INDEX))
    return lg_fail(LG_ESHAPE, "%s of no elements: the tensor is %s", lg_reduce_name(op), text);
  if (kind == LG_REDUCE_INDEX && length > INT32_MAX)
    return lg_fail(LG_ESHAPE, "%s over %lld elements of %s: an index may exceed i32", lg_reduce_name(op),
                   (long long)length, text);
  return LG_OK;
}

static lg_status reduce_apart(lg_tensor *out, int32_t op, const lg_tensor *a, int32_t axis) {
  return axis < 0 ? reduce_all(out, op, a) : reduce_axis(out, op, a, axis);
}

lg_status lg_tensor_reduce(lg_tensor *out, int32_t op, const lg_tensor *a, int32_t axis) {
  LG_TRY(lg_tensor_check(a, "the tensor"));
  int32_t dtype, rank = axis < 0 ? 0 : a->rank - 1;
  LG_TRY(lg_tensor_reduce_dtype(&dtype, op, a->dtype));
  char text[160];
  if (axis < -1 || axis >= a->rank)
    return lg_fail(LG_EARG, "axis %d (counted from 0) of %s: it has %d", axis,
                   lg_shape_text(text, sizeof text, a->dtype, a->rank, a->shape), a->rank);
  int64_t shape[LG_MAX_RANK];
  for (int32_t i = 0; i < rank; i++) shape[i] = a->shape[i < axis ? i : i + 1];
  LG_TRY(lg_out_check(out, "out", dtype, rank, shape));
  int64_t results = lg_tensor_size(out);
  if (results > 0) LG_TRY(check_length(op, a, axis < 0 ? lg_tensor_size(a) : a->shape[axis]));
  lg_tensor *copy = NULL;
  if (out->storage == a->storage) { /* results are written while elements are still to be read */
    LG_TRY(lg_tensor_clone(&copy, a, a->dtype));
    a = copy;
  }
  lg_status status = reduce_apart(out, op, a, axis);
  lg_tensor_free(copy);
  return status;
}

/* -- finite -----------------------------------------------------------------------------------------------------------
 */

typedef struct {
  int32_t dtype;
  atomic_int found;
} finite_job;

static void finite_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  finite_job *j = context;
  int64_t width = lg_dtype_bytes(j->dtype), run = step[0] == width ? n : 1; /* strided: one by one */
  for (int64_t i = 0; i < n; i += run) {
    const char *x = data[0] + i * step[0];
    if ((j->dtype == LG_F32 ? lg_k_find_nonfinite_f32((const float *)x, run)
                            : lg_k_find_nonfinite_f64((const double *)x, run)) >= 0)
      atomic_store(&j->found, 1);
  }
}

lg_status lg_tensor_all_finite(int32_t *yes, const lg_tensor *t) {
  if (!yes) return lg_fail(LG_EARG, "yes is NULL");
  LG_TRY(lg_tensor_check(t, "the tensor"));
  finite_job job = {.dtype = t->dtype};
  const lg_tensor *one[] = {t};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 1, one));
  if (lg_dtype_is_float(t->dtype)) lg_walk_run(&w, LG_TILE, finite_run, &job);
  *yes = !atomic_load(&job.found);
  return LG_OK;
}
