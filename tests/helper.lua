--- Loaded by busted before each spec (tests/CMakeLists.txt): keeps the sanitizer's runtime, which luajit was started
-- with, out of the programs that a spec starts; the program under test brings its own.
local ffi = require("ffi")
ffi.cdef("int unsetenv(const char *name);")
ffi.C.unsetenv("LD_PRELOAD")
