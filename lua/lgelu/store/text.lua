--- Small things of text and time that the store needs: UTF-8, ISO 8601, JSON. Pure functions.
local cjson = require("cjson.safe")
local errors = require("lgelu.errors")

local text = {}

-- Length of the UTF-8 sequence (RFC 3629) that starts at byte i of s, or nil.
local function sequence(s, i)
  local a, b, c, d = s:byte(i, i + 3)
  local function tail(byte) return byte and byte >= 0x80 and byte <= 0xBF end
  if a < 0x80 then return 1 end
  if a >= 0xC2 and a <= 0xDF then return tail(b) and 2 or nil end
  if not tail(b) or not tail(c) then return nil end
  if a >= 0xE0 and a <= 0xEF then
    return not (a == 0xE0 and b < 0xA0) and not (a == 0xED and b > 0x9F) and 3 or nil
  end
  if a < 0xF0 or a > 0xF4 or not tail(d) then return nil end
  return not (a == 0xF0 and b < 0x90) and not (a == 0xF4 and b > 0x8F) and 4 or nil
end

--- s with every byte that is not UTF-8, and every zero byte, replaced by U+FFFD: a recipe in Latin-1 can be stored.
function text.utf8(s)
  if not s:find("[%z\128-\255]") then return s end
  local parts, i = {}, 1
  while i <= #s do
    local n = s:byte(i) ~= 0 and sequence(s, i)
    parts[#parts + 1] = n and s:sub(i, i + n - 1) or "\239\191\189"
    i = i + (n or 1)
  end
  return table.concat(parts)
end

--- The present time in UTC, ISO 8601: "2024-05-01T12:00:00Z".
function text.now()
  return os.date("!%Y-%m-%dT%H:%M:%SZ")
end

--- Seconds as a short age: "12 s", "5 min", "3 h", "2 d".
function text.age(seconds)
  if seconds < 60 then return ("%d s"):format(math.max(seconds, 0)) end
  if seconds < 3600 then return ("%d min"):format(seconds / 60) end
  if seconds < 48 * 3600 then return ("%d h"):format(seconds / 3600) end
  return ("%d d"):format(seconds / 86400)
end

--- JSON text → Lua value; what names it in the error.
function text.from_json(json, what)
  local value, message = cjson.decode(json)
  if value == nil then errors.fail("%s: not JSON: %s", what, tostring(message)) end
  return value
end

return text
