--- Reductions: methods of tensors over one axis or over all elements.
--
-- t:sum() over all gives a Lua value (in float64, not rounded to f32); t:sum(axis) a tensor without that axis,
-- t:sum(axis, true) one that keeps it with length 1 (t:sum(nil, true): all dimensions 1). Sums are taken in float64 in
-- an order that does not depend on threads. Dtypes: sum, mean, prod of integers give f64; min, max keep the dtype;
-- argmin, argmax give 1-based i32 (over all: the position in C order); any, all give u8, over all true or false.
-- A NaN is the least and the greatest element, as in numpy.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local lib, methods = C.lib, base.methods

-- The result as a tensor without the axis (nil: of rank 0). wide: in f64 instead of f32.
local function reduce(t, op, axis, wide)
  local code = base.result_dtype(lib.lg_tensor_reduce_dtype, op, base.code(t))
  if wide and code == base.dtype_codes.f32 then code = base.dtype_codes.f64 end
  local shape, at = {}, -1
  if axis ~= nil then
    at = base.axis(t, axis)
    shape = base.layout(t)
    table.remove(shape, at + 1)
  end
  local out = base.new(shape, code)
  C.check(lib.lg_tensor_reduce(out, op, t, at))
  return out
end

-- result without the reduced axis of t, as the caller wants it. value: from a tensor of one element to what Lua gets.
local function finish(t, result, axis, keepdim, value)
  if axis == nil and not keepdim then return value(result) end
  if not keepdim then return result end
  local shape = base.layout(t)
  for i = 1, #shape do
    if axis == nil or i == base.axis(t, axis) + 1 then shape[i] = 1 end
  end
  return result:view(shape)
end

local function item(t)
  return t:item()
end

local function truth(t)
  return t:item() ~= 0
end

local op = 0
while lib.lg_list_name("reduce", op) ~= nil do
  local name, this = C.ffi.string(lib.lg_list_name("reduce", op)), op
  local is_index = name:match("^arg") ~= nil
  local value = (name == "any" or name == "all") and truth or item
  methods[name] = function(t, axis, keepdim)
    local result = reduce(t, this, axis, axis == nil and not keepdim)
    if is_index then result:add_(1) end
    return finish(t, result, axis, keepdim, value)
  end
  op = op + 1
end

-- What was computed in float64, so that squares of f32 neither overflow nor lose digits, as a reduction gives it.
local function finish_wide(t, result, axis, keepdim)
  if axis ~= nil or keepdim then result = t.dtype == "f32" and result:to("f32") or result end
  return finish(t, result, axis, keepdim, item)
end

local function variance(name, t, axis)
  local n = axis and t.shape[base.axis(t, axis) + 1] or t.size
  if n < 2 then errors.usage("%s of %d elements of %s: at least 2 are needed", name, n, base.describe(t)) end
  local x = t:to("f64")
  local mean = x:mean(axis, true)
  local away = x - mean
  return reduce(away * away, lib.lg_list_find("reduce", "sum"), axis) / (n - 1)
end

--- Unbiased variance (divided by n - 1, as in PyTorch). At least 2 elements.
function methods.var(t, axis, keepdim)
  return finish_wide(t, variance("var", t, axis), axis, keepdim)
end

--- Standard deviation: the square root of var.
function methods.std(t, axis, keepdim)
  return finish_wide(t, variance("std", t, axis):sqrt(), axis, keepdim)
end

--- Euclidean norm: the square root of the sum of squares.
function methods.norm(t, axis, keepdim)
  local x = t:to("f64")
  local squares = reduce(x * x, lib.lg_list_find("reduce", "sum"), axis)
  return finish_wide(t, squares:sqrt(), axis, keepdim)
end

local yes = C.ffi.new("int32_t[1]")

--- Is every element finite (neither NaN nor infinite)? true or false.
function methods.all_finite(t)
  C.check(lib.lg_tensor_all_finite(yes, t))
  return yes[0] == 1
end
