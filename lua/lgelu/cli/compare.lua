--- lgelu compare: a table of finished runs, or of those of sweeps, one row per configuration, over seeds. The numbers
-- are lgelu.compare's, the layout lgelu.table's.

local errors = require("lgelu.errors")

local verb = {}

verb.summary = "Compare runs: one row per configuration, mean ± 95 % CI over seeds."

-- λ of up to this many gates are listed; of more, the range.
local LISTED_GATES = 4

function verb.setup(parser)
  parser:argument("runs", "Runs, by folder or name; sweeps, by folder, name or condensed file."):args("+")
  parser:option("--by", "Group by this key of the recipe alone (as gate.kind; recipe: by its name), pooling all other "
    .. "differences; several of them group by all.")
    :argname("KEY"):count("*")
  parser:option("--format", "text, markdown, csv (all digits, every column) or latex."):argname("NAME"):default("text")
  parser:epilog("± is the half width of the 95 % confidence interval of the mean over seeds (Student's t). BVS: best "
    .. "validation score. ΔBVS, above 0 where it is better: difference to the run with gate.kind = gelu, the "
    .. "same seed and otherwise the same recipe. Δλ: mean change of λ from one epoch to the next. Where runs "
    .. "of several recipes are compared, the recipes' names stand for what sets them apart.")
end

