--- Canonical JSON: one text for one value, so that its hash names a resolved recipe for ever.
-- What it is not: a general encoder or a reader (lua-cjson reads). Called by lgelu.recipe.
-- The form: no spaces, keys sorted by byte, strings escaped as JSON demands and no further, numbers in the fewest of
-- 15 to 17 significant digits that read back to the same float64, integers below 2^53 without exponent or point.
-- LuaJIT formats and reads numbers itself, so the C locale has no say.

local json = {}

--- The shortest decimal text that reads back to the same float64.
-- @param x  a finite number; -0 is written as 0, since the two compare equal
-- @return string; raises a Lua error for NaN and infinities, which JSON has no word for
function json.number(x)
  if x ~= x or x == math.huge or x == -math.huge then
    error("canonical JSON has no form for " .. tostring(x), 2)
  end
  if x == 0 then return "0" end
  if x % 1 == 0 and math.abs(x) < 2 ^ 53 then return string.format("%d", x) end
  for digits = 15, 16 do
    local text = string.format("%." .. digits .. "g", x)
    if tonumber(text) == x then return text end
  end
  return string.format("%.17g", x)
end

local ESCAPES = {
  ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t",
}

local function quote(text)
  return '"' .. text:gsub('[%z\1-\31"\\\127]', function(char)
    return ESCAPES[char] or string.format("\\u%04x", char:byte())
  end) .. '"'
end

local encode

local function encode_table(value)
  if #value > 0 or next(value) == nil then
    local parts = {}
    for i, item in ipairs(value) do parts[i] = encode(item) end
    for key in pairs(value) do
      if type(key) ~= "number" or key % 1 ~= 0 or key < 1 or key > #parts then
        error("canonical JSON takes lists or string keys, not both: key " .. tostring(key), 0)
      end
    end
    return "[" .. table.concat(parts, ",") .. "]"
  end
  local keys = {}
  for key in pairs(value) do
    if type(key) ~= "string" then error("canonical JSON takes string keys, found " .. tostring(key), 0) end
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for i, key in ipairs(keys) do keys[i] = quote(key) .. ":" .. encode(value[key]) end
  return "{" .. table.concat(keys, ",") .. "}"
end

encode = function(value)
  local kind = type(value)
  if kind == "number" then return json.number(value) end
  if kind == "string" then return quote(value) end
  if kind == "boolean" then return tostring(value) end
  if kind == "table" then return encode_table(value) end
  error("canonical JSON has no form for a " .. kind, 0)
end

--- Canonical JSON of a plain value.
-- @param value  number, string, boolean, list (an empty table is an empty list) or table with string keys
-- @return string; raises a Lua error for anything else
function json.encode(value)
  return encode(value)
end

return json
