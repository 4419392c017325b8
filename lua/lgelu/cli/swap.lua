--- lgelu swap: a run's gates replaced by ReLU, reported and stored; or several runs' swaps side by side. The numbers
-- are lgelu.swap's, the layout lgelu.table's.

local errors = require("lgelu.errors")

local verb = {}

verb.summary = "Replace gates by ReLU: scores before and after, flipped predictions, each gate's distance."

local PARTS = { { "val", "validation" }, { "test", "test" } }

function verb.setup(parser)
  parser:argument("runs", "Finished runs, by folder or name, or folders of runs; several are compared. Sweeps, by "
    .. "folder or name, stand for the runs of their plan; a condensed file for the swaps that its runs held.")
    :args("+")
  parser:option("--gates", "all, or names with commas (see 'lgelu show'): only these are replaced."):argname("NAMES")
    :default("all")
  parser:flag("--again", "Measure again what the run holds already.")
  parser:option("--format", "text, markdown, csv (all digits, every column) or latex."):argname("NAME"):default("text")
  parser:epilog("The report is stored under /swap of run.h5. Drop: score before minus after. Lost, gained: flipped "
    .. "predictions that were right before, that are right after. Bound: the greatest |f(x; λ) − ReLU(x)|, "
    .. "0.169971207/λ; deviation: the greatest that was seen. Band: pre-activations with |λx| < 2. Of sentences that "
    .. "are filled up to data.length, the filling's places count in what is seen of gates, not in scores. Gates are "
    .. "described as they are before the swap, at the best epoch; hardened runs at their end. ± is the half width of "
    .. "the 95 % confidence interval of the mean over seeds (Student's t).")
end

