--- Sweeps: a Lua file that declares many runs → their folders, each trained by a process of its own. The one module of
-- the sweep that others call; `lgelu sweep` is its command. What it is not: training (lgelu.train) or figures.
-- The parts: sweep/file.lua (file → plan), sweep/grid.lua (cells), sweep/folder.lua (plan and states on the disk),
-- sweep/cell.lua (one run), sweep/pool.lua (processes), sweep/board.lua (what is shown), sweep/records.lua (what
-- figures read), sweep/condensed.lua (the same in one small file), sweep/estimate.lua (how long it takes),
-- sweep/loan.lua (runs that another sweep has done), sweep/slurm.lua (runs on a cluster).
local C = require("lgelu.C")
local board = require("lgelu.sweep.board")
local cell = require("lgelu.sweep.cell")
local condensed = require("lgelu.sweep.condensed")
local errors = require("lgelu.errors")
local estimate = require("lgelu.sweep.estimate")
local file = require("lgelu.sweep.file")
local folder = require("lgelu.sweep.folder")
local lfs = require("lfs")
local loan = require("lgelu.sweep.loan")
local machine = require("lgelu.machine")
local pool = require("lgelu.sweep.pool")
local records = require("lgelu.sweep.records")
local slurm = require("lgelu.sweep.slurm")
local store = require("lgelu.store")

local sweep = {
  load = file.load,
  run_one = cell.run,
}

--- The folder of a plan where none is named.
function sweep.folder(plan)
  return folder.root .. "/" .. plan.name
end

-- Locks --------------------------------------------------------------------------------------------------------------

-- Calls fn while this process alone has the sweep's folder.
local function alone(dir, fn)
  C.check(C.lib.lg_dir_make(dir))
  local lock = C.ffi.new("int32_t[1]")
  C.check(C.lib.lg_lock_take(lock, dir))
  local ok, a = xpcall(fn, function(e) return errors.is(e) and e or debug.traceback(tostring(e), 2) end)
  C.lib.lg_lock_release(lock[0])
  if not ok then error(a, 0) end
  return a
end

-- Running ------------------------------------------------------------------------------------------------------------

