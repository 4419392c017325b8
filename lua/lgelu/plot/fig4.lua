--- Figure 4 (ours): the ways to a ReLU network as drops of the score with intervals, and score against hardness along
-- the trainings that were hardened; one row of panels for each sweep and recipe. Called by lgelu.plot.
-- Which way a run went is lgelu.swap.ways's to say; its drop is in the report of its swap (all gates replaced).

local compare = require("lgelu.compare")
local errors = require("lgelu.errors")
local sweeps = require("lgelu.plot.sweeps")
local tsv = require("lgelu.plot.tsv")
local ways = require("lgelu.swap.ways")

local fig4 = {}

fig4.name = "fig4"
fig4.summary = "The ways to ReLU as drops with intervals; score against λ along hardening."
fig4.script = "fig4.gp"
fig4.takes, fig4.least, fig4.most = "sweeps", 1, 8

function fig4.default_out(list) return sweeps.default_out(list, "fig4") end

local COLUMNS = {
  "panel", "part", "title", "series", "name", "runs", "text", "drop", "drop_ci95", "drop_low", "drop_high",
  "before", "before_ci95", "after", "after_ci95", "colour", "epoch", "lambda_mid", "lambda_min", "lambda_max", "score",
  "axis",
}

local function row_of(values)
  local row = {}
  for i, column in ipairs(COLUMNS) do row[i] = values[column] == nil and tsv.NA or values[column] end
  return row
end

