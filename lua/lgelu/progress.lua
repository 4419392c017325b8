--- progress: what a training says while it runs: one live line on a terminal, plain lines elsewhere, and the same plain
-- lines in the run's log. Computes nothing that is stored.
local C = require("lgelu.C")

local progress = {}
local methods = {}
methods.__index = methods

local function is_terminal()
  local ok, terminal = pcall(require, "lgelu.terminal") -- only inside the program
  return ok and terminal.isatty(1), ok and terminal
end

local function duration(seconds)
  if seconds < 60 then return ("%.0f s"):format(seconds) end
  if seconds < 3600 then return ("%d:%02d min"):format(seconds / 60, seconds % 60) end
  return ("%d:%02d h"):format(seconds / 3600, seconds / 60 % 60)
end

local function lambda_range(lambdas)
  local low, high = math.huge, -math.huge
  for _, v in ipairs(lambdas) do
    low, high = math.min(low, v), math.max(high, v)
  end
  return low <= high and ("  λ %.3f..%.3f"):format(low, high) or ""
end

--- @param o  { total = all steps, epochs =, batch =, quiet = boolean, log = function(line) }
function progress.new(o)
  local tty, terminal = is_terminal()
  return setmetatable({
    total = o.total, epochs = o.epochs, batch = o.batch, quiet = o.quiet, log = o.log, tty = tty, terminal = terminal,
    started = C.lib.lg_clock(), last = 0, done = 0,
  }, methods)
end

local function clear(self)
  if self.shown then
    io.stdout:write("\r\27[K")
    self.shown = nil
  end
end

--- A line for people and for the log.
function methods:line(format, ...)
  local text = format:format(...)
  self.log(text)
  if self.quiet then return end
  clear(self)
  io.stdout:write(text, "\n")
  io.stdout:flush()
end

--- After each step: draws the live line at most ten times a second, on a terminal only.
-- @param state  { epoch =, step = steps done, loss =, score =, lambdas = function() → list }
function methods:step(state)
  self.done = self.done + 1
  if not self.tty or self.quiet then return end
  local now = C.lib.lg_clock()
  if now - self.last < 0.1 then return end
  self.last = now
  local rate = self.done / (now - self.started)
  local text = ("epoch %d/%d  step %d/%d  loss %.4f  score %.2f %%%s  %.0f samples/s  %s left"):format(state.epoch,
    self.epochs,
    state.step, self.total, state.loss, 100 * state.score, lambda_range(state.lambdas()), rate * self.batch,
    duration((self.total - state.step) / rate))
  local width = self.terminal.width()
  if #text > width - 1 then text = text:sub(1, width - 1):gsub("[\194-\244][\128-\191]*$", "") end
  io.stdout:write("\r\27[K", text)
  io.stdout:flush()
  self.shown = true
end

--- After each epoch: one plain line. row: what the run file gets; best: whether its score is the best so far.
function methods:epoch(row, best)
  self:line("epoch %3d/%d  loss %.4f  score %6.2f %%  val loss %.4f  val score %6.2f %%%s%s  lr %.2e  %s", row.epoch,
    self.epochs,
    row.train_loss, 100 * row.train_score, row.val_loss, 100 * row.val_score, best and " *" or "  ",
      lambda_range(row.lambda), row.lr,
    duration(row.seconds))
end

return progress
