/* lists.h: a list of names with their texts, as every X-macro list expands to one. api/lists.c gathers them all. */
#ifndef LG_LISTS_H
#define LG_LISTS_H
#include <stdint.h>

typedef struct {
  const char *list;         /* "op", "activation", … */
  const char *const *names; /* [count] */
  const char *const *docs;  /* [count]: one sentence each */
  int32_t count;
} lg_list;
extern const lg_list lg_list_status;

/* 0-based index of name, or -1. */
int32_t lg_list_index(const lg_list *list, const char *name);
#endif
