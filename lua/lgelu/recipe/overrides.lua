--- key=value words of a command line → values. What it is not: a check of keys or ranges (resolve.lua does that, as for
-- every other source of values). Called by lgelu.recipe.

local errors = require("lgelu.errors")

local overrides = {}

--- Reads one value: true, false, a number, a list or quoted string as Lua writes them, else the text itself.
-- @param key   for the message
-- @param text  what stood after "="
-- @return value; a usage error when a list or quoted string does not read as Lua
function overrides.value(key, text)
  if text == "true" then return true end
  if text == "false" then return false end
  if text:find("^[%+%-%.%d]") and tonumber(text) then return tonumber(text) end
  if not text:find("^[{\"']") then return text end
  -- An empty environment: a literal can name nothing, so nothing can be called.
  local chunk = loadstring("return " .. text, "=value")
  local ok, value = false, nil
  if chunk then ok, value = pcall(setfenv(chunk, {})) end
  if not ok then
    errors.usage("command line: %s=%s: expected a Lua list or string such as {64,32}, found what Lua cannot read", key,
      text)
  end
  return value
end

--- Reads the words of a command line.
-- @param words  list of "key=value"
-- @return table key → value, table key → the text as written; a usage error for a word without key, "=" or value
function overrides.parse(words)
  local values, texts = {}, {}
  for _, word in ipairs(words) do
    local key, text = word:match("^%s*([%w_.]+)%s*=%s*(.-)%s*$")
    if not key then
      errors.usage("command line: '%s': expected key=value, such as gate.t=0.3 or train.epochs=2", word)
    end
    if text == "" then errors.usage("command line: '%s': expected a value after '='", word) end
    if texts[key] and texts[key] ~= text then
      errors.usage("command line: %s is given twice, as %s and as %s: which is meant?", key, texts[key], text)
    end
    values[key], texts[key] = overrides.value(key, text), text
  end
  return values, texts
end

return overrides
