--- Layers of values (recipe, budget, command line) → one configuration with every key filled in and checked.
-- What it is not: reading files or command lines (recipe.lua, overrides.lua). Called by recipe.lua.
--
-- A layer is { name = origin shown to people, values = full key → value, where = function(key) → "file:line" or
-- "command line", texts = full key → the words as written (command line only) }; later layers win. A key of another
-- variant of its section (momentum beside adamw) is an error, unless a later layer chose the variant:
-- `optimizer.name=adamw` on the command line drops the recipe's momentum.

local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local schema = require("lgelu.recipe.schema")

local resolve = {}

--- Sorted keys of a layer in one section.
local function keys_in(layer, section)
  local keys = {}
  for key in pairs(layer.values) do
    if key:sub(1, #section + 1) == section .. "." then keys[#keys + 1] = key end
  end
  table.sort(keys)
  return keys
end

--- Every key that a recipe may have: list of full keys, and last name → first full key that ends with it.
local function known_keys()
  local keys, by_last = {}, {}
  for _, entry in ipairs(schema.top) do keys[#keys + 1], by_last[entry.key] = entry.key, entry.key end
  for _, name in ipairs(schema.order) do
    keys[#keys + 1], by_last[name] = name, name
    for _, row in ipairs(schema.union(name)) do
      local full = name .. "." .. row.entry.key
      keys[#keys + 1] = full
      by_last[row.entry.key] = by_last[row.entry.key] or full
    end
  end
  return keys, by_last
end

--- ", did you mean 'gate.t'?" for a key: the same last name in another section first, then the nearest spelling in its
-- own section, of any last name, of any key.
local function suggest_key(key, section_keys)
  local last, keys, by_last = key:match("[^.]+$"), known_keys()
  if by_last[last] and by_last[last] ~= key then return (", did you mean '%s'?"):format(by_last[last]) end
  local hint = section_keys and errors.suggest(key, section_keys) or ""
  if hint ~= "" then return hint end
  local near = errors.suggest(last, by_last):match("'(.*)'")
  if near then return (", did you mean '%s'?"):format(by_last[near]) end
  hint = errors.suggest(key, keys)
  if hint == "" and section_keys then return "; known: " .. table.concat(section_keys, ", ") end
  return hint
end

local function unknown_key(layer, key, section_keys)
  errors.usage("%s: %s: unknown key%s", layer.where(key), key, suggest_key(key, section_keys))
end

--- Checks one layer's value of one entry. What is text by its type is taken as written on a command line ("name=7").
local function demand(layer, key, entry)
  if entry.type == "string" and layer.texts and type(layer.values[key]) ~= "string" then
    layer.values[key] = layer.texts[key]
  end
  local problem = check.problem(entry, layer.values[key])
  if problem then errors.usage("%s: %s: %s", layer.where(key), key, problem) end
end

--- The last layer that gives a key: its index (0: none).
local function last_with(layers, key)
  for index = #layers, 1, -1 do
    if layers[index].values[key] ~= nil then return index end
  end
  return 0
end

--- The variant of a section, and the index of the layer that chose it (0: the default).
local function choose_variant(section, layers)
  local key = section.name .. "." .. section.variant
  local index = last_with(layers, key)
  local head
  -- Any variant's entries hold the deciding key itself, with its choices and default.
  for _, entry in ipairs(section.entries(section.variants()[1])) do
    if entry.key == section.variant then head = entry end
  end
  for _, layer in ipairs(layers) do
    if layer.values[key] ~= nil then demand(layer, key, head) end
  end
  if index > 0 then return layers[index].values[key], index end
  if head.required then
    errors.usage("%s: %s is missing: expected %s", layers[1].where(section.name), key, check.expected(head))
  end
  return head.default, 0
end

--- The variants of a section that have a key, or nil when none has.
local function owners(section, key)
  local of = {}
  for _, row in ipairs(schema.union(section.name)) do
    for _, variant in ipairs(row.entry.key == key and (row.of or section.variants()) or {}) do of[#of + 1] = variant end
  end
  return #of > 0 and of or nil
end

--- Raises for keys that the section does not have; returns those that a later choice of variant made void.
local function sort_out(section, variant, chosen_at, by_key, layers)
  local dropped, known = {}, {}
  for name in pairs(by_key) do known[#known + 1] = section.name .. "." .. name end
  table.sort(known)
  for index, layer in ipairs(layers) do
    for _, full in ipairs(keys_in(layer, section.name)) do
      local key = full:sub(#section.name + 2)
      local of = by_key[key] == nil and owners(section, key)
      if of and index < chosen_at then
        dropped[full] = true
      elseif of then
        errors.usage("%s: %s: a key of %s.%s = %s, but here it is '%s'", layer.where(full), full, section.name,
          section.variant, table.concat(of, ", "), variant)
      elseif not by_key[key] then
        unknown_key(layer, full, known)
      end
    end
  end
  return dropped
end

--- Keys that take the place of others (gate.lambda of gate.init): the later layer's one stays.
local function settle_rivals(section, entries, layers)
  local dropped = {}
  for _, entry in ipairs(entries) do
    if entry.instead_of then
      local mine, theirs = section.name .. "." .. entry.key, section.name .. "." .. entry.instead_of
      local at_mine, at_theirs = last_with(layers, mine), last_with(layers, theirs)
      if at_mine > 0 and at_mine == at_theirs then
        errors.usage("%s: %s: takes the place of %s, so give one of the two", layers[at_mine].where(mine), mine, theirs)
      end
      if at_mine > at_theirs then dropped[theirs] = true elseif at_mine > 0 then dropped[mine] = true end
    end
  end
  return dropped
end

local function resolve_section(name, layers, result)
  local section = schema.section(name)
  local variant, chosen_at = choose_variant(section, layers)
  local entries, by_key, values = section.entries(variant), {}, {}
  for _, entry in ipairs(entries) do by_key[entry.key] = entry end
  for key in pairs(sort_out(section, variant, chosen_at, by_key, layers)) do result.dropped[key] = true end
  local out = settle_rivals(section, entries, layers)
  for _, entry in ipairs(entries) do
    local key = name .. "." .. entry.key
    for _, layer in ipairs(layers) do
      if layer.values[key] ~= nil then demand(layer, key, entry) end
    end
    local at = last_with(layers, key)
    if out[key] then
      if at > 0 then result.dropped[key] = true end
    elseif at > 0 then
      values[entry.key], result.origin[key] = layers[at].values[key], layers[at].name
    else
      local default = schema.default(entry, variant)
      if entry.required and default == nil then
        errors.usage("%s: %s is missing: expected %s", layers[1].where(name), key, check.expected(entry))
      end
      values[entry.key] = default
      if default ~= nil then result.origin[key] = "default" end
    end
  end
  return values
end

--- A section that may be missing: nil where no layer gives a key of it, or where its variant says that it is off.
local function optional_section(name, layers, result)
  local given = {}
  for _, layer in ipairs(layers) do
    for _, key in ipairs(keys_in(layer, name)) do given[key] = true end
  end
  if not next(given) then return nil end
  local section, values = schema.section(name), resolve_section(name, layers, result)
  if values[section.variant] ~= section.off then return values end
  for _, entry in ipairs(section.entries(section.off)) do
    local key = name .. "." .. entry.key
    result.origin[key] = nil
    if given[key] and entry.key ~= section.variant then result.dropped[key] = true end
  end
  return nil
end

--- An inline model has no keys of its own: layers may not give any.
local function inline_model(layers, result)
  for _, layer in ipairs(layers) do
    for _, key in ipairs(keys_in(layer, "model")) do
      errors.usage("%s: %s: the model is a function in the recipe, and its values stand there", layer.where(key), key)
    end
  end
  result.origin["model.arch"] = "recipe"
  return { arch = "inline" }
end

--- Copies of lists, so that a configuration shares nothing with the recipe's own tables.
local function detach(config)
  for _, section in pairs(config) do
    for key, value in pairs(section) do
      if type(value) == "table" then
        local copy = {}
        for i, item in ipairs(value) do copy[i] = item end
        section[key] = copy
      end
    end
  end
end

--- Hardening with what it does not go with.
local function check_hardening(config, where)
  local gate, hardening = config.gate, config.hardening
  if not hardening then return end
  if gate.kind ~= "lambda_gelu" then
    errors.usage("%s: hardening: found gate.kind = %s, expected lambda_gelu: only gates with a λ can be hardened "
      .. "(hardening.schedule=none takes it out)", where("gate.kind"), gate.kind)
  end
  if not gate.learn and hardening.learn == "floor" then
    errors.usage("%s: hardening.learn: found floor with gate.learn = false: a fixed λ has no s to learn",
      where("hardening.learn"))
  end
  if gate.tie and hardening.order ~= "all" then
    errors.usage("%s: hardening.order: found %s with gate.tie = true, expected all: the gates share their λ",
      where("hardening.order"), hardening.order)
  end
end

--- Checks that no single entry can make; raises with the place of the key to change.
local function cross_check(config, where)
  check_hardening(config, where)
  local optimizer, gate = config.optimizer, config.gate
  local problem = schema.section("data").problem(config.data)
  if problem then errors.usage("%s: data.%s", where("data." .. problem:match("^[%w_]+")), problem) end
  if optimizer.nesterov and (optimizer.momentum == 0 or optimizer.dampening ~= 0) then
    errors.usage("%s: optimizer.nesterov: found momentum %s and dampening %s, expected momentum > 0 and dampening 0",
      where("optimizer.nesterov"), check.number(optimizer.momentum), check.number(optimizer.dampening))
  end
  if type(gate.lambda) == "table" and #gate.lambda == 0 then
    errors.usage("%s: gate.lambda: found an empty list, expected one λ for each gate", where("gate.lambda"))
  end
  if type(gate.lambda) == "table" and gate.tie and #gate.lambda > 1 then
    errors.usage("%s: gate.lambda: found %d values with gate.tie = true, expected one for all gates",
      where("gate.lambda"), #gate.lambda)
  end
end

--- Raises for keys that stand neither at the top nor in a section.
local function check_homes(layer)
  local homes, keys = { name = true, seed = true }, {}
  for _, name in ipairs(schema.order) do homes[name .. "."] = true end
  for key in pairs(layer.values) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    if homes[key .. "."] then
      errors.usage("%s: %s: a section, not a key: expected %s.%s=…", layer.where(key), key, key,
        schema.section(key).variant)
    end
    if not homes[key:match("^[^.]+%.") or key] then unknown_key(layer, key) end
  end
end

--- Resolves layers.
-- @param layers  list of layers, the recipe first
-- @param model   "inline" when the model is a function, else nil (its keys then stand in the layers as model.*)
-- @return { config = section → key → value, top = name and seed, origin = full key → layer's name or "default",
--   dropped = set of given keys that a later layer made void, where = function(key) }
function resolve.layers(layers, model)
  local result = { config = {}, top = {}, origin = {}, dropped = {} }
  function result.where(key)
    local at = last_with(layers, key)
    return layers[math.max(at, 1)].where(key)
  end
  for _, layer in ipairs(layers) do check_homes(layer) end
  for _, entry in ipairs(schema.top) do
    for _, layer in ipairs(layers) do
      if layer.values[entry.key] ~= nil then demand(layer, entry.key, entry) end
    end
    local at = last_with(layers, entry.key)
    result.top[entry.key] = entry.default
    if at > 0 then result.top[entry.key] = layers[at].values[entry.key] end
    result.origin[entry.key] = at > 0 and layers[at].name or "default"
  end
  for _, name in ipairs(schema.order) do
    if name == "model" and model == "inline" then
      result.config.model = inline_model(layers, result)
    else
      local how = schema.section(name).optional and optional_section or resolve_section
      result.config[name] = how(name, layers, result)
    end
  end
  detach(result.config)
  cross_check(result.config, result.where)
  return result
end

return resolve
