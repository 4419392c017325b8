--- What all files of lgelu.tensor share: handles and their memory, dtypes, shapes, checks of arguments.
-- Not here: arithmetic, indexing, printing (the files beside this one). Used only by lgelu.tensor.*.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local ffi, lib = C.ffi, C.lib

local base = { methods = {} }

-- A handle is a reference to the C struct: a pointer would take t[i] for an offset into C memory.
local HANDLE, STRUCT = ffi.typeof("lg_tensor &"), ffi.typeof("lg_tensor")
local MAX_RANK = 8
-- Scratch for calls into C; each is filled and used at once.
local out_pointer = ffi.new("lg_tensor *[1]")
local out_dtype, out_rank = ffi.new("int32_t[1]"), ffi.new("int32_t[1]")
local dims, strides = ffi.new("int64_t[?]", MAX_RANK), ffi.new("int64_t[?]", MAX_RANK)

-- -- dtypes ------------------------------------------------------------------------------------------------------

-- Names by number and numbers by name, from C's list; pointers to elements by number.
base.dtype_names, base.dtype_codes, base.pointers = {}, {}, {}
local POINTER = { f32 = "float *", f64 = "double *", i32 = "int32_t *", u8 = "uint8_t *" }
local index = 0
while lib.lg_list_name("dtype", index) ~= nil do
  local name = ffi.string(lib.lg_list_name("dtype", index))
  base.dtype_names[index], base.dtype_codes[name] = name, index
  base.pointers[index] = ffi.typeof(POINTER[name])
  index = index + 1
end
-- Least and greatest value of the integer dtypes.
base.integer_range = { i32 = { -2147483648, 2147483647 }, u8 = { 0, 255 } }

--- The number of a dtype's name; nil gives f32. An unknown name is an error.
function base.dtype_code(name)
  if name == nil then return base.dtype_codes.f32 end
  local code = type(name) == "string" and base.dtype_codes[name]
  if not code then
    errors.usage("dtype '%s': expected one of f32, f64, i32, u8%s", tostring(name),
      errors.suggest(name, base.dtype_codes))
  end
  return code
end

-- -- handles and their memory -----------------------------------------------------------------------------------

-- The collector does not see C's memory, so it is run once the engine holds LIMIT bytes more than after the last run.
-- Where that run gave back little, those tensors are in use, and the limit grows to keep collections rare.
local LIMIT = 32 * 2 ^ 20
local limit, settled = LIMIT, tonumber(lib.lg_mem_live())

local function collect_when_due()
  local live = tonumber(lib.lg_mem_live())
  if live < settled then settled = live end
  if live - settled <= limit then return end
  collectgarbage()
  settled = tonumber(lib.lg_mem_live())
  limit = live - settled < limit / 4 and limit * 1.5 or LIMIT
end

--- Is x a tensor?
function base.is(x)
  return type(x) == "cdata" and ffi.istype(STRUCT, x)
end

--- Takes ownership of a `lg_tensor *` that C made: a tensor that is freed when it is collected, or by t:free().
function base.wrap(pointer)
  if pointer == nil then errors.fail("tensor.wrap: the pointer is NULL") end
  local t = ffi.gc(ffi.cast(HANDLE, pointer), lib.lg_tensor_free)
  collect_when_due()
  return t
end

--- The number of t's dtype. Fails when t was freed.
function base.code(t)
  local code = lib.lg_tensor_dtype(t)
  if code < 0 then errors.usage("the tensor was freed: it has no elements any more") end
  return code
end

