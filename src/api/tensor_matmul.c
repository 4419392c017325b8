/* tensor_matmul.c: matrix products of tensors: one gemm per tile of rows and per matrix of the leading dimensions. */
#include "tensor_internal.h"
#include "../core/threads.h"
#include "../kernels/gemm.h"

enum { ROWS = 128 }; /* rows of a tile */

/* The last two dimensions as gemm takes them: a stored matrix or its transpose. */
typedef struct {
  char *data;
  int64_t ld; /* elements from one stored row to the next */
  int trans;
} matrix;

typedef struct {
  matrix a, b, c;
  int64_t m, n, k;
  int32_t dtype;
  int alone; /* the only matrix */
} product;

/* Whether gemm can take the last two dimensions of t in place; strides of dimensions of one element are free. */
static int as_matrix(matrix *x, const lg_tensor *t) {
  int64_t rows = t->shape[t->rank - 2], cols = t->shape[t->rank - 1];
  int64_t down = t->stride[t->rank - 2], right = t->stride[t->rank - 1];
  if (rows == 0 || cols == 0) { /* nothing is read or written */
    *x = (matrix){.ld = cols};
    return 1;
  }
  if ((right == 1 || cols <= 1) && (down >= cols || rows <= 1) && (down > 0 || rows <= 1)) {
    *x = (matrix){.ld = rows <= 1 ? cols : down};
    return 1;
  }
  if ((down == 1 || rows <= 1) && (right >= rows || cols <= 1)) {
    *x = (matrix){.ld = cols <= 1 ? rows : right, .trans = 1};
    return 1;
  }
  return 0;
}

static void product_tile(void *context, int64_t tile) {
  const product *p = context;
  int64_t row = tile * ROWS, rows = p->m - row < ROWS ? p->m - row : ROWS;
  int64_t a_at = row * (p->a.trans ? 1 : p->a.ld), c_at = row * p->c.ld;
  if (p->dtype == LG_F32)
    lg_k_gemm_f32((float *)p->c.data + c_at, (const float *)p->a.data + a_at, (const float *)p->b.data, rows, p->n,
                  p->k, p->a.ld, p->b.ld, p->c.ld, p->a.trans, p->b.trans, 1, 0);
  else
    lg_k_gemm_f64((double *)p->c.data + c_at, (const double *)p->a.data + a_at, (const double *)p->b.data, rows, p->n,
                  p->k, p->a.ld, p->b.ld, p->c.ld, p->a.trans, p->b.trans, 1, 0);
}

/* The walk over leading dimensions: each element stands for one matrix. Several matrices are spread over the team; of
 * a single one, its tiles. Either way a tile is computed by the same call. */
static void matrices_run(void *context, int64_t at, char *const *data, const int64_t *step, int64_t n) {
  (void)at;
  product p = *(const product *)context;
  int64_t tiles = (p.m + ROWS - 1) / ROWS;
  for (int64_t i = 0; i < n; i++) {
    p.c.data = data[0] + i * step[0];
    p.a.data = data[1] + i * step[1];
    p.b.data = data[2] + i * step[2];
    if (p.alone) lg_parallel(tiles, product_tile, &p);
    for (int64_t tile = 0; !p.alone && tile < tiles; tile++) product_tile(&p, tile);
  }
}

/* t's leading dimensions alone, on the stack; the storage is t's. */
static lg_tensor leading(const lg_tensor *t) {
  lg_tensor lead = *t;
  lead.rank -= 2;
  return lead;
}

/* All three of one dtype; out is a stored matrix and shares no memory with a and b. */
static lg_status multiply(lg_tensor *out, const lg_tensor *a, const lg_tensor *b) {
  product p = {.m = a->shape[a->rank - 2], .k = a->shape[a->rank - 1], .n = b->shape[b->rank - 1], .dtype = a->dtype};
  if (!as_matrix(&p.a, a) || !as_matrix(&p.b, b) || !as_matrix(&p.c, out) || p.c.trans)
    return lg_fail(LG_EINTERNAL, "a matrix product got strides that it cannot take");
  lg_tensor lead[] = {leading(out), leading(a), leading(b)};
  const lg_tensor *t[] = {lead, lead + 1, lead + 2};
  lg_walk w;
  LG_TRY(lg_walk_plan(&w, 3, t));
  p.alone = w.size == 1;
  if (p.alone)
    lg_walk_part(&w, 0, 1, matrices_run, &p);
  else
    lg_walk_run(&w, 1, matrices_run, &p);
  return LG_OK;
}

