/* build.c: adds nodes to a graph and checks each as it is added: inputs, attributes, shapes. Allocates no values. */
#include "graph.h"
#include "../core/memory.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static char *copy_text(const char *text) {
  size_t n = strlen(text ? text : "") + 1;
  char *p = lg_alloc(n);
  if (p) memcpy(p, text ? text : "", n);
  return p;
}

lg_status lg_graph_new(lg_graph **out, int32_t dtype) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  if (dtype != LG_F32 && dtype != LG_F64)
    return lg_fail(LG_EDTYPE, "a graph computes in f32 or f64, not %s", lg_dtype_name(dtype));
  lg_graph *g = lg_alloc(sizeof *g);
  if (!g) return lg_fail(LG_EMEM, "cannot allocate a graph");
  g->dtype = dtype;
  g->loss = -1;
  *out = g;
  return LG_OK;
}

static void node_free(lg_node *node) {
  if (!node) return;
  lg_tensor_free(node->bound);
  lg_release(node->name);
  lg_release(node->where);
  lg_release(node);
}

void lg_graph_free(lg_graph *g) {
  if (!g) return;
  for (int32_t i = 0; i < g->n; i++) node_free(g->nodes[i]);
  lg_release(g->nodes);
  lg_storage_drop(g->params);
  lg_storage_drop(g->grads);
  lg_storage_drop(g->work);
  lg_release(g);
}

lg_node *lg_graph_get(const lg_graph *g, int32_t node) {
  if (!g) {
    lg_fail(LG_EARG, "the graph is NULL");
    return NULL;
  }
  if (node < 0 || node >= g->n) {
    lg_fail(LG_EMISSING, "node %d is outside 0..%d", node, g->n - 1);
    return NULL;
  }
  return g->nodes[node];
}

static const char *kind_name(const lg_node *node) {
  static const char *const kinds[] = {"input", "param", "state"};
  return node->kind == LG_KIND_OP ? lg_list_name("op", node->op) : kinds[node->kind];
}

lg_status lg_node_fail(const lg_node *node, lg_status status) {
  return lg_fail_context(status, "%s%snode '%s' (%s)", node->where, *node->where ? ": " : "", node->name,
                         kind_name(node));
}

void lg_node_call(lg_graph *g, lg_node *node) {
  lg_call *c = &node->call;
  c->name = node->name;
  c->n_in = node->n_in;
  c->attr = node->attr;
  c->stat = node->stat;
  c->out = &node->value;
  c->dout = &node->grad;
  c->dtype = g->dtype;
  for (int32_t i = 0; i < node->n_in; i++) c->in[i] = &g->nodes[node->in[i]]->value;
}

/* Appends an empty node; *out stays owned by the graph. */
static lg_status append(lg_node **out, lg_graph *g, int32_t kind, const char *name, const char *where) {
  if (!g) return lg_fail(LG_EARG, "the graph is NULL");
  if (g->planned) return lg_fail(LG_ESTATE, "node '%s' comes after the graph was planned", name ? name : "");
  if (!name || !*name) return lg_fail(LG_EARG, "a node needs a name");
  if (lg_graph_node_find(g, name) >= 0)
    return lg_fail(LG_EEXISTS, "%s%sthere is a node '%s' already", where ? where : "", where && *where ? ": " : "",
                   name);
  if (g->n == g->capacity) {
    int32_t capacity = g->capacity ? 2 * g->capacity : 64;
    lg_node **nodes = lg_alloc((size_t)capacity * sizeof *nodes);
    if (!nodes) return lg_fail(LG_EMEM, "cannot allocate the list of nodes");
    if (g->n) memcpy(nodes, g->nodes, (size_t)g->n * sizeof *nodes);
    lg_release(g->nodes);
    g->nodes = nodes;
    g->capacity = capacity;
  }
  lg_node *node = lg_alloc(sizeof *node);
  if (node) {
    node->name = copy_text(name);
    node->where = copy_text(where);
  }
  if (!node || !node->name || !node->where) {
    node_free(node);
    return lg_fail(LG_EMEM, "cannot allocate node '%s'", name);
  }
  node->kind = kind;
  node->op = node->delegate = node->residual = node->again = node->brief = -1;
  node->exec = g->n;
  node->arena_offset = -1;
  node->call.node = g->n;
  g->nodes[g->n++] = node;
  *out = node;
  return LG_OK;
}

static void drop_last(lg_graph *g) { node_free(g->nodes[--g->n]); }

static const int64_t ADDRESSABLE = (int64_t)1 << 47; /* bytes of a process; plan.c adds up offsets up to n times that */

/* Fails unless a node of that shape has at most `most` bytes. */
static lg_status check_bytes(const lg_slot *s, int64_t most) {
  int64_t bytes = lg_shape_size(s->rank, s->shape);
  char text[160];
  if (bytes >= 0 && !__builtin_mul_overflow(bytes, (int64_t)lg_dtype_bytes(s->dtype), &bytes) && bytes <= most)
    return LG_OK;
  return lg_fail(LG_ESHAPE, "%s is larger than any memory", lg_slot_text(text, sizeof text, s));
}

