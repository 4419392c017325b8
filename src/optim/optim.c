/* optim.c: parameter groups and one optimizer step over the parameter arena, in fixed tiles and one pass over memory.
 * Rates: lr_group = multiplier · lr, with lr = base · schedule(step) from the caller: nothing here remembers a rate. */
#include "optim.h"
#include "../core/memory.h"
#include "../core/threads.h"
#include "../kernels/reduce.h"
#include "../kernels/update.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TILE = 32768, MAX_GROUPS = 64, MAX_SLOTS = 2 };

typedef struct group {
  char name[64];
  double multiplier, decay, lower;
  int trainable;
} group;
typedef struct segment { /* a tile of one parameter */
  int32_t param;         /* index into params */
  int64_t first, n;      /* elements */
} segment;
typedef struct param {
  int32_t node, group;
} param;

struct lg_optim {
  lg_graph *g;
  int32_t kind, n_groups, n_params;
  int64_t n_segments;
  group groups[MAX_GROUPS];
  param *params; /* those with a gradient, in the graph's order */
  segment *segments;
  double *partial;              /* [n_segments]: Σ g² of each */
  lg_storage *slots[MAX_SLOTS]; /* the parameter arena's layout */
  double momentum, dampening, nesterov, beta1, beta2, eps;
  /* of the present step */
  int64_t step;
  double lr, clip;
};

static const struct {
  const char *name;
  int32_t slots;
  const char *slot[MAX_SLOTS];
} kinds[] = {
#define X(id, name, slots, slot0, slot1, doc) {name, slots, {slot0, slot1}},
    LG_OPTIMIZER_LIST(X)
#undef X
};
static const char *const names[] = {
#define X(id, name, slots, slot0, slot1, doc) name,
    LG_OPTIMIZER_LIST(X)
#undef X
};
static const char *const docs[] = {
#define X(id, name, slots, slot0, slot1, doc) doc,
    LG_OPTIMIZER_LIST(X)
#undef X
};
const lg_list lg_list_optimizer = {"optimizer", names, docs, LG_OPTIMIZER_COUNT};

void lg_optim_free(lg_optim *o) {
  if (!o) return;
  for (int32_t i = 0; i < MAX_SLOTS; i++) lg_storage_drop(o->slots[i]);
  lg_release(o->params);
  lg_release(o->segments);
  lg_release(o->partial);
  lg_release(o);
}

static lg_status allocate(lg_optim *o) {
  lg_graph *g = o->g;
  for (int32_t i = 0; i < g->n; i++)
    if (g->nodes[i]->kind == LG_KIND_PARAM && g->nodes[i]->grad.data) {
      o->n_params++;
      o->n_segments += (lg_slot_size(&g->nodes[i]->value) + TILE - 1) / TILE;
    }
  o->params = lg_alloc((size_t)o->n_params * sizeof *o->params);
  o->segments = lg_alloc((size_t)o->n_segments * sizeof *o->segments);
  o->partial = lg_alloc((size_t)o->n_segments * sizeof *o->partial);
  if (!o->params || !o->segments || !o->partial) return lg_fail(LG_EMEM, "cannot allocate the optimizer");
  for (int32_t i = 0; i < kinds[o->kind].slots; i++) LG_TRY(lg_storage_new(&o->slots[i], g->arena_bytes));
  int32_t p = 0;
  int64_t s = 0;
  for (int32_t i = 0; i < g->n; i++) {
    if (g->nodes[i]->kind != LG_KIND_PARAM || !g->nodes[i]->grad.data) continue;
    int64_t size = lg_slot_size(&g->nodes[i]->value);
    for (int64_t at = 0; at < size; at += TILE)
      o->segments[s++] = (segment){p, at, size - at < TILE ? size - at : TILE};
    o->params[p++] = (param){i, 0};
  }
  return LG_OK;
}

lg_status lg_optim_new(lg_optim **out, lg_graph *g, int32_t optimizer) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  if (!g || !g->planned || !g->training)
    return lg_fail(LG_ESTATE, "an optimizer needs a graph that was planned for training");
  if (optimizer < 0 || optimizer >= LG_OPTIMIZER_COUNT)
    return lg_fail(LG_EMISSING, "optimizer %d is none of the list", optimizer);
  lg_optim *o = lg_alloc(sizeof *o);
  if (!o) return lg_fail(LG_EMEM, "cannot allocate an optimizer");
  o->g = g;
  o->kind = optimizer;
  o->n_groups = 1;
  o->groups[0] = (group){"default", 1, 0, -INFINITY, 1};
  o->beta1 = 0.9;
  o->beta2 = 0.999;
  o->eps = 1e-8;
  lg_status status = allocate(o);
  if (status != LG_OK) {
    lg_optim_free(o);
    return status;
  }
  *out = o;
  return LG_OK;
}

