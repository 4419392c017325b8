--- Making tensors: from tables and numbers, by rule, at random.
--
-- Shapes are written lg.zeros(2, 3) or lg.zeros({2, 3}), followed by the dtype's name if it is not f32:
-- lg.zeros(2, 3, "i32").
--
-- Random values are Philox's, a function of (seed, call, element). lg.rand(2, 3, "f32", 7) draws with seed 7, the same
-- values each time. Without a seed, the state that lg.seed(n) sets is used (0 at start): the k-th such call after
-- lg.seed(n) always gives the same values.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local lib = C.lib

local create = {}

-- -- from tables -------------------------------------------------------------------------------------------------

local function place(path)
  return #path == 0 and "lg.tensor" or ("lg.tensor: element {%s}"):format(table.concat(path, ", "))
end

-- The shape is that of the first elements; fill_from checks that all others agree.
local function shape_of(value)
  local shape = {}
  while type(value) == "table" do
    shape[#shape + 1] = #value
    value = value[1]
  end
  return shape
end

-- Writes value, which stands at path, from element `at` on; returns where the next one goes.
local function fill_from(value, pointer, at, shape, dtype, path)
  local depth = #path
  if depth == #shape then
    if type(value) == "boolean" then value = value and 1 or 0 end
    if type(value) ~= "number" then
      errors.usage("%s: expected a number, found a %s", place(path), type(value))
    end
    pointer[at] = base.check_value(value, dtype, place(path))
    return at + 1
  end
  if type(value) ~= "table" then
    errors.usage("%s: expected a table of %d elements, found a %s", place(path), shape[depth + 1], type(value))
  end
  if #value ~= shape[depth + 1] then
    errors.usage("%s: found a table of %d, expected one of %d, as the first beside it", place(path), #value,
      shape[depth + 1])
  end
  for key in pairs(value) do
    if type(key) ~= "number" then
      errors.usage("%s: found the key '%s', expected 1..%d only", place(path), tostring(key), #value)
    end
  end
  for i = 1, #value do
    path[depth + 1] = i
    at = fill_from(value[i], pointer, at, shape, dtype, path)
  end
  path[depth + 1] = nil
  return at
end

--- A tensor from a number, a table of numbers or truth values, or tables nested as deep as it has dimensions. A ragged
-- table is an error that names the place. A tensor is copied. dtype: "f32" unless given (for a tensor: its own).
function create.tensor(value, dtype)
  if base.is(value) then
    local copy = base.new((base.layout(value)), dtype and base.dtype_code(dtype) or base.code(value))
    C.check(lib.lg_tensor_copy(copy, value))
    return copy
  end
  if type(value) ~= "table" and type(value) ~= "number" and type(value) ~= "boolean" then
    errors.usage("lg.tensor: expected a table, a number or a tensor, found a %s", type(value))
  end
  local code, shape = base.dtype_code(dtype), shape_of(value)
  local t = base.new(shape, code)
  fill_from(value, base.data(t), 0, shape, base.dtype_names[code], {})
  return t
end

local function nested(read, at, shape, depth, jump)
  if depth > #shape then return read(at) end
  local list, step = {}, jump / shape[depth]
  for i = 1, shape[depth] do
    list[i] = nested(read, at + (i - 1) * step, shape, depth + 1, step)
  end
  return list
end

--- The elements as nested Lua tables; a number for rank 0.
function base.methods.totable(t)
  local whole = t:contiguous()
  return nested(base.reader(whole), 0, whole.shape, 1, whole.size)
end

--- The value of a tensor of one element.
function base.methods.item(t)
  if t.size ~= 1 then errors.usage("item of %s: expected one element, found %d", base.describe(t), t.size) end
  return base.read(t, 0)
end

-- -- by rule -----------------------------------------------------------------------------------------------------

--- Zeros. (2, 3[, dtype]) or ({2, 3}[, dtype]).
function create.zeros(...)
  local shape, dtype = base.shape_arguments(...)
  return base.new(shape, base.dtype_code(dtype))
end

--- Ones. (2, 3[, dtype]) or ({2, 3}[, dtype]).
function create.ones(...)
  return create.zeros(...):fill(1)
end

--- Every element = value. shape: a table.
function create.full(shape, value, dtype)
  if type(shape) ~= "table" then errors.usage("lg.full: expected a shape like {2, 3}, found a %s", type(shape)) end
  return base.new(shape, base.dtype_code(dtype)):fill(value)
end

--- The identity matrix [n, m] (m = n unless given), f32 unless dtype is given: (n[, m][, dtype]).
function create.eye(n, m, dtype)
  if type(m) ~= "number" then m, dtype = n, m end
  local t = create.zeros({ n, m }, dtype)
  if n > 0 and m > 0 then base.view(t, { math.min(n, m) }, { m + 1 }, 0):fill(1) end
  return t
end

local function from_function(n, dtype, fn)
  local t = create.zeros({ n }, dtype)
  local p, name = base.data(t), t.dtype
  for i = 0, n - 1 do
    p[i] = base.check_value(fn(i), name, ("element %d"):format(i + 1))
  end
  return t
end

--- from, from + step, … as long as it is below to (above it when step is negative): to itself is left out, as in numpy
-- and PyTorch. (to), (from, to) or (from, to, step), each with a dtype behind; from = 0 and step = 1 unless given.
-- dtype: i32 when all are whole numbers, else f32.
function create.arange(...)
  local numbers, dtype = base.shape_arguments(...)
  if #numbers < 1 or #numbers > 3 then errors.usage("lg.arange: expected 1 to 3 numbers, found %d", #numbers) end
  local from, to, step = numbers[1], numbers[2], numbers[3] or 1
  if not to then from, to = 0, from end
  if step == 0 or step ~= step then errors.usage("lg.arange: the step is %g", step) end
  local whole = from == math.floor(from) and step == math.floor(step)
  local n = math.max(0, math.ceil((to - from) / step))
  return from_function(n, dtype or (whole and "i32" or "f32"), function(i)
    return from + i * step
  end)
end

--- n values from `from` to `to`, both included, evenly spaced.
function create.linspace(from, to, n, dtype)
  return from_function(n, dtype, function(i)
    if i == 0 then return from end
    return i == n - 1 and to or from + (to - from) * i / (n - 1)
  end)
end

-- -- at random ---------------------------------------------------------------------------------------------------

local USER_STREAM = 7 -- ORDER LG_STREAM_USER in src/core/rng.h
-- Stream numbers 0 and 1 are those of rand and randn with a seed of their own; calls without one count from 2.
local FIRST_CALL = 2
local state = { seed = 0, call = FIRST_CALL }

local function check_seed(seed)
  if type(seed) ~= "number" or seed < 0 or seed ~= math.floor(seed) or seed >= 2 ^ 53 then
    errors.usage("seed %s: expected a whole number from 0 to 2^53 - 1", tostring(seed))
  end
  return seed
end

--- Sets the seed of lg.rand and lg.randn where none is given, and starts their sequence again.
function create.seed(seed)
  state.seed, state.call = check_seed(seed), FIRST_CALL
end

local function random(fill, own_number, a, b, ...)
  local shape, dtype, seed = base.shape_arguments(...)
  local t, number = base.new(shape, base.dtype_code(dtype)), own_number
  if seed == nil then
    seed, number = state.seed, state.call
    state.call = state.call + 1
  end
  C.check(fill(t, a, b, check_seed(seed), USER_STREAM * 2ULL ^ 32 + number))
  return t
end

--- Uniform in [0, 1). (2, 3[, dtype[, seed]]) or ({2, 3}[, dtype[, seed]]).
function create.rand(...)
  return random(lib.lg_tensor_uniform, 0, 0, 1, ...)
end

--- Standard normal. (2, 3[, dtype[, seed]]) or ({2, 3}[, dtype[, seed]]).
function create.randn(...)
  return random(lib.lg_tensor_normal, 1, 0, 1, ...)
end

return create
