/* graph.h: the graph's insides, shared by the files of graph/ and by optim/. Not for ops, which see lg_call only. */
#ifndef LG_GRAPH_H
#define LG_GRAPH_H
#include "../ops/op_list.h"

enum { LG_KIND_INPUT, LG_KIND_PARAM, LG_KIND_STATE, LG_KIND_OP };

typedef struct lg_node {
  int32_t kind, op;   /* op: LG_OP_ID_… when kind is LG_KIND_OP */
  char *name, *where; /* path in the model; recipe's file:line ("" when unknown) */
  int32_t n_in, in[LG_MAX_INPUTS];
  double attr[LG_MAX_ATTRS], stat[LG_MAX_STATS];
  int64_t declared[LG_MAX_RANK]; /* inputs: the shape as declared, -1 for the batch */
  lg_slot value, grad;           /* grad.data NULL: no gradient wanted */
  void *work[2];                 /* scratch of forward and of backward; saved data is in call.saved */
  void *place[3]; /* where a value lies that is computed again: in forward, in backward, in backward briefly */
  int needs_grad, is_output;
  int on_path;      /* backward of this op runs: it leads from a parameter to the loss */
  int grad_started; /* while planning: an earlier backward has written this gradient */
  int fused;        /* forward is done by the node whose epilogue this is */
  int absorbed;     /* forward and backward are done when `exec` is reached, by the absorbing op */
  int32_t exec;     /* the node at whose turn this one is computed: itself, unless it is absorbed */
  int32_t delegate; /* the absorbing node that is computed at this one's turn, or -1 */
  int32_t residual; /* absorbing node: the sum's other summand, or -1 */
  int32_t again;    /* the turn before whose backward the value is computed again, or -1: it is kept */
  int32_t brief;    /* the turn before that, where others computed again need it, or -1: it is not kept from there */
  int wakes;        /* that of others is, before this one's backward */
  int grad_shared;  /* input 0's gradient lies in this node's own (in place): backward of an alias does nothing */
  int64_t arena_offset; /* parameters and states: bytes into the arenas; -1 otherwise */
  lg_call call;         /* points into the slots above; filled by plan */
  lg_tensor *bound;     /* inputs: the tensor whose memory is borrowed (a view of our own) */
  double fwd_s, bwd_s;  /* profile */
} lg_node;

struct lg_graph {
  int32_t dtype, n, capacity;
  lg_node **nodes; /* in order of creation, which is a topological order */
  int planned, training, profile;
  int plan_begun;   /* planning has left marks: another attempt would find them */
  int forward_done; /* 1 + mode of the forward that values and shapes are of; 0: none, or something changed since */
  int32_t loss;
  int64_t max_batch, batch; /* batch: rows of the present binding; 0 before the first */
  lg_storage *params;       /* values of parameters and states */
  lg_storage *grads;        /* the same layout: gradients of parameters */
  lg_storage *work;         /* activations, their gradients, saved data, scratch */
  size_t arena_bytes, work_bytes;
};

/* The node whose op runs at node i's turn, or NULL when none does (leaves, absorbed nodes). */
lg_node *lg_graph_turn(const lg_graph *g, int32_t i);
/* fuse.c: decides which nodes are computed together with others; before memory is planned. */
void lg_graph_fuse(lg_graph *g);
/* again.c: which values are computed again in backward (lg_node.again); after fusing and marking the path. */
void lg_graph_choose_again(lg_graph *g);
/* Computes again what backward at that turn is the first to need. */
lg_status lg_graph_run_again(lg_graph *g, int32_t turn);
/* Does the backward that handles this node read its k-th input? An absorbing op reads the residual again, since it
 * computes what the gate was given anew. */
int lg_node_reads(const lg_graph *g, const lg_node *node, int32_t k);
/* Gives an op's call its pointers (slots, attributes); used by build for inference and by plan. */
void lg_node_call(lg_graph *g, lg_node *node);
/* Infers all shapes for `batch` rows; fails where a node would be larger than any machine's memory. */
lg_status lg_graph_infer(lg_graph *g, int64_t batch);
/* All inputs are bound, and of one batch; shapes follow it. */
lg_status lg_graph_settle(lg_graph *g);
/* What forward does at node i's turn: an alias takes its input's address, a fused gate is done already. */
lg_status lg_node_forward(lg_graph *g, int32_t i);
lg_node *lg_graph_get(const lg_graph *g, int32_t node); /* NULL when there is none; sets the last error */
/* "file:line: node 'name' (op): " before the last error. */
lg_status lg_node_fail(const lg_node *node, lg_status status);
#endif