/* The hyperparameter's place and range by name; NULL when this optimizer has none of that name. */
static double *hyper(lg_optim *o, const char *name, double *min, double *max) {
  struct {
    const char *name;
    double *at, min, max;
    int sgd;
  } all[] = {
      {"momentum", &o->momentum, 0, 0.999999999, 1}, {"dampening", &o->dampening, 0, 1, 1},
      {"nesterov", &o->nesterov, 0, 1, 1},           {"beta1", &o->beta1, 0, 0.999999999, 0},
      {"beta2", &o->beta2, 0, 0.999999999, 0},       {"eps", &o->eps, 0, 1, 0},
  };
  for (size_t i = 0; name && i < sizeof all / sizeof *all; i++)
    if (!strcmp(all[i].name, name) && all[i].sgd == (o->kind == LG_OPTIMIZER_SGD)) {
      *min = all[i].min;
      *max = all[i].max;
      return all[i].at;
    }
  return NULL;
}

lg_status lg_optim_set(lg_optim *o, const char *name, double value) {
  if (!o) return lg_fail(LG_EARG, "the optimizer is NULL");
  double min, max, *at = hyper(o, name, &min, &max);
  if (!at) return lg_fail(LG_EMISSING, "optimizer '%s' has no '%s'", kinds[o->kind].name, name ? name : "");
  if (!(value >= min && value <= max)) return lg_fail(LG_EARG, "%s = %g is outside %g..%g", name, value, min, max);
  *at = value;
  return LG_OK;
}

lg_status lg_optim_group_set(lg_optim *o, int32_t index, double multiplier, double decay, double lower,
                             int32_t trainable) {
  if (!o) return lg_fail(LG_EARG, "the optimizer is NULL");
  if (index < 0 || index >= o->n_groups)
    return lg_fail(LG_EMISSING, "group %d is outside 0..%d", index, o->n_groups - 1);
  if (!(multiplier >= 0) || !isfinite(multiplier))
    return lg_fail(LG_EARG, "multiplier = %g must be at least 0", multiplier);
  if (!(decay >= 0) || !isfinite(decay)) return lg_fail(LG_EARG, "decay = %g must be at least 0", decay);
  if (isnan(lower)) return lg_fail(LG_EARG, "lower is NaN");
  group *g = &o->groups[index];
  g->multiplier = multiplier;
  g->decay = decay;
  g->lower = lower;
  g->trainable = trainable != 0;
  return LG_OK;
}

lg_status lg_optim_group(int32_t *index, lg_optim *o, const char *name, double multiplier, double decay, double lower,
                         int32_t trainable) {
  if (!o || !index) return lg_fail(LG_EARG, "the optimizer or group is NULL");
  if (o->n_groups == MAX_GROUPS) return lg_fail(LG_EARG, "there are %d groups already", MAX_GROUPS);
  int32_t i = o->n_groups++;
  snprintf(o->groups[i].name, sizeof o->groups[i].name, "%s", name ? name : "");
  lg_status status = lg_optim_group_set(o, i, multiplier, decay, lower, trainable);
  if (status != LG_OK) {
    o->n_groups--;
    return status;
  }
  *index = i;
  return LG_OK;
}

/* NULL, with the last error set, when the loss does not depend on a parameter of that number. */
static param *find_param(const lg_optim *o, int32_t node) {
  for (int32_t i = 0; i < o->n_params; i++)
    if (o->params[i].node == node) return &o->params[i];
  const lg_node *n = lg_graph_get(o->g, node);
  if (n) lg_node_fail(n, lg_fail(LG_EMISSING, "it is no parameter that the loss depends on"));
  return NULL;
}

lg_status lg_optim_assign(lg_optim *o, int32_t node, int32_t index) {
  if (!o) return lg_fail(LG_EARG, "the optimizer is NULL");
  if (index < 0 || index >= o->n_groups)
    return lg_fail(LG_EMISSING, "group %d is outside 0..%d", index, o->n_groups - 1);
  param *p = find_param(o, node);
  if (!p) return LG_EMISSING;
  p->group = index;
  return LG_OK;
}

static void norm_tile(void *context, int64_t tile) {
  const lg_optim *o = context;
  const segment *s = &o->segments[tile];
  const lg_slot *grad = &o->g->nodes[o->params[s->param].node]->grad;
  o->partial[tile] = !o->groups[o->params[s->param].group].trainable ? 0
                     : grad->dtype == LG_F32 ? lg_k_sumsq_f32((const float *)grad->data + s->first, s->n)
                                             : lg_k_sumsq_f64((const double *)grad->data + s->first, s->n);
}

