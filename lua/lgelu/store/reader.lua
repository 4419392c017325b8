--- A run as it is on the disk: attributes, epochs, gates, best epoch. A snapshot: read at once, from one complete file,
-- while the run may go on. Called by lgelu.store for show, ls, compare and figures.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local format = require("lgelu.store.format")
local h5 = require("lgelu.h5")
local score_kinds = require("lgelu.score")
local text = require("lgelu.store.text")

local reader = {}
local Reader = {}
Reader.__index = Reader

-- A flat list with its shape [rows, L] as a list of rows.
local function rows_of(values, shape)
  local rows, width = {}, shape[2]
  for r = 1, shape[1] do
    local row = {}
    for l = 1, width do
      row[l] = values[(r - 1) * width + l]
    end
    rows[r] = row
  end
  return rows
end

local function read_gates(file)
  local gates = file:attrs("/gates")
  gates.names = file:read_texts("/gates/names")
  for _, entry in ipairs(format.gates) do
    local values, shape, dtype = file:read_numbers("/gates/" .. entry.name)
    if #shape ~= 2 or (shape[2] ~= #gates.names and shape[2] ~= 0) or shape[1] < entry.first_row then
      errors.fail("%s: /gates/%s: found %s of rank %d with %s columns, expected rows and a column for each of %d gates",
        file.path, entry.name, dtype, #shape, tostring(shape[2]), #gates.names)
    end
    gates[entry.name] = rows_of(values, shape)
  end
  return gates
end

local function check_format(file)
  local ok, found = pcall(file.attr, file, "/", "format")
  if not ok or found ~= format.run then
    errors.fail("%s: not a run of lgelu: its attribute 'format' is %s, expected '%s'", file.path,
      ok and found ~= nil and ("'%s'"):format(tostring(found)) or "missing", format.run)
  end
  local version = file:attr("/", "format_version")
  if type(version) ~= "number" or version < 1 then
    errors.fail("%s: format_version is %s, expected a number from 1 on", file.path, tostring(version))
  elseif version > format.run_version then
    errors.fail("%s: written by a newer lgelu (format_version %g, this one reads up to %d)", file.path, version,
      format.run_version)
  end
end

-- What others take for granted of a run's attributes.
local function check_attrs(self)
  local status, weights = self.attrs.status, self.attrs.weights
  if not format.statuses[status] then
    errors.fail("%s: attribute 'status' is %s, expected running, done, failed or stopped", self.path, tostring(status))
  elseif weights ~= nil and weights ~= "best" and weights ~= "last" then
    errors.fail("%s: attribute 'weights' is %s, expected best or last", self.path, tostring(weights))
  elseif weights == "last" and status == "done" and not self.hardened_data then
    errors.fail("%s: attribute 'weights' is last, but the group /hardened with their scores is missing", self.path)
  end
end

--- Reads run.h5 of a folder. Errors: no such file, no run, damaged, of a newer lgelu.
function reader.open(dir)
  local path = dir .. "/" .. format.run_file
  return h5.with(path, "r", function(file)
    check_format(file)
    local self = setmetatable({ dir = dir, path = path, attrs = file:attrs("/"), columns = {} }, Reader)
    for _, entry in ipairs(format.epochs) do
      self.columns[entry.name] = file:read_numbers("/epochs/" .. entry.name)
    end
    self.gate_data = read_gates(file)
    self.best_data = file:exists("/best") and file:attrs("/best") or nil
    self.hardened_data = file:exists("/hardened") and file:attrs("/hardened") or nil
    check_attrs(self)
    return self
  end)
end

--- Columns of /epochs as lists: { epoch = {1, 2, …}, val_score = {…}, … }. NaN where a value is unknown.
function Reader:epochs()
  return self.columns
end

--- { names = {…L}, lambda = rows [E+1][L] (row 1 at initialization), s = rows [E+1][L], grad_lambda_rms = rows [E][L],
-- t =, c =, init =, kind = }. The matrices have no columns when no gate has a λ; names then still has its names.
function Reader:gates()
  return self.gate_data
end

--- { epoch =, val_score = (the BVS, best validation score), test_score = once known }; the first epoch of that score.
-- nil before the first epoch. From /best, or while the run goes on, from its epochs.
function Reader:best()
  if self.best_data then return self.best_data end
  local best
  for i, score in ipairs(self.columns.val_score) do
    if score == score and (not best or self:score():is_better(score, best.val_score)) then
      best = { epoch = self.columns.epoch[i], val_score = score }
    end
  end
  return best
end

--- What its scores are: one of lgelu.score.
function Reader:score()
  return score_kinds.named(self.attrs.score)
end

--- Which of its weights stand for the run, wherever it is opened, swapped or exported: "best" (the epoch of the BVS),
-- or "last" for a hardened run, whose epochs before the last are not hard.
function Reader:weights()
  return self.attrs.weights or "best"
end

--- Epoch and scores at those weights, as best(): { epoch =, val_score =, test_score = }; nil before they are known.
function Reader:result()
  if self:weights() == "last" then return self.hardened_data end
  return self:best()
end

--- The resolved recipe, decoded.
function Reader:config()
  return text.from_json(self.attrs.config or "", self.path .. ": attribute 'config'")
end

--- "done", "failed", "stopped", "running" (a process is at it), or "killed" (it says running, but no process is).
-- A run that is done stays that while a process adds to it, as lgelu swap does.
function Reader:status()
  if self.attrs.status == "done" then return "done" end
  if C.lib.lg_lock_taken(self.dir) == 1 then return "running" end
  return self.attrs.status == "running" and "killed" or self.attrs.status
end

-- At the prompt: what it is in a line.
function Reader:__tostring()
  local found, epochs = self:result() or {}, #self.columns.epoch
  return ("%s: %s, seed %s, %s after %d epoch%s; validation score %s, test score %s"):format(self.dir,
    tostring(self.attrs.name), tostring(self.attrs.seed), self:status(), epochs, epochs == 1 and "" or "s",
    found.val_score or "unknown", found.test_score or "unknown")
end

--- Reads further groups: fn(file) gets an lgelu.h5 file open for reading. Returns what fn returns.
function Reader:read(fn)
  return h5.with(self.path, "r", fn)
end

return reader