-- Adds what can be compared; what cannot is named on standard error and left out.
local function take(records, name, fn)
  local ok, result = pcall(fn)
  if ok then
    records[#records + 1] = result
  elseif errors.is(result, "fail") then
    io.stderr:write(("lgelu: %s is left out: %s\n"):format(name, result.message))
  else
    error(result, 0)
  end
end

-- Opens runs, and sweeps for their runs.
local function records_of(names)
  local compare, store, sweep = require("lgelu.compare"), require("lgelu.store"), require("lgelu.sweep")
  local records, count = {}, 0
  for _, name in ipairs(names) do
    local runs = sweep.exists(name) and sweep.records(name) or nil
    for _, run in ipairs(runs or {}) do
      take(records, ("%s: %s, seed %s"):format(name, run.label, run.seed), function()
        if run.status ~= "done" and run.error then errors.fail("it is %s: %s", run.status, run.error) end
        return compare.of_record(run)
      end)
    end
    if not runs then
      local folder = store.resolve(name)
      take(records, name, function() return compare.record(store.open(folder)) end)
    end
    count = count + (runs and #runs or 1)
  end
  if #records == 0 then errors.fail("none of the %d runs can be compared", count) end
  return records
end

local function lambda_text(profile)
  if not profile then return nil end
  local texts = {}
  for i, lambda in ipairs(profile) do texts[i] = ("%.3g"):format(lambda) end
  if #texts <= LISTED_GATES then return table.concat(texts, " ") end
  return require("lgelu.table").range("%.3g", profile)
end

local function epochs_text(epochs)
  return epochs[1] == epochs[2] and tostring(epochs[1]) or ("%d to %d"):format(epochs[1], epochs[2])
end

-- Columns of scores as score.columns; but a share that is none, outside [0, 1], is shown as it is stored.
local function score_columns(groups)
  local kinds, shares = {}, true
  for g, group in ipairs(groups) do
    kinds[g] = group.score
    shares = shares and (group.score.scale == 1 or (group.bvs.mean >= 0 and group.bvs.mean <= 1))
  end
  local unit, difference, style_of = require("lgelu.score").columns(kinds)
  if shares or unit == "" then return unit, difference, style_of end
  return "", "", function() return { value = { "%.5g" }, difference = { "%+.3g" } } end
end

local function readable(result)
  local interval = require("lgelu.table").interval
  local unit, difference, style_of = score_columns(result.groups)
  local columns, rows = {}, {}
  for _, key in ipairs(result.keys) do columns[#columns + 1] = { title = key, align = "left" } end
  local more = {
    { title = "seeds", format = "%d" }, { title = "BVS" .. unit, align = "right" },
    { title = "ΔBVS" .. difference, align = "right" }, { title = "test" .. unit, align = "right" },
    { title = "epochs", align = "right" }, { title = "λ at BVS", align = "left" },
    { title = "Δλ per epoch", format = "%.3g" },
  }
  for _, column in ipairs(more) do columns[#columns + 1] = column end
  for r, group in ipairs(result.groups) do
    local row, k, style = {}, #result.keys, style_of(group.score)
    for i, key in ipairs(result.keys) do row[i] = group.values[key] end
    row[k + 1], row[k + 2] = group.seeds, interval(group.bvs, unpack(style.value))
    row[k + 3] = interval(group.delta, unpack(style.difference))
    row[k + 4] = interval(group.test, unpack(style.value))
    if group.delta and group.delta.n < group.seeds then
      row[k + 3] = ("%s (n = %d)"):format(row[k + 3], group.delta.n)
    end
    row[k + 5], row[k + 6] = epochs_text(group.epochs), lambda_text(group.profile)
    row[k + 7] = group.drift and group.drift.mean
    rows[r] = row
  end
  return columns, rows
end

-- One number a column, for machines.
local function numeric(result)
  local titles = {
    "runs", "seeds", "bvs_mean", "bvs_sd", "bvs_ci95", "delta_bvs_mean", "delta_bvs_sd", "delta_bvs_ci95",
    "delta_bvs_seeds", "delta_bvs_pairs", "delta_bvs_pairs_sd", "delta_bvs_pairs_ci95", "test_mean", "test_sd",
    "test_ci95", "epochs_min", "epochs_max", "lambda_min", "lambda_max", "drift_mean", "drift_ci95", "score",
  }
  local columns, rows = {}, {}
  for _, key in ipairs(result.keys) do columns[#columns + 1] = { title = key } end
  for _, title in ipairs(titles) do columns[#columns + 1] = { title = title } end
  for r, group in ipairs(result.groups) do
    local bvs, delta, test, drift = group.bvs, group.delta or {}, group.test or {}, group.drift or {}
    local pairs_ = group.pairs or {}
    local values = {
      #group.records, group.seeds, bvs.mean, bvs.sd, bvs.ci95, delta.mean, delta.sd, delta.ci95, delta.n, pairs_.n,
      pairs_.sd, pairs_.ci95, test.mean, test.sd, test.ci95, group.epochs[1], group.epochs[2],
      group.profile and math.min(unpack(group.profile)), group.profile and math.max(unpack(group.profile)), drift.mean,
      drift.ci95, group.score.name,
    }
    local row = {}
    for i, key in ipairs(result.keys) do row[i] = group.values[key] end
    for i = 1, #titles do row[#result.keys + i] = values[i] end
    rows[r] = row
  end
  return columns, rows
end

local function notes(result)
  local lines = {}
  if #result.keys > 0 then
    lines[#lines + 1] = "Groups differ in " .. table.concat(result.keys, ", ") .. "."
  elseif #result.groups[1].records > 1 then
    lines[#lines + 1] = "The runs differ in their seeds alone."
  else
    lines[#lines + 1] = "There is one run to compare."
  end
  if #result.told > 0 then
    lines[#lines + 1] = "Each recipe has one value of its own of " .. table.concat(result.told, ", ") .. "."
  end
  if #result.present > 0 then
    local texts = {}
    for i, pair in ipairs(result.present) do texts[i] = pair[1] .. " = " .. pair[2] end
    lines[#lines + 1] = "The same wherever it applies: " .. table.concat(texts, ", ") .. "."
  end
  if #result.pooled > 0 then
    lines[#lines + 1] = "Pooled within groups: " .. table.concat(result.pooled, ", ") .. "."
  end
  if result.unpaired > 0 then
    lines[#lines + 1] = ("%d run%s no ΔBVS: no baseline has the same seed and differs in gate.* and hardening.* alone.")
      :format(result.unpaired, result.unpaired == 1 and " has" or "s have")
  end
  for _, pair in ipairs(result.repeated) do
    lines[#lines + 1] = ("%s is left out: it repeats %s (same configuration and seed)."):format(pair[1], pair[2])
  end
  return table.concat(lines, "\n") .. "\n"
end

function verb.run(given)
  local tables = require("lgelu.table")
  local known = false
  for _, name in ipairs(tables.formats) do known = known or name == given.format end
  if not known then
    errors.usage("--format: '%s' is none of %s%s", given.format, table.concat(tables.formats, ", "),
      errors.suggest(given.format, tables.formats))
  end
  local result = require("lgelu.compare").groups(
    records_of(require("lgelu.cli.args").without_sweeps(given.runs)), #given.by > 0 and given.by or nil)
  local columns, rows = (given.format == "csv" and numeric or readable)(result)
  io.write(tables.render(columns, rows, given.format))
  -- Behind a table for programs, notes would be in the way.
  local for_people = given.format == "text" or given.format == "markdown"
  local stream = for_people and io.stdout or io.stderr
  stream:write(for_people and "\n" or "", notes(result))
  return 0
end

return verb
