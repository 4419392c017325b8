--- Completion at the prompt: names in scope, fields of tables, methods of handles.
-- It reads fields (which may load a module of lg) but calls no function of the user's. Called by lgelu.repl.

local complete = {}

local KEYWORDS = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
  "or", "repeat", "return", "then", "true", "until", "while",
}

-- Adds the names among a table's keys to found, and those of its metatables' __index tables.
local function keys_of(value, found)
  local seen = {}
  while type(value) == "table" and not seen[value] do
    seen[value] = true
    for key in pairs(value) do
      if type(key) == "string" and key:find("^[%a_][%w_]*$") then found[key] = true end
    end
    local mt = debug.getmetatable(value)
    value = type(mt) == "table" and rawget(mt, "__index") or nil
  end
end

-- Fields and methods of any value. What makes its fields on demand says their names itself: lg.names(), and members()
-- of lgelu.tensor for tensors.
local function fields(value)
  local found = {}
  if type(value) == "table" then
    keys_of(value, found)
    if value == package.loaded["lgelu"] then
      for _, name in ipairs(value.names()) do found[name] = true end
    end
  elseif type(value) == "string" then
    keys_of(string, found)
  elseif type(value) == "cdata" then
    local tensor = require("lgelu.tensor")
    for _, name in ipairs(tensor.is_tensor(value) and tensor.members() or {}) do found[name] = true end
  end
  return found
end

local function index(value, key)
  local ok, result = pcall(function() return value[key] end)
  if ok then return result end
end

--- Completes the last word of a line.
-- @tparam table env the globals of the prompt
-- @tparam string text the word: names joined by '.' or ':', as "lg.stats.su"
-- @treturn table whole words that begin with text, sorted
function complete.words(env, text)
  local path, last = text:match("^(.*[.:])([%w_]*)$")
  local found = {}
  if path then
    local value, rest = env, path
    while rest ~= "" do
      local name
      name, rest = rest:match("^([%a_][%w_]*)[.:](.*)$")
      if not name then return {} end
      value = index(value, name)
      if value == nil then return {} end
    end
    found = fields(value)
    if path:sub(-1) == ":" then
      for key in pairs(found) do
        if type(index(value, key)) ~= "function" then found[key] = nil end
      end
    end
  else
    path, last = "", text
    keys_of(env, found)
    for _, word in ipairs(KEYWORDS) do found[word] = true end
  end
  local words = {}
  for key in pairs(found) do
    -- names with a leading underscore are nobody's business until one is begun
    if key:sub(1, #last) == last and (last ~= "" or key:sub(1, 1) ~= "_") then words[#words + 1] = path .. key end
  end
  table.sort(words)
  return words
end

return complete
