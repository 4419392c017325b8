--- Heat maps over t and c: ΔBVS as the text of each cell, hardness drift Δλ as its colour.
-- What it is: the table and caption that fig1 and fig2 share. What it is not: a figure; plots/heatmap.gp draws it.
-- Called by lgelu.plot.fig1 and lgelu.plot.fig2.

local compare = require("lgelu.compare")
local sweeps = require("lgelu.plot.sweeps")
local tsv = require("lgelu.plot.tsv")

local heatmap = {}

local BY = { "gate.kind", "gate.t", "gate.c" }

heatmap.columns = {
  "x", "y", "c", "t", "state", "text", "delta", "delta_ci95", "seeds", "pairs_ci95", "pairs", "bvs", "drift",
  "drift_ci95", "runs", "runs_expected",
}

-- Columns that may hold nothing at all: without a baseline, with one seed, with one pair.
heatmap.partly = { delta = true, delta_ci95 = true, pairs_ci95 = true, drift_ci95 = true }

local function place(record) return sweeps.value(record, "gate.t") .. " " .. sweeps.value(record, "gate.c") end

local function is_cell(record) return record.role ~= "baseline" and sweeps.value(record, "gate.t") ~= nil end

-- The greatest number of runs, finished or not, that a cell has.
local function expected(sweep)
  local counts, most = {}, 0
  for _, record in ipairs(sweep.records) do
    if is_cell(record) then
      local key = place(record)
      counts[key] = (counts[key] or 0) + 1
      most = math.max(most, counts[key])
    end
  end
  return most
end

-- "+0.12", "−0.30", "0.00"
local function signed(x, digits)
  local text = ("%." .. digits .. "f"):format(math.abs(x))
  if tonumber(text) == 0 then return text end
  return (x < 0 and "−" or "+") .. text
end

