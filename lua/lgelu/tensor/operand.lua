--- Numbers where a tensor may stand.
--
-- A number takes the dtype of a float tensor that it meets. With an integer tensor it counts as that dtype if it is a
-- whole number in its range, else as i32 if it is one of those, else as f32 (f64 for whole numbers beyond i32).
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")

local operand = {}

local function fits(value, dtype)
  local range = base.integer_range[dtype]
  return value == math.floor(value) and value >= range[1] and value <= range[2]
end

-- The dtype's number with which a number meets a tensor.
local function number_code(value, other)
  local name = base.dtype_names[base.code(other)]
  if not base.integer_range[name] or fits(value, name) then return base.code(other) end
  if fits(value, "i32") then return base.dtype_codes.i32 end
  return base.dtype_codes[value == math.floor(value) and math.abs(value) < 2 ^ 53 and "f64" or "f32"]
end

local function put(t, value)
  base.data(t)[0] = value
  return t
end

-- One scalar of each dtype, to lend to C for the length of a call.
local scalars = {}

local function lent(value, code)
  if not scalars[code] then scalars[code] = base.new({}, code) end
  return put(scalars[code], value)
end

local function take(x, other, name, scalar)
  if type(x) == "number" then return scalar(x, number_code(x, other)) end
  if not base.is(x) then errors.usage("%s: expected a tensor or a number, found a %s", name, type(x)) end
  base.code(x)
  return x
end

--- x if it is a tensor; for a number, a tensor that is valid until the next call. other: the tensor that it meets.
function operand.lend(x, other, name)
  return take(x, other, name, lent)
end

--- The same, to keep.
function operand.tensor(x, other, name)
  return take(x, other, name, function(value, code)
    return put(base.new({}, code), value)
  end)
end

return operand