-- The names of --gates, or nil: all.
local function names_of(text)
  if text == "all" then return nil end
  local names = {}
  for name in (text .. ","):gmatch("%s*(.-)%s*,") do
    if name == "" then errors.usage("--gates: found an empty name in '%s'", text) end
    names[#names + 1] = name
  end
  return names
end

-- A live line on standard error while a run is measured, and its end; nothing where that is no terminal.
local function live(name)
  local ok, terminal = pcall(require, "lgelu.terminal") -- only inside the program
  if not ok or not terminal.isatty(2) then return nil, function() end end
  return function(part, done, samples)
    io.stderr:write(("\r\27[K%s: %s, %d of %d samples"):format(name:match("[^/]*$"), part, done, samples))
  end, function() io.stderr:write("\r\27[K") end
end

-- The swap of a run, stored or measured now; as swap.of.
local function swap_of(name, names, again)
  local show, clear = live(name)
  local ok, run, report, where, wrong = pcall(require("lgelu.swap").of, name,
    { gates = names, again = again, show = show })
  clear()
  if not ok then error(run, 0) end
  return run, report, where, wrong
end

-- A condensed file has the swaps that its runs held, of all gates, and no networks to measure.
local function is_condensed(name)
  return require("lfs").attributes(name, "mode") == "file" and require("lgelu.sweep").exists(name)
end

-- Folders of a sweep's runs: of those that it declares, as figures and compare see it; its folder may hold others, of
-- another budget or recipe. Those not begun are named on standard error.
local function runs_of_sweep(name)
  local sweep, list = require("lgelu.sweep"), {}
  local place = sweep.resolve(name)
  for _, record in ipairs(sweep.records(name)) do
    if record.status == "missing" then
      io.stderr:write(("lgelu: %s: %s, seed %s is left out: it is missing, not done\n"):format(name, record.label,
        record.seed))
    else
      list[#list + 1] = place .. "/" .. record.run
    end
  end
  if #list == 0 then errors.fail("%s: none of its runs is done", name) end
  return list
end

-- Runs by name; a sweep stands for its runs, another folder that holds runs for all of them.
local function runs_of(given)
  local store, sweep, list = require("lgelu.store"), require("lgelu.sweep"), {}
  for _, name in ipairs(given) do
    local inside = {}
    if sweep.exists(name) and not is_condensed(name) then
      inside = runs_of_sweep(name)
    elseif not store.exists(name) and require("lfs").attributes(name, "mode") == "directory" then
      for i, run in ipairs(store.list(name)) do inside[i] = run.dir end
    end
    for _, dir in ipairs(#inside > 0 and inside or { name }) do list[#list + 1] = dir end
  end
  return list
end

-- One run ----------------------------------------------------------------------------------------------------------

-- score: of lgelu.score.
local function part_table(report, score, exact)
  local scale, format = exact and 1 or score.scale, score:format()
  local columns = {
    { title = "part", align = "left" }, { title = "samples", format = "%d" },
    { title = exact and "score_before" or ("before (%s)"):format(score.unit), format = format },
    { title = exact and "score_after" or ("after (%s)"):format(score.unit), format = format },
    { title = exact and "drop" or ("drop (%s)"):format(score.difference), format = score:format(true) },
    { title = "flipped", format = "%d" },
    { title = "lost", format = "%d" }, { title = "gained", format = "%d" },
    { title = exact and "max_logit_change" or "max |Δlogit|", format = "%.4g" },
  }
  local rows = {}
  for _, p in ipairs(PARTS) do
    local part = report[p[1]]
    if part then
      rows[#rows + 1] = { p[2], part.samples, scale * part.score_before, scale * part.score_after, scale * part.drop,
        part.flipped, part.lost, part.gained, part.max_logit_change }
    end
  end
  return columns, rows
end

local function gate_table(report, part)
  local columns = {
    { title = "gate", align = "left" }, { title = "λ", format = "%.4f" }, { title = "bound", format = "%.6g" },
    { title = "deviation", format = "%.6g" }, { title = "least x", format = "%.3f" },
    { title = "greatest x", format = "%.3f" }, { title = "band (%)", format = "%.2f" },
    { title = "0 before (%)", format = "%.2f" }, { title = "0 after (%)", format = "%.2f" },
    { title = "outputs", format = "%d" },
  }
  local rows, partial = {}, report.what ~= "all"
  if partial then table.insert(columns, 2, { title = "swapped", align = "left" }) end
  for i, g in ipairs(part.gates) do
    local lambda = g.lambda or g.kind == "gelu" and 1 or 0 / 0
    local row = { g.name, lambda, g.bound or 0 / 0, g.max_deviation, g.min, g.max, 100 * g.band, 100 * g.zeros_before,
      100 * g.zeros_after, g.outputs }
    if partial then table.insert(row, 2, g.swapped and "yes" or "no") end
    rows[i] = row
  end
  return columns, rows
end

-- Every gate of every part with all digits, the part's scores in each row.
local function exact_table(report, score)
  local names = { "name", "kind", "lambda", "bound", "max_deviation", "min", "max", "band", "zeros_before",
    "zeros_after", "slope", "outputs" }
  local columns, rows = part_table(report, score, true)
  for _, name in ipairs(names) do columns[#columns + 1] = { title = name == "name" and "gate" or name } end
  columns[#columns + 1] = { title = "swapped" }
  local _, parts = part_table(report, score, true)
  for _, part in ipairs(parts) do
    for _, g in ipairs(report[part[1] == "test" and "test" or "val"].gates) do
      local row = { unpack(part) }
      for k, name in ipairs(names) do row[#part + k] = g[name] end
      row[#part + #names + 1] = g.swapped and 1 or 0
      rows[#rows + 1] = row
    end
  end
  for _ = 1, #parts do table.remove(rows, 1) end
  return columns, rows
end

local function heading(run, report)
  local count = 0
  for _, g in ipairs(report.gates) do count = count + ((g.swapped and g.kind ~= "relu") and 1 or 0) end
  local did = count == 0 and "nothing to swap: every gate is ReLU"
    or ("%d of %d %s gates replaced by ReLU"):format(count, #report.gates, report.kind)
  return ("%s: %s (%s checkpoint, epoch %d); %d ReLUs a sample then"):format(run.dir, did, report.checkpoint,
    report.epoch, report.relus)
end

-- How a format takes a heading and a line of text between tables.
local function prefixes(format)
  if format == "latex" then return "% ", "% " end
  return format == "markdown" and "## " or "", ""
end

local function one(run, report, where, format)
  local render, head, note = require("lgelu.table").render, prefixes(format)
  if format == "csv" then
    local columns, rows = exact_table(report, run:score())
    io.write(render(columns, rows, format))
    return
  end
  local columns, rows = part_table(report, run:score())
  local parts = { head .. heading(run, report) .. "\n", render(columns, rows, format) }
  for _, p in ipairs(PARTS) do
    if report[p[1]] then
      parts[#parts + 1] = ("%sGates before the swap, on the %s samples:\n"):format(note, p[2])
      columns, rows = gate_table(report, report[p[1]])
      parts[#parts + 1] = render(columns, rows, format)
    end
  end
  if where then parts[#parts + 1] = ("%sStored in %s under %s.\n"):format(note, run.path, where) end
  io.write(table.concat(parts, "\n"))
end

-- Several runs -------------------------------------------------------------------------------------------------------

local function lambda_text(range)
  return range and require("lgelu.table").range("%.4g", range)
end

-- The keys that stand before the way, and those behind it: the recipe, then the rest.
local function ways_columns(keys)
  local columns, places = {}, {}
  local function add(key, title)
    columns[#columns + 1], places[key] = { title = title, align = "left" }, #columns + 1
  end
  if keys[1] == "recipe" then add("recipe", "recipe") end
  add("way", "way")
  for _, key in ipairs(keys) do
    if not places[key] then add(key, key) end
  end
  return columns, places
end

--- Columns and rows of lgelu.table: the ways of one part, "val" or "test".
-- @param result  of lgelu.swap.ways.compare
function verb.ways_table(result, part)
  local interval, kinds, rows = require("lgelu.table").interval, {}, {}
  for g, group in ipairs(result.groups) do kinds[g] = group.records[1].score end
  local unit, difference, style_of = require("lgelu.score").columns(kinds)
  local columns, places = ways_columns(result.keys)
  local k = #columns
  for _, title in ipairs({ "seeds", "λ", "before" .. unit, "after" .. unit, "drop" .. difference, "flipped (%)" }) do
    columns[#columns + 1] = { title = title, align = "right" }
  end
  for g, group in ipairs(result.groups) do
    local own, row, style = group[part], {}, style_of(kinds[g])
    row[places.way] = group.label
    for _, key in ipairs(result.keys) do row[places[key]] = group.values[key] end
    row[k + 1], row[k + 2] = group.seeds, lambda_text(group.lambda)
    if own then
      row[k + 3] = interval(own.score_before, unpack(style.value))
      row[k + 4] = interval(own.score_after, unpack(style.value))
      row[k + 5] = interval(own.drop, unpack(style.difference))
      row[k + 6] = interval(own.flipped, "%.2f", 100)
    end
    rows[g] = row
  end
  return columns, rows
end

-- One number a column, for machines; both parts.
local function numeric(result)
  local columns, rows, names = { { title = "way" } }, {}, { "score_before", "score_after", "drop", "flipped" }
  local titles = { "part", "runs", "seeds", "lambda_min", "lambda_max" }
  for _, name in ipairs(names) do
    for _, statistic in ipairs({ "_mean", "_sd", "_ci95" }) do titles[#titles + 1] = name .. statistic end
  end
  for _, key in ipairs(result.keys) do columns[#columns + 1] = { title = key } end
  titles[#titles + 1] = "score"
  for _, title in ipairs(titles) do columns[#columns + 1] = { title = title } end
  for _, group in ipairs(result.groups) do
    for _, p in ipairs(PARTS) do
      local own, row, range, k = group[p[1]], { group.way }, group.lambda or {}, #result.keys + 1
      for i, key in ipairs(result.keys) do row[i + 1] = group.values[key] end
      row[k + 1], row[k + 2], row[k + 3], row[k + 4], row[k + 5] = p[2], #group.records, group.seeds, range[1], range[2]
      for i, name in ipairs(names) do
        local at, s = k + 2 + 3 * i, own and own[name] or {}
        row[at + 1], row[at + 2], row[at + 3] = s.mean, s.sd, s.ci95
      end
      row[k + #titles] = group.records[1].score.name
      if own then rows[#rows + 1] = row end
    end
  end
  return columns, rows
end

local function notes(result)
  local lines = {}
  if #result.pooled > 0 then lines[1] = "Pooled within rows: " .. table.concat(result.pooled, ", ") .. "." end
  for _, pair in ipairs(result.repeated) do
    lines[#lines + 1] = ("%s is left out: it repeats %s (same configuration and seed)."):format(pair[1], pair[2])
  end
  return lines
end

local function several(result, format)
  local render, head, note = require("lgelu.table").render, prefixes(format)
  if format == "csv" then
    local columns, rows = numeric(result)
    io.write(render(columns, rows, format))
    return
  end
  local parts, lines = {}, {}
  for _, p in ipairs(PARTS) do
    local there = false
    for _, group in ipairs(result.groups) do there = there or group[p[1]] ~= nil end
    if there then
      local columns, rows = verb.ways_table(result, p[1])
      parts[#parts + 1] = ("%sWays to a ReLU network, %s\n"):format(head, p[2])
      parts[#parts + 1] = render(columns, rows, format)
    end
  end
  for i, line in ipairs(notes(result)) do lines[i] = note .. line .. "\n" end
  if #lines > 0 then parts[#parts + 1] = table.concat(lines) end
  io.write(table.concat(parts, "\n"))
end

-- Adds what fn returns; what cannot be compared is named on standard error and left out.
local function take(records, name, fn, ...)
  local ok, result = pcall(fn, ...)
  if ok then
    records[#records + 1] = result
  elseif errors.is(result, "fail") then
    local known = name .. ": " -- stands in most messages too
    local why = result.message:sub(1, #known) == known and result.message:sub(#known + 1) or result.message
    io.stderr:write(("lgelu: %s is left out: %s\n"):format(name, why))
  else
    error(result, 0)
  end
end

local function of_condensed(record)
  if not record.swap then errors.fail("no swap of it was stored (lgelu swap)") end
  local result = require("lgelu.compare").of_record(record)
  result.way, result.swap = require("lgelu.swap.ways").of(record.config), record.swap
  return result
end

-- Swaps of the runs, as lgelu.swap.ways compares them.
local function records_of(runs, names, again)
  local records, count = {}, 0
  for _, name in ipairs(runs) do
    local inside = is_condensed(name) and require("lgelu.sweep").records(name) or nil
    if inside and (names or again) then
      errors.usage("%s: a condensed file has no networks to measure: --gates and --again want the runs", name)
    end
    for _, record in ipairs(inside or {}) do
      take(records, ("%s: %s, seed %s"):format(name, record.label, record.seed), of_condensed, record)
    end
    if not inside then
      take(records, name, function()
        local run, report, _, wrong = swap_of(name, names, again)
        if wrong then
          io.stderr:write(("lgelu: not stored: %s\n"):format(errors.is(wrong) and wrong.message or wrong))
        end
        return require("lgelu.swap.ways").record(run, report)
      end)
    end
    count = count + (inside and #inside or 1)
  end
  if #records == 0 then errors.fail("none of the %d runs can be compared", count) end
  return records
end

function verb.run(given)
  require("lgelu.table").check(given.format)
  require("lgelu.C").lib.lg_interrupt_install()
  local names, runs = names_of(given.gates), runs_of(require("lgelu.cli.args").without_sweeps(given.runs))
  if #runs > 1 or is_condensed(runs[1]) then
    several(require("lgelu.swap.ways").compare(records_of(runs, names, given.again)), given.format)
  else
    local run, report, where, wrong = swap_of(runs[1], names, given.again)
    one(run, report, where, given.format)
    if wrong then error(wrong, 0) end
  end
  return 0
end

return verb
