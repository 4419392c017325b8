--- Recipes: a Lua file that declares a run → the resolved recipe, with every key filled in, checked, hashed and named.
-- What it is not: the training (lgelu.train), the data (lgelu.data) or the models (lgelu.models), which it only asks
-- for their schemas. Called by `lgelu run`, `lgelu repl`, sweeps and tests.
--
-- A resolved recipe is { name, seed, file, source (text or nil), config (section → key → plain value), model (the
-- table config.model, or the recipe's function), gate_init (function or nil), hardening_function (hardening.schedule
-- where it is a function; hardening_text: what the hash knows it by), origin (full key → "default", "recipe",
-- "budget NAME", "command line"), dropped (set of given keys that a later layer made void), where(key) → "file:line",
-- budget (name or nil), json (canonical JSON of name, seed and config, for the run store), hash_text (canonical JSON of
-- what the hash covers), hash (64 hex digits), hash_is_final (false until the caller has built what functions of the
-- recipe declare: see rehash and apply_gate_init), run_name }.

local C = require("lgelu.C")
local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local json = require("lgelu.recipe.json")
local locate = require("lgelu.recipe.locate")
local overrides = require("lgelu.recipe.overrides")
local paths = require("lgelu.paths")
local resolve = require("lgelu.recipe.resolve")
local sandbox = require("lgelu.recipe.sandbox")
local schema = require("lgelu.recipe.schema")

local recipe = {}

-- Finding and reading files ------------------------------------------------------------------------------------------

local function read_file(path)
  local file, problem = io.open(path, "rb")
  if not file then return nil, problem end
  local text = file:read("*a")
  file:close()
  if not text then return nil, path .. ": Is a directory" end
  return text
end

