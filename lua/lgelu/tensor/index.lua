--- t[i], t[{…}] and assignment to them.
--
-- t[i]: a number when t has one dimension, else a view of row i. t[{i, j, …}]: each entry is a number, which drops its
-- dimension, or a range {from, to[, step]} with both ends included ({} is all of it); dimensions without an entry stay
-- whole. Negative indices count from the end: t[{ {-3, -1} }] is the last three, t[{ {-1, 1, -1} }] all in reverse.
-- {i, i - 1} is empty. With a number for every dimension, the result is a number; otherwise a view, never a copy.
-- t[…] = a number, a tensor that broadcasts to the view, or a table with the view's shape.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local create = require("lgelu.tensor.create")
local errors = require("lgelu.errors")

local index = {}

local function fail(t, d, n, found)
  errors.usage("index %s of dimension %d of %s: expected 1..%d, or -1..-%d from the end", tostring(found), d,
    base.describe(t), n, n)
end

-- An index as 1..n.
local function position(t, d, n, i)
  if type(i) ~= "number" or i ~= math.floor(i) then fail(t, d, n, i) end
  local found = i < 0 and n + 1 + i or i
  if found < 1 or found > n then fail(t, d, n, i) end
  return found
end

-- First index, number of indices and step of a range.
local function range(t, d, n, r)
  local from, to, step = r[1], r[2], r[3] or 1
  if from == nil then return 1, n, 1 end
  if to == nil or #r > 3 then
    errors.usage("range of dimension %d of %s: expected {from, to} or {from, to, step}, found %d entries", d,
      base.describe(t), #r)
  end
  if type(step) ~= "number" or step == 0 or step ~= math.floor(step) then
    errors.usage("step %s of dimension %d of %s: expected a whole number other than 0", tostring(step), d,
      base.describe(t))
  end
  if step > 0 and type(from) == "number" and to == from - 1 and from >= 1 and from <= n + 1 then return 1, 0, 1 end
  from, to = position(t, d, n, from), position(t, d, n, to)
  if (to - from) * step < 0 then
    errors.usage("range {%d, %d, %d} of dimension %d of %s runs away from its end", from, to, step, d, base.describe(t))
  end
  return from, math.floor((to - from) / step) + 1, step
end

-- Shape, steps and offset of what the key selects; whether it is a single element.
local function select_part(t, key)
  local shape, steps = base.layout(t)
  if type(key) == "number" then key = { key } end
  if type(key) ~= "table" then
    errors.usage("index of %s: expected a number or a table of numbers and ranges, found a %s", base.describe(t),
      type(key))
  end
  if #key > #shape or #shape == 0 then
    errors.usage("%d indices for %s, which has %d dimensions", #key, base.describe(t), #shape)
  end
  local part_shape, part_steps, offset, numbers = {}, {}, 0, 0
  for d = 1, #shape do
    local entry = key[d]
    if entry == nil then entry = {} end
    if type(entry) == "table" then
      local from, count, step = range(t, d, shape[d], entry)
      if count > 0 then offset = offset + (from - 1) * steps[d] end
      part_shape[#part_shape + 1], part_steps[#part_steps + 1] = count, step * steps[d]
    else
      offset = offset + (position(t, d, shape[d], entry) - 1) * steps[d]
      numbers = numbers + 1
    end
  end
  return part_shape, part_steps, offset, numbers == #shape
end

--- t[key] as a number or a view.
function index.get(t, key)
  local shape, steps, offset, element = select_part(t, key)
  if element then return base.read(t, offset) end
  return base.view(t, shape, steps, offset)
end

--- t[key] = value.
function index.set(t, key, value)
  if type(key) == "string" then errors.usage("t.%s cannot be set", key) end
  local shape, steps, offset, element = select_part(t, key)
  if element and type(value) == "number" then
    base.data(t)[offset] = base.check_value(value, t.dtype, "assignment")
    return
  end
  local part = base.view(t, shape, steps, offset)
  if type(value) == "number" then
    part:fill(value)
  elseif type(value) == "table" then
    part:copy_from(create.tensor(value, t.dtype))
  else
    C.check(C.lib.lg_tensor_copy(part, base.check_tensor(value, "assignment")))
  end
end

return index
