--- Figure 3: validation trajectories of the init modes and the baseline with their BVS epochs, and the agreement of the
-- hardness profiles of the init modes; one row of panels for each sweep and recipe. Called by lgelu.plot.
--
-- A profile is the vector of λ over gates at a run's BVS epoch (our choice: the weights that would be used). ρ is
-- Spearman's between runs of one seed, averaged over seeds; a constant profile has no order: "undefined".

local compare = require("lgelu.compare")
local errors = require("lgelu.errors")
local stats = require("lgelu.stats")
local sweeps = require("lgelu.plot.sweeps")
local tsv = require("lgelu.plot.tsv")

local fig3 = {}

fig3.name = "fig3"
fig3.summary = "Validation trajectories of each init mode with BVS epochs; Spearman's ρ between their profiles."
fig3.script = "fig3.gp"
fig3.takes, fig3.least, fig3.most = "sweeps", 1, 8

function fig3.default_out(list) return sweeps.default_out(list, "fig3") end

local COLUMNS = {
  "panel", "part", "title", "series", "name", "baseline", "epoch", "score", "score_ci95", "bvs_epoch", "bvs_score",
  "runs", "series_b", "name_b", "rho", "rho_ci95", "text", "axis",
}

local function row_of(values)
  local row = {}
  for i, column in ipairs(COLUMNS) do row[i] = values[column] == nil and tsv.NA or values[column] end
  return row
end

-- So much of a mode's name is shown.
local LONGEST = 16

local function shortened(name)
  name = name:gsub("%s+", " ")
  return #name <= LONGEST and name or name:sub(1, LONGEST):gsub("[\192-\255]?[\128-\191]*$", "") .. "…"
end

