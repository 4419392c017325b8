--- One value against one schema entry, and how an entry's demands read in words. What it is not: the list of entries
-- (schema.lua). Called by resolve.lua, by lgelu.models and lgelu.data for their own tables, and by the help pages.

local errors = require("lgelu.errors")

local check = {}

local MOST_SHOWN = 16

--- A value as a person would write it in a recipe; tables inside tables and what follows the 16th item are abridged.
function check.show(value, inside)
  if value == nil then return "nothing" end
  if type(value) == "string" then return "'" .. value .. "'" end
  if type(value) == "number" then return check.number(value) end
  if type(value) == "function" then return "a function" end
  if type(value) ~= "table" then return tostring(value) end
  if inside then return "{…}" end
  local parts = {}
  for i = 1, math.min(#value, MOST_SHOWN) do parts[i] = check.show(value[i], true) end
  if #value > MOST_SHOWN then parts[#parts + 1] = ("… %d in all"):format(#value) end
  local names = {}
  for key in pairs(value) do
    if type(key) == "string" then names[#names + 1] = key end
  end
  table.sort(names)
  for i = 1, math.min(#names, MOST_SHOWN) do
    parts[#parts + 1] = names[i] .. "=" .. check.show(value[names[i]], true)
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

--- A number in few characters that read back to it.
function check.number(value)
  if value % 1 == 0 and math.abs(value) < 1e16 then return ("%.0f"):format(value) end
  for digits = 6, 17 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value or digits == 17 then return text end
  end
end

--- The choices of an entry as a list (an entry may hold a function, since the engine's lists are read when needed).
function check.choices(entry)
  if type(entry.choices) == "function" then return entry.choices() end
  return entry.choices
end

--- The range of an entry's numbers: "> 0", "from 0 to 1", ">= 1 and < 2", or "" without one.
function check.range(entry)
  local low = entry.min and ">= " .. check.number(entry.min)
    or entry.exclusive_min and "> " .. check.number(entry.exclusive_min)
  local high = entry.max and "<= " .. check.number(entry.max)
    or entry.exclusive_max and "< " .. check.number(entry.exclusive_max)
  if entry.min and entry.max then return ("from %s to %s"):format(check.number(entry.min), check.number(entry.max)) end
  if low and high then return low .. " and " .. high end
  return low or high or ""
end

local ARTICLES = { integer = "an integer", ["function"] = "a function", list = "a list" }

--- What an entry accepts, in words: "a number > 0", "one of softplus, exp", "a list of integers >= 1".
function check.expected(entry)
  local range = check.range(entry)
  local words = {}
  for kind in entry.type:gmatch("[^|]+") do
    local choices = (kind == "string" or kind == "integer") and check.choices(entry)
    if choices then
      words[#words + 1] = "one of " .. table.concat(choices, ", ")
    elseif kind == "list" then
      words[#words + 1] = "a list of " .. (entry.items or "value") .. "s" .. (range ~= "" and " " .. range or "")
    else
      words[#words + 1] = (ARTICLES[kind] or "a " .. kind)
        .. ((kind == "number" or kind == "integer") and range ~= "" and " " .. range or "")
    end
  end
  return table.concat(words, ", or ")
end

local function in_range(entry, x)
  return x == x and math.abs(x) ~= math.huge
    and (not entry.min or x >= entry.min) and (not entry.exclusive_min or x > entry.exclusive_min)
    and (not entry.max or x <= entry.max) and (not entry.exclusive_max or x < entry.exclusive_max)
end

local function is_list(value)
  local n = 0
  for _ in pairs(value) do n = n + 1 end
  return n == #value
end

-- Is the value among the entry's choices, where it has some?
local function chosen(entry, value)
  local choices = check.choices(entry)
  if not choices then return true end
  for _, choice in ipairs(choices) do
    if choice == value then return true end
  end
  return false
end

local ACCEPT = {}
function ACCEPT.number(entry, value) return type(value) == "number" and in_range(entry, value) end
function ACCEPT.integer(entry, value)
  return type(value) == "number" and in_range(entry, value) and value % 1 == 0 and math.abs(value) <= 2 ^ 53
    and chosen(entry, value)
end
function ACCEPT.boolean(_, value) return type(value) == "boolean" end
ACCEPT["function"] = function(_, value) return type(value) == "function" end
function ACCEPT.string(entry, value) return type(value) == "string" and chosen(entry, value) end
function ACCEPT.list(entry, value)
  if type(value) ~= "table" or not is_list(value) then return false end
  for _, item in ipairs(value) do
    if entry.items and not ACCEPT[entry.items]({ min = entry.min, max = entry.max, exclusive_min = entry.exclusive_min,
      exclusive_max = entry.exclusive_max, choices = entry.choices }, item) then
      return false
    end
  end
  return true
end

--- Checks one value.
-- @param entry  schema entry: type ("number|list"), min, max, exclusive_min, exclusive_max, choices, items (of a list)
-- @param value  anything
-- @return nil when it fits, else "found X, expected Y, did you mean 'Z'?"
function check.problem(entry, value)
  for kind in entry.type:gmatch("[^|]+") do
    if ACCEPT[kind](entry, value) then return nil end
  end
  local hint = ""
  if type(value) == "string" and check.choices(entry) then hint = errors.suggest(value, check.choices(entry)) end
  return ("found %s, expected %s%s"):format(check.show(value), check.expected(entry), hint)
end

return check
