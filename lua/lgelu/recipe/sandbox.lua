--- Runs a recipe's text in an environment of its own: the whitelisted names below and nothing else, so that a recipe
-- gives the same values every time and on every machine. What it is not: a jail against hostile code.
-- Called by lgelu.recipe.

local errors = require("lgelu.errors")

local sandbox = {}

local FUNCTIONS = {
  "assert", "error", "ipairs", "next", "pairs", "select", "tonumber", "tostring", "type", "unpack",
}
local LIBRARIES = { "math", "string", "table" }
-- Names inside whitelisted libraries that would let two readings of a recipe differ.
local WITHHELD = { random = true, randomseed = true, dump = true }

local function copy_library(name)
  local copy = {}
  for key, value in pairs(_G[name]) do
    if not WITHHELD[key] then copy[key] = value end
  end
  return setmetatable(copy, {
    __index = function(_, key)
      local why = WITHHELD[key] and "is not available in a recipe, which must give the same values every time"
        or "does not exist" .. errors.suggest(tostring(key), sandbox.names(copy))
      error(name .. "." .. tostring(key) .. " " .. why, 2)
    end,
  })
end

--- Sorted string keys of a table.
function sandbox.names(t)
  local names = {}
  for name in pairs(t) do
    if type(name) == "string" then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

--- A fresh environment.
-- @param lg  what the name `lg` means inside
function sandbox.environment(lg)
  local allowed = { lg = lg }
  for _, name in ipairs(FUNCTIONS) do allowed[name] = _G[name] end
  for _, name in ipairs(LIBRARIES) do allowed[name] = copy_library(name) end
  return setmetatable({}, {
    __index = function(_, name)
      local value = allowed[name]
      if value ~= nil then return value end
      local names = sandbox.names(allowed)
      if rawget(_G, name) ~= nil then
        error(("'%s' is not available in a recipe (available: %s)"):format(name, table.concat(names, ", ")), 2)
      end
      error(("'%s' is not defined%s"):format(tostring(name), errors.suggest(tostring(name), names)), 2)
    end,
    __newindex = function(_, name)
      error(("a recipe sets no globals: write 'local %s = …', or give %s in the returned table"):format(name, name), 2)
    end,
    __metatable = "a recipe's environment",
  })
end

--- Lua shortens long chunk names in its messages; gives the file's full name back.
local function full_name(message, file)
  local short = debug.getinfo(loadstring("", "@" .. file), "S").short_src
  if message:sub(1, #short + 1) == short .. ":" then return file .. message:sub(#short + 1) end
  return message
end

--- Turns what was raised into one message that starts with the recipe's file and line. Runs as xpcall's handler,
-- while the stack still stands: an error raised inside the library is put down to the recipe's line that called it.
local function explain(raised, file)
  local message = full_name(type(raised) == "string" and raised or tostring(raised), file)
  if message:sub(1, #file + 1) ~= file .. ":" then
    local level = 2
    local info = debug.getinfo(level, "Sl")
    while info and info.source ~= "@" .. file do
      level = level + 1
      info = debug.getinfo(level, "Sl")
    end
    if info then message = ("%s:%d: %s"):format(file, info.currentline, message) end
  end
  return message
end

--- A function of the recipe that may be called later, whose Lua errors are usage errors naming file and line like those
-- of the recipe itself. Errors that lgelu raises on purpose pass through as they are. It is never compiled: compiled
-- code computes p ^ 2 as p * p, with another last bit here and there, and a run's bits must not depend on how often a
-- function was called before.
-- @param fn    function out of the recipe
-- @param file  the recipe's name
function sandbox.guard(fn, file)
  jit.off(fn, true)
  local function handle(raised)
    return errors.is(raised) and raised or explain(raised, file)
  end
  return function(...)
    local results = { xpcall(fn, handle, ...) }
    if results[1] then return unpack(results, 2, table.maxn(results)) end
    if errors.is(results[2]) then error(results[2], 0) end
    errors.usage("%s", results[2])
  end
end

--- Runs a recipe's text.
-- @param source  Lua text
-- @param file    its name, for messages
-- @param lg      what `lg` means inside
-- @return the table it returned; a usage error naming file and line for a syntax error, a Lua error, or another result
function sandbox.run(source, file, lg)
  if source:sub(1, 1) == "\27" then errors.usage("%s: expected Lua text, found compiled Lua code", file) end
  local chunk, problem = loadstring(source, "@" .. file)
  if not chunk then errors.usage("%s", full_name(problem, file)) end
  setfenv(chunk, sandbox.environment(lg))
  jit.off(chunk, true) -- with all functions in it, see guard
  local ok, result = xpcall(chunk, function(raised) return explain(raised, file) end)
  if not ok then errors.usage("%s", result) end
  if type(result) ~= "table" then
    errors.usage("%s: a recipe returns a table, found %s; end the file with 'return { … }'", file,
      result == nil and "nothing" or "a " .. type(result))
  end
  return result
end

return sandbox
