--- One run of a sweep, in this process: what `lgelu sweep FOLDER --only RUN` does, and so each process of a sweep and
-- each task of a batch system. What it is not: the choice of runs (sweep/pool.lua).
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local process = require("lgelu.process")
local recipe = require("lgelu.recipe")

local cell = {}

local PATIENCE = 10 -- seconds that the process of a sweep which was killed may take to let go of a run

local function entry_of(plan, dir, name)
  local names = {}
  for i, entry in ipairs(plan.runs) do
    if entry.run == name then return entry end
    names[i] = entry.run
  end
  errors.usage("%s: the sweep has no run '%s'%s", dir, name, errors.suggest(name, names))
end

local function resolved_of(plan, entry)
  local resolved = recipe.from_stored(entry.config, plan.sources[entry.file], entry.file)
  resolved.budget = plan.budget ~= "" and plan.budget or nil
  if resolved.hash_is_final and resolved.hash ~= entry.hash then
    errors.fail("%s: the plan was made by another version of lgelu (hash %s, now %s): start the sweep again", entry.run,
      entry.hash:sub(1, 8), resolved.hash:sub(1, 8))
  end
  return resolved
end

-- A run that another process goes on with has not failed: nothing is left in failed/.
local function wait_for(dir)
  local start = C.lib.lg_clock()
  while C.lib.lg_lock_taken(dir) == 1 do
    if C.lib.lg_clock() - start > PATIENCE then errors.fail("%s: another process is at this run", dir) end
    process.sleep(0.05)
  end
end

-- What comes after the training.
local function after(plan, dir)
  if plan.after ~= "swap" then return end
  local swap = require("lgelu.swap")
  if #swap.list(require("lgelu.store").open(dir)) > 0 then return end
  swap.store(dir, swap.measure(swap.open(dir), { gates = "all" }))
end

--- Trains the run, or goes on with it, and does what comes after; a finished one is left alone.
-- @param dir      the sweep's folder
-- @param name     the run's, as in the plan
-- @param options  { threads =, quiet = }
-- @return exit status 0; raises what went wrong, after leaving it in failed/ (Ctrl-C leaves nothing: the run is
--   unfinished)
function cell.run(dir, name, options)
  local plan = folder.read_plan(dir)
  local entry, path = entry_of(plan, dir, name), folder.run_dir(dir, name)
  wait_for(path)
  folder.set_failed(dir, name, nil)
  local ok, e = xpcall(function()
    require("lgelu.train").run(resolved_of(plan, entry),
      { out = path, resume = true, threads = options.threads, quiet = options.quiet })
    after(plan, path)
  end, function(e) return errors.is(e) and e or debug.traceback(tostring(e), 2) end)
  if ok then return 0 end
  if not errors.is(e, "interrupted") then folder.set_failed(dir, name, tostring(e)) end
  error(e, 0)
end

return cell
