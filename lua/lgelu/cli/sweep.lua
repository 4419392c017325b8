--- lgelu sweep: many runs out of one file. The work is lgelu.sweep's.

local args = require("lgelu.cli.args")
local errors = require("lgelu.errors")

local sweep = {}

sweep.summary = "Train the many runs that a sweep file declares; goes on where it was stopped."

function sweep.setup(parser)
  parser:argument("sweep", "Sweep file, or the name of one of lgelu's own; for --only and --condense a sweep's folder.")
  parser:argument("overrides", "key=value: a key of every run's recipe, or the sweep's recipe, seeds, name, after.")
    :argname("<key=value>"):args("*")
  parser:option("--budget", "Scale of the sweep: smoke, short, desk or full."):argname("NAME")
  parser:option("--seed", "One seed, in place of the file's."):argname("N"):convert(args.integer("--seed", 0))
  parser:option("--jobs", "Runs at a time; default: as many as there are cores."):argname("N")
    :convert(args.integer("--jobs", 1, args.MOST_THREADS))
  parser:option("--threads", "Threads of each run; default: its share of the cores."):argname("N")
    :convert(args.integer("--threads", 1, args.MOST_THREADS))
  parser:option("--out", "Folder of the sweep; default runs/sweeps/<name>."):argname("DIR"):convert(args.text("--out"))
  parser:option("--engine", "local: processes of this machine (default); slurm: a job array, which is submitted.")
    :argname("NAME"):choices({ "local", "slurm" })
  parser:flag("--retry", "Try runs again that failed.")
  parser:flag("--dry-run", "Print the runs with their hashes and states, and how long they may take; train nothing.")
  parser:option("--only", "Train this run of the sweep's folder, in this process."):argname("RUN")
    :convert(args.text("--only"))
  parser:flag("--condense", "Put a sweep's folder into one small file, given with -o.")
  parser:option("-o --output", "With --condense: the file, such as fig1.h5."):argname("FILE"):convert(args.text("-o"))
  parser:flag("--quiet", "Print the sweep's folder alone.")
  parser:epilog([[
A sweep file returns { name=, recipe=, grid=, set=, baseline=, seeds=, after=, budgets= }:
  recipe    the base: a recipe's name or file
  grid      ["gate.t"] = {0.1, 0.3}, …: all combinations; or a list of cells { ["gate.t"] = 0.1 }; or a function that
            returns either. A cell may also have recipe = (another base), budget = (which one of that recipe's) and
            label = (its name in messages and captions).
  set       keys of recipes for all runs              baseline  a cell, or a list of them, run beside the grid
  seeds     a list, such as {1, 2, 3}                 after     "swap": gates are replaced by ReLU and measured
  budgets   by name (smoke, short, desk, full): any of these keys, or keys of recipes
Values: recipe < its budget of that name < set < the sweep's budget < command line < cell.
Runs that are done are kept by their hash, and taken over from other sweeps beside this one; interrupted ones go on;
failed ones are tried again with --retry.
With --engine slurm: --jobs is how many tasks run at a time, --threads the CPUs of each (default 1); partition, account
and time limit are sbatch's variables (SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT).]])
end

-- Both options take a sweep's folder, and so nothing that says which runs a sweep has.
local function refuse(given, option, names)
  for _, name in ipairs(names) do
    if given[name] then errors.usage("sweep: --%s does not go with --%s", name:gsub("_", "-"), option) end
  end
  if #given.overrides > 0 then
    errors.usage("sweep: --%s takes no key=value: its folder says what the runs are", option)
  end
end

local function condense(given)
  refuse(given, "condense", { "budget", "seed", "jobs", "threads", "out", "retry", "dry_run", "only", "engine" })
  if not given.output then errors.usage("sweep: --condense needs -o FILE.h5, the file to write") end
  local gaps = require("lgelu.sweep").condense(given.sweep, given.output)
  for _, gap in ipairs(gaps) do
    io.stderr:write(("lgelu: without %s, seed %d (%s): %s%s\n"):format(gap.label, gap.seed, gap.run, gap.status,
      gap.error and ": " .. gap.error or ""))
  end
  if not given.quiet then io.write(given.output, "\n") end
  return 0
end

local function only(given)
  refuse(given, "only", { "budget", "seed", "jobs", "out", "retry", "dry_run", "engine" })
  return require("lgelu.sweep").run_one(given.sweep, given.only, { threads = given.threads, quiet = given.quiet })
end

function sweep.run(given)
  if given.condense then return condense(given) end
  if given.output then errors.usage("sweep: -o goes with --condense; --out names the sweep's folder") end
  if given.only then return only(given) end
  local lgelu_sweep = require("lgelu.sweep")
  local plan = lgelu_sweep.load(given.sweep, { overrides = given.overrides, budget = given.budget, seed = given.seed })
  local dir = given.out or lgelu_sweep.folder(plan)
  local options = { out = dir, jobs = given.jobs, threads = given.threads, retry = given.retry, quiet = given.quiet,
    engine = given.engine }
  if given.dry_run then
    io.write(lgelu_sweep.preview(plan, options), "folder ", dir, "\n")
    return 0
  end
  local status = lgelu_sweep.run(plan, options)
  if given.quiet then io.write(dir, "\n") end
  return status
end

return sweep
