/* run.c: binds inputs, runs forward and backward of a planned graph, and hands out views. Allocates nothing in a step.
 */
#include "graph.h"
#include "../core/interrupt.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static lg_status need_plan(const lg_graph *g) {
  if (!g) return lg_fail(LG_EARG, "the graph is NULL");
  return g->planned ? LG_OK : lg_fail(LG_ESTATE, "the graph is not planned yet: call lg_graph_plan first");
}

lg_status lg_graph_bind(lg_graph *g, int32_t input, lg_tensor *value) {
  LG_TRY(need_plan(g));
  lg_node *node = lg_graph_get(g, input);
  if (!node) return LG_EMISSING;
  if (node->kind != LG_KIND_INPUT) return lg_node_fail(node, lg_fail(LG_EARG, "only inputs can be bound"));
  if (!value) return lg_node_fail(node, lg_fail(LG_EARG, "the tensor is NULL"));
  int fits = value->dtype == node->value.dtype && value->rank == node->value.rank && lg_tensor_contiguous(value);
  for (int32_t i = 0; fits && i < value->rank; i++) {
    int64_t want = node->declared[i];
    fits = want == -1 ? value->shape[i] >= 1 && value->shape[i] <= g->max_batch : value->shape[i] == want;
  }
  if (!fits) {
    char want[160], got[160];
    return lg_node_fail(node,
                        lg_fail(LG_ESHAPE, "%s%s does not fit %s with a batch of 1 to %lld",
                                lg_shape_text(got, sizeof got, value->dtype, value->rank, value->shape),
                                lg_tensor_contiguous(value) ? "" : " (not contiguous)",
                                lg_shape_text(want, sizeof want, node->value.dtype, node->value.rank, node->declared),
                                (long long)g->max_batch));
  }
  if (value->storage == g->work)
    return lg_node_fail(node, lg_fail(LG_EARG, "the tensor lies in this graph's own workspace: bind a copy of it"));
  lg_tensor *view;
  LG_TRY(lg_tensor_view(&view, value, value->rank, value->shape, value->stride, 0));
  lg_tensor_free(node->bound);
  node->bound = view;
  g->forward_done = 0;
  node->value.data = lg_tensor_data(view);
  return LG_OK;
}

lg_status lg_graph_settle(lg_graph *g) {
  int64_t batch = 0;
  const lg_node *first = NULL;
  for (int32_t i = 0; i < g->n; i++) {
    lg_node *node = g->nodes[i];
    if (node->kind != LG_KIND_INPUT) continue;
    if (!node->bound) return lg_node_fail(node, lg_fail(LG_ESTATE, "the input is not bound"));
    if (!node->value.rank || node->declared[0] != -1) continue;
    if (!first) {
      first = node;
      batch = node->bound->shape[0];
    } else if (node->bound->shape[0] != batch) {
      return lg_node_fail(node, lg_fail(LG_ESHAPE, "a batch of %lld, but input '%s' has %lld",
                                        (long long)node->bound->shape[0], first->name, (long long)batch));
    }
  }
  if (!batch) batch = 1;
  if (batch == g->batch) return LG_OK;
  g->batch = 0; /* unknown, should a shape fail */
  LG_TRY(lg_graph_infer(g, batch));
  g->batch = batch;
  return LG_OK;
}

lg_status lg_node_forward(lg_graph *g, int32_t i) {
  lg_node *node = lg_graph_turn(g, i);
  if (!node) return LG_OK;
  const lg_op *op = lg_op_get(node->op);
  if (g->nodes[i]->again >= 0) g->nodes[i]->value.data = g->nodes[i]->place[0];
  if (op->flags & LG_OP_ALIAS) node->value.data = g->nodes[node->in[0]]->value.data;
  if (op->flags & LG_OP_ALIAS || node->fused) return LG_OK;
  node->call.work = node->work[0];
  double start = g->profile ? lg_clock() : 0;
  lg_status status = op->forward(&node->call);
  if (g->profile && node->call.training) node->fwd_s += lg_clock() - start;
  return status == LG_OK ? LG_OK : lg_node_fail(node, status);
}

static void prepare_calls(lg_graph *g, int32_t mode, uint64_t seed, uint64_t step) {
  for (int32_t i = 0; i < g->n; i++) {
    lg_call *c = &g->nodes[i]->call;
    c->training = mode;
    c->seed = seed;
    c->step = step;
  }
}

/* Evaluation can be stopped between any two nodes. A training step cannot: it ends whole, so that what is saved after
 * Ctrl-C is the state after a step; the loop looks at the flag between steps. */
