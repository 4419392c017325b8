--- A run that is being written: rows of epochs, the best epoch, the end, the log. Made by lgelu.store, used by train.
-- What it is not: training or resuming itself. Each change replaces run.h5 as a whole at one instant, so that a kill at
-- any time leaves all finished epochs, and a reader never waits nor sees half a change. The contents stay in memory
-- between changes: what another program does to the file meanwhile (h5py in mode r+) is lost, but cannot stop the run.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local format = require("lgelu.store.format")
local h5 = require("lgelu.h5")
local lfs = require("lfs")
local process = require("lgelu.process")
local text = require("lgelu.store.text")

local run = {}
local Run = {}
Run.__index = Run

-- A number for the file; nil, a value that nobody knows, becomes NaN.
local function number(value, what)
  if value == nil then return 0 / 0 end
  if type(value) ~= "number" then errors.fail("%s is a %s, expected a number", what, type(value)) end
  return value
end

local function numbers(list, count, what)
  local values = {}
  if list and #list ~= count then
    errors.fail("%s has %d values, expected one for each of the %d gates", what, #list, count)
  end
  for i = 1, count do
    values[i] = number(list and list[i], what)
  end
  return values
end

-- Leftovers of writers that were killed between writing and renaming. Only under the run's lock: nobody else writes.
local function remove_leftovers(dir)
  for name in lfs.dir(dir) do
    if name:match("%.h5%.%d+%.tmp$") then os.remove(dir .. "/" .. name) end
  end
end

local GLIMPSE, PAUSE = 0.2, 0.02 -- seconds: a reader that asks whether a run goes on has its lock for an instant

-- The lock on a folder, for which it waits `patience` seconds.
local function take_lock(dir, patience)
  local lock, taken, waited = C.ffi.new("int32_t[1]"), C.lib.lg_list_find("status", "state"), 0
  while true do
    local status = C.lib.lg_lock_take(lock, dir)
    if status ~= taken or waited >= patience then
      C.check(status)
      return lock
    end
    process.sleep(PAUSE)
    if C.lib.lg_interrupted() ~= 0 then errors.interrupted("stopped while another process has %s", dir) end
    waited = waited + PAUSE
  end
end

--- Takes the lock on a run's folder; an error that names the holder when another process has it.
-- @param attrs     root attributes
-- @param gates     number of gates that have a λ
-- @param patience  seconds to wait for another process; default 0.2
-- @return object with dir, path, attrs, gates
function run.attach(dir, attrs, gates, patience)
  local lock = take_lock(dir, patience or GLIMPSE)
  local self = setmetatable({ dir = dir, path = dir .. "/" .. format.run_file, attrs = attrs, gates = gates }, Run)
  self.lock = C.ffi.gc(lock, function(held) C.lib.lg_lock_release(held[0]) end)
  remove_leftovers(dir)
  return self
end

local function describe(file, name, entry, info)
  file:set_attr(name, "units", info.units and info.units[entry.name] or entry.units)
  file:set_attr(name, "description", info.descriptions and info.descriptions[entry.name] or entry.description)
end

local function write_gates(file, gates, count, info)
  file:write_texts("/gates/names", gates.names)
  file:set_attr("/gates/names", "description", "paths of the gates in the model, in forward order")
  for _, entry in ipairs(format.gates) do
    local name = "/gates/" .. entry.name
    local first = entry.first_row == 1 and numbers(gates[entry.name], count, entry.name) or {}
    file:write_numbers(name, first, "f64", { entry.first_row, count })
    describe(file, name, entry, info)
  end
  for key, value in pairs(gates) do
    if type(value) ~= "table" then
      file:set_attr("/gates", key, type(value) == "string" and text.utf8(value) or value,
        (key == "t" or key == "c") and "f64" or nil)
    end
  end
end

-- What the ids of a text stand for, so that the run can be read and made to write without the text.
local function write_tokens(file, tokens)
  file:group("/data")
  file:set_attr("/data", "level", tokens.level)
  if not tokens.vocabulary then return end
  file:write_texts("/data/vocabulary", tokens.vocabulary)
  file:set_attr("/data/vocabulary", "description", "tokens by their number, the first being 0")
end

-- What the columns of a table were taken for.
local function write_columns(file, columns)
  for name, what in pairs({ names = "columns of the table, in its order", kinds = "what each column was taken for",
    features = "numbers that the network reads, in their order" }) do
    local list = {}
    for i, item in ipairs(columns[name]) do list[i] = text.utf8(item) end
    file:write_texts("/data/" .. name, list)
    file:set_attr("/data/" .. name, "description", what)
  end
end

local function set_root(file, attrs)
  for name, value in pairs(attrs) do
    file:set_attr("/", name, type(value) == "string" and text.utf8(value) or value)
  end
end

-- Writes run.h5 of a new run; see store.create for info.
function Run:begin(info)
  local attrs = self.attrs
  attrs.format, attrs.format_version = format.run, format.run_version
  attrs.status, attrs.started = "running", text.now()
  self.file = h5.open(self.path, "w")
  self:update(function(file)
    set_root(file, attrs)
    for _, entry in ipairs(format.epochs) do
      local name = "/epochs/" .. entry.name
      file:write_numbers(name, {}, entry.dtype, { 0 })
      describe(file, name, entry, info)
    end
    write_gates(file, info.gates, self.gates, info)
    if info.tokens then write_tokens(file, info.tokens) end
    if info.columns then write_columns(file, info.columns) end
  end)
end

--- Changes run.h5: fn(file) gets an lgelu.h5 file; when fn fails nothing is changed. The way in for further groups
-- (/swap). When the file cannot be written (a full disk), the old one stays, and a later change brings this one too.
function Run:update(fn)
  self.file = self.file or h5.open(self.path, "a")
  local ok, e = pcall(fn, self.file)
  if not ok then
    self.file:discard()
    self.file = nil
    error(e, 0)
  end
  self.file:commit()
end

--- Writes the row of one epoch, which is on the disk when this returns. Writing an epoch again (a resumed run repeats
-- what it had done since its checkpoint) writes over its row and leaves later ones.
-- @param row  { epoch = 1…, step =, lr =, train_loss =, train_score =, val_loss =, val_score =, seconds =,
--             lambda = {…L}, s = {…L}, grad_lambda_rms = {…L} }; what is unknown may be nil, but epoch and step
function Run:append(row)
  local epoch = row.epoch
  if type(epoch) ~= "number" or epoch < 1 or epoch % 1 ~= 0 then
    errors.fail("%s: epoch %s of a row: expected a whole number from 1 on", self.path, tostring(epoch))
  end
  if type(row.step) ~= "number" then errors.fail("%s: epoch %d: its row has no step", self.path, epoch) end
  self:update(function(file)
    if self.attrs.status ~= "running" then self:mark_resumed(file) end
    for _, entry in ipairs(format.epochs) do
      file:write_number_rows("/epochs/" .. entry.name, epoch - 1, { number(row[entry.name], entry.name) }, entry.dtype)
    end
    for _, entry in ipairs(format.gates) do
      file:write_number_rows("/gates/" .. entry.name, epoch - 1 + entry.first_row,
        numbers(row[entry.name], self.gates, entry.name), "f64", { 1, self.gates })
    end
  end)
end

local function set_scores(file, group, scores)
  file:group(group)
  file:set_attr(group, "epoch", scores.epoch)
  file:set_attr(group, "val_score", scores.val_score, "f64")
  if scores.test_score then file:set_attr(group, "test_score", scores.test_score, "f64") end
end

--- Sets the best epoch: { epoch =, val_score =, test_score = }; test_score once it is known, at the end.
-- @param hardened  the same of the last epoch of a hardened run, whose weights are that run's; nil for others
function Run:set_best(best, hardened)
  self:update(function(file)
    set_scores(file, "/best", best)
    if hardened then set_scores(file, "/hardened", hardened) end
  end)
end

--- Ends the run and gives its lock back.
-- @param status  "done", "failed" or "stopped"
-- @param extra   further root attributes; error = the message of a failed run
function Run:finish(status, extra)
  if not format.statuses[status] or status == "running" then
    errors.fail("%s: status '%s' is none of done, failed, stopped", self.path, tostring(status))
  end
  self:update(function(file)
    set_root(file, extra or {})
    set_root(file, { status = status, finished = text.now() })
  end)
  self.attrs.status = status
  self:release()
end

--- Gives the lock and the memory back without a word in the file.
function Run:release()
  if self.file then self.file:discard() end
  self.file = nil
  C.lib.lg_lock_release(self.lock[0])
  self.lock[0] = -1
end

-- A run that had stopped, failed or been killed goes on: its end is not one any more.
function Run:mark_resumed(file)
  set_root(file, { status = "running", resumed = (file:attr("/", "resumed") or 0) + 1 })
  file:set_attr("/", "finished", nil)
  file:set_attr("/", "error", nil)
  self.attrs.status = "running"
end

--- Appends a line to the run's log.txt.
function Run:log(line)
  local path = self.dir .. "/" .. format.log_file
  local log, message = io.open(path, "a")
  if not log then errors.fail("%s", message) end
  local ok, why = log:write(line, "\n")
  local closed, why_not = log:close()
  if not ok or not closed then errors.fail("%s: cannot be written: %s", path, why or why_not or "?") end
end

--- The folder for figures, made when it is missing.
function Run:figures()
  C.check(C.lib.lg_dir_make(self.dir .. "/fig"))
  return self.dir .. "/fig"
end

return run
