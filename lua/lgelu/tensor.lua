--- Tensors in Lua: constructors, and the type itself with its operators and methods.
--
-- A tensor is a block of f32, f64, i32 or u8 elements with a shape of 0 to 8 dimensions, the last one contiguous, or a
-- view into one. Indices and axes count from 1; negative ones count from the end. t.shape, t.size, t.rank, t.dtype,
-- t.T; #t is the first dimension. t[i], t[{…}]: tensor/index.lua. Arithmetic, comparisons and dtypes of results:
-- tensor/arithmetic.lua. Reductions: tensor/reduce.lua. Shapes: tensor/shape.lua. Files: tensor/file.lua.
-- t == u compares identity, since Lua turns the result of == into a truth value: use t:eq(u) or t:allclose(u).
--
-- Not here: numerics, which are C's (src/api/tensor*.c). Every function fails with an error of lgelu.errors.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local arithmetic = require("lgelu.tensor.arithmetic")
local create = require("lgelu.tensor.create")
local file = require("lgelu.tensor.file")
local format = require("lgelu.tensor.format")
local index = require("lgelu.tensor.index")
local join = require("lgelu.tensor.join")
require("lgelu.tensor.reduce")
require("lgelu.tensor.shape")

local tensor = {
  --- Takes ownership of a `lg_tensor *` made by the engine.
  wrap = base.wrap,
  --- Is x a tensor?
  is_tensor = base.is,
  load = file.load,
  matmul = arithmetic.matmul,
}
for _, part in ipairs({ create, join }) do
  for name, fn in pairs(part) do
    tensor[name] = fn
  end
end

-- t.NAME without a call.
local FIELDS = {
  shape = function(t)
    return (base.layout(t))
  end,
  dtype = function(t)
    return base.dtype_names[base.code(t)]
  end,
  rank = function(t)
    base.code(t)
    return C.lib.lg_tensor_rank(t)
  end,
  size = function(t)
    base.code(t)
    return tonumber(C.lib.lg_tensor_size(t))
  end,
  T = function(t)
    return base.methods.permute_reversed(t)
  end,
}

--- Names of a tensor's fields and methods, sorted: for completion.
function tensor.members()
  local names = {}
  for _, set in ipairs({ FIELDS, base.methods }) do
    for name in pairs(set) do
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- Gives the elements' memory back now; other views of it keep theirs. Using t afterwards is an error.
function base.methods.free(t)
  C.lib.lg_tensor_close(t)
end

local function no_order()
  errors.usage("tensors have no order: t:lt(u), t:le(u), t:gt(u), t:ge(u) compare element by element")
end

C.ffi.metatype("lg_tensor", {
  __index = function(t, key)
    if type(key) ~= "string" then return index.get(t, key) end
    local method = base.methods[key]
    if method then return method end
    local field = FIELDS[key]
    if field then return field(t) end
    return errors.usage("a tensor has no '%s'%s", key, errors.suggest(key, tensor.members()))
  end,
  __newindex = index.set,
  __len = function(t)
    base.code(t)
    return math.max(0, tonumber(C.lib.lg_tensor_dim(t, 0)))
  end,
  __tostring = format.tostring,
  __add = arithmetic.add,
  __sub = arithmetic.sub,
  __mul = arithmetic.mul,
  __div = arithmetic.div,
  __pow = arithmetic.pow,
  __unm = arithmetic.neg,
  __lt = no_order,
  __le = no_order,
})

return tensor
