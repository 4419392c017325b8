--- Elementwise arithmetic, comparison, functions and matrix products of tensors.
--
-- Dtypes of results (src/api/tensor_dtype.c): floats with integers give the float dtype, f32 with f64 gives f64, i32
-- with u8 gives i32. Sums, differences and products of u8 give i32, so that nothing wraps; i32 that overflows is an
-- error. Division and functions with fractions give f32 for integers. Comparisons give u8, 0 or 1.
-- Numbers: tensor/operand.lua.
-- Shapes broadcast as in numpy. x/0 and log(-1) are what IEEE 754 says: ±inf, NaN.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local operand = require("lgelu.tensor.operand")
local lib, methods = C.lib, base.methods

local arithmetic = {}

local function operands(a, b, name)
  if not base.is(a) then
    b = base.check_tensor(b, name)
    return operand.lend(a, b, name), b
  end
  base.code(a)
  return a, operand.lend(b, a, name)
end

local function binary(op, name, a, b)
  a, b = operands(a, b, name)
  local code = base.result_dtype(lib.lg_tensor_binary_dtype, op, lib.lg_tensor_dtype(a), lib.lg_tensor_dtype(b))
  local out = base.new(base.broadcast(a, b), code)
  C.check(lib.lg_tensor_binary(out, op, a, b))
  return out
end

local function unary(op, a)
  local code = base.result_dtype(lib.lg_tensor_unary_dtype, op, base.code(a))
  local out = base.new((base.layout(a)), code)
  C.check(lib.lg_tensor_unary(out, op, a))
  return out
end

-- Names that methods have instead of C's: t:min() is the least element, and `not` is a keyword.
local RENAMED = { min = "minimum", max = "maximum", ["not"] = "logical_not" }

-- t:add(u), t:eq(u), t:minimum(u), …: one method for each name of the lists "binary" and "unary".
local function each_name(list, define)
  local op = 0
  while lib.lg_list_name(list, op) ~= nil do
    define(op, C.ffi.string(lib.lg_list_name(list, op)))
    op = op + 1
  end
end

each_name("binary", function(op, c_name)
  local name = RENAMED[c_name] or c_name
  methods[name] = function(a, b)
    return binary(op, name, a, b)
  end
  arithmetic[name] = methods[name]
end)
each_name("unary", function(op, c_name)
  local name = RENAMED[c_name] or c_name
  methods[name] = function(a)
    return unary(op, a)
  end
  arithmetic[name] = methods[name]
end)

-- t:add_(u), sub_, mul_, div_: the result goes into t itself, which must have its shape and dtype (f32 may take what
-- would be f64); returns t.
for _, name in ipairs({ "add", "sub", "mul", "div" }) do
  local op = lib.lg_list_find("binary", name)
  methods[name .. "_"] = function(t, u)
    base.code(t)
    C.check(lib.lg_tensor_binary(t, op, t, operand.lend(u, t, name .. "_")))
    return t
  end
end

--- Copies u into t, broadcast and converted to t's dtype; floats are truncated to integers, and what an integer dtype
-- cannot hold is an error. u: tensor. Returns t.
function methods.copy_from(t, u)
  C.check(lib.lg_tensor_copy(t, base.check_tensor(u, "copy_from")))
  return t
end

--- Sets every element to a number; an integer dtype must hold it exactly. Returns t.
function methods.fill(t, value)
  if type(value) ~= "number" then errors.usage("fill: expected a number, found a %s", type(value)) end
  C.check(lib.lg_tensor_fill(t, value))
  return t
end

--- t in another dtype: a copy, or t itself when it has that dtype. Floats are truncated towards zero to integers; NaN
-- and values out of range are an error.
function methods.to(t, dtype)
  local code = base.dtype_code(dtype)
  if code == base.code(t) then return t end
  local out = base.new((base.layout(t)), code)
  C.check(lib.lg_tensor_copy(out, t))
  return out
end

--- Are all elements within atol + rtol·|u| of u's? Equal infinities are close, NaN to nothing. Shapes broadcast.
-- u: tensor or number; rtol 1e-5 and atol 1e-8 unless given. Returns true or false.
function methods.allclose(t, u, rtol, atol)
  local a, b = t:to("f64"), operand.tensor(u, t, "allclose"):to("f64")
  local near = (a - b):abs():le(b:abs() * (rtol or 1e-5) + (atol or 1e-8))
  -- An infinite u makes any tolerance infinite, and inf - inf is NaN: only equality counts there.
  local finite = b:abs():lt(math.huge)
  return near:mul(finite):maximum(a:eq(b)):all()
end

--- Matrix product. a [..., m, k] · b [..., k, n] = [..., m, n], leading dimensions broadcast; a vector is a row at the
-- left and a column at the right, and that dimension is dropped from the result; two vectors give a number.
-- Floats only.
function arithmetic.matmul(a, b)
  base.check_tensor(a, "matmul")
  base.check_tensor(b, "matmul")
  local row, column = a.rank == 1, b.rank == 1
  if a.rank == 0 or b.rank == 0 then
    errors.usage("matmul of %s and %s: both need at least 1 dimension", base.describe(a), base.describe(b))
  end
  local x, y = row and a:unsqueeze(1) or a, column and b:unsqueeze(2) or b
  local out = base.new(base.matmul_shape(x, y))
  C.check(lib.lg_tensor_matmul(out, x, y))
  if row and column then return out:item() end
  if row then return out:squeeze(-2) end
  return column and out:squeeze(-1) or out
end
methods.matmul = arithmetic.matmul

return arithmetic