-- Finished runs as lgelu.swap.ways compares them; lines on those without a stored swap.
local function swapped(sweep)
  local records, notes = {}, {}
  for _, record in ipairs(sweep.done) do
    record.swap, record.way = record.source.swap, ways.of(record.source.config)
    if record.swap then
      records[#records + 1] = record
    else
      notes[#notes + 1] = ("%s: left out of the drops: %s, seed %s: no swap of it is stored (lgelu swap)"):format(
        sweep.dir, record.label, tostring(record.seed))
    end
  end
  return records, notes
end

-- The test set where every run was measured on it, else the validation set.
local function part_of(groups)
  for _, group in ipairs(groups) do
    if not group.test then return "val" end
  end
  return "test"
end

-- What tells a group from others of its way: "schedule geometric"; "" where nothing has to.
local function distinction(group, keys)
  local texts = {}
  for _, key in ipairs(keys) do
    if group.values[key] then texts[#texts + 1] = key:match("[^.]*$") .. " " .. group.values[key] end
  end
  return table.concat(texts, ", ")
end

-- "90.19 ± 0.19"
local function with_interval(mean, ci95, scale)
  local format = scale == 100 and "%.2f" or "%.3f"
  return ci95 and (format .. " ± " .. format):format(mean, ci95) or format:format(mean)
end

-- The row of one group of runs.
local function way_row(base, series, group, keys, part, scale)
  local own = group[part]
  local drop, before, after = own.drop, own.score_before, own.score_after
  local function scaled(value) return value and scale * value end
  local half, more = drop.ci95 or 0, distinction(group, keys)
  return row_of({
    panel = base.panel, title = base.title, part = "way", series = series,
    name = group.label .. (more ~= "" and ", " .. more or ""), runs = #group.records,
    text = with_interval(scaled(after.mean), scaled(after.ci95), scale),
    axis = base.axes.drop, drop = scaled(drop.mean), drop_ci95 = scaled(drop.ci95), drop_low = scaled(drop.mean - half),
    drop_high = scaled(drop.mean + half), before = scaled(before.mean), before_ci95 = scaled(before.ci95),
    after = scaled(after.mean), after_ci95 = scaled(after.ci95),
  })
end

-- One row a group of runs, and one for each of the four ways that no run went; returns the latter's labels.
local function add_ways(rows, base, result, part, scale)
  local series, missing = 0, {}
  for _, way in ipairs(ways.list) do
    local before = series
    for _, group in ipairs(result.groups) do
      if group.way == way[1] then
        series = series + 1
        rows[#rows + 1] = way_row(base, series, group, result.keys, part, scale)
      end
    end
    if series == before and way[1] ~= "fixed" then
      series = series + 1
      missing[#missing + 1] = way[2]
      rows[#rows + 1] = row_of({
        panel = base.panel, title = base.title, part = "way", series = series, name = way[2], runs = 0, text = "–",
        axis = base.axes.drop,
      })
    end
  end
  return missing
end

-- λ of one epoch: geometric mean, least, greatest.
local function spread(lambda)
  local sum = 0
  for _, value in ipairs(lambda) do sum = sum + math.log(value) end
  return math.exp(sum / #lambda), math.min(unpack(lambda)), math.max(unpack(lambda))
end

-- The rows of one path.
local function add_path(rows, base, record, names, scale)
  local epochs, lambda = record.source.epochs, record.source.gates.lambda
  for e, epoch in ipairs(epochs.epoch) do
    local mid, least, greatest = spread(lambda[e + 1])
    rows[#rows + 1] = row_of({
      panel = base.panel, title = base.title, part = "path", series = names.series, colour = names.colour,
      name = names.name, epoch = epoch, lambda_mid = mid, lambda_min = least, lambda_max = greatest,
      score = scale * epochs.val_score[e], axis = base.axes.score,
    })
  end
end

-- One path a hardened run, in the colour of its group, or of its seed where there is one group; returns their number.
local function add_paths(rows, base, result, scale)
  local hardened, count = {}, 0
  for _, group in ipairs(result.groups) do
    if group.way == "hardened" then hardened[#hardened + 1] = group end
  end
  for g, group in ipairs(hardened) do
    local name = distinction(group, result.keys)
    for i, record in ipairs(group.records) do
      count = count + 1
      add_path(rows, base, record, {
        series = count, colour = #hardened > 1 and g or i,
        name = #hardened > 1 and name or "seed " .. tostring(record.seed),
      }, scale)
    end
  end
  return count
end

-- "best epoch: GELU, …; last epoch: …": whose weights were swapped at which epoch.
local function weights_text(groups)
  local by_checkpoint, parts = {}, {}
  for _, group in ipairs(groups) do
    for _, record in ipairs(group.records) do
      local labels = by_checkpoint[record.swap.checkpoint] or {}
      by_checkpoint[record.swap.checkpoint] = labels
      labels[#labels + 1] = group.label
    end
  end
  for _, checkpoint in ipairs({ "best", "last" }) do
    local labels = by_checkpoint[checkpoint]
    if labels then parts[#parts + 1] = checkpoint .. " epoch: " .. table.concat(sweeps.sorted(labels), "; ") end
  end
  return table.concat(parts, ". Of the ")
end

-- Rows of one sweep's panels; its paragraph; lines on what is not there.
local function add_panel(rows, panel, sweep)
  local records, notes = swapped(sweep)
  if #records == 0 then
    errors.fail("%s: no run of this sweep has a stored swap: run it with after = \"swap\", or 'lgelu swap' on its runs",
      sweep.dir)
  end
  local result, scale = ways.compare(records), compare.scale(sweep.done)
  local part = part_of(result.groups)
  local base = { panel = panel, title = sweep.recipe, axes = compare.axes(sweep.done) }
  for _, label in ipairs(add_ways(rows, base, result, part, scale)) do
    notes[#notes + 1] = ("%s: no run is done of the way: %s"):format(sweep.dir, label)
  end
  local paths = add_paths(rows, base, result, scale)
  return ("%s: drops and scores%s on the %s set, with the weights of the %s. Right: %d hardened run%s.%s"):format(
    base.title, scale == 100 and " in per cent and points" or "", part == "test" and "test" or "validation",
    weights_text(result.groups), paths, paths == 1 and "" or "s", base.axes.note), notes
end

--- Table and caption of the figure.
-- @tparam table list sweeps
-- @treturn table columns, rows, caption, gaps, partly
-- @raise the work failed: a sweep of which no run has a stored swap
function fig4.build(list)
  local rows, notes, about = {}, {}, {}
  for panel, sweep in ipairs(sweeps.by_recipe(list)) do
    local own
    about[panel], own = add_panel(rows, panel, sweep)
    for _, note in ipairs(own) do notes[#notes + 1] = note end
  end
  local caption = {
    "From trained gates to ReLU. Left: drop of the score when every gate is replaced by ReLU (score before minus score "
      .. "after), mean over seeds with its 95 % confidence interval (Student's t; a bare dot: one seed; –: no run is "
      .. "done), and the score of the ReLU network. A network that was trained with ReLU has nothing to replace: its "
      .. "drop is 0 by definition. "
      .. "Right: validation score against hardness λ along the epochs of each hardened run; dots: geometric mean of λ "
      .. "over the gates after each epoch, bars: least to greatest; scores of the first fifth of the epochs may lie "
      .. "outside the panel.",
  }
  for _, text in ipairs(about) do caption[#caption + 1] = text end
  for _, paragraph in ipairs(sweeps.paragraphs(list, notes)) do caption[#caption + 1] = paragraph end
  local gaps = sweeps.gap_lines(list)
  for _, note in ipairs(notes) do gaps[#gaps + 1] = note end
  return {
    columns = COLUMNS, rows = rows, caption = caption, gaps = gaps,
    partly = {
      drop_ci95 = true, before_ci95 = true, after_ci95 = true, colour = true, epoch = true, lambda_mid = true,
      lambda_min = true, lambda_max = true, score = true,
    },
  }
end

return fig4
