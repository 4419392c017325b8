--- The resolved recipe as text for people: one key a line, aligned, each with the origin of its value.
-- What it is not: canonical (json.lua). Called by recipe.describe.

local check = require("lgelu.recipe.check")
local schema = require("lgelu.recipe.schema")

--- Keys of one section in schema order.
local function ordered_keys(resolved, name)
  local values, keys = resolved.config[name], {}
  if not values then return keys end
  if values.arch == "inline" then return { "arch" } end
  local section = schema.section(name)
  for _, entry in ipairs(section.entries(values[section.variant])) do
    if values[entry.key] ~= nil then keys[#keys + 1] = entry.key end
  end
  return keys
end

--- @param resolved  a resolved recipe
-- @return text, lines ended by "\n"
return function(resolved)
  local rows = {
    { "name", resolved.name, resolved.origin.name },
    { "seed", check.show(resolved.seed), resolved.origin.seed },
  }
  for _, name in ipairs(schema.order) do
    for _, key in ipairs(ordered_keys(resolved, name)) do
      local full, value = name .. "." .. key, resolved.config[name][key]
      rows[#rows + 1] = { full, type(value) == "string" and value or check.show(value), resolved.origin[full] }
    end
  end
  local width = { 0, 0 }
  for _, row in ipairs(rows) do
    for i = 1, 2 do width[i] = math.min(math.max(width[i], #row[i]), 40) end
  end
  local hash = resolved.hash_is_final and resolved.hash:sub(1, 8) or "known once the model is built"
  local lines = { ("recipe %s, hash %s"):format(resolved.file, hash) }
  for _, row in ipairs(rows) do
    lines[#lines + 1] = ("  %-" .. width[1] .. "s  %-" .. width[2] .. "s  %s"):format(row[1], row[2], row[3])
  end
  local dropped = {}
  for key in pairs(resolved.dropped) do dropped[#dropped + 1] = key end
  table.sort(dropped)
  if #dropped > 0 then lines[#lines + 1] = "  not used here: " .. table.concat(dropped, ", ") end
  return table.concat(lines, "\n") .. "\n"
end
