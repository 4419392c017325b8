--- Tensors in files: .npy (NumPy's format, src/io/npy.c) and data sets of HDF5 files (lgelu.h5).
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")

local file = {}

local function kind_of(path, what)
  if type(path) ~= "string" then errors.usage("%s: expected a path, found a %s", what, type(path)) end
  local ending = path:lower():match("%.([%w]+)$")
  if ending == "npy" then return "npy" end
  if ending == "h5" or ending == "hdf5" then return "h5" end
  return errors.usage("%s: '%s' ends in neither .npy nor .h5 nor .hdf5", what, path)
end

local function with_h5(path, mode, fn)
  local f = require("lgelu.h5").open(path, mode)
  local ok, result = pcall(fn, f)
  if not ok then
    pcall(f.close, f) -- the first failure is the one to report
    error(result, 0)
  end
  f:close()
  return result
end

local out = C.ffi.new("lg_tensor *[1]")

--- A tensor from 'file.npy', or from a data set of an HDF5 file: lg.load('f.h5', '/name').
function file.load(path, dataset)
  if kind_of(path, "lg.load") == "npy" then
    if dataset ~= nil then
      errors.usage("lg.load: '%s' is a .npy file and has no data set '%s'", path, tostring(dataset))
    end
    C.check(C.lib.lg_npy_read(out, path))
    return base.wrap(out[0])
  end
  return with_h5(path, "r", function(f)
    if type(dataset) ~= "string" then
      errors.usage("lg.load: which data set of '%s'? It has: %s", path, table.concat(f:list("/"), ", "))
    end
    return f:read(dataset)
  end)
end

local function exists(path)
  local f = io.open(path, "rb")
  if f then f:close() end
  return f ~= nil
end

--- Writes t to 'file.npy', replacing it at one instant, or as a data set of an HDF5 file, replacing that:
-- t:save('f.h5', '/name'); the file is made if there is none. Returns t.
function base.methods.save(t, path, dataset)
  base.code(t)
  if kind_of(path, "save") == "npy" then
    if dataset ~= nil then errors.usage("save: '%s' is a .npy file and takes no data set's name", path) end
    C.check(C.lib.lg_npy_write(t, path))
    return t
  end
  if type(dataset) ~= "string" then errors.usage("save: under which name in '%s'? t:save(path, '/name')", path) end
  with_h5(path, exists(path) and "a" or "w", function(f)
    f:write(dataset, t)
  end)
  return t
end

return file
