/* plan.c: decides, once, where every byte of a graph lives. Measures first, then allocates three blocks: parameters,
 * their gradients (the same layout), and one workspace in which values, gradients, saved data and scratch share memory
 * when their lifetimes allow.
 *
 * Time runs over 2n instants: forward of node i at i, its backward at 2n-1-i. A value lives from its forward to its
 * last reader, which is a backward where the reader's op says so (lg_op.reads); one that is computed again (again.c)
 * lives twice, and may lie elsewhere the second time. A gradient lives from its first contribution to the node's own
 * backward. Buffers that never live at one instant may overlap. */
#include "graph.h"
#include "../core/memory.h"
#include <string.h>

enum { ALIGN = 64 };
typedef struct buffer {
  size_t bytes, offset;
  int32_t birth, death; /* both inclusive */
  int32_t root;         /* index of the buffer whose memory this one is; itself when it has its own */
} buffer;

/* Buffers of node i: value i, value computed again n+i, before that briefly 2n+i, gradient, saved, forward scratch,
 * backward scratch. */
enum { VALUE, AGAIN, BRIEF, GRAD, SAVED, WORK_F, WORK_B, KINDS };
typedef struct planner {
  lg_graph *g;
  buffer *b; /* [KINDS * n] */
  int32_t n;
} planner;

static buffer *at(planner *p, int kind, int32_t i) { return &p->b[kind * p->n + i]; }
static buffer *root_of(planner *p, buffer *b) {
  while (b->root != b - p->b) b = &p->b[b->root];
  return b;
}
static int32_t backward_time(const planner *p, int32_t i) { return 2 * p->n - 1 - i; }
static size_t slot_bytes(const lg_slot *s) { return (size_t)lg_slot_size(s) * (size_t)lg_dtype_bytes(s->dtype); }
static const lg_op *op_of(const lg_node *node) { return node->kind == LG_KIND_OP ? lg_op_get(node->op) : NULL; }
static void live_until(buffer *b, int32_t time) {
  if (b->death < time) b->death = time;
}

/* Which ops' backward runs: those that need a gradient and lead to the loss. */
static void mark_path(lg_graph *g, int32_t loss) {
  for (int32_t i = 0; i < g->n; i++) g->nodes[i]->on_path = i == loss && g->nodes[i]->needs_grad;
  for (int32_t i = g->n - 1; i >= 0; i--) {
    lg_node *node = g->nodes[i];
    for (int32_t k = 0; node->on_path && k < node->n_in; k++) {
      lg_node *in = g->nodes[node->in[k]];
      if (in->needs_grad) in->on_path = 1;
    }
  }
}

/* The last turn at which node i's value is read on the path, which is the first in backward: -1 when there is none. */
static int32_t last_turn(const lg_graph *g, int32_t i) {
  int32_t last = -1;
  for (int32_t j = i + 1; j < g->n; j++)
    for (int32_t k = 0; k < g->nodes[j]->n_in; k++)
      if (g->nodes[j]->in[k] == i && g->nodes[j]->on_path && g->nodes[j]->exec > last) last = g->nodes[j]->exec;
  return last;
}

/* Does a backward run at the node's turn? An absorbing op's runs when its gate's does, if only for the gate's s. */
static int has_backward(const lg_graph *g, const lg_node *node) { return g->nodes[node->exec]->on_path; }

