--- Runs spec files under luajit, as `busted --lua=luajit` does: luajit tests/run_spec.lua [OPTION…] FILE… . Called by
-- ctest, which for the sanitizers' build starts luajit with their runtime preloaded; the programs that a spec starts
-- must not inherit that, as the program under test brings its own.
local ffi = require("ffi")
ffi.cdef("int unsetenv(const char *name);")
ffi.C.unsetenv("LD_PRELOAD")
require("busted.runner")({ standalone = false })
