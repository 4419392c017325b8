/* memory.h: the only allocator of the engine: 64-byte aligned, zero-filled, counted. */
#ifndef LG_MEMORY_H
#define LG_MEMORY_H
#include <stddef.h>

/* NULL when there is none (or when the test hook says so). bytes = 0 gives a valid pointer. */
void *lg_alloc(size_t bytes);
void lg_release(void *p); /* NULL is fine */
#endif
