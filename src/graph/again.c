/* again.c: which values are not kept for backward but computed again in it, and when; run before memory is planned.
 *
 * The rule: every value that backward reads and whose op can compute it again (lg_op.again) from what its own backward
 * reads anyway. It is computed again right before the first backward that reads it, together with the values that it
 * needs itself, a chain of residual sums from its beginning, and stays until its last reader. The beginning of a chain
 * alone does not stay: what others need before any backward reads it is computed twice. So nothing is computed more
 * than twice, and little is at all. Outputs and values that are seen in another shape are kept. */
#include "graph.h"

int lg_node_reads(const lg_graph *g, const lg_node *node, int32_t k) {
  if (!g->nodes[node->exec]->on_path) return 0;
  if (node->absorbed && node->delegate < 0 && node->op == LG_OP_ID_add) return 1;
  return lg_op_get(node->op)->reads >> k & 1;
}

/* Can node i's value be computed again, and elsewhere, so that nothing may share it? */
static int can_repeat(const lg_graph *g, int32_t i) {
  const lg_node *node = g->nodes[i], *turn = lg_graph_turn(g, i);
  if (!turn || !node->on_path || node->is_output || !lg_op_get(turn->op)->again) return 0;
  for (int32_t j = i + 1; j < g->n; j++)
    for (int32_t k = 0; k < g->nodes[j]->n_in; k++)
      if (g->nodes[j]->in[k] == i && lg_op_get(g->nodes[j]->op)->flags & LG_OP_ALIAS) return 0;
  return 1;
}

static void latest(int32_t *need, int32_t turn, int32_t before) {
  if (turn < before && turn > *need) *need = turn;
}

/* The latest turn, so the first in backward, lower than `before` that needs node i's value: for a backward that reads
 * it (*read is 1), or only for another value that is computed again then. -1 when there is none. */
static int32_t first_need(int *read, const lg_graph *g, int32_t i, int32_t before) {
  int32_t reader = -1, other = -1;
  for (int32_t j = i + 1; j < g->n; j++) {
    const lg_node *node = g->nodes[j];
    for (int32_t k = 0; k < node->n_in; k++) {
      if (node->in[k] != i || !lg_node_reads(g, node, k)) continue;
      latest(&reader, node->exec, before);
      latest(&other, g->nodes[node->exec]->again, before);
    }
  }
  *read = reader >= other;
  return *read ? reader : other;
}

/* Is something that node i's value is computed from computed again, too? */
static int is_chained(const lg_graph *g, int32_t i) {
  const lg_node *turn = lg_graph_turn(g, i);
  int chained = turn->residual >= 0 && can_repeat(g, turn->residual);
  for (int32_t k = 0; k < turn->n_in; k++) chained |= can_repeat(g, turn->in[k]);
  return chained;
}

void lg_graph_choose_again(lg_graph *g) {
  for (int32_t i = g->n - 1; i >= 0; i--) { /* readers first: theirs decide when this one is needed */
    lg_node *node = g->nodes[i];
    if (!can_repeat(g, i)) continue;
    int read;
    node->again = first_need(&read, g, i, g->n);
    if (!read && !is_chained(g, i)) {
      node->brief = node->again;
      node->again = first_need(&read, g, i, node->brief);
      g->nodes[node->brief]->wakes = 1;
    }
    if (node->again >= 0) g->nodes[node->again]->wakes = 1;
  }
}

lg_status lg_graph_run_again(lg_graph *g, int32_t turn) {
  for (int32_t i = 0; g->nodes[turn]->wakes && i < turn; i++) {
    int brief = g->nodes[i]->brief == turn;
    if (!brief && g->nodes[i]->again != turn) continue;
    lg_node *node = lg_graph_turn(g, i);
    double start = g->profile ? lg_clock() : 0;
    g->nodes[i]->value.data = g->nodes[i]->place[brief ? 2 : 1];
    node->call.work = node->work[1];
    lg_status status = lg_op_get(node->op)->again(&node->call);
    if (g->profile) node->bwd_s += lg_clock() - start;
    if (status != LG_OK) return lg_node_fail(node, status);
  }
  return LG_OK;
}
