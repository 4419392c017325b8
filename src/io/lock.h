/* lock.h: who holds a lock on a file or folder. The rest of lock.c is public (lgelu.h). Called by h5.c. */
#ifndef LG_LOCK_H
#define LG_LOCK_H
#include <stddef.h>

/* "process 123, python3" into text; "" when nobody can be named (another machine's process, no /proc). */
void lg_lock_holder(char *text, size_t bytes, const char *path);
#endif
