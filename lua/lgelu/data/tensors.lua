--- What every source does with tensors: make one to fill, label it, take its first rows. No file, no randomness.
-- Used by the sources in this folder.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local ffi, lib, check = C.ffi, C.lib, C.check

local tensors = {}

-- dtype → C type of an element
local ELEMENT = { f32 = "float", f64 = "double", i32 = "int32_t", u8 = "uint8_t" }

--- A new tensor, zero-filled, and a pointer to its elements (0-based), which is good while the tensor is alive.
-- @param dtype  "f32", "i32" or "u8"
-- @param shape  list of dimensions
function tensors.new(dtype, shape)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, ffi.new("int64_t[?]", #shape, shape)))
  local t = tensor.wrap(out[0])
  return t, tensors.pointer(t)
end

--- Pointer to a contiguous tensor's elements (0-based), good while the tensor is alive.
function tensors.pointer(t)
  return ffi.cast(ELEMENT[t.dtype] .. " *", lib.lg_tensor_data(t))
end

--- A view of t's elements in another shape (t contiguous), or of its first rows when shape[1] is less than t's.
function tensors.view(t, shape)
  local n, sizes, strides = #shape, ffi.new("int64_t[8]"), ffi.new("int64_t[8]")
  local step = 1
  for i = n, 1, -1 do
    sizes[i - 1], strides[i - 1] = shape[i], step
    step = step * shape[i]
  end
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_view(out, t, n, sizes, strides, 0))
  return tensor.wrap(out[0])
end

--- The first `limit` rows of x and y (0 or more than there are: all).
function tensors.first_rows(x, y, limit)
  local rows = x.shape[1]
  if limit == 0 or limit >= rows then return x, y end
  local shape = {}
  for i, size in ipairs(x.shape) do shape[i] = size end
  shape[1] = limit
  return tensors.view(x, shape), tensors.view(y, { limit })
end

--- Labels as i32 [N] with every value in 0..classes-1.
-- @param labels   tensor [N] of u8 or i32
-- @param classes  number of classes; 0: the largest label + 1
-- @param where    the file, for messages
-- @return tensor i32 [N], number of classes
function tensors.labels(labels, classes, where)
  local n = labels.shape[1]
  local y, to = tensors.new("i32", { n })
  local from, top = tensors.pointer(labels), classes > 0 and classes - 1 or 2 ^ 20 - 1
  local largest = -1
  for i = 0, n - 1 do
    local label = from[i]
    if label < 0 or label > top then
      errors.fail("%s: label %d of row %d is outside 0..%d", where, label, i + 1, top)
    end
    if label > largest then largest = label end
    to[i] = label
  end
  return y, classes > 0 and classes or largest + 1
end

return tensors
