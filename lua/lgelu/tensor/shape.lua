--- Methods that change a tensor's shape or strides. All but clone, and where said, give views of the same memory.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local lib, methods = C.lib, base.methods

local function contiguous(t)
  return lib.lg_tensor_contiguous(t) == 1
end

--- A contiguous copy.
function methods.clone(t)
  local copy = base.new((base.layout(t)), base.code(t))
  C.check(lib.lg_tensor_copy(copy, t))
  return copy
end

--- t itself when its elements lie one behind the other in C order, else such a copy.
function methods.contiguous(t)
  base.code(t)
  return contiguous(t) and t or t:clone()
end

-- The shape with its one -1 replaced by what t's size leaves for it.
local function resolve(t, name, shape)
  local known, open = 1, nil
  local resolved = {}
  for i, n in ipairs(shape) do
    if n == -1 and not open then
      open = i
    elseif type(n) ~= "number" or n < 0 or n ~= math.floor(n) then
      errors.usage("%s of %s: dimension %d is %s, expected a whole number, or one -1 to be worked out", name,
        base.describe(t), i, tostring(n))
    else
      known = known * n
    end
    resolved[i] = n
  end
  if open and known > 0 and t.size % known == 0 then
    resolved[open] = t.size / known
    known = t.size
  end
  if known ~= t.size or resolved[open] == -1 then
    errors.usage("%s of %s to [%s]: %d elements do not fit", name, base.describe(t), table.concat(shape, ", "), t.size)
  end
  return resolved
end

local function view_as(t, shape)
  local steps, step = {}, 1
  for i = #shape, 1, -1 do
    steps[i] = step
    step = step * shape[i]
  end
  return base.view(t, shape, steps, 0)
end

--- The same elements in another shape, (2, 3) or ({2, 3}); one dimension may be -1. t must be contiguous.
function methods.view(t, ...)
  local shape = resolve(t, "view", (base.shape_arguments(...)))
  if not contiguous(t) then
    errors.usage("view of %s: its elements are not contiguous; use reshape, which copies them", base.describe(t))
  end
  return view_as(t, shape)
end

--- As view; a tensor that is not contiguous is copied first.
function methods.reshape(t, ...)
  local shape = resolve(t, "reshape", (base.shape_arguments(...)))
  return view_as(t:contiguous(), shape)
end

-- A view with the dimensions in the given order of 1-based axes.
local function reorder(t, order)
  local shape, steps = base.layout(t)
  local new_shape, new_steps = {}, {}
  for i, d in ipairs(order) do
    new_shape[i], new_steps[i] = shape[d], steps[d]
  end
  return base.view(t, new_shape, new_steps, 0)
end

--- Swaps two dimensions.
function methods.transpose(t, a, b)
  local x, y = base.axis(t, a) + 1, base.axis(t, b) + 1
  local order = {}
  for i = 1, t.rank do
    order[i] = i == x and y or i == y and x or i
  end
  return reorder(t, order)
end

--- Dimensions in a new order: t:permute(2, 3, 1) or t:permute({2, 3, 1}).
function methods.permute(t, ...)
  local axes = base.shape_arguments(...)
  local order, seen = {}, {}
  if #axes ~= t.rank then
    errors.usage("permute of %s: expected %d axes, found %d", base.describe(t), t.rank, #axes)
  end
  for i, axis in ipairs(axes) do
    order[i] = base.axis(t, axis) + 1
    if seen[order[i]] then errors.usage("permute of %s: axis %d stands twice", base.describe(t), axis) end
    seen[order[i]] = true
  end
  return reorder(t, order)
end

--- All dimensions in reverse order: t.T.
function methods.permute_reversed(t)
  local order = {}
  for i = 1, t.rank do
    order[i] = t.rank + 1 - i
  end
  return reorder(t, order)
end

--- Without the dimension axis, which must be 1; without an axis: without all dimensions that are 1.
function methods.squeeze(t, axis)
  local shape, steps = base.layout(t)
  local drop = axis and base.axis(t, axis) + 1
  if drop and shape[drop] ~= 1 then
    errors.usage("squeeze of axis %d of %s: it is %d, not 1", axis, base.describe(t), shape[drop])
  end
  local new_shape, new_steps = {}, {}
  for i, n in ipairs(shape) do
    if drop and i ~= drop or not drop and n ~= 1 then
      new_shape[#new_shape + 1], new_steps[#new_steps + 1] = n, steps[i]
    end
  end
  return base.view(t, new_shape, new_steps, 0)
end

--- With a new dimension of 1 that becomes the given axis (1..rank + 1).
function methods.unsqueeze(t, axis)
  local at = base.axis(t, axis, 1) + 1
  local shape, steps = base.layout(t)
  table.insert(shape, at, 1)
  table.insert(steps, at, 0)
  return base.view(t, shape, steps, 0)
end

--- Broadcast to a shape, (2, 3) or ({2, 3}), without copying: dimensions of 1 repeat, new ones come at the left, -1
-- keeps a dimension. Such a view cannot be written to.
function methods.expand(t, ...)
  local wanted = base.shape_arguments(...)
  local shape, steps = base.layout(t)
  local lead, new_shape, new_steps = #wanted - #shape, {}, {}
  if lead < 0 then errors.usage("expand of %s to fewer dimensions: %d", base.describe(t), #wanted) end
  for i, n in ipairs(wanted) do
    local have = shape[i - lead]
    if n == -1 and have then n = have end
    if have and have ~= n and have ~= 1 then
      errors.usage("expand of %s to [%s]: dimensions are aligned at the right and must be equal or 1", base.describe(t),
        table.concat(wanted, ", "))
    end
    new_shape[i], new_steps[i] = n, have == n and steps[i - lead] or 0
  end
  return base.view(t, new_shape, new_steps, 0)
end
