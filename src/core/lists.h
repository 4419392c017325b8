/* lists.h: the form in which each concept's X-macro list is exported, so that names can be looked up in one place.
 * Not the lists themselves: each stands in its own folder's header. Read by core/lists.c (lg_list_find and siblings).
 */
#ifndef LG_LISTS_H
#define LG_LISTS_H
#include <stdint.h>

typedef struct {
  const char *list;         /* "activation", "dtype", … */
  const char *const *names; /* [count] */
  const char *const *docs;  /* [count] */
  int32_t count;
} lg_list;
#endif