static lg_status leaf(int32_t *id, lg_graph *g, int32_t kind, int32_t dtype, int32_t rank, const int64_t *shape,
                      const char *name, const char *where) {
  if (!id) return lg_fail(LG_EARG, "node is NULL");
  if (dtype < 0 || dtype >= LG_DTYPE_COUNT) return lg_fail(LG_EDTYPE, "dtype %d is none of the list", dtype);
  if (rank < 0 || rank > LG_MAX_RANK || (rank && !shape))
    return lg_fail(LG_ESHAPE, "rank %d is outside 0..%d or its shape is NULL", rank, LG_MAX_RANK);
  lg_node *node;
  LG_TRY(append(&node, g, kind, name, where));
  node->value.dtype = dtype;
  node->value.rank = rank;
  lg_status status = LG_OK;
  for (int32_t i = 0; i < rank && status == LG_OK; i++) {
    int batch = kind == LG_KIND_INPUT && i == 0 && shape[0] == -1;
    node->declared[i] = shape[i];
    node->value.shape[i] = batch ? LG_BATCH_PROBE : shape[i];
    if (!batch && shape[i] < 1) {
      char text[160];
      status = lg_fail(LG_ESHAPE, "%s: every dimension must be at least 1%s",
                       lg_shape_text(text, sizeof text, dtype, rank, shape),
                       kind == LG_KIND_INPUT ? ", or -1 for the batch in front" : "");
    }
  }
  if (status == LG_OK) status = check_bytes(&node->value, INT64_MAX);
  if (status != LG_OK) {
    status = lg_node_fail(node, status);
    drop_last(g);
    return status;
  }
  node->needs_grad = kind == LG_KIND_PARAM;
  *id = g->n - 1;
  return LG_OK;
}

lg_status lg_graph_input(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where) {
  return leaf(node, g, LG_KIND_INPUT, dtype, rank, shape, name, where);
}

lg_status lg_graph_param(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where) {
  if (dtype != LG_F32 && dtype != LG_F64)
    return lg_fail(LG_EDTYPE, "parameter '%s' must be f32 or f64, not %s", name ? name : "", lg_dtype_name(dtype));
  return leaf(node, g, LG_KIND_PARAM, dtype, rank, shape, name, where);
}

lg_status lg_graph_state(int32_t *node, lg_graph *g, int32_t dtype, int32_t rank, const int64_t *shape,
                         const char *name, const char *where) {
  return leaf(node, g, LG_KIND_STATE, dtype, rank, shape, name, where);
}

static lg_status check_attr(const lg_attr *a, double value) {
  if (value >= a->min && value <= a->max) return LG_OK; /* NaN fails as well */
  return lg_fail(LG_EARG, "%s = %g is outside %g..%g", a->name, value, a->min, a->max);
}

static lg_status fill_op(lg_graph *g, lg_node *node, const lg_op *op, int32_t n_inputs, const int32_t *inputs,
                         int32_t n_attrs, const double *attrs) {
  if (n_inputs < op->min_inputs || n_inputs > op->max_inputs)
    return lg_fail(LG_EARG, "%d inputs, expected %d to %d", n_inputs, op->min_inputs, op->max_inputs);
  int32_t known = 0;
  while (op->attrs && op->attrs[known].name) known++;
  if (n_attrs > known) return lg_fail(LG_EARG, "%d attributes, expected at most %d", n_attrs, known);
  for (int32_t i = 0; i < known; i++) {
    node->attr[i] = i < n_attrs ? attrs[i] : op->attrs[i].dflt;
    LG_TRY(check_attr(&op->attrs[i], node->attr[i]));
  }
  node->n_in = n_inputs;
  for (int32_t i = 0; i < n_inputs; i++) {
    if (inputs[i] < 0 || inputs[i] >= g->n - 1)
      return lg_fail(LG_EMISSING, "input %d is node %d, which does not exist yet", i + 1, inputs[i]);
    node->in[i] = inputs[i];
    if (!op->no_grad && g->nodes[inputs[i]]->needs_grad) node->needs_grad = 1;
  }
  lg_node_call(g, node);
  LG_TRY(op->infer(&node->call));
  return check_bytes(&node->value, INT64_MAX);
}

lg_status lg_graph_op(int32_t *id, lg_graph *g, int32_t op_id, int32_t n_inputs, const int32_t *inputs, int32_t n_attrs,
                      const double *attrs, const char *name, const char *where) {
  if (!id) return lg_fail(LG_EARG, "node is NULL");
  const lg_op *op = lg_op_get(op_id);
  if (!op) return lg_fail(LG_EMISSING, "op %d is none of the list", op_id);
  if ((n_inputs > 0 && !inputs) || (n_attrs > 0 && !attrs)) return lg_fail(LG_EARG, "inputs or attributes are NULL");
  lg_node *node;
  LG_TRY(append(&node, g, LG_KIND_OP, name, where));
  node->op = op_id;
  lg_status status = fill_op(g, node, op, n_inputs, inputs, n_attrs, attrs);
  if (status != LG_OK) {
    status = lg_node_fail(node, status);
    drop_last(g);
    return status;
  }
  *id = g->n - 1;
  return LG_OK;
}

