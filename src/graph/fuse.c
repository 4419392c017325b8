/* fuse.c: which nodes are computed together, so that a large array is passed over once instead of two or three times.
 * The graph keeps its nodes: names, attributes, probing and swapping see them as they were declared.
 *
 * Three forms. An epilogue: a gate that alone reads a linear layer is computed by it in forward, tile by tile; the
 * layer's output is kept, and the gate's backward is its own. The same with a residual sum and the first normalization
 * of its rows, whoever else reads the sum; what that normalization's backward gives is added to the sum's gradient by
 * itself. Absorption: an op that is cheap to compute again (a
 * normalization) takes the gate behind it, and a residual sum in between, into its forward and backward; neither its
 * own output nor the sum is ever stored. All of it then happens at the gate's turn, when the other summand is there. */
#include "graph.h"

static const lg_op *op_of(const lg_node *node) { return node->kind == LG_KIND_OP ? lg_op_get(node->op) : NULL; }
static int is_op(const lg_node *node, int32_t op) { return node->kind == LG_KIND_OP && node->op == op; }

/* The only node that reads node i; -1 when there is none, or more than one reading. */
static int32_t only_reader(const lg_graph *g, int32_t i) {
  int32_t reader = -1;
  for (int32_t j = i + 1; j < g->n; j++)
    for (int32_t k = 0; k < g->nodes[j]->n_in; k++) {
      if (g->nodes[j]->in[k] != i) continue;
      if (reader >= 0) return -1;
      reader = j;
    }
  return g->nodes[i]->is_output ? -1 : reader;
}

/* Can gate j be computed by another op? Its s must be there already. */
static int is_free_gate(const lg_graph *g, int32_t j) {
  if (j < 0 || !is_op(g->nodes[j], LG_OP_ID_gate)) return 0;
  return g->nodes[j]->n_in < 2 || g->nodes[g->nodes[j]->in[1]]->kind != LG_KIND_OP;
}

static void fuse_epilogue(lg_graph *g, int32_t i) {
  int32_t j = only_reader(g, i);
  if (!is_free_gate(g, j)) return;
  g->nodes[i]->call.epilogue = &g->nodes[j]->call;
  g->nodes[j]->fused = 1;
}

/* Node i, of an op on rows, is computed by the sum before it. */
static void fuse_sum(lg_graph *g, int32_t i) {
  lg_node *node = g->nodes[i], *sum = g->nodes[node->in[0]];
  if (!is_op(sum, LG_OP_ID_add) || sum->absorbed || sum->call.epilogue) return;
  for (int32_t k = 1; k < node->n_in; k++)
    if (g->nodes[node->in[k]]->kind == LG_KIND_OP) return; /* may not be there yet at the sum's turn */
  sum->call.epilogue = &node->call;
  sum->call.rows = op_of(node)->rows;
  node->fused = 1;
}

static void absorb(lg_graph *g, int32_t i) {
  lg_node *node = g->nodes[i];
  int32_t gate = only_reader(g, i), sum = -1;
  if (gate >= 0 && is_op(g->nodes[gate], LG_OP_ID_add)) {
    sum = gate;
    gate = only_reader(g, sum);
  }
  if (!is_free_gate(g, gate)) return;
  if (sum >= 0) {
    lg_node *add = g->nodes[sum];
    if (add->absorbed) return; /* both summands are normalizations: the first one has it */
    node->residual = add->in[0] == i ? add->in[1] : add->in[0];
    node->call.residual = &g->nodes[node->residual]->value;
    add->absorbed = 1;
    add->exec = gate;
  }
  node->absorbed = 1;
  node->exec = gate;
  node->call.epilogue = &g->nodes[gate]->call;
  node->call.dout = &g->nodes[gate]->grad;
  g->nodes[gate]->delegate = i;
}

void lg_graph_fuse(lg_graph *g) {
  for (int32_t i = 0; i < g->n; i++) {
    const lg_op *op = op_of(g->nodes[i]);
    if (op && op->flags & LG_OP_EPILOGUE) fuse_epilogue(g, i);
    if (op && op->flags & LG_OP_ABSORB) absorb(g, i);
    if (op && op->rows) fuse_sum(g, i);
  }
}

lg_node *lg_graph_turn(const lg_graph *g, int32_t i) {
  lg_node *node = g->nodes[i];
  if (node->kind != LG_KIND_OP || node->absorbed) return NULL;
  return node->delegate >= 0 ? g->nodes[node->delegate] : node;
}
