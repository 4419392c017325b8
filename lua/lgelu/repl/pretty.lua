--- Values as text for the prompt: tables laid out and abridged, strings quoted, handles by their own __tostring.
-- Not serialization: what is long is cut, so that the text need not read back. Called by lgelu.repl.

local pretty = {}

local WIDTH = 100        -- a table that fits into this many columns stays on one line
local MOST_ENTRIES = 40  -- per table; the rest is counted
local MOST_TEXT = 2000   -- characters of one string
local DEEPEST = 4        -- levels of tables

local ESCAPES = { ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t", ["\\"] = "\\\\", ['"'] = '\\"' }

local function quote(text)
  local cut = #text > MOST_TEXT and ("… (%d bytes)"):format(#text) or ""
  text = text:sub(1, MOST_TEXT):gsub('[%c\\"]', function(c) return ESCAPES[c] or ("\\%d"):format(c:byte()) end)
  return '"' .. text .. '"' .. cut
end

local function is_name(key) return type(key) == "string" and key:find("^[%a_][%w_]*$") ~= nil end

-- Numbers first in order, then names, then everything else.
local function before(a, b)
  local ta, tb = type(a), type(b)
  if ta == tb and (ta == "number" or ta == "string") then return a < b end
  if ta ~= tb then return ta == "number" or (ta == "string" and tb ~= "number") end
  return tostring(a) < tostring(b)
end

local format

local function entries(value, level, open)
  local keys, texts, n = {}, {}, #value
  for key in pairs(value) do
    if not (type(key) == "number" and key >= 1 and key <= n and key % 1 == 0) then keys[#keys + 1] = key end
  end
  table.sort(keys, before)
  for i = 1, math.min(n, MOST_ENTRIES) do texts[i] = format(value[i], level + 1, open) end
  for i = 1, math.min(#keys, MOST_ENTRIES - #texts) do
    local key = keys[i]
    local left = is_name(key) and key or "[" .. format(key, DEEPEST, open) .. "]"
    texts[#texts + 1] = left .. " = " .. format(value[key], level + 1, open)
  end
  local left_out = n + #keys - #texts
  if left_out > 0 then texts[#texts + 1] = ("… %d more"):format(left_out) end
  return texts
end

local function format_table(value, level, open)
  local mt = debug.getmetatable(value)
  if type(mt) == "table" and rawget(mt, "__tostring") then
    local ok, text = pcall(tostring, value)
    if ok then return text end
  end
  if open[value] then return "{…}" end
  if next(value) == nil then return "{}" end
  if level >= DEEPEST then return "{ … }" end
  open[value] = true
  local texts = entries(value, level, open)
  open[value] = nil
  local line = "{ " .. table.concat(texts, ", ") .. " }"
  if #line + 2 * level <= WIDTH and not line:find("\n", 1, true) then return line end
  local indent = ("  "):rep(level + 1)
  return "{\n" .. indent .. table.concat(texts, ",\n" .. indent) .. "\n" .. ("  "):rep(level) .. "}"
end

function format(value, level, open)
  local kind = type(value)
  if kind == "string" then return quote(value) end
  if kind == "table" then return format_table(value, level, open) end
  if kind == "function" then
    local info = debug.getinfo(value, "S")
    if info.what == "C" then return "function (built in)" end
    return ("function (%s:%d)"):format(info.short_src, info.linedefined)
  end
  local ok, text = pcall(tostring, value)
  return ok and text or kind
end

--- A value as text, without a newline at its end.
function pretty.format(value) return format(value, 0, {}) end

--- The error value of a failed chunk as one message.
function pretty.error(e)
  if type(e) == "string" then return e end
  local mt = debug.getmetatable(e)
  if type(mt) == "table" and rawget(mt, "__tostring") then
    local ok, text = pcall(tostring, e)
    if ok then return text end
  end
  return "error object: " .. pretty.format(e)
end

return pretty
