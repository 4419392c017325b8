/* drop.h: what dropout and drop_rows share: masked copies of a tensor, forward of x and backward of its gradient. The
 * mask is the ops' own. */
#ifndef LG_OPS_DROP_H
#define LG_OPS_DROP_H

#include "../core/threads.h"
#include "op.h"

/* One masked copy, or sum where acc: elements of the graph's dtype. */
typedef struct lg_drop {
  const lg_call *c;
  void *out;
  const void *in;
  int acc;
  double p, scale; /* of what is kept: 1/(1-p) */
} lg_drop;

/* Runs tile(&drop, 0 … tiles - 1); in evaluation, and with probability 0, everything is kept. */
static inline lg_status lg_drop_run(const lg_call *c, lg_slot *out, const lg_slot *in, int acc, int64_t tiles,
                                    void (*tile)(void *drop, int64_t tile)) {
  double p = c->attr[0];
  if (!c->training || p == 0)
    lg_op_accumulate(out, in, acc);
  else
    lg_parallel(tiles, tile, &(lg_drop){c, out->data, in->data, acc, p, 1 / (1 - p)});
  return LG_OK;
}

/* What a draw of 32 bits multiplies with. */
static inline double lg_drop_keep(const lg_drop *d, uint32_t word) { return word * 0x1p-32 >= d->p ? d->scale : 0; }

/* Elements from … to - 1; where keep is 0 they become 0, whatever they are. */
static inline void lg_drop_elements(const lg_drop *d, int64_t from, int64_t to, double keep) {
  for (int64_t k = from; k < to; k++) {
    if (d->c->dtype == LG_F32) {
      float v = keep > 0 ? ((const float *)d->in)[k] * (float)keep : 0, *at = (float *)d->out + k;
      *at = d->acc ? *at + v : v;
    } else {
      double v = keep > 0 ? ((const double *)d->in)[k] * keep : 0, *at = (double *)d->out + k;
      *at = d->acc ? *at + v : v;
    }
  }
}

#endif
