/* fill.c: first values of parameters and states, as pure functions of (seed, node, element). */
#include "graph.h"
#include "../core/rng.h"
#include <math.h>

lg_status lg_graph_fill(lg_graph *g, int32_t id, int32_t kind, double a, double b, uint64_t seed) {
  lg_node *node = lg_graph_get(g, id);
  if (!node) return LG_EMISSING;
  if (node->arena_offset < 0)
    return lg_node_fail(node, lg_fail(LG_ESTATE, "only parameters and states of a planned graph can be filled"));
  if (node->value.dtype != LG_F32 && node->value.dtype != LG_F64)
    return lg_node_fail(node, lg_fail(LG_EDTYPE, "only floats can be filled"));
  if (kind < 0 || kind > 2 || !isfinite(a) || !isfinite(b))
    return lg_node_fail(
        node, lg_fail(LG_EARG, "kind %d, a = %g, b = %g: expected kind 0 to 2 and finite numbers", kind, a, b));
  uint64_t stream = lg_stream(LG_STREAM_INIT, (uint32_t)id);
  int64_t n = lg_slot_size(&node->value);
  for (int64_t i = 0; i < n; i++) {
    double v = kind == 0   ? a
               : kind == 1 ? a + (b - a) * lg_rng_uniform(seed, stream, (uint64_t)i)
                           : a + b * lg_rng_normal(seed, stream, (uint64_t)i);
    if (node->value.dtype == LG_F32)
      ((float *)node->value.data)[i] = (float)v;
    else
      ((double *)node->value.data)[i] = v;
  }
  return LG_OK;
}