-- Init modes in the order of their first run, then the kinds of gates without λ: { name, baseline, records }. A mode
-- that is a Lua function is known by the λ that it gave, and shown by the label of its runs.
local function series_of(sweep)
  local modes, plain, by_name = {}, {}, {}
  for _, record in ipairs(sweep.done) do
    local baseline = record.lambda == nil
    local mode = record.config[baseline and "gate.kind" or "gate.init"]
    local prefix = not baseline and "init " or record.role == "baseline" and "baseline " or ""
    local id = prefix .. (mode or record.config["gate.lambda"])
    if not by_name[id] then
      by_name[id] = { name = prefix .. shortened(mode or record.label), baseline = baseline, records = {} }
      table.insert(baseline and plain or modes, by_name[id])
    end
    table.insert(by_name[id].records, record)
  end
  local list, count = modes, #modes
  for _, series in ipairs(plain) do list[#list + 1] = series end
  return list, count
end

-- Mean score over the runs of a series at each epoch that all of them have; the mean of their BVS epochs and, in the
-- row of the epoch before or at it, the height of the curve there, where it goes so far.
local function add_trajectory(rows, series, base, scale)
  local last, bvs_epochs = math.huge, {}
  for i, record in ipairs(series.records) do
    last = math.min(last, record.epochs)
    bvs_epochs[i] = record.source.best.epoch
  end
  local bvs_epoch = stats.summary(bvs_epochs).mean
  local function at(e)
    local scores = {}
    for i, record in ipairs(series.records) do scores[i] = scale * record.source.epochs.val_score[e] end
    return stats.summary(scores)
  end
  for e = 1, last do
    local summary, epoch, bvs_score = at(e), series.records[1].source.epochs.epoch[e], nil
    local part = bvs_epoch - epoch
    if part == 0 or part > 0 and part < 1 and e < last then
      bvs_score = summary.mean + (part > 0 and part * (at(e + 1).mean - summary.mean) or 0)
    end
    local values = {
      part = "trajectory", epoch = epoch, score = summary.mean, score_ci95 = summary.ci95, bvs_epoch = bvs_epoch,
      bvs_score = bvs_score, runs = #series.records, baseline = series.baseline and 1 or 0,
    }
    for key, value in pairs(base) do values[key] = value end
    rows[#rows + 1] = row_of(values)
  end
end

-- Spearman's ρ between the profiles of two lists of runs (compare.record), paired by seeds:
-- { rho = summary over seeds, nil where none has a value; seeds = how many both have; undefined = how many of them }
local function agreement(a, b)
  local by_seed, values, both = {}, {}, 0
  for _, record in ipairs(b) do by_seed[record.seed] = record end
  for _, record in ipairs(a) do
    local other = by_seed[record.seed]
    if other then
      both = both + 1
      if #other.lambda ~= #record.lambda then
        errors.fail("%s has %d gates and %s has %d: their profiles cannot be compared", record.name, #record.lambda,
          other.name, #other.lambda)
      end
      values[#values + 1] = stats.spearman(record.lambda, other.lambda)
    end
  end
  return { rho = #values > 0 and stats.summary(values) or nil, seeds = both, undefined = both - #values }
end

-- "0.50", "−1.00", "undefined", "–" (no seed that both have)
local function rho_text(found)
  if found.seeds == 0 then return "–" end
  if not found.rho then return "undefined" end
  local text = ("%.2f"):format(math.abs(found.rho.mean))
  return (found.rho.mean < -0.005 and "−" or "") .. text .. (found.undefined > 0 and "*" or "")
end

-- The rows of one sweep's panels; returns lines on what is not there.
local function add_panel(rows, panel, sweep, title)
  local list, modes = series_of(sweep)
  local scale, notes = compare.scale(sweep.done), {}
  if modes == 0 then errors.fail("%s: no λ-GELU run of this sweep is done; fig3 has nothing to show", sweep.dir) end
  if modes == #list then notes[1] = ("%s: no baseline run is done"):format(sweep.dir) end
  for s, series in ipairs(list) do
    add_trajectory(rows, series, { panel = panel, title = title, series = s, name = series.name,
      axis = compare.axes(sweep.done).score }, scale)
  end
  for i = 1, modes do
    for j = 1, modes do
      local found = agreement(list[i].records, list[j].records)
      rows[#rows + 1] = row_of({
        panel = panel, title = title, part = "rho", series = i, name = list[i].name, series_b = j,
        name_b = list[j].name, rho = found.rho and found.rho.mean, rho_ci95 = found.rho and found.rho.ci95,
        runs = found.seeds, text = rho_text(found),
      })
      if i < j and (found.undefined > 0 or found.seeds == 0) then
        notes[#notes + 1] = ("%s: ρ of %s and %s: %s"):format(sweep.dir, list[i].name, list[j].name, found.seeds == 0
          and "no seed of which both are done"
          or ("undefined for %d of %d seeds, as a profile is constant"):format(found.undefined, found.seeds))
      end
    end
  end
  return notes
end

local function title_of(sweep)
  local first
  for _, record in ipairs(sweep.done) do first = first or (record.lambda and record) end
  first = first or sweep.done[1]
  local gate = {}
  for _, key in ipairs({ "t", "c" }) do
    local value = first.config["gate." .. key]
    if value then gate[#gate + 1] = key .. " = " .. value end
  end
  return ("%s (%s)"):format(sweep.recipe, table.concat(gate, ", ")), first
end

local function describe(sweep, title, first)
  local gates = first.lambda and #first.lambda or 0
  local list, count = series_of(sweep)
  local modes = {}
  for i = 1, count do modes[i] = list[i].name:gsub("^init ", "") end
  return ("%s: %d gates; modes are %s.%s%s"):format(title, gates, table.concat(modes, ", "),
    compare.axes(sweep.done).note,
    gates <= 4 and (" With %d gates and no ties ρ takes only %d values; it says little."):format(gates,
      ({ 0, 2, 4, 11 })[gates] or 0) or "")
end

--- Table and caption of the figure.
-- @tparam table list sweeps
-- @treturn table columns, rows, caption, gaps, partly
-- @raise the work failed: a sweep without finished λ-GELU runs, or one that varies more than gate.init
function fig3.build(list)
  local rows, notes = {}, {}
  local caption = {
    "Initialization modes of s. Left: validation score over epochs, mean over seeds; vertical lines and dots stand at "
      .. "the BVS epochs (mean over seeds where there are several); scores of the first fifth of the "
      .. "epochs may lie outside the panel. Right: Spearman's ρ between the profiles of the init modes: the vectors "
      .. "of λ over gates at each run's BVS epoch (our choice), paired within seeds, mean over seeds. undefined: a "
      .. "profile is constant; *: mean of fewer seeds, as a profile is constant in others; –: no seed of which both "
      .. "are done.",
  }
  for panel, sweep in ipairs(sweeps.by_recipe(list)) do
    sweeps.check_axes(sweep, "fig3", { ["gate.init"] = true, ["gate.kind"] = true })
    local title, first = title_of(sweep)
    for _, note in ipairs(add_panel(rows, panel, sweep, title)) do notes[#notes + 1] = note end
    caption[#caption + 1] = describe(sweep, title, first)
  end
  for _, paragraph in ipairs(sweeps.paragraphs(list, notes)) do caption[#caption + 1] = paragraph end
  local gaps = sweeps.gap_lines(list)
  for _, note in ipairs(notes) do gaps[#gaps + 1] = note end
  return {
    columns = COLUMNS, rows = rows, caption = caption, gaps = gaps,
    partly = { score_ci95 = true, bvs_score = true, rho_ci95 = true, rho = true },
  }
end

return fig3