--- Names of the recipes (Lua files) in lgelu's own folder, or in another one, sorted.
function recipe.list(folder)
  local names = {}
  local lfs = require("lfs")
  folder = folder or paths.recipes
  if lfs.attributes(folder, "mode") == "directory" then
    for entry in lfs.dir(folder) do
      local name = entry:match("^(.+)%.lua$")
      if name then names[#names + 1] = name end
    end
  end
  table.sort(names)
  return names
end

--- Finds a recipe: the path itself, with .lua, or a recipe of that name in lgelu's own folder.
-- @param path    what a person named
-- @param folder  lgelu's own folder of such files; default that of recipes
-- @param what    what they are called in the message; default "recipe"
-- @return the file's path and its text; a usage error with the nearest name when there is none
function recipe.find(path, folder, what)
  folder = folder or paths.recipes
  local tried = { path, path .. ".lua", folder .. "/" .. path, folder .. "/" .. path .. ".lua" }
  for _, candidate in ipairs(tried) do
    local text = read_file(candidate)
    if text then return candidate, text end
  end
  local _, problem = read_file(path)
  local names = recipe.list(folder)
  local base = path:match("([^/]*)$"):gsub("%.lua$", "")
  errors.usage("%s, expected a %s file or one of %s%s", problem, what or "recipe", table.concat(names, ", "),
    errors.suggest(base, names))
end

-- Layers -------------------------------------------------------------------------------------------------------------

--- Is name a section?
local function is_section(name)
  for _, section in ipairs(schema.order) do
    if section == name then return true end
  end
  return false
end

--- Puts one entry of a recipe or budget into a layer: a section's values under full keys ("gate.t"), all else as it is.
local function add(layer, key, value)
  local function need_key(name, found, home)
    if type(name) == "string" then return end
    errors.usage("%s: %s: found %s without a key, expected key = value", layer.where(home or "return"),
      home or "the " .. layer.name, check.show(found))
  end
  need_key(key, value)
  if not is_section(key) then
    layer.values[key] = value
    return
  end
  if type(value) ~= "table" then
    errors.usage("%s: %s: found %s, expected a table such as %s = { %s = … }%s", layer.where(key), key,
      check.show(value), key, schema.section(key).variant, key == "model" and " or a function (nn, x, info)" or "")
  end
  for name, inner in pairs(value) do
    need_key(name, inner, key)
    layer.values[key .. "." .. name] = inner
  end
end

--- The recipe's own layer, out of the table that it returned.
local function recipe_layer(t, where)
  local layer = { name = "recipe", values = {}, where = where }
  for key, value in pairs(t) do
    local apart = key == "budgets" or (key == "model" and type(value) == "function")
    if not apart then add(layer, key, value) end
  end
  if t.model == nil then
    errors.usage("%s: model is missing: expected lg.models.NAME{…} or a function (nn, x, info)", where("return"))
  end
  return layer
end

--- The layer of one budget, which may hold full keys (["train.epochs"] = 1) and sections (train = { epochs = 1 }).
local function budget_layer(name, t, where)
  local layer = { name = "budget " .. name, values = {}, where = where }
  for key, value in pairs(t) do add(layer, key, value) end
  return layer
end

--- The layers of all budgets, by name: all are made, so that a slip in one shows at once.
local function budget_layers(t, where)
  local layers = {}
  if t == nil then return layers end
  if type(t) ~= "table" then
    errors.usage("%s: budgets: found %s, expected a table such as { smoke = { [\"train.epochs\"] = 1 } }",
      where("budgets"), check.show(t))
  end
  for name, values in pairs(t) do
    local known = { type = "string", choices = schema.budgets }
    if check.problem(known, name) then
      errors.usage("%s: budgets.%s: unknown budget, expected %s%s", where("budgets." .. tostring(name)), tostring(name),
        check.expected(known), errors.suggest(tostring(name), schema.budgets))
    end
    if type(values) ~= "table" then
      errors.usage("%s: budgets.%s: found %s, expected a table of keys and values", where("budgets." .. name), name,
        check.show(values))
    end
    layers[name] = budget_layer(name, values, function(key) return where("budgets." .. name .. "." .. key) end)
  end
  return layers
end

--- The command line's layer.
local function override_layer(words, seed)
  local values, texts = overrides.parse(words or {})
  if seed ~= nil and values.seed ~= nil and values.seed ~= seed then
    errors.usage("command line: seed is given twice, as --seed %d and as seed=%s: which is meant?", seed, texts.seed)
  end
  if seed ~= nil then values.seed = seed end
  return { name = "command line", values = values, texts = texts, where = function() return "command line" end }
end

-- Resolving ----------------------------------------------------------------------------------------------------------

local function sha256(text)
  local hex = C.ffi.new("char[65]")
  C.check(C.lib.lg_sha256(hex, text, #text))
  return C.ffi.string(hex)
end

--- What the hash covers: the configuration less keys marked hashed = false, and nothing of name, seed and budgets.
local function hashed_part(config)
  local part = {}
  for name, values in pairs(config) do
    part[name] = {}
    for key, value in pairs(values) do part[name][key] = value end
    if values.arch ~= "inline" then
      local section = schema.section(name)
      for _, entry in ipairs(section.entries(values[section.variant])) do
        if entry.hashed == false then part[name][entry.key] = nil end
      end
    end
  end
  return part
end

--- Computes json, hash_text, hash and run_name anew, after config changed or when more than config belongs to the hash.
-- @param resolved    a resolved recipe
-- @param extra_text  what else tells this run from others (the built graph of an inline model), or nil
-- @return resolved
function recipe.rehash(resolved, extra_text)
  local all = { name = resolved.name, seed = resolved.seed }
  for name, values in pairs(resolved.config) do all[name] = values end
  resolved.json = json.encode(all)
  resolved.hash_text = json.encode(hashed_part(resolved.config))
  resolved.hash = sha256(table.concat({ resolved.hash_text, extra_text or resolved.hardening_text,
    extra_text and resolved.hardening_text }, "\n"))
  resolved.hash_is_final = not resolved.gate_init and (type(resolved.model) ~= "function" or extra_text ~= nil)
  resolved.run_name = ("%s-%s-s%s"):format(resolved.name, resolved.hash:sub(1, 8), json.number(resolved.seed))
  return resolved
end

--- Checks λ given outright against the reparameterization, which cannot reach every λ ≥ 1 (λ = 1 under softplus).
local function check_lambda(resolved)
  local gate = resolved.config.gate
  if not gate.lambda or not gate.learn then return end
  local s = C.ffi.new("double[1]")
  local reparam = C.lib.lg_list_find("reparam", gate.reparam)
  for _, lambda in ipairs(type(gate.lambda) == "table" and gate.lambda or { gate.lambda }) do
    if C.lib.lg_gate_s(s, reparam, lambda, gate.t) ~= 0 then
      errors.usage("%s: gate.lambda: %s", resolved.where("gate.lambda"), C.ffi.string(C.lib.lg_last_error()))
    end
  end
end

local function check_name(resolved)
  local name = resolved.name
  if not name:find("^[%w_][%w_.%-]*$") or #name > 100 then
    errors.usage("%s: name: found '%s', expected up to 100 letters, digits, '_', '.', '-', not '.' or '-' at its start",
      resolved.where("name"), name)
  end
end

--- λ of each gate from the recipe's own function gate.init = function(layer, count), stored as config.gate.lambda in
-- its place; the hash then covers the values. Does nothing when there is no such function.
-- @param resolved  a resolved recipe
-- @param count     number of gates of the built model
-- @return resolved; a usage error naming file and line when it fails or gives anything but numbers ≥ 1
function recipe.apply_gate_init(resolved, count)
  if not resolved.gate_init then return resolved end
  local where = resolved.where("gate.init")
  local values = {}
  for layer = 1, count do
    local value = resolved.gate_init(layer, count)
    local problem = check.problem({ type = "number", min = 1 }, value)
    if problem then errors.usage("%s: gate.init(%d, %d): %s", where, layer, count, problem) end
    values[layer] = value
  end
  resolved.config.gate.lambda, resolved.config.gate.init, resolved.gate_init = values, nil, nil
  resolved.origin["gate.lambda"], resolved.origin["gate.init"] = resolved.origin["gate.init"], nil
  check_lambda(resolved)
  return recipe.rehash(resolved)
end

-- The recipe's own functions, taken out of the configuration, where the word "function" stays.
local function take_functions(resolved)
  local config = resolved.config
  if type(config.gate.init) == "function" then
    resolved.gate_init, config.gate.init = sandbox.guard(config.gate.init, resolved.file), "function"
  end
  if config.hardening and type(config.hardening.schedule) == "function" then
    local fn = sandbox.guard(config.hardening.schedule, resolved.file)
    resolved.hardening_function, config.hardening.schedule = fn, "function"
    resolved.hardening_text = require("lgelu.hardening").describe_function(fn, resolved.where("hardening.schedule"))
  end
end

--- Picks the budget's layer.
local function choose_budget(budgets, name, where)
  if name == nil then return nil end
  if budgets[name] then return budgets[name] end
  local names = {}
  for _, known in ipairs(schema.budgets) do
    if budgets[known] then names[#names + 1] = known end
  end
  errors.usage("%s: this recipe has no budget '%s'%s%s", where("budgets"), name, errors.suggest(name, names),
    #names > 0 and "; budgets: " .. table.concat(names, ", ") or "")
end

local function build(t, opts, file, source)
  local lines = source and locate.lines(source)
  local function where(key)
    return lines and ("%s:%d"):format(file, (locate.find(lines, key))) or file
  end
  local first, budgets = recipe_layer(t, where), budget_layers(t.budgets, where)
  local inline = type(t.model) == "function" and "inline" or nil
  local last = override_layer(opts.overrides, opts.seed)
  for _, name in ipairs(schema.budgets) do
    if budgets[name] then resolve.layers({ first, budgets[name] }, inline) end
  end
  local layers = { first }
  layers[#layers + 1] = choose_budget(budgets, opts.budget, where)
  for _, layer in ipairs(opts.layers or {}) do layers[#layers + 1] = layer end
  layers[#layers + 1] = last
  layers[#layers + 1] = opts.cell
  local result = resolve.layers(layers, inline)
  local resolved = {
    name = result.top.name or file:match("([^/]*)$"):gsub("%.lua$", ""), seed = result.top.seed,
    file = file, source = source, config = result.config, origin = result.origin, dropped = result.dropped,
    where = result.where, budget = opts.budget,
    model = inline and sandbox.guard(t.model, file) or result.config.model,
  }
  check_name(resolved)
  take_functions(resolved)
  check_lambda(resolved)
  return recipe.rehash(resolved)
end

--- Resolves the text of a recipe.
-- @param source  Lua text
-- @param file    its name, for messages and, less folder and .lua, for the run's name
-- @param opts    { overrides = list of "key=value", budget = name or nil, seed = integer or nil, layers = list of a
--   sweep's layers (see resolve.lua) between budget and command line, cell = its layer after that, or nil }
-- @return resolved recipe (see the top of this file); usage errors name file and line, or the command line
function recipe.from_text(source, file, opts)
  return build(sandbox.run(source, file, require("lgelu")), opts or {}, file, source)
end

--- Resolves a recipe file.
-- @param path  a file, with or without .lua, or the name of a recipe in lgelu's own folder ("mlp_fmnist")
-- @param opts  as for from_text
function recipe.load(path, opts)
  local file, source = recipe.find(path)
  return recipe.from_text(source, file, opts)
end

--- Resolves a recipe given as a table, for the REPL and tests.
-- @param t     what a recipe file returns
-- @param opts  as for from_text; name: what stands for the file in messages (default "recipe")
function recipe.from_table(t, opts)
  if type(t) ~= "table" then errors.usage("recipe: found %s, expected a table", check.show(t)) end
  opts = opts or {}
  return build(t, opts, opts.name or "recipe", nil)
end

--- Resolves what a run file holds, so that the run can go on, be swapped or shown without its recipe file.
-- @param stored  text of the attribute "config": canonical JSON, as in the field json of a resolved recipe
-- @param source  text of the attribute "recipe"; read when the model or gate.init is a function
-- @param file    name for messages
-- @param opts    { overrides = list of "key=value", change = function(t) that changes the decoded configuration }
-- @return resolved recipe; a usage error when the text is not JSON or holds keys of another version of lgelu
function recipe.from_stored(stored, source, file, opts)
  local ok, t = pcall(require("cjson").decode, stored)
  if not ok or type(t) ~= "table" then errors.usage("%s: config: expected JSON, found '%.40s'", file, stored) end
  if opts and opts.change then opts.change(t) end
  local inline = type(t.model) == "table" and t.model.arch == "inline"
  local own
  for section, key in pairs({ gate = "init", hardening = "schedule" }) do
    if type(t[section]) == "table" and t[section][key] == "function" then
      own = own or sandbox.run(source, file, require("lgelu"))
      t[section][key] = own[section] and own[section][key]
      if type(t[section][key]) ~= "function" then
        errors.usage("%s: %s.%s was a function of a budget, which is not found again", file, section, key)
      end
    end
  end
  if inline then t.model = (own or sandbox.run(source, file, require("lgelu"))).model end
  return build(t, opts or {}, file, source)
end

--- Every key with its meaning, for help pages: list of { name = section ("" for the top), doc, variant, rows = list of
-- { entry = schema entry, of = variants that have the key, nil for all } }.
function recipe.docs()
  local docs = { { name = "", doc = "Beside the sections.", rows = {} } }
  for _, entry in ipairs(schema.top) do docs[1].rows[#docs[1].rows + 1] = { entry = entry } end
  for _, name in ipairs(schema.order) do
    local section = schema.section(name)
    docs[#docs + 1] = { name = name, doc = section.doc, variant = section.variant, rows = schema.union(name) }
  end
  return docs
end

--- The resolved recipe as aligned lines: key, value, and where the value came from.
function recipe.describe(resolved)
  return require("lgelu.recipe.describe")(resolved)
end

return recipe
