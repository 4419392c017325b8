--- Conversions of command-line words for the verbs, as lua-argparse wants them: value, or nil and a message.
local args = {}

args.MOST_THREADS = 256 -- of the engine's team, src/core/threads.c

--- An integer of at least min.
-- @param option  its name, for the message
-- @param min     least value
-- @param max     greatest value; nil: that which a number holds exactly
function args.integer(option, min, max)
  local range = max and ("from %d to %d"):format(min, max) or (">= %d"):format(min)
  return function(text)
    local value = text:find("^[+-]?%d+$") and tonumber(text)
    if value and value >= min and value <= (max or 2 ^ 53) then return value end
    return nil, ("%s: found '%s', expected an integer %s"):format(option, text, range)
  end
end

--- A word that is not empty.
function args.text(option)
  return function(text)
    if text ~= "" then return text end
    return nil, ("%s: found an empty word"):format(option)
  end
end

return args