static void value_lifetimes(planner *p) {
  lg_graph *g = p->g;
  for (int32_t i = 0; i < p->n; i++) {
    lg_node *node = g->nodes[i];
    const lg_op *op = op_of(node);
    buffer *b = at(p, VALUE, i);
    b->bytes = op && !node->absorbed ? slot_bytes(&node->value) : 0; /* inputs are bound, parameters have their arena */
    b->birth = node->fused ? node->in[0] : i;
    live_until(b, node->is_output ? 2 * p->n : i);
    if (op && node->on_path && op->reads & LG_READ_OUT) live_until(b, backward_time(p, i));
    if (node->again >= 0) {
      buffer *again = at(p, AGAIN, i);
      again->bytes = b->bytes;
      again->birth = again->death = backward_time(p, node->again);
    }
    if (node->brief >= 0) {
      buffer *brief = at(p, BRIEF, i);
      brief->bytes = b->bytes;
      brief->birth = brief->death = backward_time(p, node->brief);
    }
    if (op && op->flags & LG_OP_ALIAS) b->root = (int32_t)(root_of(p, at(p, VALUE, node->in[0])) - p->b);
  }
  for (int32_t j = 0; j < p->n; j++) {
    lg_node *node = g->nodes[j];
    for (int32_t k = 0; k < node->n_in; k++) {
      buffer *b = root_of(p, at(p, VALUE, node->in[k]));
      live_until(b, node->exec);
      if (!lg_node_reads(g, node, k)) continue;
      live_until(g->nodes[node->in[k]]->again >= 0 ? at(p, AGAIN, node->in[k]) : b, backward_time(p, node->exec));
    }
    live_until(root_of(p, at(p, VALUE, j)), at(p, VALUE, j)->death);
  }
}

/* Writes an output over input 0 where that is its last use. */
static void values_in_place(planner *p) {
  for (int32_t i = 0; i < p->n; i++) {
    lg_node *node = p->g->nodes[i];
    const lg_op *op = op_of(node);
    if (!op || !(op->flags & LG_OP_INPLACE) || node->absorbed || node->delegate >= 0) continue;
    buffer *in = root_of(p, at(p, VALUE, node->in[0])), *out = at(p, VALUE, i);
    if (!in->bytes || in->bytes != out->bytes || in->death > i || out->root != out - p->b) continue;
    int reused = 0; /* the same memory as another input? then writing would change what is still to be read */
    for (int32_t k = 1; k < node->n_in; k++) reused |= root_of(p, at(p, VALUE, node->in[k])) == in;
    if (reused) continue;
    out->root = (int32_t)(in - p->b);
    live_until(in, out->death);
  }
}

/* The node whose input 0 can take the gradient in place at node j's turn, or NULL. */
static lg_node *in_place_node(lg_graph *g, int32_t j) {
  lg_node *node = lg_graph_turn(g, j);
  if (!node || !node->on_path || !(op_of(node)->flags & (LG_OP_GRAD_INPLACE | LG_OP_ALIAS))) return NULL;
  return node;
}

static void gradients(planner *p) {
  lg_graph *g = p->g;
  for (int32_t i = 0; i < p->n; i++) {
    lg_node *node = g->nodes[i];
    if (!node->on_path || node->kind != LG_KIND_OP || node->absorbed) continue;
    buffer *b = at(p, GRAD, i);
    b->bytes = slot_bytes(&node->value);
    int32_t last = last_turn(g, i);
    b->birth = last < 0 ? p->n : backward_time(p, last);
    b->death = backward_time(p, i);
  }
  /* In place, from the loss downwards: node's own gradient is dead once its backward is done. */
  for (int32_t j = p->n - 1; j >= 0; j--) {
    lg_node *node = in_place_node(g, j);
    if (!node) continue;
    buffer *own = root_of(p, at(p, GRAD, j)), *in = at(p, GRAD, node->in[0]);
    if (!in->bytes || in->bytes != at(p, GRAD, j)->bytes || last_turn(g, node->in[0]) != j) continue;
    in->root = (int32_t)(own - p->b);
    live_until(own, in->death);
    node->grad_shared = 1;
  }
}

static void scratch(planner *p) {
  for (int32_t i = 0; i < p->n; i++) {
    lg_node *node = p->g->nodes[i];
    const lg_op *op = op_of(node);
    /* An absorbed sum or gate has its work done, and its memory asked for, by the op that absorbed it. */
    int done_elsewhere = node->delegate >= 0 || (node->absorbed && !node->call.epilogue);
    if (!op || done_elsewhere) continue;
    buffer *saved = at(p, SAVED, i), *f = at(p, WORK_F, i), *b = at(p, WORK_B, i);
    if (op->saved_bytes) saved->bytes = op->saved_bytes(&node->call);
    int32_t turn = node->exec;
    saved->birth = node->fused ? node->in[0] : turn;
    saved->death = has_backward(p->g, node) ? backward_time(p, turn) : turn;
    if (op->work_bytes) f->bytes = op->work_bytes(&node->call, 0);
    f->birth = f->death = turn;
    if (op->work_bytes && has_backward(p->g, node)) b->bytes = op->work_bytes(&node->call, 1);
    b->birth = b->death = backward_time(p, turn);
    const lg_node *whole = p->g->nodes[turn];
    if (whole->again < 0) continue;
    b->birth = backward_time(p, whole->brief >= 0 ? whole->brief : whole->again);
    if (b->bytes < f->bytes) b->bytes = f->bytes;
  }
}

