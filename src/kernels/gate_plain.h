/* gate_plain.h: the plain gate kernels, one source for float64 (PLAIN(name) = name_f64) and for the float32 references
 * (name_f32_ref; PLAIN_NORM is the type's lg_gate_norm): scalar loops over lg_gate_scalar_f64, each result rounded once
 * to REAL. Included by gate.c only, once per type. */

void PLAIN(lg_k_gate_fwd)(REAL *y, const REAL *x, REAL lambda, int64_t n, int32_t activation) {
  for (int64_t i = 0; i < n; i++) {
    double f;
    lg_gate_scalar_f64(&f, NULL, NULL, x[i], lambda, activation);
    y[i] = (REAL)f;
  }
}

void PLAIN(lg_k_gate_grad)(REAL *dfdx, REAL *dfdl, const REAL *x, REAL lambda, int64_t n, int32_t activation) {
  for (int64_t i = 0; i < n; i++) {
    double gx, gl;
    lg_gate_scalar_f64(NULL, &gx, &gl, x[i], lambda, activation);
    dfdx[i] = (REAL)gx;
    if (dfdl) dfdl[i] = (REAL)gl;
  }
}

double PLAIN(lg_k_gate_bwd)(REAL *dx, const REAL *dy, const REAL *x, REAL lambda, int64_t n, int32_t activation,
                            int accumulate) {
  double lane[LG_GATE_LANES] = {0};
  for (int64_t i = 0; i < n; i++) {
    double gx, gl, up = dy[i];
    lg_gate_scalar_f64(NULL, &gx, &gl, x[i], lambda, activation);
    dx[i] = (REAL)((accumulate ? (double)dx[i] : 0.0) + up * gx);
    lane[i % LG_GATE_LANES] += up * gl;
  }
  return lg_gate_lane_sum(lane);
}

void PLAIN(lg_k_bias_gate_fwd)(REAL *y, REAL *z, const REAL *bias, REAL lambda, int64_t rows, int64_t cols, int64_t ldz,
                               int64_t ldy, int32_t activation) {
  for (int64_t r = 0; r < rows; r++) {
    REAL *zr = z + r * ldz;
    if (bias)
      for (int64_t c = 0; c < cols; c++) zr[c] += bias[c];
    PLAIN(lg_k_gate_fwd)(y + r * ldy, zr, lambda, cols, activation);
  }
}

static REAL PLAIN(normalized)(const PLAIN_NORM *norm, int64_t r, int64_t c) {
  int64_t i = r * norm->cols + c;
  REAL u = (norm->x[i] - norm->mean[c]) * norm->scale[c] + norm->shift[c];
  return norm->residual ? u + norm->residual[i] : u;
}

void PLAIN(lg_k_norm_gate_fwd)(REAL *y, const PLAIN_NORM *norm, REAL lambda, int32_t activation) {
  for (int64_t r = 0; r < norm->rows; r++)
    for (int64_t c = 0; c < norm->cols; c++) {
      double f;
      lg_gate_scalar_f64(&f, NULL, NULL, PLAIN(normalized)(norm, r, c), lambda, activation);
      y[r * norm->cols + c] = (REAL)f;
    }
}

double PLAIN(lg_k_norm_gate_bwd)(REAL *d, const REAL *dy, const PLAIN_NORM *norm, REAL lambda, int32_t activation) {
  double lane[LG_GATE_LANES] = {0};
  for (int64_t r = 0; r < norm->rows; r++)
    for (int64_t c = 0; c < norm->cols; c++) {
      double gx, gl, up = dy[r * norm->cols + c];
      lg_gate_scalar_f64(NULL, &gx, &gl, PLAIN(normalized)(norm, r, c), lambda, activation);
      d[r * norm->cols + c] = (REAL)(up * gx);
      lane[c % LG_GATE_LANES] += up * gl;
    }
  return lg_gate_lane_sum(lane);
}
