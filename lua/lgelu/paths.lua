--- Where lgelu's own files are: a checkout, or <prefix>/share/lgelu when installed.
-- Not the user's files (runs, data folders). Read by C, recipe, data, plot and the command line.
--   root     the folder that holds lua/, recipes/, plots/ and data/
--   lua, recipes, plots, data   those folders (data: the manifest)
--   library  the engine, liblgelu.so; LGELU_LIB names another one; nil when there is none
--   cdef     the generated cdef.lua that belongs to it
local ffi = require("ffi")

-- Idempotent: busted loads this module anew for every spec file.
ffi.cdef("char *realpath(const char *path, char *resolved); void free(void *p);")

--- The absolute path of an existing file or folder, links resolved; nil when there is none.
local function absolute(path)
  local resolved = ffi.C.realpath(path, nil)
  if resolved == nil then return nil end
  local text = ffi.string(resolved)
  ffi.C.free(resolved)
  return text
end

local here = debug.getinfo(1, "S").source:sub(2)
local root = absolute(here):match("^(.*)/lua/lgelu/paths%.lua$")

-- The program knows its own engine; plain luajit and busted look in the build folder and the installed place.
local has_program, program = pcall(require, "lgelu.program")
local library = os.getenv("LGELU_LIB")
if library then
  library = absolute(library)
elseif has_program then
  library = absolute(program.library)
else
  library = absolute(root .. "/build/liblgelu.so") or absolute(root .. "/../../lib/liblgelu.so")
end

-- cdef.lua lies beside the library in a build folder, and in lgelu/ beside it when installed.
local cdef
if library then
  local folder = library:match("^(.*)/") or "."
  cdef = absolute(folder .. "/cdef.lua") or absolute(folder .. "/lgelu/cdef.lua")
end

return {
  root = root,
  lua = root .. "/lua",
  recipes = root .. "/recipes",
  plots = root .. "/plots",
  data = root .. "/data",
  library = library,
  cdef = cdef,
  absolute = absolute,
}
