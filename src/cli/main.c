/* main.c: the program lgelu: finds its files, starts LuaJIT and hands the command line to lua/lgelu/cli.
 * What it is not: it knows no verb and does not link the engine, which lua/lgelu/C.lua loads.
 * Lua sees two modules that only the program has: lgelu.program { exe, root, library } and lgelu.terminal.
 * Exit status: what lgelu.cli returns; for an error object its own (1 failed, 2 usage, 130 interrupted); 1 for a fault
 * of lgelu itself. LGELU_DEBUG=trace shows the traceback of every error. */
#include "cli.h"
#include <lauxlib.h>
#include <limits.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_FAULT = 1, PATH_BYTES = PATH_MAX };

typedef struct {
  char exe[PATH_BYTES];     /* this program, links resolved */
  char root[PATH_BYTES];    /* the folder that holds lua/lgelu: a checkout, or <prefix>/share/lgelu */
  char library[PATH_BYTES]; /* liblgelu.so */
} places;

static int exists(const char *path) {
  struct stat st;
  return stat(path, &st) == 0;
}

/* out = folder + rest; 0 when it does not fit. */
static int join(char *out, const char *folder, const char *rest) {
  int n = snprintf(out, PATH_BYTES, "%s%s", folder, rest);
  return n > 0 && n < PATH_BYTES;
}

/* The checkout of a build folder, which CMake wrote into lgelu.root; 0 when folder is not one or it has moved away. */
static int root_of_build(char *root, const char *folder) {
  char path[PATH_BYTES], line[PATH_BYTES];
  if (!join(path, folder, "/lgelu.root")) return 0;
  FILE *f = fopen(path, "r");
  if (!f) return 0;
  int ok = fgets(line, sizeof line, f) != NULL;
  fclose(f);
  if (!ok) return 0;
  line[strcspn(line, "\n")] = 0;
  if (join(path, line, "/lua/lgelu/init.lua") && exists(path)) return join(root, line, "");
  /* A checkout that was moved as a whole: its build folder stands right in it. */
  return join(path, folder, "/../lua/lgelu/init.lua") && exists(path) && join(root, folder, "/..");
}

/* Fills p from where the program lies; returns NULL, or what is wrong. */
static const char *find_places(places *p) {
  ssize_t n = readlink("/proc/self/exe", p->exe, PATH_BYTES - 1);
  if (n <= 0) return "cannot read /proc/self/exe, from which it finds its own files";
  p->exe[n] = 0;
  char folder[PATH_BYTES], path[PATH_BYTES];
  strcpy(folder, p->exe);
  *strrchr(folder, '/') = 0;
  if (root_of_build(path, folder)) {
    if (!join(p->library, folder, "/liblgelu.so")) return "its path is too long";
  } else if (!join(path, folder, "/../share/lgelu") || !join(p->library, folder, "/../lib/liblgelu.so")) {
    return "its path is too long";
  }
  if (!realpath(path, p->root)) return "cannot find its Lua files: neither a build folder nor <prefix>/bin";
  return NULL;
}

static int open_program(lua_State *L) {
  const places *p = lua_touserdata(L, lua_upvalueindex(1));
  lua_createtable(L, 0, 3);
  lua_pushstring(L, p->exe);
  lua_setfield(L, -2, "exe");
  lua_pushstring(L, p->root);
  lua_setfield(L, -2, "root");
  lua_pushstring(L, p->library);
  lua_setfield(L, -2, "library");
  return 1;
}

