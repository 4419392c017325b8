/* cli.h: the program's own modules for Lua. Not part of the engine, which never calls Lua. */
#ifndef LG_CLI_H
#define LG_CLI_H
#include <lua.h>

/* The module lgelu.terminal: see terminal.c. For package.preload. */
int lg_open_terminal(lua_State *L);
#endif
