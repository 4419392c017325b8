/* status.h: the list of statuses and the thread-local last error. Not for Lua: lgelu.h has the public side.
 * Every function that can fail ends in `return lg_fail(LG_ESHAPE, "what: found …, expected …")` or passes a status up
 * with LG_TRY. Nothing in src/ outside cli/ prints, exits or aborts. */
#ifndef LG_STATUS_H
#define LG_STATUS_H
#include "../lgelu.h"

#define LG_STATUS_LIST(X)                                                                                              \
  X(OK, "ok", "done")                                                                                                  \
  X(EARG, "argument", "an argument is missing, NULL or out of its range")                                              \
  X(ESHAPE, "shape", "shapes do not fit each other")                                                                   \
  X(EDTYPE, "dtype", "a tensor has the wrong dtype")                                                                   \
  X(EMEM, "memory", "there is not enough memory")                                                                      \
  X(EIO, "io", "a file could not be read or written")                                                                  \
  X(EFORMAT, "format", "a file is not what it should be")                                                              \
  X(EEXISTS, "exists", "something of that name is there already")                                                      \
  X(EMISSING, "missing", "there is nothing of that name")                                                              \
  X(ESTATE, "state", "the call does not fit the object's present state")                                               \
  X(ENAN, "nonfinite", "a value is not finite")                                                                        \
  X(EINTR_, "interrupted", "stopped by Ctrl-C")                                                                        \
  X(EBLAS, "blas", "the BLAS library is missing or computes wrong values")                                             \
  X(EINTERNAL, "internal", "a fault of the engine itself")

enum {
#define X(id, name, text) LG_##id,
  LG_STATUS_LIST(X)
#undef X
      LG_STATUS_COUNT
};

/* Sets this thread's last error (truncated at 1 KiB) and returns status. */
lg_status lg_fail(lg_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Puts "context: " before the present last error and returns status. */
lg_status lg_fail_context(lg_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#define LG_TRY(call)                                                                                                   \
  do {                                                                                                                 \
    lg_status lg_try_ = (call);                                                                                        \
    if (lg_try_ != LG_OK) return lg_try_;                                                                              \
  } while (0)
#endif