static int goes_before(const buffer *a, const buffer *b) {
  return a->bytes != b->bytes ? a->bytes > b->bytes : a->death > b->death;
}

/* Largest first, of equals the one that lives on longest, each at the lowest offset that is free during its whole life.
 * Returns the total. */
static size_t place(planner *p, int32_t *order) {
  int32_t count = 0;
  for (int32_t i = 0; i < KINDS * p->n; i++)
    if (p->b[i].bytes && p->b[i].root == i) order[count++] = i;
  for (int32_t i = 1; i < count; i++) { /* insertion sort: stable, so that the layout never depends on a library */
    int32_t x = order[i], k = i;
    while (k > 0 && goes_before(&p->b[x], &p->b[order[k - 1]])) {
      order[k] = order[k - 1];
      k--;
    }
    order[k] = x;
  }
  size_t total = 0;
  for (int32_t i = 0; i < count; i++) {
    buffer *b = &p->b[order[i]];
    size_t offset = 0, size = (b->bytes + ALIGN - 1) / ALIGN * ALIGN;
    for (int again = 1; again;) {
      again = 0;
      for (int32_t k = 0; k < i; k++) {
        const buffer *o = &p->b[order[k]];
        size_t o_size = (o->bytes + ALIGN - 1) / ALIGN * ALIGN;
        if (o->birth <= b->death && b->birth <= o->death && o->offset < offset + size && offset < o->offset + o_size) {
          offset = o->offset + o_size;
          again = 1;
        }
      }
    }
    b->offset = offset;
    if (offset + size > total) total = offset + size;
  }
  return total;
}

static size_t arena_layout(lg_graph *g) {
  size_t offset = 0;
  for (int32_t i = 0; i < g->n; i++) {
    lg_node *node = g->nodes[i];
    if (node->kind != LG_KIND_PARAM && node->kind != LG_KIND_STATE) continue;
    node->arena_offset = (int64_t)offset;
    offset += (slot_bytes(&node->value) + ALIGN - 1) / ALIGN * ALIGN;
  }
  return offset;
}

/* Asks for the gradient of node `in`: returns its slot, or NULL when nobody wants it, and whether to add to it. */
static lg_slot *want(lg_graph *g, int32_t in, int32_t *acc) {
  lg_node *node = g->nodes[in];
  if (!node->on_path) return NULL;
  *acc = node->grad_started;
  node->grad_started = 1;
  return &node->grad;
}

/* Which gradients each call writes, and whether it is the first to do so, in backward's order. */
static void wire_gradients(lg_graph *g) {
  for (int32_t i = g->n - 1; i >= 0; i--) {
    lg_node *node = lg_graph_turn(g, i), *gate = g->nodes[i];
    if (!node || !gate->on_path) continue;
    if (node != gate && gate->n_in > 1) gate->call.din[1] = want(g, gate->in[1], &gate->call.acc[1]);
    if (node->residual >= 0) node->call.dresidual = want(g, node->residual, &node->call.acc_residual);
    for (int32_t k = 0; k < node->n_in; k++) node->call.din[k] = want(g, node->in[k], &node->call.acc[k]);
  }
}

