--- What `lgelu repl TARGET` makes ready: a run that was stored, or a recipe with its data and network.
-- What is costly is made when its name is first used. Called by lgelu.cli.repl.

local errors = require("lgelu.errors")

local target = {}

local function of_run(folder)
  local run = require("lgelu.store").open(folder)
  return { { name = "run", help = folder .. ": run.attrs, run:epochs(), run:gates(), run:best()", value = run } }
end

local function of_recipe(path)
  local recipe = require("lgelu.recipe").load(path, {})
  return {
    { name = "recipe", help = "the resolved recipe: recipe.config.gate.t", value = recipe },
    {
      name = "data", help = "its data, loaded at first use: data.train.x",
      make = function() return require("lgelu.data").load(recipe.config.data) end,
    },
    {
      name = "model", help = "its network as it is before training, built at first use",
      make = function() return require("lgelu.train").session(recipe).net end,
    },
  }
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
