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
  parser:option("--threads", "Threads of the engine; 0, the default: as many as the process may use."):argname("N")
    :convert(args.integer("--threads", 0, args.MOST_THREADS))
  parser:option("--out", "Folder of the run; default runs/<name>-<hash>-s<seed>."):argname("DIR")
    :convert(args.text("--out"))
  parser:flag("--resume", "Go on with a run that was stopped.")
  parser:flag("--dry-run", "Print the resolved recipe and the run's folder; train nothing.")
  parser:flag("--profile", "Print where the time of training steps went: seconds, FLOPs and bytes of each node.")
  parser:flag("--quiet", "Print the run's folder alone.")
  parser:epilog("Values: defaults < recipe < budget < command line. 'lgelu help recipe' lists all keys.")
end

--- The run's folder. What functions of the recipe build is part of the hash, so they have to build it first.
local function folder(given, resolved)
  if given.out then return given.out end
  if not resolved.hash_is_final then require("lgelu.train").session(resolved) end
  return "runs/" .. resolved.run_name
end

function run.run(given)
  local recipe = require("lgelu.recipe")
  local resolved = recipe.load(given.recipe, { overrides = given.overrides, budget = given.budget, seed = given.seed })
  if given.dry_run then
    local place = folder(given, resolved)
    io.write(recipe.describe(resolved), "folder ", place, "\n")
    return 0
  end
  if not given.quiet then io.write(recipe.describe(resolved)) end
  local status, dir = require("lgelu.train").run(resolved, {
    out = given.out, resume = given.resume, threads = given.threads, quiet = given.quiet,
    profile = given.profile,
  })
  if given.quiet then io.write(dir, "\n") end
  return status
end

return run
