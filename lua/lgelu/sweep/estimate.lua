--- How long a sweep will take, before it starts: from runs of this sweep that are done, else from a few training steps
-- measured here and now. An estimate for people; nothing depends on it. Called by lgelu.sweep.
--
-- Runs that share recipe, data, model and training loop count as alike: their gates and rates differ, which costs a few
-- per cent. What is measured is measured with a run's number of threads, alone; side by side runs share caches and
-- memory, and take longer where those are what limits.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local json = require("lgelu.recipe.json")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local text = require("lgelu.store.text")

local estimate = {}

local MEASURE_SECONDS, LEAST_STEPS, MOST_STEPS = 0.7, 3, 200

-- What alike runs have in common, as one text.
local function kind_of(entry)
  local config = text.from_json(entry.config, entry.run)
  return json.encode({ config.data, config.model, config.train, entry.file })
end

-- Seconds that a finished run trained.
local function trained_seconds(dir, run)
  local ok, found = pcall(store.open, folder.run_dir(dir, run))
  if not ok then return nil end
  local sum = 0
  for _, seconds in ipairs(found:epochs().seconds) do sum = sum + seconds end
  return sum == sum and sum or nil
end

-- The part of a run that is still to be trained: 0 when only what comes after the training is missing.
local function share_left(dir, entry)
  local path = folder.run_dir(dir, entry.run)
  local ok, found = pcall(store.open, path)
  if not ok then return 1 end
  if found.attrs.status == "done" then return 0 end
  return 1 - #found:epochs().epoch / found:config().train.epochs
end

-- Seconds of a training step: one step that does not count, then about a second of them.
local function step_seconds(session)
  local train = require("lgelu.train")
  local state = require("lgelu.train.state").fresh(#session.net:lambdas())
  local function steps(count)
    local start = C.lib.lg_clock()
    train.steps(session, state, count, 0) -- at rate 0: nothing moves
    return (C.lib.lg_clock() - start) / count
  end
  local most = math.min(MOST_STEPS, math.max(session.total - 2, 1))
  steps(1)
  return steps(math.min(math.max(math.floor(MEASURE_SECONDS / steps(1)), LEAST_STEPS), most))
end

-- Seconds of evaluating a batch of the validation set.
local function evaluation_seconds(session)
  session.val:start(0)
  local start, count = C.lib.lg_clock(), 0
  for x, y in session.val:each() do
    session.net:bind(x, y)
    session.net:forward("eval")
    x:free()
    y:free()
    count = count + 1
    if count == LEAST_STEPS then break end
  end
  return (C.lib.lg_clock() - start) / count
end

-- Seconds of one run: a few steps and evaluations of its own network, times how many there are.
local function measure(plan, entry)
  local started = C.lib.lg_clock()
  local session = require("lgelu.train").session(recipe.from_stored(entry.config, plan.sources[entry.file], entry.file))
  local setup, config = C.lib.lg_clock() - started, session.resolved.config
  local test = session.set.test and math.ceil(session.set.test.x.shape[1] / config.train.eval_batch) or 0
  return setup + session.total * step_seconds(session)
    + (session.epochs * session.val:batches() + test) * evaluation_seconds(session)
end

-- measure, for a kind of runs that may not be able to start at all: then nothing is known of it.
local function try_to_measure(plan, entry)
  local ok, seconds = pcall(measure, plan, entry)
  collectgarbage() -- the network and its data
  if ok then return seconds end
  if not errors.is(seconds) or errors.is(seconds, "interrupted") then error(seconds, 0) end
  return nil
end

--- Estimates what is left of a sweep: of a run that was stopped in the middle, the epochs that it lacks. Not counted
-- are the writing of files, and what comes after a training (a swap: two passes over validation and test set).
-- @param dir, plan  as in sweep/folder.lua
-- @param jobs       runs that are still to be done (of the plan)
-- @param done       runs that are done
-- @param threads    of each run
-- @return { of = function(entry) → seconds that are left of a job, or nil, total = of all, stored, measured =
--   how many jobs are known from finished runs, and from steps measured now, unknown = how many cannot start }
function estimate.of(dir, plan, jobs, done, threads)
  local sums, counts, known = {}, {}, {}
  for _, entry in ipairs(done) do
    local kind, seconds = kind_of(entry), trained_seconds(dir, entry.run)
    if seconds then sums[kind], counts[kind] = (sums[kind] or 0) + seconds, (counts[kind] or 0) + 1 end
  end
  local left, result = {}, { total = 0, stored = 0, measured = 0, unknown = 0 }
  local before = C.lib.lg_threads()
  for _, entry in ipairs(jobs) do
    local kind = kind_of(entry)
    if known[kind] == nil then
      C.check(C.lib.lg_init(threads))
      known[kind] = counts[kind] and sums[kind] / counts[kind] or try_to_measure(plan, entry) or false
    end
    local how = not known[kind] and "unknown" or counts[kind] and "stored" or "measured"
    result[how], left[entry.run] = result[how] + 1, known[kind] and known[kind] * share_left(dir, entry)
    result.total = result.total + (left[entry.run] or 0)
  end
  C.check(C.lib.lg_init(before))
  function result.of(entry) return left[entry.run] or nil end
  return result
end

return estimate