/* *in as gemm can read it, in dtype: itself, or a contiguous copy that the caller frees. */
static lg_status prepare(const lg_tensor **in, lg_tensor **copy, int32_t dtype) {
  matrix unused;
  *copy = NULL;
  if ((*in)->dtype == dtype && as_matrix(&unused, *in)) return LG_OK;
  LG_TRY(lg_tensor_clone(copy, *in, dtype));
  *in = *copy;
  return LG_OK;
}

static lg_status check(int32_t *rank, int64_t *shape, const lg_tensor *a, const lg_tensor *b) {
  char x[160], y[160];
  lg_shape_text(x, sizeof x, a->dtype, a->rank, a->shape);
  lg_shape_text(y, sizeof y, b->dtype, b->rank, b->shape);
  if (!lg_dtype_is_float(a->dtype) || !lg_dtype_is_float(b->dtype))
    return lg_fail(LG_EDTYPE, "matmul of %s and %s: expected f32 or f64; convert first", x, y);
  if (a->rank < 2 || b->rank < 2)
    return lg_fail(LG_ESHAPE, "matmul of %s and %s: both need at least 2 dimensions", x, y);
  if (a->shape[a->rank - 1] != b->shape[b->rank - 2])
    return lg_fail(LG_ESHAPE, "matmul of %s and %s: %lld columns against %lld rows", x, y,
                   (long long)a->shape[a->rank - 1], (long long)b->shape[b->rank - 2]);
  lg_tensor lead_a = leading(a), lead_b = leading(b);
  if (lg_shape_broadcast(rank, shape, &lead_a, &lead_b) != LG_OK)
    return lg_fail(LG_ESHAPE, "matmul of %s and %s: the leading dimensions do not broadcast", x, y);
  shape[(*rank)++] = a->shape[a->rank - 2];
  shape[(*rank)++] = b->shape[b->rank - 1];
  return LG_OK;
}

lg_status lg_tensor_matmul_shape(int32_t *dtype, int32_t *rank, int64_t *shape, const lg_tensor *a,
                                 const lg_tensor *b) {
  if (!dtype || !rank || !shape) return lg_fail(LG_EARG, "dtype, rank or shape is NULL");
  LG_TRY(lg_tensor_check(a, "the first tensor"));
  LG_TRY(lg_tensor_check(b, "the second tensor"));
  *dtype = lg_dtype_promote(a->dtype, b->dtype);
  return check(rank, shape, a, b);
}

lg_status lg_tensor_matmul(lg_tensor *out, const lg_tensor *a, const lg_tensor *b) {
  int32_t rank, dtype;
  int64_t shape[LG_MAX_RANK];
  LG_TRY(lg_tensor_matmul_shape(&dtype, &rank, shape, a, b));
  LG_TRY(lg_out_check(out, "out", dtype, rank, shape));
  matrix whole;
  lg_tensor *result = out, *own = NULL, *copy_a = NULL, *copy_b = NULL;
  lg_status status = LG_OK;
  if (out->dtype != dtype || out->storage == a->storage || out->storage == b->storage || !as_matrix(&whole, out) ||
      whole.trans) {
    status = lg_tensor_new(&own, dtype, rank, shape);
    result = own;
  }
  if (status == LG_OK) status = prepare(&a, &copy_a, dtype);
  if (status == LG_OK) status = prepare(&b, &copy_b, dtype);
  if (status == LG_OK) status = multiply(result, a, b);
  if (status == LG_OK && own) status = lg_tensor_copy(out, own);
  lg_tensor_free(own);
  lg_tensor_free(copy_a);
  lg_tensor_free(copy_b);
  return status;
}
