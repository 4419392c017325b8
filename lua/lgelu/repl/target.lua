--- What `lgelu repl TARGET` makes ready: a run that was stored, or a recipe: its network, its data, and functions that
-- look at the network and change it in memory. What is costly is made when its name is first used.
-- Called by lgelu.cli.repl.

local errors = require("lgelu.errors")

local target = {}

-- A plain table that prints as text at the prompt.
local function printing(value, text)
  return getmetatable(value) and value or setmetatable(value, { __tostring = text })
end

local function data_text(set)
  local lines = { set.description or set.name }
  for _, name in ipairs({ "train", "test" }) do
    local part = set[name]
    lines[#lines + 1] = part and ("data.%s.x %s[%s], data.%s.y %s[%s]"):format(name, part.x.dtype,
      table.concat(part.x.shape, ", "), name, part.y.dtype, table.concat(part.y.shape, ", "))
  end
  return table.concat(lines, "\n")
end

-- first: entries before the common ones. open: function → what lgelu.trained gives.
local function with_network(first, open)
  local probe
  local function at_hand()
    probe = probe or require("lgelu.probe").of(open())
    return probe
  end
  first[#first + 1] = {
    name = "model", help = "its network: model:summary(), :tensor(NAME), :lambdas(), :load_weights(FILE)",
    make = function() return at_hand().net end,
  }
  first[#first + 1] = {
    name = "data", help = "its data: data.train.x, data.train.y",
    make = function() return printing(at_hand().t.set, data_text) end,
  }
  for _, entry in ipairs(require("lgelu.repl.verbs").list(at_hand)) do first[#first + 1] = entry end
  return first
end

local function of_run(folder)
  local run = require("lgelu.store").open(folder)
  return with_network({
    { name = "run", help = folder .. ": run.attrs, run:epochs(), run:gates(), run:best()", value = run },
  }, function() return require("lgelu.trained").open(folder, { probe = true }) end)
end

local function of_recipe(path)
  local recipe = printing(require("lgelu.recipe").load(path, {}), function(resolved)
    return (require("lgelu.recipe").describe(resolved):gsub("%s+$", ""))
  end)
  return with_network({
    { name = "recipe", help = "the resolved recipe, not trained yet: recipe.config.gate.t", value = recipe },
  }, function() return require("lgelu.trained").untrained(recipe, { probe = true }) end)
end

--- Finds TARGET among runs (a folder, or a name under runs/) and recipes (a file, or one of lgelu's own).
-- @tparam string name what was typed
-- @treturn table list of { name, help, value or make }, for lgelu.repl.start
-- @raise usage error when it is neither, or as a recipe is wrong; the work failed when the run is damaged
function target.predefine(name)
  local is_run, folder = pcall(require("lgelu.store").resolve, name)
  if is_run then return of_run(folder) end
  if not errors.is(folder, "usage") then error(folder, 0) end
  local lfs = require("lfs")
  local known = name:find("%.lua$") or lfs.attributes(name, "mode") == "file"
  for _, own in ipairs(require("lgelu.recipe").list()) do known = known or own == name end
  if known then return of_recipe(name) end
  errors.usage("'%s' is neither a run (%s) nor a recipe (a file, or one of %s)", name, folder.message,
    table.concat(require("lgelu.recipe").list(), ", "))
end

return target
