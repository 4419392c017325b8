/* attention_head.h: forward and backward of one head over one sequence, for one REAL type (GEMM, SOFTMAX_ROW,
 * SOFTMAX_AGAIN, SOFTMAX_GRAD are its kernels, NAME(x) gives the function's name). No include guard: included once per
 * type by op_attention.c.
 *
 * Queries go through in blocks of rows; a block's scores against all keys stand in scratch, [block, t], and the
 * whole t × t matrix never does. Backward computes them again from q and k, and the softmax from what forward kept of
 * each row. All sums over blocks are taken in the blocks' order. */

/* Zeroes the entries of p that dropout takes and scales the others; row: number of the row among all of the call. */
static void NAME(drop)(REAL *p, const head *h, int64_t row, int64_t count) {
  REAL keep = (REAL)(1 / (1 - h->drop));
  uint32_t word[4] = {0};
  for (int64_t j = 0; j < count; j++) {
    int64_t i = row * h->t + j;
    if (j == 0 || i % 4 == 0) lg_philox(word, h->c->seed, h->stream, h->c->step << 32 | (uint64_t)(i / 4));
    p[j] = word[i % 4] * 0x1p-32 >= h->drop ? p[j] * keep : 0;
  }
}

/* Scores of rows i … i+rows-1 against the first n keys; keys that a row may not see are skipped by the callers. */
static void NAME(scores)(REAL *s, const head *h, int64_t i, int64_t rows, int64_t n) {
  const REAL *q = (const REAL *)h->c->in[0]->data + h->at;
  GEMM(s, q + i * h->row, q + h->d, rows, n, h->dh, h->row, h->row, h->t, 0, 1, 1, 0);
}

static int64_t NAME(keys)(const head *h, int64_t i) { return h->causal && i + 1 < h->n ? i + 1 : h->n; }

static void NAME(forward)(const head *h, REAL *p) {
  const REAL *v = (const REAL *)h->c->in[0]->data + h->at + 2 * h->d;
  REAL *out = (REAL *)h->c->out->data + h->out_at, *stat = (REAL *)h->c->saved + 2 * h->first_row;
  for (int64_t i = 0; i < h->t; i += h->block) {
    int64_t rows = h->t - i < h->block ? h->t - i : h->block, n = NAME(keys)(h, i + rows - 1);
    NAME(scores)(p, h, i, rows, n);
    for (int64_t r = 0; r < rows; r++) {
      int64_t seen = NAME(keys)(h, i + r);
      SOFTMAX_ROW(p + r * h->t, stat + 2 * (i + r), (REAL)h->scale, seen);
      if (h->drop > 0) NAME(drop)(p + r * h->t, h, h->first_row + i + r, seen);
      for (int64_t j = seen; j < n; j++) p[r * h->t + j] = 0;
    }
    GEMM(out + i * h->d, p, v, rows, h->dh, n, h->t, h->row, h->d, 0, 0, 1, 0);
  }
}

/* p, dp: [block, t] */
static void NAME(backward)(const head *h, REAL *p, REAL *dp) {
  const lg_call *c = h->c;
  const REAL *q = (const REAL *)c->in[0]->data + h->at, *k = q + h->d, *v = k + h->d;
  REAL *dq = (REAL *)c->din[0]->data + h->at, *dk = dq + h->d, *dv = dk + h->d;
  const REAL *out = (const REAL *)c->out->data + h->out_at, *dout = (const REAL *)c->dout->data + h->out_at;
  const REAL *stat = (const REAL *)c->saved + 2 * h->first_row;
  for (int64_t i = 0; !c->acc[0] && i < h->t; i++)
    for (int64_t e = 0; e < h->dh; e++) dq[i * h->row + e] = dk[i * h->row + e] = dv[i * h->row + e] = 0;
  for (int64_t i = 0; i < h->t; i += h->block) {
    int64_t rows = h->t - i < h->block ? h->t - i : h->block, n = NAME(keys)(h, i + rows - 1);
    const REAL *dy = dout + i * h->d;
    NAME(scores)(p, h, i, rows, n);
    GEMM(dp, dy, v, rows, n, h->dh, h->d, h->row, h->t, 0, 1, 1, 0);
    for (int64_t r = 0; r < rows; r++) {
      int64_t seen = NAME(keys)(h, i + r);
      REAL dot = 0, *row = p + r * h->t, *drow = dp + r * h->t;
      for (int64_t e = 0; e < h->dh; e++) dot += dy[r * h->d + e] * out[(i + r) * h->d + e];
      SOFTMAX_AGAIN(row, stat + 2 * (i + r), (REAL)h->scale, seen);
      if (h->drop > 0) NAME(drop)(drow, h, h->first_row + i + r, seen);
      SOFTMAX_GRAD(drow, row, dot, (REAL)h->scale, seen);
      if (h->drop > 0) NAME(drop)(row, h, h->first_row + i + r, seen);
      for (int64_t j = seen; j < n; j++) row[j] = drow[j] = 0;
    }
    GEMM(dv, p, dy, n, h->dh, rows, h->t, h->d, h->row, 1, 0, 1, 1);
    GEMM(dq + i * h->row, dp, k, rows, h->dh, n, h->t, h->row, h->row, 0, 0, 1, 1);
    GEMM(dk, dp, q + i * h->row, n, h->dh, rows, h->t, h->row, h->row, 1, 0, 1, 1);
  }
}
