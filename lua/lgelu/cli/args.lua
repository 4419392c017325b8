--- Conversions of command-line words for the verbs, as lua-argparse wants them: value, or nil and a message.
local args = {}

--- An integer of at least min.
-- @param option  its name, for the message
-- @param min     least value
function args.integer(option, min)
  return function(text)
    local value = text:find("^[+-]?%d+$") and tonumber(text)
    if value and value >= min and value <= 2 ^ 53 then return value end
    return nil, ("%s: found '%s', expected an integer >= %d"):format(option, text, min)
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
