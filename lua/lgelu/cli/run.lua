--- lgelu run: resolves a recipe and trains it. The training itself is lgelu.train.

local args = require("lgelu.cli.args")

local run = {}

run.summary = "Train what a recipe declares, into a run folder of its own."

function run.setup(parser)
  parser:argument("recipe", "Recipe file, or the name of one of lgelu's own (mlp_fmnist, moons).")
  parser:argument("overrides", "key=value: sets a key of the recipe, such as gate.t=0.3 or model.hidden={64,64}.")
    :argname("<key=value>"):args("*")
  parser:option("--budget", "Scale of the recipe: smoke, short, desk or full. Without it: the recipe's own values.")
    :argname("NAME")
  parser:option("--seed", "Seed of everything drawn at random."):argname("N"):convert(args.integer("--seed", 0))
  args.training(parser, "Folder of the run; default runs/<name>-<hash>-s<seed>.")
  parser:epilog("Values: defaults < recipe < budget < command line. 'lgelu help recipe' lists all keys.")
end

function run.run(given)
  local recipe = require("lgelu.recipe")
  local resolved = recipe.load(given.recipe, { overrides = given.overrides, budget = given.budget, seed = given.seed })
  return args.train(resolved, given)
end

return run
