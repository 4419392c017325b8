--- lg.bench: how fast the machine does what lgelu does. Each case is one file, lgelu/bench/<case>.lua, that returns
--   summary  one line for help
--   gate     the gate it measures when none is named; false: several in turns; nil: it has no gate
--   columns  the case's own figures, as columns of lgelu.table with key = the field of a record
--   run      function(options) → list of records. options: gate (nil without one), threads (the team's, while it runs),
--            say(text): progress for people. A record has the fields of COLUMNS below, less case and peak_mb, which
--            are filled in here, and those of the case's columns.
-- Called by lgelu bench.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local machine = require("lgelu.machine")

local bench = {}

--- Names of the cases, in the order in which people see them; the only list of them.
bench.cases = { "mlp", "resnet18", "vit", "gpt", "conv", "gate", "gemm" }

-- What every record has.
local COLUMNS = {
  { key = "case", title = "case" },
  { key = "gate", title = "gate" },
  { key = "batch", title = "batch", format = "%d" },
  { key = "threads", title = "threads", format = "%d" },
  { key = "step_ms", title = "step ms", format = "%.3f" },
  { key = "samples_per_s", title = "samples/s", format = "%.4g" },
  { key = "peak_mb", title = "peak MB", format = "%.0f" },
}

--- The module of a case; a usage error with the nearest name for an unknown one.
function bench.case(name)
  for _, known in ipairs(bench.cases) do
    if known == name then return require("lgelu.bench." .. name) end
  end
  errors.usage("there is no bench case '%s'%s; the cases are %s", name, errors.suggest(name, bench.cases),
    table.concat(bench.cases, ", "))
end

-- The gate to measure: the one named, which must be of the list, or the case's own.
local function gate_of(name, case, given)
  if not given then return case.gate or nil end
  if case.gate == nil then errors.usage("bench case %s has no gate: --gate %s does not fit", name, given) end
  local names, index = {}, 0
  repeat
    local known = C.lib.lg_list_name("activation", index)
    if known ~= nil then names[#names + 1] = C.ffi.string(known) end
    index = index + 1
  until known == nil
  if C.lib.lg_list_find("activation", given) < 0 then
    errors.usage("there is no gate '%s'%s; the gates are %s", given, errors.suggest(given, names),
      table.concat(names, ", "))
  end
  return given
end

--- Measures one case.
-- @param name     one of bench.cases
-- @param options  { gate =, threads =, say = }, all optional
-- @return list of records. Ctrl-C stops it before the next round (interrupted, exit status 130)
-- @usage lg.bench.run("gate", { gate = "relu", threads = 1 })[1].forward_fraction
function bench.run(name, options)
  local case, given, team = bench.case(name), options or {}, C.lib.lg_threads()
  local gate = gate_of(name, case, given.gate)
  if given.threads then C.check(C.lib.lg_init(given.threads)) end
  local ok, records = pcall(case.run, {
    gate = gate,
    threads = C.lib.lg_threads(),
    say = function(text)
      if C.lib.lg_interrupted() ~= 0 then errors.interrupted("bench %s: stopped by Ctrl-C", name) end
      if given.say then given.say(text) end
    end,
  })
  C.check(C.lib.lg_init(team))
  if not ok then error(records, 0) end
  for _, record in ipairs(records) do
    record.case, record.peak_mb = name, machine.peak_mb()
  end
  return records
end

--- The records of one case as a table for people.
function bench.render(name, records)
  local columns, rows = {}, {}
  for _, column in ipairs(COLUMNS) do columns[#columns + 1] = column end
  for _, column in ipairs(bench.case(name).columns) do columns[#columns + 1] = column end
  for r, record in ipairs(records) do
    rows[r] = {}
    for c, column in ipairs(columns) do rows[r][c] = record[column.key] end
  end
  return require("lgelu.table").render(columns, rows)
end

return bench
