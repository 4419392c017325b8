--- The board of a sweep: what is shown while it runs. On a terminal a few live lines at the bottom (done, running,
-- failed, queued, time left, and each running run with its epoch); elsewhere one plain line for each run that begins or
-- ends. Computes nothing that is stored. Called by lgelu.sweep.
local C = require("lgelu.C")
local folder = require("lgelu.sweep.folder")
local store = require("lgelu.store")

local board = {}
local methods = {}
methods.__index = methods

local REDRAW_SECONDS = 0.5

local function terminal()
  local ok, module = pcall(require, "lgelu.terminal") -- only inside the program
  return ok and module.isatty(1) and module or nil
end

--- Seconds as people say them: "45 s", "3:05 min", "2:40 h".
function board.duration(seconds)
  if seconds < 10 then return ("%.1f s"):format(seconds) end
  if seconds < 60 then return ("%.0f s"):format(seconds) end
  if seconds < 3600 then return ("%d:%02d min"):format(seconds / 60, seconds % 60) end
  return ("%d:%02d h"):format(seconds / 3600, seconds / 60 % 60)
end

--- @param o  { dir, name, quiet, counts = { done, failed, queued }, left = function(running) → seconds that the sweep
--             still takes, or nil }; counts is the caller's and changes
function board.new(o)
  o.terminal = not o.quiet and terminal() or nil
  o.drawn, o.lines = 0, 0
  return setmetatable(o, methods)
end

--- Takes the live lines away.
function methods:clear()
  if self.lines == 0 then return end
  io.stdout:write("\r", ("\27[1A"):rep(self.lines - 1), "\27[J")
  io.stdout:flush()
  self.lines = 0
end

--- A line that stays; formats as string.format does.
function methods:line(format, ...)
  if self.quiet then return end
  self:clear()
  io.stdout:write(format:format(...), "\n")
  io.stdout:flush()
  self.drawn = 0
end

local function name_of(entry)
  return ("%s, seed %d"):format(entry.label, entry.seed)
end

function methods:started(job)
  if not self.terminal then self:line("start   %s  (%s)", name_of(job.entry), job.entry.run) end
end

-- Where a running run is: "epoch 3/20  val score 85.10 %". Keeps its epochs in the job: had (when it was first looked
-- at), done, total.
local function progress(dir, job)
  local ok, run = pcall(store.open, folder.run_dir(dir, job.entry.run))
  if not ok then return "starting" end
  local epochs, total = run:epochs(), run:config().train.epochs
  local n = #epochs.epoch
  job.had, job.done, job.total = job.had or n, n, total
  if n == 0 then return ("epoch 1/%d"):format(total) end
  return ("%s  val score %s"):format(n == total and "last steps" or ("epoch %d/%d"):format(n + 1, total),
    run:score():text(epochs.val_score[n]))
end

--- A run ended: status "done", "failed" with its message, or "stopped".
function methods:ended(job, status, message, seconds)
  local what = message
  if status ~= "failed" then
    local ok, run = pcall(store.open, folder.run_dir(self.dir, job.entry.run))
    local best = ok and run:best()
    what = best and ("best validation score %s (epoch %d)"):format(run:score():text(best.val_score), best.epoch) or ""
  end
  self:line("%-7s %s  %s  %s", status, name_of(job.entry), board.duration(seconds), what)
end

local function clip(line, width)
  local shown, out = 0, {}
  for char in line:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    shown = shown + 1
    if shown >= width then break end
    out[#out + 1] = char
  end
  return table.concat(out)
end

--- Draws the live lines, a few times a second and on a terminal only.
function methods:look(running)
  local now = C.lib.lg_clock()
  if not self.terminal or now - self.drawn < REDRAW_SECONDS then return end
  self.drawn = now
  local counts, lines = self.counts, {}
  for i, job in ipairs(running) do
    lines[i] = ("  %s  %s  %s"):format(name_of(job.entry), progress(self.dir, job), board.duration(now - job.started))
  end
  local left = self.left(running)
  table.insert(lines, 1, ("%s  %d done  %d running  %d failed  %d queued%s"):format(self.name, counts.done, #running,
    counts.failed, counts.queued, left and "  " .. board.duration(left) .. " left" or ""))
  self:clear()
  local width = self.terminal.width()
  for i, line in ipairs(lines) do lines[i] = clip(line, width) end
  io.stdout:write(table.concat(lines, "\n"))
  io.stdout:flush()
  self.lines = #lines
end

return board
