--- Tensors as text, as numpy prints them: columns aligned, whole numbers without zeros behind the point, long ones
-- abridged. Behind the elements stand the dtype, when it is not f32, and the shape, when it cannot be seen.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")

local format = {}

-- numpy's own settings: more elements than these are abridged to so many at each end of a dimension; at most so many
-- digits behind the point; lines of at most so many columns.
local THRESHOLD, EDGE, DIGITS, WIDTH = 1000, 3, 8, 75
-- Where numpy turns to exponents: the greatest, the least but 0, and their ratio.
local TOO_LARGE, TOO_SMALL, TOO_FAR = 1e8, 1e-4, 1000

-- Significant digits that always bring a value of the dtype back.
local ENOUGH = { f32 = 9, f64 = 17 }

local SINGLE = C.ffi.new("float[1]")

-- The fewest significant digits that bring x back in its dtype.
local function significant(x, dtype)
  local single = dtype == "f32" and SINGLE
  for digits = 1, ENOUGH[dtype] - 1 do
    local back = tonumber(("%%.%dg"):format(digits):format(x))
    if single then
      single[0] = back
      back = single[0]
    end
    if back == x then return digits end
  end
  return ENOUGH[dtype]
end

local function finite(x)
  return x == x and math.abs(x) < math.huge
end

local function nonfinite_text(x)
  return x ~= x and "nan" or x > 0 and "inf" or "-inf"
end

-- The decimal exponent of x.
local function exponent(x)
  return tonumber((("%.16e"):format(x):match("e(.*)$")))
end

-- Digits behind the point that x needs in its dtype, at most DIGITS.
local function digits_behind(x, dtype, exponents)
  if not finite(x) or x == 0 then return 0 end
  local digits = significant(x, dtype) - 1
  if not exponents then digits = digits - exponent(x) end
  digits = math.max(0, math.min(digits, DIGITS))
  -- Cut at DIGITS, the last ones may be zeros.
  local text = ("%%.%d%s"):format(digits, exponents and "e" or "f"):format(x)
  local fraction = text:match("%.(%d+)") or ""
  return #fraction:gsub("0+$", "")
end

-- How all the shown floats are written: a function from value to text. With exponents all get the same number of
-- digits; without, each its own, and blanks up to the most.
local function float_writer(values, dtype)
  local least, most = math.huge, 0
  for _, x in ipairs(values) do
    local size = math.abs(x)
    if finite(x) and x ~= 0 then least, most = math.min(least, size), math.max(most, size) end
  end
  local exponents = most >= TOO_LARGE or most > 0 and (least < TOO_SMALL or most / least > TOO_FAR)
  local behind = 0
  for _, x in ipairs(values) do
    behind = math.max(behind, digits_behind(x, dtype, exponents))
  end
  return function(x)
    if not finite(x) then return nonfinite_text(x) end
    local own = exponents and behind or digits_behind(x, dtype, false)
    local text = ("%%.%d%s"):format(own, exponents and "e" or "f"):format(x)
    if own == 0 then text = text:gsub("^-?%d+", "%0.") end
    return exponents and text or text .. (" "):rep(behind - own)
  end
end

local function integer_writer()
  return function(x)
    return ("%d"):format(x)
  end
end

-- Positions shown of a dimension of n: all, or both ends with false between.
local function shown(n, abridged)
  local list = {}
  for i = 1, n do
    if not abridged or n <= 2 * EDGE or i <= EDGE or i > n - EDGE then
      list[#list + 1] = i
    elseif i == EDGE + 1 then
      list[#list + 1] = false
    end
  end
  return list
end

-- The shown elements, in order.
local function collect(read, shape, positions, depth, offset, into)
  if depth > #shape then
    into[#into + 1] = read(offset)
    return into
  end
  for _, i in ipairs(positions[depth]) do
    if i then collect(read, shape, positions, depth + 1, offset * shape[depth] + i - 1, into) end
  end
  return into
end

-- One line of elements "[a b … c]", wrapped so that all the brackets fit behind it. indent: columns before its first
-- element, as many as it has brackets.
local function line(words, indent)
  local lines, current = {}, ""
  for _, word in ipairs(words) do
    if #current > 0 and indent + #current + 1 + #word > WIDTH - indent then
      lines[#lines + 1] = current:gsub("%s+$", "")
      current = ""
    end
    current = (#current > 0 and current .. " " or "") .. word
  end
  lines[#lines + 1] = current
  return "[" .. table.concat(lines, "\n" .. (" "):rep(indent)) .. "]"
end

-- The dimensions from depth on, taking texts from next_text.
local function block(shape, positions, depth, next_text)
  local parts = {}
  for _, i in ipairs(positions[depth]) do
    if not i then
      parts[#parts + 1] = "…"
    else
      parts[#parts + 1] = depth == #shape and next_text() or block(shape, positions, depth + 1, next_text)
    end
  end
  if depth == #shape then return line(parts, depth) end
  return "[" .. table.concat(parts, ("\n"):rep(#shape - depth) .. (" "):rep(depth)) .. "]"
end

-- All texts as wide as the widest, flush right.
local function align(texts)
  local width = 0
  for _, text in ipairs(texts) do
    width = math.max(width, #text)
  end
  for i, text in ipairs(texts) do
    texts[i] = (" "):rep(width - #text) .. text
  end
  return texts
end

--- The tensor as text; tostring(t) and print(t).
function format.tostring(t)
  if C.lib.lg_tensor_dtype(t) < 0 then return "a tensor that was freed" end
  local shape, dtype, size = t.shape, t.dtype, t.size
  local abridged = size > THRESHOLD
  local positions = {}
  for d, n in ipairs(shape) do
    positions[d] = shown(n, abridged)
  end
  local _, steps = base.layout(t)
  local read = base.reader(t)
  -- offset counts in C order; the tensor's own strides find the element.
  local values = collect(function(offset)
    local at = 0
    for d = #shape, 1, -1 do
      at = at + offset % shape[d] * steps[d]
      offset = math.floor(offset / shape[d])
    end
    return read(at)
  end, shape, positions, 1, 0, {})
  local write = ENOUGH[dtype] and float_writer(values, dtype) or integer_writer()
  local texts = {}
  for i, x in ipairs(values) do
    texts[i] = write(x)
  end
  local tag = (abridged or size == 0) and (" %s[%s]"):format(dtype, table.concat(shape, ", "))
    or dtype ~= "f32" and " " .. dtype or ""
  if size == 0 then return "[]" .. tag end
  if #shape == 0 then return (texts[1]:gsub("%s+$", "")) .. tag end
  local i = 0
  align(texts)
  return block(shape, positions, 1, function()
    i = i + 1
    return texts[i]
  end) .. tag
end

return format