/* package.path, package.preload and arg. */
static void set_globals(lua_State *L, places *p, int argc, char **argv) {
  lua_getglobal(L, "package");
  lua_pushfstring(L, "%s/lua/?.lua;%s/lua/?/init.lua;", p->root, p->root);
  lua_getfield(L, -2, "path");
  lua_concat(L, 2);
  lua_setfield(L, -2, "path");
  lua_getfield(L, -1, "preload");
  lua_pushlightuserdata(L, p);
  lua_pushcclosure(L, open_program, 1);
  lua_setfield(L, -2, "lgelu.program");
  lua_pushcfunction(L, lg_open_terminal);
  lua_setfield(L, -2, "lgelu.terminal");
  lua_pop(L, 2);
  lua_createtable(L, argc, 1);
  for (int i = 0; i < argc; i++) {
    lua_pushstring(L, argv[i]);
    lua_rawseti(L, -2, i);
  }
  lua_setglobal(L, "arg");
}

/* Is the value on top an error object of lgelu.errors? Then *status is its exit status. */
static int is_error_object(lua_State *L, int *status) {
  if (!lua_istable(L, -1)) return 0;
  lua_getfield(L, -1, "message");
  lua_getfield(L, -2, "status");
  int yes = lua_isstring(L, -2) && lua_isnumber(L, -1);
  if (yes) *status = (int)lua_tointeger(L, -1);
  lua_pop(L, 2);
  return yes;
}

/* The message handler: prints the error where the stack still is as it was, and leaves the exit status. */
static int report(lua_State *L) {
  const char *debug = getenv("LGELU_DEBUG");
  int status = EXIT_FAULT, object = is_error_object(L, &status), trace = debug && !strcmp(debug, "trace");
  if (object) {
    lua_getfield(L, -1, "message");
  } else {
    lua_getglobal(L, "tostring");
    lua_pushvalue(L, -2);
    lua_call(L, 1, 1);
  }
  const char *text = lua_tostring(L, -1);
  fflush(stdout);
  fprintf(stderr, "lgelu: %s%s\n", object ? "" : "a fault of lgelu itself: ", text ? text : "(no message)");
  if (trace) {
    luaL_traceback(L, L, NULL, 1);
    fprintf(stderr, "%s\n", lua_tostring(L, -1));
  } else if (!object) {
    fprintf(stderr, "with LGELU_DEBUG=trace in the environment it shows where\n");
  }
  lua_pushinteger(L, status);
  return 1;
}

/* Runs require("lgelu.cli").main(arg), which returns an exit status (nil: 0). */
static int run(lua_State *L) {
  luaL_openlibs(L);
  set_globals(L, lua_touserdata(L, 1), (int)lua_tointeger(L, 2), lua_touserdata(L, 3));
  if (luaL_dostring(L, "return require('ffi').abi('gc64')")) return lua_error(L);
  if (!lua_toboolean(L, -1))
    return luaL_error(L, "this LuaJIT was built without GC64, so that Lua could use 2 GB at most: install one with it "
                         "(Debian's libluajit-5.1-2 has it on x86-64 and arm64)");
  lua_getglobal(L, "require");
  lua_pushliteral(L, "lgelu.cli");
  lua_call(L, 1, 1);
  lua_getfield(L, -1, "main");
  lua_getglobal(L, "arg");
  lua_call(L, 1, 1);
  lua_pushinteger(L, lua_isnumber(L, -1) ? lua_tointeger(L, -1) : 0);
  return 1;
}

int main(int argc, char **argv) {
  static places p;
  const char *wrong = find_places(&p);
  lua_State *L = wrong ? NULL : luaL_newstate();
  if (!L) {
    fprintf(stderr, "lgelu: %s\n", wrong ? wrong : "there is not enough memory to start LuaJIT");
    return EXIT_FAULT;
  }
  lua_pushcfunction(L, report);
  lua_pushcfunction(L, run);
  lua_pushlightuserdata(L, &p);
  lua_pushinteger(L, argc);
  lua_pushlightuserdata(L, argv);
  lua_pcall(L, 3, 1, 1); /* either way the result is the exit status: run's, or report's */
  int status = lua_isnumber(L, -1) ? (int)lua_tointeger(L, -1) : EXIT_FAULT;
  lua_close(L);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    fprintf(stderr, "lgelu: standard output could not be written\n");
    if (status == 0) status = EXIT_FAULT;
  }
  return status;
}