static void clamp(const lg_slot *value, int64_t first, int64_t n, double lower) {
  if (value->dtype == LG_F32)
    for (float *x = (float *)value->data + first, *end = x + n; x < end; x++)
      *x = *x < (float)lower ? (float)lower : *x;
  else
    for (double *x = (double *)value->data + first, *end = x + n; x < end; x++) *x = *x < lower ? lower : *x;
}

static void update_tile(void *context, int64_t tile) {
  const lg_optim *o = context;
  const segment *s = &o->segments[tile];
  const param *p = &o->params[s->param];
  const group *gr = &o->groups[p->group];
  const lg_node *node = o->g->nodes[p->node];
  if (!gr->trainable) return;
  char *value = node->value.data, *grad = node->grad.data, *slot[MAX_SLOTS] = {NULL, NULL};
  for (int32_t i = 0; i < kinds[o->kind].slots; i++) slot[i] = (char *)o->slots[i]->data + node->arena_offset;
  int64_t width = lg_dtype_bytes(node->value.dtype), at = s->first * width;
  int f32 = node->value.dtype == LG_F32;
  if (o->kind == LG_OPTIMIZER_SGD) {
    lg_sgd_step step = {o->lr * gr->multiplier, gr->decay,   o->momentum, o->dampening, o->clip,
                        o->nesterov != 0,       o->step == 1};
    if (f32)
      lg_k_sgd_f32((float *)(value + at), (float *)(slot[0] + at), (const float *)(grad + at), s->n, &step);
    else
      lg_k_sgd_f64((double *)(value + at), (double *)(slot[0] + at), (const double *)(grad + at), s->n, &step);
  } else {
    lg_adam_step step = {o->lr * gr->multiplier,
                         gr->decay,
                         o->beta1,
                         o->beta2,
                         o->eps,
                         1 - pow(o->beta1, (double)o->step),
                         1 - pow(o->beta2, (double)o->step),
                         o->clip,
                         o->kind == LG_OPTIMIZER_ADAMW};
    if (f32)
      lg_k_adam_f32((float *)(value + at), (float *)(slot[0] + at), (float *)(slot[1] + at), (const float *)(grad + at),
                    s->n, &step);
    else
      lg_k_adam_f64((double *)(value + at), (double *)(slot[0] + at), (double *)(slot[1] + at),
                    (const double *)(grad + at), s->n, &step);
  }
  if (gr->lower > -INFINITY) clamp(&node->value, s->first, s->n, gr->lower);
}

lg_status lg_optim_step(double *norm, lg_optim *o, int64_t step, double lr, double clip) {
  if (!o) return lg_fail(LG_EARG, "the optimizer is NULL");
  if (step < 1) return lg_fail(LG_EARG, "step = %lld must be at least 1", (long long)step);
  if (!(lr >= 0) || !isfinite(lr)) return lg_fail(LG_EARG, "lr = %g must be at least 0", lr);
  if (!(clip >= 0)) return lg_fail(LG_EARG, "clip = %g must be at least 0", clip);
  lg_parallel(o->n_segments, norm_tile, o);
  double sum = 0;
  for (int64_t i = 0; i < o->n_segments; i++) sum += o->partial[i];
  double length = sqrt(sum);
  if (norm) *norm = length;
  if (!isfinite(length))
    return lg_fail(LG_ENAN, "the gradients' norm is %g at step %lld: nothing was changed", length, (long long)step);
  o->step = step;
  o->lr = lr;
  o->clip = clip > 0 && length > clip ? clip / length : 1;
  lg_parallel(o->n_segments, update_tile, o);
  return LG_OK;
}

const char *lg_optim_slot(const lg_optim *o, int32_t slot) {
  return o && slot >= 0 && slot < kinds[o->kind].slots ? kinds[o->kind].slot[slot] : NULL;
}

lg_status lg_optim_state(lg_tensor **out, lg_optim *o, int32_t slot, int32_t node) {
  if (!out) return lg_fail(LG_EARG, "out is NULL");
  *out = NULL;
  if (!o || !lg_optim_slot(o, slot)) return lg_fail(LG_EMISSING, "there is no slot %d", slot);
  if (!find_param(o, node)) return LG_EMISSING;
  const lg_node *n = o->g->nodes[node];
  return lg_tensor_over(out, o->slots[slot], (size_t)n->arena_offset, n->value.dtype, n->value.rank, n->value.shape);
}
