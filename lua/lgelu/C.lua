--- The engine as Lua sees it: loads liblgelu.so, declares lgelu.h, and turns statuses into errors.
-- Returns { lib =, ffi =, check = }. The only module that loads the library; all others call C.lib.lg_* .
-- Works in the program, under plain luajit and under busted, which loads it anew for every spec file.
local ffi = require("ffi")
local errors = require("lgelu.errors")
local paths = require("lgelu.paths")

local function load()
  if not paths.library then
    local named = os.getenv("LGELU_LIB")
    if named then errors.fail("LGELU_LIB = '%s': there is no such file", named) end
    errors.fail("the engine liblgelu.so is not built (looked in %s/build): run ./lgelu doctor, which builds it, "
      .. "or set LGELU_LIB to the library", paths.root)
  end
  if not paths.cdef then
    errors.fail("cdef.lua is missing beside %s: build again (cmake --build)", paths.library)
  end
  local declared = dofile(paths.cdef)
  ffi.cdef(declared.text)
  local ok, lib = pcall(ffi.load, paths.library)
  if not ok then errors.fail("the engine cannot be loaded: %s", tostring(lib)) end

  local hash = ffi.string(lib.lg_abi_hash())
  if hash ~= declared.hash then
    -- Only when it failed already: which file is older is worth a shell.
    local older = os.execute(("test '%s' -ot '%s'"):format(paths.library, paths.cdef))
    local library_older = older == 0 or older == true
    errors.fail("%s (lgelu.h %s) and %s (lgelu.h %s) were made from different headers; the %s is older: build again "
      .. "(./lgelu doctor, or cmake --build), or install both together", paths.library, hash:sub(1, 8), paths.cdef,
      declared.hash:sub(1, 8), library_older and "library" or "cdef")
  end
  return lib
end

local lib = load()

--- Does nothing when status is 0; otherwise raises an error object with the engine's last error as its message:
-- kind "interrupted" after Ctrl-C, "fail" for everything else. The field engine holds the status's name ("shape", …).
local function check(status)
  if status == 0 then return end
  local name = ffi.string(lib.lg_status_name(status))
  local message = ffi.string(lib.lg_last_error())
  if message == "" then message = ffi.string(lib.lg_status_text(status)) end
  local kind = name == "interrupted" and "interrupted" or "fail"
  local _, e = pcall(errors[kind], "%s", message)
  e.engine = name
  error(e, 0)
end

local threads = os.getenv("LGELU_THREADS") or "0"
if not threads:match("^%d+$") or #threads > 9 then
  errors.usage("LGELU_THREADS = '%s': expected a number of threads, or 0 for as many as the process may use", threads)
end
local started = lib.lg_init(tonumber(threads))
if ffi.string(lib.lg_status_name(started)) == "argument" then -- the only argument is the variable's
  errors.usage("LGELU_THREADS = '%s': %s", threads, ffi.string(lib.lg_last_error()))
end
check(started)
-- In the program Ctrl-C sets the engine's flag; a script under plain luajit keeps what luajit does.
if package.preload["lgelu.program"] then lib.lg_interrupt_install() end

return { lib = lib, ffi = ffi, check = check }
