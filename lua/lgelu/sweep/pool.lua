--- The pool: runs of a sweep in processes of their own, so many at a time. Knows how they end; shows nothing.
-- Called by lgelu.sweep. One process trains one run (sweep/cell.lua); what it prints goes into output/<run>.txt.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local process = require("lgelu.process")

local pool = {}

local LOOK = 0.25 -- seconds between two looks at the display
local SIGINT, SIGKILL = -2, -9

local function program()
  local inside, found = pcall(require, "lgelu.program")
  if not inside then errors.fail("a sweep starts processes of the program lgelu: call it as 'lgelu sweep'") end
  return found.exe
end

-- The last line that a process printed, without the program's name.
local function last_words(dir, run)
  local file = io.open(folder.output_file(dir, run))
  local last
  for line in file and file:lines() or function() end do
    if line:find("%S") then last = line end
  end
  if file then file:close() end
  return last and last:gsub("^lgelu: ", "") or "it printed nothing"
end

local function start(self, entry)
  local words = { self.exe, "sweep", self.dir, "--only", entry.run, "--threads", tostring(self.threads), "--quiet" }
  local pid = process.start(words, folder.output_file(self.dir, entry.run))
  self.pids[#self.pids + 1] = pid
  self.running[#self.running + 1] = { entry = entry, pid = pid, started = C.lib.lg_clock() }
end

-- How a run ended: "done", "failed" with its message, "stopped" (by Ctrl-C, or by the second one without a checkpoint).
local function judge(self, job, status)
  local entry = job.entry
  if status == 0 then return "done" end
  if status == 130 or status == SIGINT or (job.forced and status == SIGKILL) then return "stopped" end
  local state, message = folder.status(self.dir, self.plan, entry)
  if status < 0 then message = ("its process was ended by signal %d"):format(-status) end
  message = message or last_words(self.dir, entry.run)
  if state ~= "running" then folder.set_failed(self.dir, entry.run, message) end -- the process may not have come to it
  return "failed", message
end

-- The first Ctrl-C lets every run save its checkpoint, a later one ends them at once.
local function stop_all(self)
  for _, job in ipairs(self.running) do
    process.stop(job.pid, self.stopping)
    job.forced = self.stopping
  end
  self.stopping = true
end

--- Runs them.
-- @param o  { dir, plan, jobs = list of runs of the plan in their order, parallel = how many at a time, threads = of
--   each, started = function(job), ended = function(job, status, message, seconds), look = function(running), called a
--   few times a second }; job: { entry, pid, started }
-- @return true, or false when Ctrl-C stopped it: then every process has ended, its checkpoint written
function pool.run(o)
  local self = { dir = o.dir, plan = o.plan, threads = o.threads, exe = program(), pids = {}, running = {} }
  local next_job = 1
  while true do
    while not self.stopping and #self.running < o.parallel and o.jobs[next_job] do
      start(self, o.jobs[next_job])
      o.started(self.running[#self.running])
      next_job = next_job + 1
    end
    if #self.running == 0 then return not self.stopping end
    local which, status = process.wait(self.pids, LOOK)
    if which then
      local job = table.remove(self.running, which)
      table.remove(self.pids, which)
      local word, message = judge(self, job, status)
      o.ended(job, word, message, C.lib.lg_clock() - job.started)
    elseif C.lib.lg_interrupted() ~= 0 then
      C.lib.lg_interrupt_clear()
      stop_all(self)
    end
    o.look(self.running)
  end
end

return pool
