--- progress: what a training says while it runs: one live line on a terminal, plain lines elsewhere, and the same plain
-- lines in the run's log. Computes nothing that is stored.
local C = require("lgelu.C")

local lib, text = C.lib, C.ffi.string
local progress = {}
local methods = {}
methods.__index = methods

local REDRAW_SECONDS = 0.1

-- The program's terminal module, when standard output is a terminal.
local function terminal()
  local ok, module = pcall(require, "lgelu.terminal") -- only inside the program
  return ok and module.isatty(1) and module or nil
end

local function duration(seconds)
  if seconds < 10 then return ("%.1f s"):format(seconds) end
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

--- @param o  { total = all steps, epochs =, batch =, measure = of lgelu.score, quiet = boolean, log = function(line) }
function progress.new(o)
  return setmetatable({
    total = o.total, epochs = o.epochs, batch = o.batch, log = o.log, quiet = o.quiet, measure = o.measure,
    terminal = not o.quiet and terminal() or nil, started = lib.lg_clock(), drawn = 0, steps = 0,
  }, methods)
end

--- Takes the live line away.
function methods:clear()
  if not self.shown then return end
  io.stdout:write("\r\27[K")
  io.stdout:flush()
  self.shown = false
end

--- A line for people and for the log; formats as string.format does.
function methods:line(format, ...)
  local line = format:format(...)
  self.log(line)
  if self.quiet then return end
  self:clear()
  io.stdout:write(line, "\n")
  io.stdout:flush()
end

--- What is about to be trained: layers, parameter groups, memory, data, machine, folder.
function methods:start(session, run, state)
  local set, net = session.set, session.net
  local params, grads, work = net:memory()
  self:line("model, %d parameters\n%s", net:parameter_count(), net:summary())
  self:line("parameter groups\n  %s", (session.opt:describe():gsub("\n", "\n  ")))
  self:line("data %s: %d training, %d validation, %d test rows, sha256 %s", set.name, session.train.count,
    session.val.count, set.test and set.test.x.shape[1] or 0, set.sha256:sub(1, 12))
  if session.hardening then self:line("%s", session.hardening:describe()) end
  for _, note in ipairs(set.notes) do
    self:line("%s", note)
  end
  if session.train.note then self:line("%s", session.train.note) end
  self:line("memory %.1f MB: parameters %.1f, gradients %.1f, activations and workspace %.1f",
    (params + grads + work) / 1e6, params / 1e6, grads / 1e6, work / 1e6)
  self:line("on %s, %s %s, %d thread%s", text(lib.lg_cpu_name()), text(lib.lg_blas_name()), text(lib.lg_blas_core()),
    lib.lg_threads(), lib.lg_threads() == 1 and "" or "s")
  self:line("run %s%s", run.dir,
    state.step > 0 and (", resumed after step %d of %d"):format(state.step, self.total) or "")
end

--- After each step: draws the live line, a few times a second and on a terminal only.
-- @param now  { epoch =, step = steps done, loss =, score = accuracy of the batch, net = network }
function methods:step(now)
  self.steps = self.steps + 1
  if not self.terminal then return end
  local clock = lib.lg_clock()
  if clock - self.drawn < REDRAW_SECONDS then return end
  self.drawn = clock
  local rate = self.steps / (clock - self.started)
  local measure = self.measure
  local line = ("epoch %d/%d  step %d/%d  loss %.4f  score %s%s  %.0f samples/s  %s left"):format(now.epoch,
    self.epochs, now.step, self.total, now.loss, measure:text(measure:from_means(now.loss, now.score)),
    lambda_range(now.net:lambdas()), rate * self.batch,
    duration((self.total - now.step) / rate))
  local width = self.terminal.width()
  if #line > width - 1 then line = line:sub(1, width - 1):gsub("[\194-\244][\128-\191]*$", "") end
  io.stdout:write("\r\27[K", line)
  io.stdout:flush()
  self.shown = true
end

--- After each epoch. row: what the run file gets; best: whether its validation score is the best so far.
function methods:epoch(row, best)
  local function text_of(score) return self.measure:text(score) end
  self:line("epoch %3d/%d  loss %.4f  score %8s  val loss %.4f  val score %8s%s%s  lr %.2e  %s", row.epoch,
    self.epochs, row.train_loss, text_of(row.train_score), row.val_loss, text_of(row.val_score), best and " *" or "  ",
    lambda_range(row.lambda), row.lr, duration(row.seconds))
end

return progress