--- A new tensor of zeros; shape: a Lua table (0 to 8 dimensions).
function base.new(shape, code)
  if #shape > MAX_RANK then errors.usage("%d dimensions: at most %d are possible", #shape, MAX_RANK) end
  for i, n in ipairs(shape) do
    if type(n) ~= "number" or n < 0 or n ~= math.floor(n) or n >= 2 ^ 53 then
      errors.usage("dimension %d is %s: expected a whole number from 0 to 2^53", i, tostring(n))
    end
    dims[i - 1] = n
  end
  C.check(lib.lg_tensor_new(out_pointer, code, #shape, dims))
  return base.wrap(out_pointer[0])
end

--- A view of t's memory. steps: in elements, one a dimension; offset: from t's first element.
function base.view(t, shape, steps, offset)
  for i = 1, #shape do
    dims[i - 1], strides[i - 1] = shape[i], steps[i]
  end
  C.check(lib.lg_tensor_view(out_pointer, t, #shape, dims, strides, offset))
  return base.wrap(out_pointer[0])
end

-- -- shapes ------------------------------------------------------------------------------------------------------

--- t's shape and strides (in elements) as Lua tables.
function base.layout(t)
  base.code(t)
  local shape, steps = {}, {}
  for i = 1, lib.lg_tensor_rank(t) do
    shape[i], steps[i] = tonumber(lib.lg_tensor_dim(t, i - 1)), tonumber(lib.lg_tensor_stride(t, i - 1))
  end
  return shape, steps
end

--- "f32[2, 3]", for messages.
function base.describe(t)
  return ("%s[%s]"):format(base.dtype_names[base.code(t)], table.concat((base.layout(t)), ", "))
end

-- The shape that C left in the scratch.
local function scratch_shape()
  local shape = {}
  for i = 1, out_rank[0] do
    shape[i] = tonumber(dims[i - 1])
  end
  return shape
end

--- The shape to which a and b broadcast.
function base.broadcast(a, b)
  C.check(lib.lg_tensor_broadcast(out_rank, dims, a, b))
  return scratch_shape()
end

--- Shape and dtype's number of a·b.
function base.matmul_shape(a, b)
  C.check(lib.lg_tensor_matmul_shape(out_dtype, out_rank, dims, a, b))
  return scratch_shape(), out_dtype[0]
end

--- Shape and dtype's number of the choice between a and b by cond.
function base.where_shape(cond, a, b)
  C.check(lib.lg_tensor_where_shape(out_dtype, out_rank, dims, cond, a, b))
  return scratch_shape(), out_dtype[0]
end

--- Asks one of C's lg_tensor_*_dtype functions.
function base.result_dtype(query, ...)
  C.check(query(out_dtype, ...))
  return out_dtype[0]
end

--- A dimension's index, 0-based for C, from 1..rank or -1..-rank (from the end). extra: dimensions allowed past rank.
function base.axis(t, axis, extra)
  local rank = lib.lg_tensor_rank(t) + (extra or 0)
  local found = axis
  if type(axis) == "number" and axis < 0 then found = rank + 1 + axis end
  if type(axis) ~= "number" or axis ~= math.floor(axis) or found < 1 or found > rank then
    errors.usage("axis %s of %s: expected 1..%d, or -1..-%d from the end", tostring(axis), base.describe(t), rank, rank)
  end
  return found - 1
end

--- x as a tensor argument: fails, naming the function and the argument, when it is none.
function base.check_tensor(x, what)
  if not base.is(x) then errors.usage("%s: expected a tensor, found a %s", what, type(x)) end
  base.code(x)
  return x
end

--- Splits (2, 3, "f64", …) or ({2, 3}, "f64", …) into a shape and what follows it.
function base.shape_arguments(...)
  local shape, n = {}, select("#", ...)
  if n > 0 and type(...) == "table" then return ..., select(2, ...) end
  for i = 1, n do
    local value = select(i, ...)
    if type(value) ~= "number" then return shape, select(i, ...) end
    shape[i] = value
  end
  return shape
end

--- Pointer to t's first element, in its own C type. Valid while t is referred to.
function base.data(t)
  return ffi.cast(base.pointers[base.code(t)], lib.lg_tensor_data(t))
end

local WORDS = ffi.typeof("const uint32_t *")
local F32, F64 = base.dtype_codes.f32, base.dtype_codes.f64
local band = bit.band

-- LuaJIT keeps its types in the payloads of NaNs and takes floats out of C's memory as they are: a NaN with a payload,
-- as a damaged file may hold it, would become a value of another type. So NaNs are told by their bits.
local function value_at(data, words, code, at)
  if code == F32 then
    if band(words[at], 0x7fffffff) > 0x7f800000 then return 0 / 0 end
  elseif code == F64 then
    local high = band(words[2 * at + 1], 0x7fffffff)
    if high > 0x7ff00000 or high == 0x7ff00000 and words[2 * at] ~= 0 then return 0 / 0 end
  end
  return data[at]
end

--- The element `at` elements from t's first one.
function base.read(t, at)
  local data = base.data(t)
  return value_at(data, ffi.cast(WORDS, data), base.code(t), at)
end

--- A function that reads many: from an element's distance to its value.
function base.reader(t)
  local data = base.data(t)
  local source = { tensor = t, data = data, words = ffi.cast(WORDS, data), code = base.code(t) } -- holds t's memory
  return function(at)
    return value_at(source.data, source.words, source.code, at)
  end
end

--- v as it must be to be stored in the dtype: integers exactly. where: for the message.
function base.check_value(v, dtype, where)
  local range = base.integer_range[dtype]
  if range and not (v >= range[1] and v <= range[2] and v == math.floor(v)) then
    errors.usage("%s: %.17g does not fit %s (whole numbers %d..%d)", where, v, dtype, range[1], range[2])
  end
  return v
end

return base
