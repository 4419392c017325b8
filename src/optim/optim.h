/* optim.h: the lists of optimizers and schedules. The public side is lgelu.h. */
#ifndef LG_OPTIM_H
#define LG_OPTIM_H
#include "../core/lists.h"
#include "../graph/graph.h"

/* id, name, number of state slots, their names, doc */
#define LG_OPTIMIZER_LIST(X)                                                                                           \
  X(SGD, "sgd", 1, "momentum", NULL, "stochastic gradient descent with momentum, dampening, Nesterov; decay is L2")    \
  X(ADAM, "adam", 2, "m", "v", "Adam; decay is L2, added to the gradient")                                             \
  X(ADAMW, "adamw", 2, "m", "v", "Adam with decoupled weight decay")
enum {
#define X(id, name, slots, slot0, slot1, doc) LG_OPTIMIZER_##id,
  LG_OPTIMIZER_LIST(X)
#undef X
      LG_OPTIMIZER_COUNT
};

/* id, name, doc in the words of a recipe. p1, p2, p3 of lg_schedule are gamma and parts (step), final (linear, cosine),
 * rise, start_div and final_div (one_cycle). */
#define LG_SCHEDULE_LIST(X)                                                                                            \
  X(CONSTANT, "constant", "the base rate throughout")                                                                  \
  X(STEP, "step", "multiplied by gamma from each of so many equal parts to the next")                                  \
  X(LINEAR, "linear", "falls in a straight line to final times the base rate")                                         \
  X(COSINE, "cosine", "falls along half a cosine to final times the base rate")                                        \
  X(ONE_CYCLE, "one_cycle",                                                                                            \
    "rises along a cosine from 1/start_div over the share rise, then falls to 1/(start_div·final_div)")
enum {
#define X(id, name, doc) LG_SCHEDULE_##id,
  LG_SCHEDULE_LIST(X)
#undef X
      LG_SCHEDULE_COUNT
};
extern const lg_list lg_list_optimizer, lg_list_schedule;
#endif
