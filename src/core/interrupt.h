/* interrupt.h: Ctrl-C as a flag. graph/ polls it between nodes and then fails with LG_EINTR_. */
#ifndef LG_INTERRUPT_H
#define LG_INTERRUPT_H
#include "status.h"

/* LG_EINTR_ when Ctrl-C was pressed, LG_OK otherwise; what: where the work stopped, for the message. */
lg_status lg_interrupt_poll(const char *what);
#endif
