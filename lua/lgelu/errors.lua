--- Errors that people see: a kind, one message, and the exit status that goes with it.
-- An error that is not one of these is a fault of lgelu itself; the program says so (src/cli/main.c).
-- Used by every module; knows none.
local errors = {}

-- kind → exit status of the program.
local STATUS = { fail = 1, usage = 2, interrupted = 130 }

local mt = {
  __tostring = function(e)
    return e.message
  end,
}

local function raise(kind, format, ...)
  local message = select("#", ...) > 0 and format:format(...) or format
  error(setmetatable({ kind = kind, message = message, status = STATUS[kind] }, mt), 0)
end

--- Wrong usage or a wrong recipe: exit status 2. Formats as string.format does (no arguments: format is the text).
function errors.usage(format, ...)
  raise("usage", format, ...)
end

--- The work failed: exit status 1.
function errors.fail(format, ...)
  raise("fail", format, ...)
end

--- Stopped by Ctrl-C: exit status 130.
function errors.interrupted(format, ...)
  raise("interrupted", format, ...)
end

--- Is e an error object (of this kind, when one is named)? Compares fields, as modules may have been loaded twice.
function errors.is(e, kind)
  return type(e) == "table" and STATUS[e.kind] ~= nil and e.message ~= nil and (kind == nil or e.kind == kind)
end

-- Optimal string alignment distance (Damerau 1964, one edit per place): insertions, deletions, substitutions, swaps of
-- neighbours.
local function distance(a, b)
  local before, previous, current = {}, {}, {}
  for j = 0, #b do
    previous[j] = j
  end
  for i = 1, #a do
    current[0] = i
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      local best = math.min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        best = math.min(best, before[j - 2] + 1)
      end
      current[j] = best
    end
    before, previous, current = previous, current, before
  end
  return previous[#b]
end

--- ", did you mean 'x'?" with the nearest candidate, or "" when none is near (more than a third of the name differs).
-- candidates: a list of names, or a table whose string keys are the names. Ties go to the first in alphabetical order.
function errors.suggest(name, candidates)
  local names = {}
  for key, value in pairs(candidates) do
    names[#names + 1] = type(key) == "string" and key or value
  end
  table.sort(names)
  name = tostring(name)
  local best, best_distance
  for _, candidate in ipairs(names) do
    local d = distance(name:lower(), candidate:lower())
    if not best or d < best_distance then
      best, best_distance = candidate, d
    end
  end
  local limit = math.max(1, math.ceil(math.max(#name, best and #best or 0) / 3))
  return best and best_distance <= limit and (", did you mean '%s'?"):format(best) or ""
end

return errors
