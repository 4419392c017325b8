/* again.c: which values are not kept for backward but computed again in it, and when; run before memory is planned.
 *
 * The rule: every value that backward reads and whose op can compute it again (lg_op.again) from what its own backward
 * reads anyway. It is computed again right before the first backward that reads it, together with the values that it
 * needs itself: a chain of residual sums is computed from its beginning, each value once, and stays until its last
 * reader. Outputs and values that are seen in another shape are kept. */
#include "graph.h"

int lg_node_reads(const lg_graph *g, const lg_node *node, int32_t k) {
  if (!g->nodes[node->exec]->on_path) return 0;
  if (node->absorbed && node->delegate < 0 && node->op == LG_OP_ID_add) return 1;
  return lg_op_get(node->op)->reads >> k & 1;
}

/* Can node i's value be computed again? */
static int can_repeat(const lg_graph *g, int32_t i) {
  const lg_node *node = g->nodes[i], *turn = lg_graph_turn(g, i);
  return turn && node->on_path && !node->is_output && lg_op_get(turn->op)->again;
}

/* The turn whose backward is the first that needs node i's value; -1 when none does, or when an alias shares it. */
static int32_t first_need(const lg_graph *g, int32_t i) {
  int32_t need = -1;
  for (int32_t j = i + 1; j < g->n; j++) {
    const lg_node *node = g->nodes[j];
    for (int32_t k = 0; k < node->n_in; k++) {
      if (node->in[k] != i) continue;
      if (lg_op_get(node->op)->flags & LG_OP_ALIAS) return -1;
      if (!lg_node_reads(g, node, k)) continue;
      int32_t again = g->nodes[node->exec]->again, turn = again < 0 ? node->exec : again;
      if (turn > need) need = turn;
    }
  }
  return need;
}

void lg_graph_choose_again(lg_graph *g) {
  for (int32_t i = g->n - 1; i >= 0; i--) { /* readers first: theirs decide when this one is needed */
    if (!can_repeat(g, i)) continue;
    g->nodes[i]->again = first_need(g, i);
    if (g->nodes[i]->again >= 0) g->nodes[g->nodes[i]->again]->wakes = 1;
  }
}

lg_status lg_graph_run_again(lg_graph *g, int32_t turn) {
  for (int32_t i = 0; g->nodes[turn]->wakes && i < turn; i++) {
    if (g->nodes[i]->again != turn) continue;
    lg_node *node = lg_graph_turn(g, i);
    double start = g->profile ? lg_clock() : 0;
    g->nodes[i]->value.data = g->nodes[i]->place[1];
    node->call.work = node->work[1];
    lg_status status = lg_op_get(node->op)->again(&node->call);
    if (g->profile) node->bwd_s += lg_clock() - start;
    if (status != LG_OK) return lg_node_fail(node, status);
  }
  return LG_OK;
}
