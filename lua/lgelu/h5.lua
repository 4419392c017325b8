--- HDF5 files from Lua: data sets to and from tensors and lists of numbers, strings, attributes.
-- Not the run's layout (lgelu.store). Names are absolute paths inside the file ("/epochs/val_loss"); groups on the
-- way are created. Writing ("w", "a") happens in memory: close() puts the whole file under its name at one instant,
-- and a file that is dropped or discarded leaves what was there. Errors are lgelu.errors objects that name the file.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local ffi, lib, check = C.ffi, C.lib, C.check

local h5 = {}
local File = {}
File.__index = File

local EXACT = 2 ^ 53 -- integers up to here are exact as Lua numbers
local CTYPES = { f32 = "float *", f64 = "double *", i32 = "int32_t *", u8 = "uint8_t *" }
local MISSING, TEXT, INTEGER, FLOAT = 0, 1, 2, 3

local function dtype_index(name)
  local index = lib.lg_list_find("dtype", name)
  if index < 0 then errors.usage("dtype '%s' is none of f32, f64, i32, u8", tostring(name)) end
  return index
end

local function handle(file)
  if file.handle == nil then errors.fail("%s: the file is closed", file.path) end
  return file.handle
end

-- The C side would stop at a zero byte, and so keep only a part.
local function plain(text, file, what)
  if text:find("\0", 1, true) then errors.fail("%s: %s holds a zero byte", file.path, what) end
  return text
end

local function take_text(pointer)
  local text = ffi.string(pointer[0])
  lib.lg_text_free(pointer[0])
  return text
end

