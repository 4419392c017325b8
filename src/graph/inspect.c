/* inspect.c: looks into a graph from outside the step: the first value that is not finite, and what each node costs. */
#include "graph.h"
#include <math.h>
#include <stdio.h>

/* Statistics of the elements of s as text when one is not finite; returns whether that is so. */
static int describe_bad(char *text, int32_t bytes, const lg_slot *s, const char *what) {
  int64_t n = lg_slot_size(s), nan = 0, inf = 0, first = -1;
  double low = INFINITY, high = -INFINITY;
  if (s->dtype != LG_F32 && s->dtype != LG_F64) return 0;
  for (int64_t i = 0; i < n; i++) {
    double v = s->dtype == LG_F32 ? (double)((const float *)s->data)[i] : ((const double *)s->data)[i];
    if (isfinite(v)) {
      low = fmin(low, v);
      high = fmax(high, v);
      continue;
    }
    if (first < 0) first = i;
    if (isnan(v))
      nan++;
    else
      inf++;
  }
  if (first < 0) return 0;
  char shape[160], finite[80] = "none is finite";
  if (low <= high) snprintf(finite, sizeof finite, "the finite ones lie in [%g, %g]", low, high);
  if (text && bytes > 0)
    snprintf(text, (size_t)bytes, "%s %s: %lld NaN and %lld infinite of %lld elements, the first at %lld; %s", what,
             lg_slot_text(shape, sizeof shape, s), (long long)nan, (long long)inf, (long long)n, (long long)first,
             finite);
  return 1;
}

lg_status lg_graph_find_nonfinite(int32_t *node, char *text, int32_t text_bytes, lg_graph *g) {
  if (!g || !node) return lg_fail(LG_EARG, "the graph or node is NULL");
  if (!g->planned || !g->batch) return lg_fail(LG_ESTATE, "there was no forward yet");
  LG_TRY(lg_graph_settle(g));
  g->forward_done = 0;
  *node = -1;
  for (int32_t i = 0; i < g->n; i++) { /* values share memory, so each is looked at right after it was computed */
    lg_node *x = g->nodes[i];
    LG_TRY(lg_node_forward(g, i));
    if (x->value.data && describe_bad(text, text_bytes, &x->value, "its value")) {
      *node = i;
      return LG_OK;
    }
  }
  for (int32_t i = g->n - 1; i >= 0; i--)
    if (g->nodes[i]->kind == LG_KIND_PARAM && g->nodes[i]->grad.data &&
        describe_bad(text, text_bytes, &g->nodes[i]->grad, "its gradient")) {
      *node = i;
      return LG_OK;
    }
  return LG_OK;
}

lg_status lg_graph_profile(lg_graph *g, int32_t on) {
  if (!g) return lg_fail(LG_EARG, "the graph is NULL");
  g->profile = on != 0;
  for (int32_t i = 0; i < g->n; i++) g->nodes[i]->fwd_s = g->nodes[i]->bwd_s = 0;
  return LG_OK;
}

static double bytes_of(const lg_slot *s) { return s ? (double)lg_slot_size(s) * lg_dtype_bytes(s->dtype) : 0; }

/* The least that a step can move: forward reads the inputs and writes the output, backward reads the output's gradient
 * and what its op asks for, and writes the gradients; what is computed again counts anew. An absorbed or
 * fused gate's share is with the op that has it. */
static double least_bytes(const lg_graph *g, const lg_node *node, const lg_op *op) {
  const lg_call *c = &node->call, *gate = c->epilogue;
  if (node->delegate >= 0 || op->flags & LG_OP_ALIAS || (node->absorbed && !gate)) return 0;
  double bytes = 0;
  if (!node->fused) {
    bytes = bytes_of(gate ? gate->out : NULL) + (node->absorbed ? 0 : bytes_of(c->out)) + bytes_of(c->residual);
    for (int32_t i = 0; i < node->n_in; i++) bytes += bytes_of(c->in[i]);
  }
  if (!node->on_path) return bytes;
  bytes += bytes_of(node->absorbed ? gate->out : c->out) + bytes_of(c->dresidual) + bytes_of(c->residual);
  for (int32_t i = 0; i < node->n_in; i++)
    bytes += bytes_of(c->din[i]) + (op->reads & 1u << i ? bytes_of(c->in[i]) : 0);
  if (g->nodes[node->exec]->again < 0) return bytes;
  double again = bytes_of(node->absorbed ? gate->out : c->out) + bytes_of(c->residual);
  for (int32_t i = 0; i < node->n_in; i++) again += op->reads & 1u << i ? bytes_of(c->in[i]) : 0;
  return bytes + (g->nodes[node->exec]->brief < 0 ? 1 : 2) * again;
}

lg_status lg_graph_node_cost(double *fwd_s, double *bwd_s, double *fwd_flops, double *bwd_flops, double *bytes,
                             const lg_graph *g, int32_t id) {
  const lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (!fwd_s || !bwd_s || !fwd_flops || !bwd_flops || !bytes) return lg_fail(LG_EARG, "a result pointer is NULL");
  const lg_op *op = node->kind == LG_KIND_OP ? lg_op_get(node->op) : NULL;
  *fwd_s = node->fwd_s;
  *bwd_s = node->bwd_s;
  *fwd_flops = op && op->flops ? op->flops(&node->call) : 0;
  *bytes = op ? least_bytes(g, node, op) : 0;
  int gradients = 0; /* a product for each gradient of an array; sums over rows are left out */
  for (int32_t i = 0; i < node->n_in; i++) gradients += node->call.din[i] && g->nodes[node->in[i]]->value.rank > 1;
  *bwd_flops = node->on_path ? *fwd_flops * gradients : 0;
  return LG_OK;
}
