/* lists.c: looking up a name in one list, and the list of statuses. All lists together: api/lists.c. */
#include "lists.h"
#include "status.h"
#include <string.h>

static const char *const status_names[] = {
#define X(id, name, text) name,
    LG_STATUS_LIST(X)
#undef X
};
static const char *const status_texts[] = {
#define X(id, name, text) text,
    LG_STATUS_LIST(X)
#undef X
};
const lg_list lg_list_status = {"status", status_names, status_texts, LG_STATUS_COUNT};

int32_t lg_list_index(const lg_list *list, const char *name) {
  for (int32_t i = 0; name && i < list->count; i++) {
    if (strcmp(list->names[i], name) == 0) return i;
  }
  return -1;
}
