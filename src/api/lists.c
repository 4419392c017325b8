/* lists.c: every list of names, for Lua: recipes check names against them, messages suggest from them, help prints
 * them. Each list is defined beside what it names; a new one is two lines here. Without one, no engine. */
#include "../core/lists.h"
#include "../lgelu.h"
#include <stddef.h>
#include <string.h>

extern const lg_list lg_list_dtype;
extern const lg_list lg_list_op;
extern const lg_list lg_list_activation;
extern const lg_list lg_list_reparam;
extern const lg_list lg_list_optimizer;
extern const lg_list lg_list_schedule;
extern const lg_list lg_list_binary;
extern const lg_list lg_list_unary;
extern const lg_list lg_list_reduce;
extern const lg_list lg_list_census;

static const lg_list *const lists[] = {&lg_list_status,  &lg_list_dtype,     &lg_list_op,       &lg_list_activation,
                                       &lg_list_reparam, &lg_list_optimizer, &lg_list_schedule, &lg_list_binary,
                                       &lg_list_unary,   &lg_list_reduce,    &lg_list_census};

static const lg_list *find(const char *list) {
  for (size_t i = 0; list && i < sizeof lists / sizeof *lists; i++) {
    if (strcmp(lists[i]->list, list) == 0) return lists[i];
  }
  return NULL;
}

int32_t lg_list_find(const char *list, const char *name) {
  const lg_list *l = find(list);
  return l ? lg_list_index(l, name) : -1;
}

const char *lg_list_name(const char *list, int32_t index) {
  const lg_list *l = find(list);
  return l && index >= 0 && index < l->count ? l->names[index] : NULL;
}

const char *lg_list_doc(const char *list, int32_t index) {
  const lg_list *l = find(list);
  return l && index >= 0 && index < l->count ? l->docs[index] : NULL;
}
