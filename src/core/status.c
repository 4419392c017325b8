/* status.c: status names and the thread-local last error. Knows no other module. */
#include "status.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define X(id, name, text) name,
    LG_STATUS_LIST(X)
#undef X
};
static const char *const texts[] = {
#define X(id, name, text) text,
    LG_STATUS_LIST(X)
#undef X
};
static _Thread_local char last[1024];

const char *lg_status_name(lg_status s) { return s >= 0 && s < LG_STATUS_COUNT ? names[s] : "?"; }
const char *lg_status_text(lg_status s) { return s >= 0 && s < LG_STATUS_COUNT ? texts[s] : "an unknown status"; }
const char *lg_last_error(void) { return last; }

lg_status lg_fail(lg_status status, const char *format, ...) {
  va_list ap;
  va_start(ap, format);
  vsnprintf(last, sizeof last, format, ap);
  va_end(ap);
  return status;
}

lg_status lg_fail_context(lg_status status, const char *format, ...) {
  char text[sizeof last];
  va_list ap;
  va_start(ap, format);
  int n = vsnprintf(text, sizeof text, format, ap);
  va_end(ap);
  int room = (int)sizeof text - 3 - n; /* for last, after ": " and before the closing zero */
  if (n >= 0 && room > 0) snprintf(text + n, sizeof text - (size_t)n, ": %.*s", room, last);
  memcpy(last, text, sizeof last);
  return status;
}
