/* interrupt.c: Ctrl-C as a flag that long work polls, so that a run can save a checkpoint before it ends.
 * Called by the program at start, by graph/ between nodes and by the train loop. */
#include "interrupt.h"
#include <signal.h>
#include <string.h>

static volatile sig_atomic_t pressed;

/* The first SIGINT sets the flag. The next finds the default action and ends the process as the shell expects. */
static void on_interrupt(int signal_number) {
  pressed = 1;
  signal(signal_number, SIG_DFL);
}

void lg_interrupt_install(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART; /* a read or write under way goes on: it is no failure of the file */
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
}

int32_t lg_interrupted(void) { return pressed != 0; }

/* Also arms the handler again where the flag was up, so that the next Ctrl-C is again the first. */
void lg_interrupt_clear(void) {
  if (!pressed) return;
  pressed = 0;
  lg_interrupt_install();
}

lg_status lg_interrupt_poll(const char *what) {
  return pressed ? lg_fail(LG_EINTR_, "%s: stopped by Ctrl-C", what) : LG_OK;
}
