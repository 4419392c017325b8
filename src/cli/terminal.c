/* terminal.c: the Lua module lgelu.terminal, which only the program has: what a terminal can do, and line editing
 * through GNU readline. Not the REPL, which is Lua (lua/lgelu/repl.lua) and uses this.
 *   isatty(fd) → boolean                  fd: 0, 1 or 2
 *   width() → columns of the terminal on standard error or output; 80 when there is none
 *   readline(prompt, complete) → line, or nil at the end of input. complete(text) → list of names that begin with
 *     text, called when Tab is pressed (nil: no completion). Ctrl-C clears the line.
 *   add_history(line): remembers line, in the history file too ($XDG_STATE_HOME/lgelu/history). */
#include "cli.h"
#include <errno.h>
#include <lauxlib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <readline/history.h>
#include <readline/readline.h>

enum { HISTORY_LINES = 1000, DEFAULT_WIDTH = 80, PATH_BYTES = 4096 };

/* While readline() runs: the state whose stack has the completion function at COMPLETE, or NULL. readline has no
 * argument to pass it through. */
enum { COMPLETE = 2 };
static lua_State *completing;
static char history_path[PATH_BYTES];
static int history_ready;

static int terminal_isatty(lua_State *L) {
  lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
  return 1;
}

static int terminal_width(lua_State *L) {
  struct winsize size = {0};
  int found = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  lua_pushinteger(L, found && size.ws_col > 0 ? size.ws_col : DEFAULT_WIDTH);
  return 1;
}

/* The index'th match of text as a malloc'ed string, NULL past the end: what rl_completion_matches wants. The list of
 * matches lies on top of the stack. */
static char *next_match(const char *text, int state) {
  static int index;
  (void)text;
  index = state == 0 ? 1 : index + 1;
  lua_rawgeti(completing, -1, index);
  const char *match = lua_tostring(completing, -1);
  char *copy = match ? strdup(match) : NULL;
  lua_pop(completing, 1);
  return copy;
}

static char **complete(const char *text, int start, int end) {
  (void)start, (void)end;
  rl_attempted_completion_over = 1; /* never file names */
  rl_completion_append_character = 0;
  if (!completing || !lua_isfunction(completing, COMPLETE)) return NULL;
  lua_State *L = completing;
  int top = lua_gettop(L);
  lua_pushvalue(L, COMPLETE);
  lua_pushstring(L, text);
  /* An error in a completion must not jump across readline's frames: no matches then. */
  char **matches = NULL;
  if (lua_pcall(L, 1, 1, 0) == 0 && lua_istable(L, -1)) matches = rl_completion_matches(text, next_match);
  lua_settop(L, top);
  return matches;
}

/* Makes the folders above path. Errors show when the history file is written: then there is none. */
static void make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = 0;
    mkdir(path, 0700);
    *p = '/';
  }
}

static void prepare_history(void) {
  if (history_ready) return;
  history_ready = 1;
  const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
  int n = 0;
  if (state && *state == '/')
    n = snprintf(history_path, sizeof history_path, "%s/lgelu/history", state);
  else if (home && *home == '/')
    n = snprintf(history_path, sizeof history_path, "%s/.local/state/lgelu/history", home);
  if (n <= 0 || n >= PATH_BYTES) history_path[0] = 0;
  using_history();
  stifle_history(HISTORY_LINES);
  if (history_path[0]) {
    make_folders(history_path);
    read_history(history_path);
  }
}

static volatile sig_atomic_t line_cleared;
static void on_interrupt(int number) {
  (void)number;
  line_cleared = 1;
}

/* readline calls this when a signal interrupts its waiting for a key. */
static int clear_line(void) {
  if (!line_cleared) return 0;
  line_cleared = 0;
  fputs("^C\n", rl_outstream);
  rl_replace_line("", 0);
  rl_on_new_line();
  rl_forced_update_display();
  return 0;
}

static int terminal_readline(lua_State *L) {
  const char *prompt = luaL_checkstring(L, 1);
  lua_settop(L, 2);
  prepare_history();
  rl_readline_name = "lgelu";
  rl_attempted_completion_function = complete;
  rl_completer_word_break_characters = " \t\n\"'(){}[]<>=+-*/%^#,;~";
  rl_signal_event_hook = clear_line;
  rl_catch_signals = 0;
  struct sigaction ours = {.sa_handler = on_interrupt}, before;
  sigaction(SIGINT, &ours, &before);
  completing = L;
  char *line = readline(prompt);
  completing = NULL;
  sigaction(SIGINT, &before, NULL);
  if (!line) {
    lua_pushnil(L);
    return 1;
  }
  lua_pushstring(L, line);
  free(line);
  return 1;
}

static int terminal_add_history(lua_State *L) {
  const char *line = luaL_checkstring(L, 1);
  prepare_history();
  HIST_ENTRY *last = history_length > 0 ? history_get(history_base + history_length - 1) : NULL;
  if (!*line || (last && !strcmp(last->line, line))) return 0;
  add_history(line);
  if (history_path[0] && append_history(1, history_path) == ENOENT) write_history(history_path);
  return 0;
}

int lg_open_terminal(lua_State *L) {
  static const luaL_Reg functions[] = {{"isatty", terminal_isatty},
                                       {"width", terminal_width},
                                       {"readline", terminal_readline},
                                       {"add_history", terminal_add_history},
                                       {NULL, NULL}};
  lua_newtable(L);
  luaL_register(L, NULL, functions);
  return 1;
}