local function state_of(group, runs_expected)
  if not group then return "missing" end
  if not group.drift then return "no λ" end
  if not group.delta then return "no baseline" end
  return (#group.records < runs_expected or group.delta.n < group.seeds) and "partial" or "complete"
end

local function or_na(value) return value == nil and tsv.NA or value end

local function row_of(x, y, c, t, group, runs_expected, scale)
  local state = state_of(group, runs_expected)
  group = group or { records = {}, seeds = 0 }
  local delta, drift, pairs_ = group.delta or {}, group.drift or {}, group.pairs or {}
  local function scaled(value) return value and scale * value or tsv.NA end
  local text = "–"
  if delta.mean then
    text = signed(scale * delta.mean, scale == 100 and 2 or 3) .. (state == "partial" and "*" or "")
  end
  return {
    x, y, tonumber(c), tonumber(t), state, text, scaled(delta.mean), scaled(delta.ci95), delta.n or 0,
    scaled(pairs_.ci95), pairs_.n or 0, group.bvs and scale * group.bvs.mean or tsv.NA, or_na(drift.mean),
    or_na(drift.ci95), #group.records, runs_expected,
  }
end

local STATE_TEXT = {
  missing = "no run of it is done", ["no λ"] = "its gates have no λ",
  ["no baseline"] = "no baseline of its seed is done",
}

local function note(sweep, row)
  local name = { state = row[5], c = row[3], t = row[4], runs = row[15], of = row[16] }
  if name.state == "complete" then return nil end
  local why = STATE_TEXT[name.state] or ("%d of %d runs are done, %d have their baseline"):format(name.runs, name.of,
    row[11])
  return ("%s: cell t = %g, c = %g: %s"):format(sweep.dir, name.t, name.c, why)
end

--- Table and caption of a heat map.
-- @tparam table sweep as lgelu.plot.sweeps.open gives it
-- @tparam string figure its name, for messages
-- @tparam string title how the caption begins
-- @treturn table columns, rows, caption, gaps, partly
-- @raise the work failed: no λ-GELU run is done, or the sweep varies other keys than t, c and the init mode
function heatmap.build(sweep, figure, title)
  local errors = require("lgelu.errors")
  local parts = sweeps.by_recipe({ sweep })
  if #parts > 1 then
    errors.fail("%s: this sweep has runs of several recipes (%s, %s, …); %s shows one", sweep.dir, parts[1].recipe,
      parts[2].recipe, figure)
  end
  sweeps.check_axes(sweep, figure, { ["gate.t"] = true, ["gate.c"] = true, ["gate.init"] = true })
  local cells, done = {}, {}
  for _, record in ipairs(sweep.records) do
    if is_cell(record) then cells[#cells + 1] = record end
  end
  local ts, cs = sweeps.values(cells, "gate.t"), sweeps.values(cells, "gate.c")
  for _, record in ipairs(sweep.done) do
    if is_cell(record.source) then done[#done + 1] = record end
  end
  if #done == 0 or #ts == 0 or #cs == 0 then
    errors.fail("%s: no λ-GELU run of this sweep is done; %s has nothing to show", sweep.dir, figure)
  end
  local by_place = {}
  for _, group in ipairs(compare.groups(sweep.done, BY).groups) do
    local first = group.records[1]
    if is_cell(first.source) then by_place[first.config["gate.t"] .. " " .. first.config["gate.c"]] = group end
  end
  local scale = compare.scale(sweep.done)
  local most = expected(sweep)
  local rows, notes = {}, {}
  for y, t in ipairs(ts) do
    for x, c in ipairs(cs) do
      rows[#rows + 1] = row_of(x, y, c, t, by_place[t .. " " .. c], most, scale)
      notes[#notes + 1] = note(sweep, rows[#rows])
    end
  end
  local gaps = sweeps.gap_lines({ sweep })
  for _, line in ipairs(notes) do gaps[#gaps + 1] = line end
  return {
    columns = heatmap.columns, rows = rows, partly = heatmap.partly, gaps = gaps,
    caption = heatmap.caption(sweep, title, done, most, scale, notes),
  }
end

-- What the baselines are, in words.
local function baseline_text(sweep)
  local kinds = {}
  for _, record in ipairs(sweep.done) do
    if not is_cell(record.source) then kinds[#kinds + 1] = record.config["gate.kind"] end
  end
  kinds = sweeps.sorted(kinds)
  if #kinds == 0 then return "no baseline run is done, so that ΔBVS is missing" end
  return "the baseline is the run of the same seed with gates " .. table.concat(kinds, ", ")
end

--- The paragraphs of the caption.
function heatmap.caption(sweep, title, done, most, scale, notes)
  local inits = {}
  for i, record in ipairs(done) do -- a mode that is a Lua function is known by what it gave
    inits[i] = record.config["gate.init"] or "λ = " .. record.config["gate.lambda"]
  end
  inits = sweeps.sorted(inits)
  local parts = {
    ("%s Text of each cell: ΔBVS%s, the best validation score (BVS) minus that of its baseline (%s), mean over %d "
      .. "init mode%s of s (%s) and %d seed%s. Colour: hardness drift Δλ, the mean over epochs and gates of "
      .. "|λ(e) − λ(e−1)|, on a logarithmic scale (none at all: darkest).%s"):format(title,
      scale == 100 and " in percentage points" or "", baseline_text(sweep), #inits, #inits == 1 and "" or "s",
      table.concat(inits, ", "), #sweeps.values(done, "seed"), #sweeps.values(done, "seed") == 1 and "" or "s",
      compare.axes(done).note),
    ("A cell has up to %d runs. Grey hatching with –: no run of the cell is done; – on a colour: no baseline; *: mean "
      .. "of fewer runs. Table: ΔBVS as in the picture; delta_ci95 is the half width of the 95 %% confidence interval "
      .. "over seeds (init modes of one seed averaged first; NA with one seed), pairs_ci95 that over all pairs of "
      .. "seeds and init modes, as if they were independent."):format(most),
  }
  for _, paragraph in ipairs(sweeps.paragraphs({ sweep }, notes)) do parts[#parts + 1] = paragraph end
  return parts
end

return heatmap
