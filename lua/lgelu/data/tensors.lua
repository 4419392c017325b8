--- What every source does with tensors: make one to fill, take its first rows, label it. No file, no randomness.
-- Used by the sources in this folder.
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local tensors = {}

--- Pointer to a contiguous tensor's elements (0-based) in its own C type, good while the tensor is referred to.
tensors.pointer = base.data

--- A new tensor, zero-filled, and a pointer to its elements.
-- @param dtype  "f32", "i32" or "u8"
-- @param shape  list of dimensions
function tensors.new(dtype, shape)
  local t = tensor.zeros(shape, dtype)
  return t, base.data(t)
end

--- Views of the first `limit` rows of x and y (0 or more than there are: x and y themselves).
function tensors.first_rows(x, y, limit)
  if limit == 0 or limit >= x.shape[1] then return x, y end
  return x[{ { 1, limit } }], y[{ { 1, limit } }]
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