/* Gives every slot its address. */
static void connect(planner *p) {
  lg_graph *g = p->g;
  char *params = g->params->data, *grads = g->grads ? g->grads->data : NULL, *work = g->work->data;
  for (int32_t i = 0; i < p->n; i++) {
    lg_node *node = g->nodes[i];
    if (node->arena_offset >= 0) {
      node->value.data = params + node->arena_offset;
      if (node->on_path) node->grad.data = grads + node->arena_offset;
    } else if (node->kind == LG_KIND_OP) {
      const buffer *value = root_of(p, at(p, VALUE, i)), *grad = root_of(p, at(p, GRAD, i));
      if (!(op_of(node)->flags & LG_OP_ALIAS) && !node->absorbed)
        node->value.data = work + value->offset; /* aliases: set as they are run; absorbed: there is none */
      node->place[0] = node->value.data;
      node->place[1] = work + at(p, AGAIN, i)->offset;
      node->place[2] = work + at(p, BRIEF, i)->offset;
      if (at(p, GRAD, i)->bytes) node->grad.data = work + grad->offset;
      if (at(p, SAVED, i)->bytes) node->call.saved = work + at(p, SAVED, i)->offset;
      if (at(p, WORK_F, i)->bytes) node->work[0] = work + at(p, WORK_F, i)->offset;
      if (at(p, WORK_B, i)->bytes) node->work[1] = work + at(p, WORK_B, i)->offset;
    }
  }
}

static lg_status check_loss(lg_graph *g, int32_t loss) {
  lg_node *node = lg_graph_get(g, loss);
  if (!node) return LG_EMISSING;
  if (node->value.rank != 0) {
    char text[160];
    return lg_node_fail(
        node, lg_fail(LG_ESHAPE, "the loss must be a scalar, not %s", lg_slot_text(text, sizeof text, &node->value)));
  }
  if (!node->needs_grad) return lg_node_fail(node, lg_fail(LG_EARG, "the loss depends on no parameter"));
  return LG_OK;
}

static lg_status allocate(lg_graph *g, planner *p, int32_t *order, int32_t training) {
  g->arena_bytes = arena_layout(g);
  LG_TRY(lg_storage_new(&g->params, g->arena_bytes));
  if (training) LG_TRY(lg_storage_new(&g->grads, g->arena_bytes));
  g->work_bytes = place(p, order);
  return lg_storage_new(&g->work, g->work_bytes);
}

lg_status lg_graph_plan(lg_graph *g, int64_t max_batch, int32_t training, int32_t loss) {
  if (!g) return lg_fail(LG_EARG, "the graph is NULL");
  if (g->planned) return lg_fail(LG_ESTATE, "the graph is planned already");
  if (max_batch < 1) return lg_fail(LG_EARG, "max_batch = %lld must be at least 1", (long long)max_batch);
  if (training) LG_TRY(check_loss(g, loss));
  LG_TRY(lg_graph_infer(g, max_batch));
  if (g->plan_begun) return lg_fail(LG_ESTATE, "planning failed before: build the graph anew");
  g->plan_begun = 1;
  lg_graph_fuse(g);
  if (training) {
    mark_path(g, loss);
    lg_graph_choose_again(g);
    wire_gradients(g);
  }
  planner p = {.g = g, .n = g->n, .b = lg_alloc((size_t)(KINDS * g->n) * sizeof(buffer))};
  int32_t *order = lg_alloc((size_t)(KINDS * g->n) * sizeof *order);
  lg_status status = LG_OK;
  if (!p.b || !order) status = lg_fail(LG_EMEM, "cannot allocate the plan");
  for (int32_t i = 0; status == LG_OK && i < KINDS * g->n; i++) p.b[i].root = i;
  if (status == LG_OK) {
    value_lifetimes(&p);
    values_in_place(&p);
    gradients(&p);
    scratch(&p);
    status = allocate(g, &p, order, training);
  }
  if (status == LG_OK) {
    connect(&p);
    g->planned = 1;
    g->training = training != 0;
    g->loss = training ? loss : -1;
    g->max_batch = max_batch;
    status = lg_graph_infer(g, LG_BATCH_PROBE); /* until the first run, the batch is unknown again */
  }
  lg_release(p.b);
  lg_release(order);
  return status;
}

lg_status lg_graph_memory(int64_t *params, int64_t *grads, int64_t *work, const lg_graph *g) {
  if (!g || !params || !grads || !work) return lg_fail(LG_EARG, "the graph or a result pointer is NULL");
  *params = g->params ? (int64_t)g->params->bytes : 0;
  *grads = g->grads ? (int64_t)g->grads->bytes : 0;
  *work = g->work ? (int64_t)g->work->bytes : 0;
  return LG_OK;
}