lg_status lg_graph_output(lg_graph *g, int32_t id) {
  lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (g->planned) return lg_fail(LG_ESTATE, "outputs are chosen before the graph is planned");
  node->is_output = 1;
  return LG_OK;
}

int32_t lg_graph_nodes(const lg_graph *g) { return g ? g->n : 0; }
const char *lg_graph_node_name(const lg_graph *g, int32_t id) {
  const lg_node *node = lg_graph_get(g, id);
  return node ? node->name : NULL;
}
const char *lg_graph_node_where(const lg_graph *g, int32_t id) {
  const lg_node *node = lg_graph_get(g, id);
  return node ? node->where : NULL;
}
const char *lg_graph_node_kind(const lg_graph *g, int32_t id) {
  const lg_node *node = lg_graph_get(g, id);
  return node ? kind_name(node) : NULL;
}
int32_t lg_graph_node_find(const lg_graph *g, const char *name) {
  for (int32_t i = 0; g && name && i < g->n; i++)
    if (!strcmp(g->nodes[i]->name, name)) return i;
  return -1;
}

int32_t lg_graph_node_inputs(const lg_graph *g, int32_t id, int32_t *inputs, int32_t max) {
  const lg_node *node = lg_graph_get(g, id);
  if (!node) return -1;
  for (int32_t i = 0; inputs && i < node->n_in && i < max; i++) inputs[i] = node->in[i];
  return node->n_in;
}

lg_status lg_graph_node_shape(int32_t *rank, int64_t *shape, const lg_graph *g, int32_t id) {
  const lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (!rank || !shape) return lg_fail(LG_EARG, "a result pointer is NULL");
  *rank = node->value.rank;
  for (int32_t i = 0; i < node->value.rank; i++)
    shape[i] = !g->batch && node->value.shape[i] % LG_BATCH_PROBE == 0 ? -1 : node->value.shape[i];
  return LG_OK;
}

static int32_t find_attr(const lg_node *node, const char *name) {
  const lg_op *op = node->kind == LG_KIND_OP && name ? lg_op_get(node->op) : NULL;
  for (int32_t i = 0; op && op->attrs && op->attrs[i].name; i++)
    if (!strcmp(op->attrs[i].name, name)) return i;
  return -1;
}

lg_status lg_graph_attr_get(double *value, const lg_graph *g, int32_t id, const char *attr) {
  const lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (!value) return lg_fail(LG_EARG, "value is NULL");
  int32_t i = find_attr(node, attr);
  if (i < 0) return lg_node_fail(node, lg_fail(LG_EMISSING, "there is no attribute '%s'", attr ? attr : ""));
  *value = node->attr[i];
  return LG_OK;
}

lg_status lg_graph_attr_set(lg_graph *g, int32_t id, const char *attr, double value) {
  lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  int32_t i = find_attr(node, attr);
  if (i < 0) return lg_node_fail(node, lg_fail(LG_EMISSING, "there is no attribute '%s'", attr ? attr : ""));
  lg_status status = check_attr(&lg_op_get(node->op)->attrs[i], value);
  double before = node->attr[i];
  node->attr[i] = value;
  if (status == LG_OK) {
    lg_slot was = node->value;
    status = lg_op_get(node->op)->infer(&node->call);
    if (status == LG_OK &&
        (was.rank != node->value.rank || memcmp(was.shape, node->value.shape, sizeof(int64_t) * (size_t)was.rank) != 0))
      status = lg_fail(LG_ESHAPE, "%s = %g would change the node's shape", attr, value);
    was.data = node->value.data;
    node->value = was;
    g->forward_done = 0;
  }
  if (status != LG_OK) {
    node->attr[i] = before;
    return lg_node_fail(node, status);
  }
  return LG_OK;
}

lg_status lg_graph_infer(lg_graph *g, int64_t batch) {
  for (int32_t i = 0; i < g->n; i++) {
    lg_node *node = g->nodes[i];
    if (node->kind == LG_KIND_INPUT && node->value.rank && node->declared[0] == -1) node->value.shape[0] = batch;
    lg_status status = node->kind == LG_KIND_OP ? lg_op_get(node->op)->infer(&node->call) : LG_OK;
    if (status == LG_OK) status = check_bytes(&node->value, batch == LG_BATCH_PROBE ? INT64_MAX : ADDRESSABLE);
    if (status != LG_OK) return lg_node_fail(node, status);
    void *grad = node->grad.data;
    node->grad = node->value;
    node->grad.data = grad;
  }
  return LG_OK;
}
