--- Records: what figures, tables and condensed files know of a sweep's runs, read from its folder. Pure reading.
-- What it is not: the condensed file (sweep/condensed.lua), which holds exactly these, nor statistics (lgelu.compare).
--
-- A record, one for every run of the plan, in its order:
--   run      name of its folder, and name, the same: what messages call it
--   cell     key → value, as the sweep's file gives them ("gate.t" → 0.1; recipe → a base recipe's name where cells
--            name one); functions as the word "function"
--   role     "cell" or "baseline";   label: its name in figures;   recipe: the recipe's name
--   seed, hash (64 hex digits), config (the resolved recipe, decoded: sections with keys, name, seed): of every run,
--            also of one that never began
--   status   "done": trained, and what comes after it (swap) is done; all below is there. "failed" (error says why),
--            "unfinished" (stopped or killed), "running", "damaged" (error says what), "missing" (not begun): what is
--            below is there as far as it was written; best, swap and error may be nil, lists empty
--   attrs    root attributes of run.h5 that the run itself decides: lgelu_version, git_commit, git_dirty, cpu, isa,
--            blas, blas_core, data_sha256, parameters, groups, budget, …; never times, threads, or how often it was
--            resumed, so that a sweep that was killed has the records of an undisturbed one
--   epochs   columns: epoch, step, lr, train_loss, train_score, val_loss, val_score (lists [E]; no seconds)
--   gates    names [L]; lambda, s (rows [E+1][L], the first at initialization), grad_lambda_rms (rows [E][L]); kind,
--            and where gates have a λ t, c, init, reparam. Rows are empty lists where no gate has a λ
--   best     { epoch, val_score (the BVS), test_score (nil without a test set) }
--   swap     report on all gates (lgelu.swap's) without its time, where after = "swap"
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local format = require("lgelu.store.format")
local swap = require("lgelu.swap")
local text = require("lgelu.store.text")

local records = {}

-- Root attributes that stand elsewhere in a record, or that two trainings of one run may not share.
local LEFT_OUT = {}
for _, name in ipairs({ "format", "format_version", "name", "recipe", "config", "hash", "seed", "status", "started",
  "finished", "resumed", "threads", "error" }) do
  LEFT_OUT[name] = true
end

local function empty(entry)
  local epochs, gates = {}, { names = {} }
  for _, column in ipairs(format.epochs) do
    if column.name ~= "seconds" then epochs[column.name] = {} end
  end
  for _, matrix in ipairs(format.gates) do gates[matrix.name] = {} end
  return { run = entry.run, name = entry.run, cell = entry.cell, role = entry.role, label = entry.label,
    recipe = entry.recipe, seed = entry.seed, hash = entry.hash, config = text.from_json(entry.config, entry.run),
    attrs = {}, epochs = epochs, gates = gates }
end

local function fill(record, found)
  for name, value in pairs(found.attrs) do
    if not LEFT_OUT[name] then record.attrs[name] = value end
  end
  for name, column in pairs(found:epochs()) do
    if name ~= "seconds" then record.epochs[name] = column end
  end
  record.gates, record.best = found:gates(), found:best()
  local key = swap.list(found)[1] == "all" and "all"
  record.swap = key and swap.read(found, key) or nil
  if record.swap then record.swap.measured = nil end
end

--- The record of one run.
function records.of(dir, plan, entry)
  local record = empty(entry)
  local status, message, found = folder.status(dir, plan, entry)
  local ok, e = true, nil
  if found then ok, e = pcall(fill, record, found) end
  if not ok then
    if not errors.is(e) then error(e, 0) end
    status, message = "damaged", e.message
  end
  record.status, record.error = status, message
  return record
end

--- Records of a sweep's folder.
-- @return list; description { name, budget (nil: the recipes' own values), axes = keys in the order of the sweep's
--   file, after }
function records.read(dir)
  local plan, list = folder.read_plan(dir), {}
  for i, entry in ipairs(plan.runs) do list[i] = records.of(dir, plan, entry) end
  return list, { name = plan.name, budget = plan.budget ~= "" and plan.budget or nil, axes = plan.axes,
    after = plan.after }
end

return records
