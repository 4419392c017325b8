--- Sweep files: a Lua file that declares many runs → the plan: every run resolved, checked, hashed and named.
-- What it is not: running them (sweep/pool.lua) or the folder they are in (sweep/folder.lua). Called by lgelu.sweep.
--
-- A sweep file is read like a recipe, in the same sandbox, and returns
--   { name = "fig1", recipe = "mlp_fmnist" (a recipe's name or file),
--     grid = { ["gate.t"] = {0.1, 0.3}, … } (all combinations), a list of cells { { ["gate.kind"] = "relu" }, … }, or
--       a function (budget) that returns either; a cell may hold recipe = another base recipe, label = its name in
--       messages and captions, budget = the recipe's budget that it takes,
--     set = { key = value } for all runs, baseline = one cell or a list of them, beside the grid (of every recipe),
--     seeds = {1, 2, 3}, after = "swap", budgets = { desk = { the keys above, budget = the recipes' budget that is
--       meant (default: that of the same name), or keys of recipes, for all runs } } }
-- Values: recipe < the recipe's budget < set < the sweep's budget < command line < cell. So a key of λ-GELU on the
-- command line does not stand in a GELU baseline's way; a key that cells give is refused there.
local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local grid = require("lgelu.sweep.grid")
local locate = require("lgelu.recipe.locate")
local overrides = require("lgelu.recipe.overrides")
local paths = require("lgelu.paths")
local recipe = require("lgelu.recipe")
local sandbox = require("lgelu.recipe.sandbox")
local schema = require("lgelu.recipe.schema")

local file = {}

local SEEDS = { type = "list", items = "integer", min = 0, max = 2 ^ 53 }
local AFTER = { "swap", "none" }
-- Keys of a sweep file; command = may stand on a command line.
local KEYS = {
  name = { type = "string", command = true }, recipe = { type = "string", command = true }, grid = {}, set = {},
  baseline = {}, seeds = { type = SEEDS.type, items = SEEDS.items, min = SEEDS.min, max = SEEDS.max, command = true },
  after = { type = "string", choices = AFTER, command = true }, budgets = {}, budget = { type = "string",
    choices = schema.budgets },
}

local function is_section_key(key)
  local first = key:match("^[^.]+")
  for _, name in ipairs(schema.order) do
    if name == first then return true end
  end
  return false
end

-- Reading ------------------------------------------------------------------------------------------------------------

-- A sweep that is being read: what it says, and where each of it stands.
local function reading(source, name)
  local lines, places = locate.lines(source)
  local self = { file = name, given = sandbox.run(source, name, require("lgelu")), says = {}, path = {}, layers = {} }
  function self.where(path) return ("%s:%d"):format(name, (locate.find(lines, path))) end
  -- Where keys under one path stand; the path itself where it is asked for by name.
  function self.under(path)
    return function(key) return self.where(key == path and path or path .. "." .. key) end
  end
  function self.order(path)
    return function(key)
      if key == "recipe" then return -1 end
      return places[path .. "." .. key] or places[path .. "." .. (key:match("^[^.]+"))] or math.huge
    end
  end
  return self
end

local function check_key(key, value, where, path)
  local entry = KEYS[key]
  local problem = entry.type and check.problem(entry, value)
  if problem then errors.usage("%s: %s: %s", where, path, problem) end
  if key ~= "seeds" then return end
  local seen = {}
  if #value == 0 then errors.usage("%s: %s: found an empty list", where, path) end
  for _, seed in ipairs(value) do
    if seen[seed] then errors.usage("%s: %s: %d is given twice", where, path, seed) end
    seen[seed] = true
  end
end

-- Takes the keys that a table (the file, one of its budgets) gives; recipes' keys only where they are allowed.
local function take(self, t, path, recipe_keys)
  local rest = {}
  for key, value in pairs(t) do
    local full = path and path .. "." .. tostring(key) or tostring(key)
    local known = KEYS[key] and (path and key ~= "budgets" and key ~= "set" or not path and key ~= "budget")
    if known then
      check_key(key, value, self.where(full), full)
      self.says[key], self.path[key] = value, full
    elseif type(key) == "string" and recipe_keys and is_section_key(key) then
      rest[key] = value
    else
      local hint = type(key) == "string" and is_section_key(key) and "; keys of the recipe for all runs stand in set"
        or errors.suggest(tostring(key), KEYS)
      errors.usage("%s: %s: a sweep has no such key%s", self.where(full), full, hint)
    end
  end
  if next(rest) then
    local under = self.under(path)
    self.layers[#self.layers + 1] = { name = path, values = grid.flat(rest, under, path), where = under }
  end
end

local function check_table(self, key)
  if self.says[key] ~= nil and type(self.says[key]) ~= "table" then
    errors.usage("%s: %s: found %s, expected a table", self.where(self.path[key]), self.path[key],
      check.show(self.says[key]))
  end
end

-- The sweep's own budget; returns the name of the recipes' budget, nil for their own values. Other budgets are only
-- looked at for names that are none.
local function take_budget(self, name)
  local budgets = self.says.budgets or {}
  for known, t in pairs(budgets) do
    local problem = check.problem({ type = "string", choices = schema.budgets }, known)
    if problem then
      errors.usage("%s: budgets: %s", self.where("budgets." .. tostring(known)), problem)
    elseif type(t) ~= "table" then
      errors.usage("%s: budgets.%s: found %s, expected a table", self.where("budgets." .. known), known, check.show(t))
    end
  end
  if not name then return nil end
  if budgets[name] then take(self, budgets[name], "budgets." .. name, true) end
  return self.says.budget or name
end

-- Keys of the sweep on the command line; returns the words that are the recipes'.
local function take_words(self, words, seed)
  local values, texts = overrides.parse(words or {})
  local rest = {}
  for i, word in ipairs(words or {}) do
    local key = word:match("^%s*([%w_.]+)")
    if key == "seed" then
      check_key("seeds", { values.seed }, "command line", "seed")
      self.says.seeds = { values.seed }
    elseif KEYS[key] then
      if not KEYS[key].command then
        errors.usage("command line: %s: stands in the sweep's file; a command line gives keys of recipes, name, "
          .. "recipe, seeds and after", key)
      end
      local value = KEYS[key].type == "string" and texts[key] or values[key]
      check_key(key, value, "command line", key)
      self.says[key], self.path[key] = value, key
    else
      rest[#rest + 1] = words[i]
    end
  end
  if seed then self.says.seeds = { seed } end
  return rest
end

-- Cells --------------------------------------------------------------------------------------------------------------

-- The baselines: one for every base recipe, where they do not name their own.
local function baselines(self, cells)
  local t, path = self.says.baseline, self.path.baseline
  if t == nil then return {} end
  local found, recipes, seen = {}, {}, {}
  for _, cell in ipairs(cells) do
    local name = cell.recipe or self.says.recipe
    if not seen[name] then recipes[#recipes + 1], seen[name] = cell.recipe or false, true end
  end
  for i, item in ipairs(#t > 0 and t or { t }) do
    local base = grid.cell(item, self.under(path), #t > 0 and ("%s[%d]"):format(path, i) or path)
    for _, name in ipairs(base.recipe and { base.recipe } or recipes) do
      found[#found + 1] = {
        values = base.values, label = base.label, recipe = name or nil, budget = base.budget, role = "baseline",
        path = path,
      }
    end
  end
  return found
end

local function all_cells(self, budget)
  local path = self.path.grid
  local t = self.says.grid
  if t == nil then errors.usage("%s: grid is missing: it says which runs there are", self.where("return")) end
  if type(t) == "function" then t = sandbox.guard(t, self.file) end
  local cells = grid.cells(t, self.under(path), path, self.order(path), budget)
  local axes = grid.axes(cells, self.order(path))
  for _, cell in ipairs(cells) do cell.role, cell.path = "cell", path end
  local all = baselines(self, cells)
  for _, cell in ipairs(all) do
    cell.label = grid.label(cell, grid.ordered(cell.values, self.order(cell.path)))
    if cell.recipe and cell.recipe ~= self.says.recipe then cell.label = cell.recipe .. ", " .. cell.label end
  end
  for _, cell in ipairs(cells) do
    cell.label = grid.label(cell, axes)
    all[#all + 1] = cell
  end
  return all, axes
end

-- Resolving ----------------------------------------------------------------------------------------------------------

-- A path in a sweep file is tried from where the sweep file is, too.
local function find_recipe(self, name)
  self.found = self.found or {}
  if not self.found[name] then
    local beside = (self.file:match("^(.*/)") or "") .. name
    local ok, path, text = pcall(recipe.find, name)
    if not ok then
      local second, path2, text2 = pcall(recipe.find, beside)
      if not second then errors.usage("%s: recipe: %s", self.where(self.path.recipe or "grid"), path.message) end
      path, text = path2, text2
    end
    self.found[name] = { file = path, source = text }
  end
  return self.found[name]
end

-- A recipe's budget, when the recipe has it or the cell or the sweep demands it by name.
local function budget_of(self, base, cell, budget)
  if cell.budget or not budget or self.says.budget then return cell.budget or budget end
  local lines = locate.lines(base.source)
  if lines["budgets." .. budget] then return budget end
  if self.says.budgets and self.says.budgets[budget] then return nil end -- the sweep's own
  return budget -- the recipe says which ones it has
end

local function resolve_cell(self, cell, words, budget, seed)
  local base = find_recipe(self, cell.recipe or self.says.recipe)
  for key in pairs((overrides.parse(words))) do
    if cell.values[key] ~= nil then
      errors.usage("command line: %s: what the sweep varies, at %s", key, self.under(cell.path)(key))
    end
  end
  local resolved = recipe.from_text(base.source, base.file,
    { overrides = words, budget = budget_of(self, base, cell, budget), seed = seed, layers = self.layers,
      cell = { name = cell.role, values = cell.values, where = self.under(cell.path) } })
  local extra
  if not resolved.hash_is_final then -- what functions build belongs to the hash
    local session = require("lgelu.train").session(resolved)
    extra = type(resolved.model) == "function" and session.net.description or nil
  end
  return resolved, extra
end

-- The runs of one cell, one for each seed: they differ in nothing else, so that it is resolved once.
local function runs_of(cell, first, extra, seeds)
  local runs = {}
  for i, seed in ipairs(seeds) do
    local resolved = first
    if i > 1 then
      resolved = {}
      for key, value in pairs(first) do resolved[key] = value end
      resolved.seed = seed
      recipe.rehash(resolved, extra)
    end
    runs[i] = { resolved = resolved, cell = cell, seed = seed }
  end
  return runs
end

local function check_same(self, runs)
  local seen = {}
  for _, run in ipairs(runs) do
    local key = run.resolved.hash .. "/" .. run.seed
    local other = seen[key]
    if other then
      errors.usage("%s: two runs are the same (hash %s, seed %d): %s '%s' and %s '%s'; each cell must change something",
        self.where(run.cell.path), run.resolved.hash:sub(1, 8), run.seed, other.cell.role, other.cell.label,
        run.cell.role, run.cell.label)
    end
    seen[key] = run
  end
end

local function stored_values(cell)
  local values = { recipe = cell.recipe }
  for key, value in pairs(cell.values) do values[key] = grid.plain(value) end
  return values
end

local function plan_of(self, by_cell, axes, budget)
  local plan = { name = self.says.name, file = self.file, budget = budget or "", axes = axes, seeds = self.says.seeds,
    after = self.says.after ~= "none" and self.says.after or nil, runs = {}, sources = {} }
  for s = 1, #plan.seeds do -- whole sweeps of one seed after another: a part of them is a figure already
    for _, runs in ipairs(by_cell) do
      local run = runs[s]
      local resolved = run.resolved
      plan.sources[resolved.file] = resolved.source
      plan.runs[#plan.runs + 1] = { run = resolved.run_name, hash = resolved.hash, seed = run.seed,
        role = run.cell.role, label = run.cell.label, cell = stored_values(run.cell), recipe = resolved.name,
        file = resolved.file, config = resolved.json }
    end
  end
  return plan
end

--- Reads a sweep file and resolves all of its runs.
-- @param source  its text
-- @param name    its name, for messages
-- @param opts    { overrides = words, budget =, seed = } as for recipe.from_text
-- @return plan { name, file, budget, axes = keys in the file's order, seeds, after = "swap" or nil, sources = recipe
--   file → its text, runs = list of { run = name of its folder, hash, seed, role = "cell"|"baseline", label, cell = key
--   → value, recipe = the recipe's name, file = the recipe's file, config = resolved recipe as JSON } }.
--   Usage errors name file and line.
function file.plan(source, name, opts)
  local self = reading(source, name)
  take(self, self.given, nil, false)
  for _, key in ipairs({ "set", "baseline", "budgets" }) do check_table(self, key) end
  if self.says.set then
    local under = self.under("set")
    self.layers[1] = { name = "set", values = grid.flat(self.says.set, under, "set"), where = under }
  end
  local budget = take_budget(self, opts.budget)
  local words = take_words(self, opts.overrides, opts.seed)
  self.says.name = self.says.name or name:match("([^/]*)$"):gsub("%.lua$", "")
  if not self.says.name:find("^[%w_][%w_.%-]*$") then
    errors.usage("%s: name: found '%s', expected letters, digits, '_', '.', '-', not '.' or '-' at its start",
      self.where(self.path.name or "return"), self.says.name)
  end
  self.says.seeds = self.says.seeds or { 1 }
  local cells, axes = all_cells(self, opts.budget)
  local by_cell, all = {}, {}
  for i, cell in ipairs(cells) do
    if not (cell.recipe or self.says.recipe) then
      errors.usage("%s: recipe is missing: which recipe do the runs start from?", self.where("return"))
    end
    local first, extra = resolve_cell(self, cell, words, budget, self.says.seeds[1])
    by_cell[i] = runs_of(cell, first, extra, self.says.seeds)
    for _, run in ipairs(by_cell[i]) do all[#all + 1] = run end
  end
  check_same(self, all)
  return plan_of(self, by_cell, axes, opts.budget)
end

--- Finds a sweep file (a path, or the name of one of lgelu's own) and makes its plan; see file.plan.
function file.load(path, opts)
  local found, source = recipe.find(path, paths.recipes .. "/sweeps", "sweep")
  return file.plan(source, found, opts)
end

return file
