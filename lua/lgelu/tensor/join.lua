--- Tensors out of several: lg.cat, lg.stack, lg.where.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local operand = require("lgelu.tensor.operand")
local lib = C.lib

local join = {}

local PICK = lib.lg_list_find("binary", "min") -- a function whose result has the smallest dtype that holds both

local function common_code(list, name)
  if type(list) ~= "table" or #list == 0 then errors.usage("%s: expected a list of at least one tensor", name) end
  local code
  for i, t in ipairs(list) do
    base.check_tensor(t, ("%s, entry %d"):format(name, i))
    code = code and base.result_dtype(lib.lg_tensor_binary_dtype, PICK, code, base.code(t)) or base.code(t)
  end
  return code
end

--- Tensors one behind the other along axis (1 unless given); all other dimensions must be equal. The dtype is the
-- smallest that holds all of them.
function join.cat(list, axis)
  local code = common_code(list, "lg.cat")
  local at = base.axis(list[1], axis or 1) + 1
  local shape = base.layout(list[1])
  for k = 2, #list do
    local other = base.layout(list[k])
    for d = 1, math.max(#shape, #other) do
      if d ~= at and shape[d] ~= other[d] or #shape ~= #other then
        errors.usage("lg.cat along axis %d: entry 1 is %s, entry %d is %s", at, base.describe(list[1]), k,
          base.describe(list[k]))
      end
    end
    shape[at] = shape[at] + other[at]
  end
  local out = base.new(shape, code)
  local _, steps = base.layout(out)
  local offset = 0
  for _, t in ipairs(list) do
    local part = base.layout(t)
    if t.size > 0 then base.view(out, part, steps, offset):copy_from(t) end
    offset = offset + part[at] * steps[at]
  end
  return out
end

--- Tensors of one shape side by side along a new axis (1 unless given).
function join.stack(list, axis)
  common_code(list, "lg.stack")
  local slices = {}
  for i, t in ipairs(list) do
    slices[i] = t:unsqueeze(axis or 1)
  end
  return join.cat(slices, axis or 1)
end

--- a where cond is not 0, else b; all three broadcast. a, b: tensors or numbers (at least one a tensor).
function join.where(cond, a, b)
  base.check_tensor(cond, "lg.where")
  if not base.is(a) and not base.is(b) then
    errors.usage("lg.where: one of the two values must be a tensor (lg.tensor(%s) makes one)", tostring(a))
  end
  a, b = operand.tensor(a, b, "lg.where"), operand.tensor(b, a, "lg.where")
  local out = base.new(base.where_shape(cond, a, b))
  C.check(lib.lg_tensor_where(out, cond, a, b))
  return out
end

return join