-- What is to be done of a plan: jobs = runs to start, done, failed = list of { entry, message } that stay failed,
-- states = run → what state.json says of it.
local function sort_out(dir, plan, retry)
  local work = { jobs = {}, failed = {}, done = {}, states = {} }
  for _, entry in ipairs(plan.runs) do
    local status, message = folder.status(dir, plan, entry)
    if status == "done" then
      work.done[#work.done + 1] = entry
    elseif status == "damaged" or (status == "failed" and not retry) then
      if status == "damaged" then message = message .. "; remove the run's folder to have it trained again" end
      work.failed[#work.failed + 1] = { entry = entry, message = message }
      status = "failed"
    else
      work.jobs[#work.jobs + 1] = entry
      status = "queued"
    end
    work.states[entry.run] = { status = status, label = entry.label, seed = entry.seed, error = message }
  end
  return work
end

-- state.json as it is now.
local function save_state(self)
  local counts = self.counts
  folder.write_state(self.dir, { name = self.plan.name, budget = self.plan.budget, runs = self.work.states,
    done = counts.done, failed = counts.failed, queued = counts.queued, jobs = self.parallel, threads = self.threads,
    slurm_job = self.job })
end

local function start_run(self, job)
  self.counts.queued = self.counts.queued - 1
  self.work.states[job.entry.run].status = "running"
  self.board:started(job)
  save_state(self)
end

-- Runs that ended say how much longer runs take than was expected.
local function learn_pace(self, job, seconds)
  local expected = self.expected.of(job.entry)
  if not expected or expected == 0 then return end
  self.seen, self.hoped = self.seen + seconds, self.hoped + expected
  self.pace = self.seen / self.hoped
end

local function end_run(self, job, status, message, seconds)
  local state, counts = self.work.states[job.entry.run], self.counts
  state.status, state.error, state.seconds = status, message, seconds
  if status == "done" then
    counts.done = counts.done + 1
    learn_pace(self, job, seconds)
  elseif status == "failed" then
    counts.failed = counts.failed + 1
    self.work.failed[#self.work.failed + 1] = { entry = job.entry, message = message }
  end
  self.board:ended(job, status, message, seconds)
  save_state(self)
end

local function report(self)
  local work = self.work
  self.board:line("%d of %d runs done in %s", self.counts.done, #self.plan.runs, self.dir)
  if #work.failed == 0 then
    if self.counts.done == #self.plan.runs then return 0 end
    errors.interrupted("%d of %d runs were stopped; the same command goes on with them",
      #self.plan.runs - self.counts.done, #self.plan.runs)
  end
  local lines = {}
  for i, item in ipairs(work.failed) do
    lines[i] = ("  %s, seed %d (%s): %s"):format(item.entry.label, item.entry.seed, item.entry.run,
      (item.message:gsub("\n", "\n    ")))
  end
  errors.fail("%d of %d runs failed; --retry tries them again:\n%s", #work.failed, #self.plan.runs,
    table.concat(lines, "\n"))
end

local function run_pool(self)
  local ok = pool.run({
    dir = self.dir, plan = self.plan, jobs = self.work.jobs, parallel = self.parallel, threads = self.threads,
    started = function(job) start_run(self, job) end,
    ended = function(job, ...) end_run(self, job, ...) end,
    look = function(running) self.board:look(running) end,
  })
  self.board:clear()
  if not ok then
    errors.interrupted("stopped with %d of %d runs done; the same command goes on with the rest", self.counts.done,
      #self.plan.runs)
  end
end

-- The first line about a sweep: how many runs, and how they are to be trained.
local function outline(plan, work, how)
  return ("sweep %s: %d run%s, %d done, %d failed, %d to do%s"):format(plan.name, #plan.runs,
    #plan.runs == 1 and "" or "s", #work.done, #work.failed, #work.jobs, #work.jobs > 0 and how or "")
end

--- How a number of cores is shared: jobs at a time, and threads of each.
-- @param jobs     as many at a time; nil: as many as there are cores
-- @param threads  of each; nil: its share of the cores
-- @param runs     how many there are to do
function sweep.share(jobs, threads, runs)
  local cores = C.lib.lg_threads()
  local parallel = math.max(1, math.min(jobs or cores, runs))
  return parallel, threads or math.max(1, math.floor(cores / parallel)), cores
end

-- "4 runs take about 3:20 min, 2 at a time (…)".
local function expectation(expected, jobs, parallel)
  if jobs == 0 then return nil end
  local how = {}
  if expected.stored > 0 then how[#how + 1] = ("%d from runs of this sweep that are done"):format(expected.stored) end
  if expected.measured > 0 then
    how[#how + 1] = ("%d from a few steps measured just now, one run alone"):format(expected.measured)
  end
  if expected.unknown > 0 then how[#how + 1] = ("%d not known: they will fail"):format(expected.unknown) end
  local load = machine.load()
  if expected.measured > 0 and load > C.lib.lg_threads() then
    how[#how + 1] = ("while other programs used the cores: load %.1f"):format(load)
  end
  return ("expected: about %s for %d run%s, %d at a time (%s)"):format(
    board.duration(math.max(expected.total / parallel, 1)), jobs, jobs == 1 and "" or "s", parallel,
    table.concat(how, ", "))
end

-- Seconds that the rest of a sweep takes: of the queue and of what running runs still lack, spread over the places.
local function seconds_left(self, running)
  local left = 0
  for i = #self.work.jobs - self.counts.queued + 1, #self.work.jobs do
    left = left + (self.expected.of(self.work.jobs[i]) or 0) * self.pace
  end
  for _, job in ipairs(running) do
    local spent = C.lib.lg_clock() - job.started
    local expected = (self.expected.of(job.entry) or 0) * self.pace
    if job.done and job.done > job.had then -- better: its own epochs so far
      left = left + spent * (job.total - job.done) / (job.done - job.had)
    else
      left = left + math.max(expected - spent, 0)
    end
  end
  return left / self.parallel
end

-- A folder whose plan was another before: its runs stay, but what reads the sweep sees the new plan's alone. nil: none.
local function about_strangers(dir, plan)
  local count = folder.strangers(dir, plan)
  if count == 0 then return nil end
  local one = count == 1
  return ("%d run%s in %s %s none of this sweep's and stay%s there unread; name=… or --out gives another folder")
    :format(count, one and "" or "s", dir, one and "is" or "are", one and "s" or "")
end

-- What a sweep starts with, under its lock: the plan written, runs taken over, the first lines said.
local function prepare(dir, plan, options)
  folder.write_plan(dir, plan)
  local taken = loan.take(dir, plan)
  local work = sort_out(dir, plan, options.retry)
  local self = { dir = dir, plan = plan, work = work, pace = 1, seen = 0, hoped = 0,
    counts = { done = #work.done, failed = #work.failed, queued = #work.jobs } }
  self.board = board.new({ dir = dir, name = plan.name, quiet = options.quiet, counts = self.counts,
    left = function(running) return seconds_left(self, running) end })
  for from, count in pairs(taken) do
    self.board:line("%d run%s taken over from %s", count, count == 1 and "" or "s", from)
  end
  local strangers = about_strangers(dir, plan)
  if strangers then self.board:line("%s", strangers) end
  return self
end

-- Trains in processes of this machine.
local function run_here(self, options)
  local jobs = self.work.jobs
  local parallel, threads, cores = sweep.share(options.jobs, options.threads, #jobs)
  self.parallel, self.threads = parallel, threads
  self.board:line("%s", outline(self.plan, self.work, ("; %d at a time with %d thread%s each, on %d core%s"):format(
    parallel, threads, threads == 1 and "" or "s", cores, cores == 1 and "" or "s")))
  self.expected = estimate.of(self.dir, self.plan, jobs, self.work.done, threads)
  local said = expectation(self.expected, #jobs, parallel)
  if said then self.board:line("%s", said) end
  save_state(self)
  run_pool(self)
  return report(self)
end

-- Submits to a batch system, and does not wait.
local function run_on_slurm(self, options)
  self.board:line("%s", outline(self.plan, self.work, ""))
  if #self.work.jobs == 0 then return report(self) end
  self.job = slurm.submit(self.dir, self.plan, self.work.jobs, options)
  save_state(self)
  local jobs = #self.work.jobs
  self.board:line("submitted batch job %s: %d run%s; squeue shows the queue, --dry-run the runs", self.job, jobs,
    jobs == 1 and "" or "s")
  return 0
end

-- Runs inside the folder of a run would be taken for part of it.
local function check_place(dir)
  if store.exists(dir) then errors.usage("%s is the folder of a run, expected one for a sweep", dir) end
end

--- Runs what is not done yet of a plan.
-- @param plan     from sweep.load
-- @param options  { out = folder (default runs/sweeps/<name>), jobs, threads, retry = boolean, quiet = boolean, engine
--   = "local" (default; returns when all is done) or "slurm" (submits a job array and returns) }
-- @return exit status 0. Raises: fail (1) when runs failed, with the message of each; interrupted (130) after Ctrl-C
function sweep.run(plan, options)
  local dir = options.out or sweep.folder(plan)
  check_place(dir)
  C.lib.lg_interrupt_install()
  return alone(dir, function()
    local self = prepare(dir, plan, options)
    if options.engine == "slurm" then return run_on_slurm(self, options) end
    return run_here(self, options)
  end)
end

-- Reading ------------------------------------------------------------------------------------------------------------

--- The place of a sweep that a person named: its folder, its name under runs/sweeps, or a condensed file.
-- @return its folder or file; nil when there is nothing of that name
function sweep.resolve(path)
  if lfs.attributes(path, "mode") then return (path:gsub("(.)/+$", "%1")) end
  local named = folder.root .. "/" .. path
  return folder.exists(named) and named or nil
end

--- Is there a sweep, in a folder or condensed, where a person might as well have named a run?
function sweep.exists(path)
  local place = sweep.resolve(path)
  if not place then return false end
  return folder.exists(place) or lfs.attributes(place, "mode") == "file" and not path:find("run%.h5$")
end

--- The first sweep of a folder that holds sweeps and no runs, such as runs/sweeps; nil for all else.
function sweep.first_inside(path)
  if lfs.attributes(path, "mode") ~= "directory" or store.exists(path) or folder.exists(path) then return nil end
  local place, first = path:gsub("(.)/+$", "%1"), nil
  for name in lfs.dir(path) do
    local inside = place .. "/" .. name
    if name ~= "." and name ~= ".." then
      if store.exists(inside) then return nil end
      if folder.exists(inside) and not (first and first < inside) then first = inside end
    end
  end
  return first
end

-- Records and description of a sweep.
local function read(path)
  local place = sweep.resolve(path)
  if not place then
    errors.usage("%s: there is no such sweep: expected a sweep's folder, its name in %s, or a condensed file", path,
      folder.root)
  end
  if lfs.attributes(place, "mode") == "file" then return condensed.read(place) end
  return records.read(place) -- which says so when there is no sweep in it
end

--- What figures and tables know of a sweep's runs.
-- @param path  the sweep's folder, its name under runs/sweeps, or a condensed file
-- @return list of records, one for each run that the sweep's file declares, finished or not: see sweep/records.lua
function sweep.records(path)
  return (read(path))
end

--- What a sweep is.
-- @param path  as for sweep.records
-- @return { name, budget (nil: the recipes' own values), axes = keys in the order of the sweep's file, after = "swap"
--   or nil, count = how many runs it declares, gaps = list of { run, label, seed, status, error } of those that are
--   not done }
function sweep.describe(path)
  local list, about = read(path)
  about.count, about.gaps = #list, {}
  for _, record in ipairs(list) do
    if record.status ~= "done" then
      about.gaps[#about.gaps + 1] = { run = record.run, label = record.label, seed = record.seed,
        status = record.status, error = record.error }
    end
  end
  return about
end

--- Writes the condensed file of a sweep, from which figures are drawn without its runs.
-- @param path  the sweep's folder, or its name
-- @param out   the file, such as docs/results/fig1.h5
-- @return gaps as in sweep.describe: runs that are in it only by name
function sweep.condense(path, out)
  local list, about = read(path)
  condensed.write(out, list, about)
  return sweep.describe(out).gaps
end

--- What `sweep.run` would do, as lines for people: each run with its label, seed, hash and state; what is expected, or
-- the batch script.
-- @param plan, options  as for sweep.run
function sweep.preview(plan, options)
  local dir = options.out or sweep.folder(plan)
  check_place(dir)
  local work = sort_out(dir, plan, options.retry)
  local more
  local found, counts = loan.find(dir, plan)
  local lines = sweep.list(plan, dir)
  for from, count in pairs(counts) do
    lines = lines .. ("%d run%s will be taken over from %s\n"):format(count, count == 1 and "" or "s", from)
  end
  local strangers = about_strangers(dir, plan)
  if strangers then lines = lines .. strangers .. "\n" end
  if options.engine == "slurm" then
    more = slurm.preview(dir, plan, work.jobs, options)
    lines = lines .. outline(plan, work, "") .. "\n"
  else
    local parallel, threads = sweep.share(options.jobs, options.threads, #work.jobs)
    lines = lines .. outline(plan, work, ("; %d at a time with %d thread%s each"):format(parallel, threads,
      threads == 1 and "" or "s")) .. "\n"
    local jobs = {}
    for _, entry in ipairs(work.jobs) do
      if not found[entry.run] then jobs[#jobs + 1] = entry end
    end
    more = expectation(estimate.of(dir, plan, jobs, work.done, threads), #jobs, parallel)
    more = more and more .. "\n"
  end
  return lines .. (more or "nothing is left to do\n")
end

--- The plan as lines for people: each run with its label, seed, hash and state.
function sweep.list(plan, dir)
  local rows, widest = {}, 0
  local function width(text) return #(text:gsub("[\128-\191]", "")) end -- characters, not bytes: "λ-GELU"
  for i, entry in ipairs(plan.runs) do
    rows[i] = { (entry.role == "baseline" and "baseline " or "") .. entry.label, entry }
    widest = math.max(widest, width(rows[i][1]))
  end
  local lines = {}
  for i, row in ipairs(rows) do
    local entry = row[2]
    lines[i] = ("  %s%s  seed %d  %s  %s"):format(row[1], (" "):rep(widest - width(row[1])), entry.seed,
      entry.hash:sub(1, 8), (folder.status(dir, plan, entry)))
  end
  return table.concat(lines, "\n") .. "\n"
end

return sweep
