--- lgelu show: what a run is and how it went: attributes, best epoch, gates, epochs; or its resolved recipe.
-- Reads run files (lgelu.store) and lays tables out (lgelu.table); computes nothing but least and greatest λ.

local errors = require("lgelu.errors")

local show = {}

show.summary = "Show runs: what they are, their best epoch, their gates' λ, their epochs."

-- Epochs at each end of an abridged table.
local ENDS = 6

-- Attributes in the order of the heading; others follow by name. The long ones have options of their own.
local FIRST = { "name", "status", "hash", "seed", "started", "finished", "error" }
local LONG = { recipe = true, config = true, format = true, format_version = true }

function show.setup(parser)
  parser:argument("runs", "Runs, by folder, run.h5 or the beginning of a name under runs/."):args("+")
  parser:flag("--config", "Print the resolved recipe instead.")
  parser:option("--table", "Print one table alone, in full: attributes, gates or epochs."):argname("NAME")
  parser:option("--format", "text, markdown, csv (all digits; takes --table) or latex."):argname("NAME"):default("text")
end

local function attributes(run)
  local rows, seen = {}, {}
  local function add(name, value)
    if value == nil or value == "" or LONG[name] or seen[name] then return end
    seen[name] = true
    local text = type(value) == "number" and ("%.15g"):format(value) or tostring(value)
    for line in text:gmatch("[^\n]+") do
      rows[#rows + 1] = { name, line }
      name = ""
    end
  end
  for _, name in ipairs(FIRST) do
    add(name, name == "status" and run:status() or run.attrs[name])
  end
  local others = {}
  for name in pairs(run.attrs) do
    others[#others + 1] = name
  end
  table.sort(others)
  for _, name in ipairs(others) do
    add(name, run.attrs[name])
  end
  return { { title = "attribute" }, { title = "value", align = "left" } }, rows
end

local function gates(run)
  local data, rows = run:gates(), {}
  for l, name in ipairs(data.names) do
    local least, greatest
    for _, row in ipairs(data.lambda) do
      if row[l] then
        least, greatest = math.min(least or row[l], row[l]), math.max(greatest or row[l], row[l])
      end
    end
    rows[l] = { name, data.lambda[1][l], data.lambda[#data.lambda][l], least, greatest }
  end
  local columns = { { title = "gate", align = "left" } }
  for i, title in ipairs({ "λ first", "λ last", "λ min", "λ max" }) do
    columns[i + 1] = { title = title, format = "%.4f", align = "number" }
  end
  return columns, rows
end

local EPOCH_COLUMNS = {
  { title = "epoch", format = "%d" }, { title = "step", format = "%d" }, { title = "lr", format = "%.4g" },
  { title = "train_loss", format = "%.5f" }, { title = "train_score", format = "%.5f" },
  { title = "val_loss", format = "%.5f" }, { title = "val_score", format = "%.5f" },
  { title = "seconds", format = "%.2f" },
}

-- abridged: only the first and last epochs, with a row of dots between.
local function epochs(run, abridged)
  local data, rows = run:epochs(), {}
  local count = #data.epoch
  for e = 1, count do
    if not abridged or count <= 2 * ENDS + 1 or e <= ENDS or e > count - ENDS then
      local row = {}
      for c, column in ipairs(EPOCH_COLUMNS) do
        row[c] = data[column.title][e]
      end
      rows[#rows + 1] = row
    elseif e == ENDS + 1 then
      rows[#rows + 1] = { "…", "", "", "", "", "", "", "" }
    end
  end
  local columns = {}
  for c, column in ipairs(EPOCH_COLUMNS) do
    columns[c] = { title = column.title, format = column.format, align = "number" }
  end
  return columns, rows
end

local TABLES = { attributes = attributes, gates = gates, epochs = epochs }

local function best_line(run)
  local best = run:best()
  if not best then return "No epoch with a validation score is finished yet." end
  local score = run:score()
  local what = score.name ~= "accuracy" and (" of %s, %s is better,"):format(score.name, score.better) or ""
  local line = ("Best validation score (BVS)%s %.5f at epoch %d"):format(what, best.val_score, best.epoch)
  return line .. (best.test_score and ("; test score %.5f at its weights."):format(best.test_score) or ".")
end

-- How a run was hardened, and that its last weights are its own; nil for other runs.
local function hardening_line(run)
  local config = run:config().hardening
  if not config then return nil end
  local target = config.target or require("lgelu.gate").target(config.eps)
  local line = ("Hardening: %s, %s, from %.6g of the steps (counted from the %s) to λ = %s; s %s."):format(
    config.schedule, config.order == "all" and "all gates at once" or "gate by gate " .. config.order, config.from,
    config.counted, type(target) == "table" and table.concat(target, ", ") or ("%.6g"):format(target),
    config.learn == "frozen" and "frozen" or "learned above the floor")
  local result = run:result()
  if not result then return line end
  return line .. ("\nThe run's weights are its last, hardened ones (last.ckpt.h5): validation score %.5f%s."):format(
    result.val_score, result.test_score and (", test score %.5f"):format(result.test_score) or "")
end

local function gates_line(run)
  local g = run:gates()
  if #g.lambda[1] == 0 then return ("Gates: %s; none has a λ."):format(g.kind or "none") end
  local parts = {}
  for _, key in ipairs({ "t", "c" }) do
    if g[key] then parts[#parts + 1] = ("%s = %.6g"):format(key, g[key]) end
  end
  if g.init and g.init ~= "" then parts[#parts + 1] = "init " .. g.init end
  return ("Gates: %s%s%s."):format(g.kind or "unnamed kind", #parts > 0 and "; " or "", table.concat(parts, ", "))
end

-- The swaps that the run holds, one line each; a damaged one is named, and the rest of the run is shown.
local function swap_lines(run, prefix)
  local stored, lines = require("lgelu.swap.stored"), {}
  for _, key in ipairs(stored.list(run)) do
    local ok, report = pcall(stored.read, run, key)
    if not ok and not errors.is(report) then error(report, 0) end
    local part = ok and (report.test or report.val)
    local line = ok and ("Swapped for ReLU, %s: %s score %.5f, then %.5f (drop %s)."):format(
      key == "all" and "every gate" or report.what, report.test and "test" or "validation", part.score_before,
      part.score_after, run:score():drop_text(part.drop))
    lines[#lines + 1] = prefix .. (line or report.message) .. "\n"
  end
  return lines
end

local function overview(run, format)
  local render = require("lgelu.table").render
  local heading = format == "markdown" and "## %s\n" or format == "latex" and "%% %s\n" or "%s\n"
  local prefix = format == "latex" and "% " or ""
  local columns, rows = attributes(run)
  local parts = { heading:format(run.dir), render(columns, rows, format), prefix .. best_line(run) .. "\n" }
  local hardening = hardening_line(run)
  if hardening then parts[#parts + 1] = prefix .. hardening:gsub("\n", "\n" .. prefix) .. "\n" end
  parts[#parts + 1] = prefix .. gates_line(run) .. "\n"
  for _, line in ipairs(swap_lines(run, prefix)) do parts[#parts + 1] = line end
  if #run:gates().lambda[1] > 0 then
    columns, rows = gates(run)
    parts[#parts + 1] = render(columns, rows, format)
  end
  if #run:epochs().epoch > 0 then
    columns, rows = epochs(run, true)
    parts[#parts + 1] = render(columns, rows, format)
  end
  return table.concat(parts, "\n")
end

local function config(run)
  local recipe = require("lgelu.recipe")
  return recipe.describe(recipe.from_stored(run.attrs.config, run.attrs.recipe, run.path))
end

local function check(given)
  require("lgelu.table").check(given.format)
  if given.table and not TABLES[given.table] then
    errors.usage("--table: '%s' is none of attributes, gates, epochs%s", given.table,
      errors.suggest(given.table, TABLES))
  end
  if given.config and (given.table or given.format ~= "text") then
    errors.usage("--config prints the recipe as text: it takes neither --table nor --format")
  end
  if given.format == "csv" and not given.table and not given.config then
    errors.usage("--format csv holds one table: choose it with --table attributes, gates or epochs")
  end
end

function show.run(given)
  local store, tables = require("lgelu.store"), require("lgelu.table")
  check(given)
  for i, name in ipairs(require("lgelu.cli.args").without_sweeps(given.runs)) do
    local run = store.open(store.resolve(name))
    if i > 1 then io.write("\n") end
    if given.config then
      io.write(config(run))
    elseif given.table then
      local columns, rows = TABLES[given.table](run)
      io.write(tables.render(columns, rows, given.format))
    else
      io.write(overview(run, given.format))
    end
  end
  return 0
end

return show
