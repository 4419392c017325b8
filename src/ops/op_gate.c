/* op_gate.c: the activation site of a network: y = x·Φ(λx) with λ from s, or another member of the family. The numerics
 * are in kernels/gate; here λ is resolved in float64, and ∂L/∂λ is summed over tiles in their order. */
#include "op_gate.h"
#include "../core/threads.h"
#include "../kernels/gate.h"
#include "op_list.h"

enum { KIND, REPARAM, TEMPERATURE, LAMBDA, FLOOR };
static const lg_attr attrs[] = {
    {"kind", LG_ACT_LAMBDA_GELU, 0, LG_ACT_COUNT - 1, "which activation: index into the list \"activation\""},
    {"reparam", LG_REPARAM_SOFTPLUS, 0, LG_REPARAM_COUNT - 1, "how s gives λ: index into the list \"reparam\""},
    {"t", 0.1, 1e-12, 1e12, "temperature of the reparameterization"},
    {"lambda", 1, 0, 1e30, "hardness λ of a gate without s"},
    {"floor", 0, 0, 1e30, "least λ: where it is the larger one, it is λ, and s gets no gradient"},
    {NULL, 0, 0, 0, NULL},
};
enum { TILE = 8192 }; /* elements; fixed, so that the sum behind ∂L/∂λ is always cut alike */

int32_t lg_gate_activation(const lg_call *gate) { return (int32_t)gate->attr[KIND]; }

lg_status lg_gate_resolve(double *lambda, double *dlds, const lg_call *gate) {
  double slope = 0;
  *lambda = gate->attr[LAMBDA];
  if (gate->n_in > 1)
    LG_TRY(lg_gate_lambda(lambda, &slope, (int32_t)gate->attr[REPARAM], *(const double *)gate->in[1]->data,
                          gate->attr[TEMPERATURE]));
  if (gate->attr[FLOOR] > *lambda) {
    *lambda = gate->attr[FLOOR];
    slope = 0;
  }
  if (dlds) *dlds = slope;
  gate->stat[0] = *lambda;
  return LG_OK;
}

static lg_status infer(const lg_call *c) {
  LG_TRY(lg_need_float(c, 0));
  LG_TRY(lg_need_whole(c, KIND, "kind"));
  LG_TRY(lg_need_whole(c, REPARAM, "reparam"));
  if (c->n_in > 1) {
    LG_TRY(lg_need_dtype(c, 1, LG_F64));
    if (lg_slot_size(c->in[1]) != 1) {
      char text[160];
      return lg_fail(LG_ESHAPE, "s is %s, expected one number for the whole gate",
                     lg_slot_text(text, sizeof text, c->in[1]));
    }
  }
  lg_slot_like(c->out, c->in[0]);
  return LG_OK;
}

typedef struct gate_run {
  const lg_call *c;
  double lambda;
  double *partial; /* [tiles]: Σ dy·∂f/∂λ of each */
} gate_run;

static int64_t tiles(const lg_call *c) { return (lg_slot_size(c->out) + TILE - 1) / TILE; }

static void forward_tile(void *context, int64_t tile) {
  const gate_run *r = context;
  int64_t at = tile * TILE, n = lg_slot_size(r->c->out) - at;
  if (n > TILE) n = TILE;
  if (r->c->dtype == LG_F32)
    lg_k_gate_fwd_f32((float *)r->c->out->data + at, (const float *)r->c->in[0]->data + at, (float)r->lambda, n,
                      lg_gate_activation(r->c));
  else
    lg_k_gate_fwd_f64((double *)r->c->out->data + at, (const double *)r->c->in[0]->data + at, r->lambda, n,
                      lg_gate_activation(r->c));
}

static lg_status forward(const lg_call *c) {
  gate_run r = {.c = c};
  LG_TRY(lg_gate_resolve(&r.lambda, NULL, c));
  lg_parallel(tiles(c), forward_tile, &r);
  return LG_OK;
}

static void backward_tile(void *context, int64_t tile) {
  const gate_run *r = context;
  const lg_call *c = r->c;
  int64_t at = tile * TILE, n = lg_slot_size(c->out) - at;
  if (n > TILE) n = TILE;
  /* When only s wants a gradient, dx goes to scratch. */
  if (c->dtype == LG_F32) {
    float *dx = c->din[0] ? (float *)c->din[0]->data : (float *)(r->partial + tiles(c));
    r->partial[tile] = lg_k_gate_bwd_f32(dx + at, (const float *)c->dout->data + at, (const float *)c->in[0]->data + at,
                                         (float)r->lambda, n, lg_gate_activation(c), c->din[0] ? c->acc[0] : 0);
  } else {
    double *dx = c->din[0] ? (double *)c->din[0]->data : r->partial + tiles(c);
    r->partial[tile] =
        lg_k_gate_bwd_f64(dx + at, (const double *)c->dout->data + at, (const double *)c->in[0]->data + at, r->lambda,
                          n, lg_gate_activation(c), c->din[0] ? c->acc[0] : 0);
  }
}

static lg_status backward(const lg_call *c) {
  double slope;
  gate_run r = {.c = c, .partial = c->work};
  LG_TRY(lg_gate_resolve(&r.lambda, &slope, c));
  lg_parallel(tiles(c), backward_tile, &r);
  double sum = 0;
  for (int64_t i = 0; i < tiles(c); i++) sum += r.partial[i];
  c->stat[1] = sum;
  if (c->n_in > 1 && c->din[1]) {
    double *ds = c->din[1]->data;
    *ds = (c->acc[1] ? *ds : 0) + sum * slope;
  }
  return LG_OK;
}

static size_t work_bytes(const lg_call *c, int backward) {
  if (!backward) return 0;
  /* A gate right behind an input has nowhere to put dx but scratch. */
  return (size_t)tiles(c) * sizeof(double) + (c->din[0] ? 0 : (size_t)lg_slot_size(c->out) * sizeof(double));
}

static double flops(const lg_call *c) {
  return 40.0 * (double)lg_slot_size(c->out);
} /* about: an exp and a polynomial */

const lg_op lg_op_gate = {
    .min_inputs = 1,
    .max_inputs = 2,
    .attrs = attrs,
    .flags = LG_OP_INPLACE | LG_OP_GRAD_INPLACE,
    .reads = 1u << 0 | 1u << 1,
    .infer = infer,
    .forward = forward,
    .backward = backward,
    .work_bytes = work_bytes,
    .flops = flops,
};