lg_status lg_graph_forward(lg_graph *g, int32_t mode, uint64_t seed, uint64_t step) {
  LG_TRY(need_plan(g));
  if (mode != 0 && mode != 1) return lg_fail(LG_EARG, "mode %d is neither 0 (evaluation) nor 1 (training)", mode);
  if (mode && !g->training) return lg_fail(LG_ESTATE, "the graph was planned for evaluation only");
  LG_TRY(lg_graph_settle(g));
  prepare_calls(g, mode, seed, step);
  g->forward_done = 0;
  for (int32_t i = 0; i < g->n; i++) {
    if (!mode) LG_TRY(lg_interrupt_poll("evaluation"));
    LG_TRY(lg_node_forward(g, i));
  }
  g->forward_done = 1 + mode;
  return LG_OK;
}

static lg_status backward_node(lg_graph *g, lg_node *node) {
  const lg_op *op = lg_op_get(node->op);
  double start = g->profile ? lg_clock() : 0;
  node->call.work = node->work[1];
  lg_status status = LG_OK;
  if (!(op->flags & LG_OP_ALIAS))
    status = op->backward(&node->call);
  else if (!node->grad_shared && node->call.din[0])
    lg_op_accumulate(node->call.din[0], node->call.dout, node->call.acc[0]);
  if (g->profile) node->bwd_s += lg_clock() - start;
  return status == LG_OK ? LG_OK : lg_node_fail(node, status);
}

lg_status lg_graph_backward(lg_graph *g) {
  LG_TRY(need_plan(g));
  if (!g->training) return lg_fail(LG_ESTATE, "the graph was planned for evaluation only");
  if (g->forward_done != 2) return lg_fail(LG_ESTATE, "backward needs a forward in training mode just before it");
  g->forward_done = 0;
  lg_slot *seed = &g->nodes[g->loss]->grad;
  if (seed->dtype == LG_F64)
    *(double *)seed->data = 1;
  else
    *(float *)seed->data = 1;
  for (int32_t i = g->n - 1; i >= 0; i--) {
    lg_node *node = lg_graph_turn(g, i);
    if (!node || !g->nodes[i]->on_path) continue;
    LG_TRY(lg_graph_run_again(g, i));
    LG_TRY(backward_node(g, node));
  }
  return LG_OK;
}

lg_status lg_graph_value(lg_tensor **out, lg_graph *g, int32_t id) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  LG_TRY(need_plan(g));
  lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (node->kind == LG_KIND_INPUT) {
    if (!node->bound) return lg_node_fail(node, lg_fail(LG_ESTATE, "the input is not bound"));
    return lg_tensor_view(out, node->bound, node->bound->rank, node->bound->shape, node->bound->stride, 0);
  }
  if (node->arena_offset >= 0)
    return lg_tensor_over(out, g->params, (size_t)node->arena_offset, node->value.dtype, node->value.rank,
                          node->value.shape);
  if (!node->is_output)
    return lg_node_fail(node, lg_fail(LG_ESTATE, "the value is not kept: call lg_graph_output before planning"));
  if (!g->batch) return lg_node_fail(node, lg_fail(LG_ESTATE, "there is no value before the first forward"));
  const char *data = node->value.data, *work = g->work->data;
  if (data < work || data >= work + g->work->bytes) { /* an alias of an input or of a parameter */
    int32_t source = node->in[0];
    while (g->nodes[source]->kind == LG_KIND_OP) source = g->nodes[source]->in[0];
    lg_tensor *whole;
    LG_TRY(lg_graph_value(&whole, g, source));
    int64_t stride[LG_MAX_RANK], step = 1;
    for (int32_t i = node->value.rank - 1; i >= 0; step *= node->value.shape[i--]) stride[i] = step;
    lg_status status = lg_tensor_view(out, whole, node->value.rank, node->value.shape, stride, 0);
    lg_tensor_free(whole);
    return status;
  }
  return lg_tensor_over(out, g->work, (size_t)(data - work), node->value.dtype, node->value.rank, node->value.shape);
}

lg_status lg_graph_grad(lg_tensor **out, lg_graph *g, int32_t id) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  LG_TRY(need_plan(g));
  lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (node->kind != LG_KIND_PARAM) return lg_node_fail(node, lg_fail(LG_EARG, "only parameters keep their gradient"));
  if (!node->grad.data)
    return lg_node_fail(
        node,
        lg_fail(LG_ESTATE, "the loss does not depend on this parameter, or the graph was planned for evaluation"));
  return lg_tensor_over(out, g->grads, (size_t)node->arena_offset, node->value.dtype, node->value.rank,
                        node->value.shape);
}

lg_status lg_graph_node_stat(double *value, const lg_graph *g, int32_t id, int32_t index) {
  const lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (!value || index < 0 || index >= LG_MAX_STATS)
    return lg_fail(LG_EARG, "value is NULL or index %d is outside 0..%d", index, LG_MAX_STATS - 1);
  *value = node->stat[index];
  return LG_OK;
}