local function lines(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do
    list[#list + 1] = line
  end
  return list
end

--- Opens a file.
-- @param path  file name
-- @param mode  "r" to read, "w" to create or replace, "a" to change one that is there; default "r"
-- @return file object
function h5.open(path, mode)
  local out = ffi.new("lg_h5 *[1]")
  check(lib.lg_h5_open(out, path, mode or "r"))
  return setmetatable({ path = path, mode = mode or "r", handle = ffi.gc(out[0], lib.lg_h5_discard) }, File)
end

--- Opens, calls fn(file) and closes; when fn fails nothing is written. Returns what fn returns (up to three values).
function h5.with(path, mode, fn)
  local file = h5.open(path, mode)
  local ok, a, b, c = pcall(fn, file)
  if not ok then
    file:discard()
    error(a, 0)
  end
  file:close()
  return a, b, c
end

--- Writes the file as it is now, at one instant, and stays open.
function File:commit()
  check(lib.lg_h5_commit(handle(self)))
end

--- Closes; in the modes "w" and "a" this writes the file. A second call does nothing.
function File:close()
  local h = self.handle
  if h == nil then return end
  self.handle = nil
  ffi.gc(h, nil)
  check(lib.lg_h5_close(h))
end

--- Closes without writing: the file stays as it was.
function File:discard()
  local h = self.handle
  if h == nil then return end
  self.handle = nil
  ffi.gc(h, nil)
  lib.lg_h5_discard(h)
end

--- true when the file carried our checksum (and it was right): written by lgelu, and by nobody else since.
function File:sealed()
  return lib.lg_h5_sealed(handle(self)) == 1
end

--- Is there a group or data set of that name?
function File:exists(name)
  return lib.lg_h5_exists(handle(self), name) == 1
end

--- Is there a group (not a data set) of that name?
function File:is_group(name)
  return lib.lg_h5_kind(handle(self), name) == 1
end

--- Creates a group, and those above it, when missing.
function File:group(name)
  check(lib.lg_h5_group(handle(self), name))
end

--- Names of a group's children, sorted.
function File:list(group)
  local out = ffi.new("char *[1]")
  check(lib.lg_h5_list(out, handle(self), group or "/"))
  return lines(take_text(out))
end

--- Names of an object's attributes, sorted.
function File:attr_names(object)
  local out = ffi.new("char *[1]")
  check(lib.lg_h5_attr_list(out, handle(self), object or "/"))
  return lines(take_text(out))
end

--- An attribute's value: string, number (an int64_t cdata beyond 2^53), or nil when there is none.
-- One that is neither text nor one number (another program's array) is an error.
function File:attr(object, name)
  local h = handle(self)
  local kind = ffi.new("int32_t[1]")
  check(lib.lg_h5_attr_kind(kind, h, object, name))
  if kind[0] == MISSING then return nil end
  if kind[0] == TEXT then
    local out = ffi.new("char *[1]")
    check(lib.lg_h5_attr_text(out, h, object, name))
    return take_text(out)
  end
  if kind[0] == INTEGER then
    local out = ffi.new("int64_t[1]")
    check(lib.lg_h5_attr_i64(out, h, object, name))
    local number = tonumber(out[0])
    return math.abs(number) <= EXACT and number or out[0]
  end
  if kind[0] == FLOAT then
    local out = ffi.new("double[1]")
    check(lib.lg_h5_attr_f64(out, h, object, name))
    return out[0]
  end
  errors.fail("%s: %s: attribute '%s' is neither text nor one number", self.path, object, name)
end

--- All attributes of an object by name, without those that are neither text nor one number.
function File:attrs(object)
  object = object or "/"
  local kind, values = ffi.new("int32_t[1]"), {}
  for _, name in ipairs(self:attr_names(object)) do
    check(lib.lg_h5_attr_kind(kind, handle(self), object, name))
    if kind[0] <= FLOAT then values[name] = self:attr(object, name) end
  end
  return values
end

--- Sets an attribute, replacing one of that name; nil removes it.
-- @param object  "/", a group or a data set
-- @param value   string (UTF-8), number, boolean (stored as 0 or 1), int64_t cdata
-- @param kind    "f64" stores a whole number as a float too; default: whole numbers as 64-bit integers
function File:set_attr(object, name, value, kind)
  local h = handle(self)
  if value == nil then
    check(lib.lg_h5_attr_delete(h, object, name))
  elseif type(value) == "string" then
    check(lib.lg_h5_attr_set_text(h, object, name, plain(value, self, "attribute '" .. name .. "'")))
  elseif type(value) == "boolean" then
    check(lib.lg_h5_attr_set_i64(h, object, name, value and 1 or 0))
  elseif type(value) == "number" and (kind == "f64" or value % 1 ~= 0 or math.abs(value) > EXACT) then
    check(lib.lg_h5_attr_set_f64(h, object, name, value))
  elseif type(value) == "number" or ffi.istype("int64_t", value) then
    check(lib.lg_h5_attr_set_i64(h, object, name, value))
  else
    errors.fail("%s: %s: attribute '%s' is a %s, expected a string, number or boolean", self.path, object, name,
      type(value))
  end
end

--- Writes a tensor as a data set, replacing one of that name; axis 0 can grow.
function File:write(name, tensor)
  check(lib.lg_h5_write(handle(self), name, tensor))
end

--- Writes a tensor's rows from row row0 (0-based) on, growing the data set; a gap before them is an error.
function File:write_rows(name, row0, tensor)
  check(lib.lg_h5_write_rows(handle(self), name, row0, tensor))
end

--- A data set as a new tensor. f16 becomes f32; integers of other widths become i32 (an error when one does not fit);
-- truth values become u8.
function File:read(name)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_h5_read(out, handle(self), name))
  return require("lgelu.tensor").wrap(out[0])
end

-- Calls fn(tensor) with a tensor of that dtype and shape made of a flat list of numbers, and frees it.
local function with_numbers(values, dtype, shape, fn)
  local out = ffi.new("lg_tensor *[1]")
  local index = dtype_index(dtype)
  check(lib.lg_tensor_new(out, index, #shape, ffi.new("int64_t[?]", math.max(#shape, 1), shape)))
  local t = ffi.gc(out[0], lib.lg_tensor_free)
  local data = ffi.cast(CTYPES[dtype], lib.lg_tensor_data(t))
  for i = 1, tonumber(lib.lg_tensor_size(t)) do
    data[i - 1] = values[i]
  end
  fn(t)
  lib.lg_tensor_free(ffi.gc(t, nil))
end

--- Writes a flat list of numbers as a data set.
-- @param shape  list of dimensions; default { #values }
function File:write_numbers(name, values, dtype, shape)
  with_numbers(values, dtype, shape or { #values }, function(t) self:write(name, t) end)
end

--- Writes a flat list of numbers as the rows of that shape (its first dimension counts rows) from row0 (0-based) on.
function File:write_number_rows(name, row0, values, dtype, shape)
  with_numbers(values, dtype, shape or { #values }, function(t) self:write_rows(name, row0, t) end)
end

--- A data set as a flat list of numbers, its shape and its dtype.
function File:read_numbers(name)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_h5_read(out, handle(self), name))
  local t = ffi.gc(out[0], lib.lg_tensor_free)
  local dtype = ffi.string(lib.lg_list_name("dtype", lib.lg_tensor_dtype(t)))
  local data = ffi.cast(CTYPES[dtype], lib.lg_tensor_data(t))
  local values, shape = {}, {}
  for i = 1, tonumber(lib.lg_tensor_size(t)) do
    values[i] = data[i - 1]
  end
  for axis = 1, lib.lg_tensor_rank(t) do
    shape[axis] = tonumber(lib.lg_tensor_dim(t, axis - 1))
  end
  lib.lg_tensor_free(ffi.gc(t, nil))
  return values, shape, dtype
end

--- Shape (list) and dtype (as read) of a data set, without reading it.
function File:shape(name)
  local rank, dtype, dims = ffi.new("int32_t[1]"), ffi.new("int32_t[1]"), ffi.new("int64_t[8]")
  check(lib.lg_h5_shape(rank, dims, dtype, handle(self), name))
  local shape = {}
  for axis = 1, rank[0] do
    shape[axis] = tonumber(dims[axis - 1])
  end
  return shape, ffi.string(lib.lg_list_name("dtype", dtype[0]))
end

--- Writes a list of strings (UTF-8) as a data set.
function File:write_texts(name, list)
  for i, text in ipairs(list) do
    plain(text, self, ("string %d of %s"):format(i, name))
  end
  check(lib.lg_h5_write_texts(handle(self), name, table.concat(list, "\0") .. "\0", #list))
end

--- A data set of strings as a list.
function File:read_texts(name)
  local out, n = ffi.new("char *[1]"), ffi.new("int64_t[1]")
  check(lib.lg_h5_read_texts(out, n, handle(self), name))
  local list, at = {}, out[0]
  for i = 1, tonumber(n[0]) do
    list[i] = ffi.string(at)
    at = at + #list[i] + 1
  end
  lib.lg_text_free(out[0])
  return list
end

return h5
