--- Swaps in run.h5: one group of /swap for each set of gates that was replaced, "all" or "gates-1-3"; measuring the
-- same set again replaces its group. Not the measurement: lgelu.swap, whose reports these are.
local errors = require("lgelu.errors")
local store = require("lgelu.store")
local text = require("lgelu.store.text")

local stored = {}

local ROOT = "/swap"

-- Attributes of a part (val, test).
local NUMBERS = { "samples", "predictions", "score_before", "score_after", "drop", "loss_before", "loss_after",
  "flipped", "lost", "gained", "max_logit_change" }

-- Data sets [L], one value a gate; NaN: there is none. fixed: of the gate, not of a part.
local COLUMNS = {
  { name = "lambda", fixed = true, description = "hardness of each gate before the swap" },
  { name = "bound", fixed = true, description = "sup |f(x) - max(x, 0)|: 0.169971207/lambda" },
  { name = "outputs", fixed = true, description = "outputs of the gate for one sample" },
  { name = "swapped", fixed = true, description = "1: replaced by ReLU in this evaluation" },
  { name = "max_deviation", description = "greatest |f(x) - max(x, 0)| observed" },
  { name = "min", description = "least pre-activation" },
  { name = "max", description = "greatest pre-activation" },
  { name = "band", description = "fraction of pre-activations in the transition band |lambda x| < 2" },
  { name = "zeros_before", description = "fraction of outputs that are 0 exactly before the swap" },
  { name = "zeros_after", description = "fraction of outputs that are 0 after it: pre-activations <= 0" },
  { name = "slope", description = "mean derivative of the gate by lambda, x^2 phi(lambda x)" },
}

-- Both parts of a gate's statistics as one, weighted by samples.
local function joined(parts, i)
  local row, total = {}, 0
  for key, value in pairs(parts[1].gates[i]) do row[key] = value end
  for _, part in ipairs(parts) do total = total + part.samples end
  for _, key in ipairs({ "band", "zeros_before", "zeros_after", "slope" }) do
    local sum = 0
    for _, part in ipairs(parts) do sum = sum + (part.gates[i][key] or 0) * part.samples / total end
    row[key] = row[key] and sum
  end
  for _, part in ipairs(parts) do
    local own = part.gates[i]
    row.min, row.max = math.min(row.min, own.min), math.max(row.max, own.max)
    row.max_deviation = math.max(row.max_deviation, own.max_deviation)
  end
  return row
end

--- Every gate's statistics over all parts of a report that were looked at, from those of the parts.
function stored.join(report)
  local parts, gates = { report.val, report.test }, {}
  for i = 1, #report.val.gates do
    gates[i] = joined(parts, i)
    gates[i].swapped = report.val.gates[i].swapped
  end
  return gates
end


--- The name of the group for a set of gates.
-- @param gates   names of all gates of the run
-- @param chosen  name → true for those that are swapped
function stored.key(gates, chosen)
  local parts = { "gates" }
  for i, name in ipairs(gates) do
    if chosen[name] then parts[#parts + 1] = i end
  end
  return #parts == #gates + 1 and "all" or table.concat(parts, "-")
end

local function write_columns(file, group, rows, fixed)
  for _, column in ipairs(COLUMNS) do
    if (column.fixed or false) == fixed then
      local values = {}
      for i, row in ipairs(rows) do
        local value = row[column.name]
        values[i] = value == true and 1 or value == false and 0 or value or 0 / 0
      end
      local name = group .. "/" .. column.name
      file:write_numbers(name, values, "f64")
      file:set_attr(name, "units", "1")
      file:set_attr(name, "description", column.description)
    end
  end
end

local function write_report(file, group, report)
  file:group(group)
  for _, name in ipairs({ "what", "checkpoint", "epoch", "kind", "hash", "relus" }) do
    file:set_attr(group, name, report[name])
  end
  file:set_attr(group, "measured", text.now())
  local names, kinds = {}, {}
  for i, row in ipairs(report.gates) do names[i], kinds[i] = row.name, row.kind end
  file:write_texts(group .. "/names", names)
  file:write_texts(group .. "/kinds", kinds)
  write_columns(file, group, report.gates, true)
  for _, part in ipairs({ "val", "test" }) do
    if report[part] then
      file:group(group .. "/" .. part)
      for _, name in ipairs(NUMBERS) do file:set_attr(group .. "/" .. part, name, report[part][name], "f64") end
      write_columns(file, group .. "/" .. part, report[part].gates, false)
    end
  end
end

--- Writes a report into a run's file, at one instant; a report on the same gates is replaced.
-- @param dir     the run's folder
-- @param report  of swap.measure
-- @return the name of its group
-- @raise as store.change
function stored.write(dir, report)
  local names, chosen = {}, {}
  for i, row in ipairs(report.gates) do
    names[i], chosen[row.name] = row.name, row.swapped
  end
  local group = ROOT .. "/" .. stored.key(names, chosen)
  store.change(dir, function(file) write_report(file, group, report) end)
  return group
end

-- A column of one value a gate.
local function read_column(file, name, count)
  local values, shape = file:read_numbers(name)
  if #shape ~= 1 or shape[1] ~= count then
    errors.fail("%s has %d values, expected one for each of %d gates", name, #values, count)
  end
  return values
end

local function read_columns(file, group, rows, fixed)
  for _, column in ipairs(COLUMNS) do
    if (column.fixed or false) == fixed then
      local values = read_column(file, group .. "/" .. column.name, #rows)
      for i, row in ipairs(rows) do
        local value = values[i]
        if value == value then row[column.name] = value end
        if column.name == "swapped" then row.swapped = value == 1 end
      end
    end
  end
end

local function read_part(file, group, gates)
  local part, rows = {}, {}
  for _, name in ipairs(NUMBERS) do
    part[name] = file:attr(group, name)
    if name == "predictions" then part[name] = part[name] or part.samples end -- not said: one a sample
    if type(part[name]) ~= "number" then errors.fail("%s: attribute '%s' is no number", group, name) end
  end
  for i, row in ipairs(gates) do
    rows[i] = {}
    for key, value in pairs(row) do rows[i][key] = value end
  end
  read_columns(file, group, rows, false)
  part.gates = rows
  return part
end

local function read_report(file, group)
  local report, gates = file:attrs(group), {}
  for _, name in ipairs({ "what", "checkpoint", "kind", "hash" }) do
    if type(report[name]) ~= "string" then errors.fail("%s: attribute '%s' is no text", group, name) end
  end
  if type(report.relus) ~= "number" or type(report.epoch) ~= "number" then
    errors.fail("%s: attribute 'relus' or 'epoch' is no number", group)
  end
  local names, kinds = file:read_texts(group .. "/names"), file:read_texts(group .. "/kinds")
  if #names ~= #kinds or #names == 0 then errors.fail("%s: %d names and %d kinds of gates", group, #names, #kinds) end
  for i, name in ipairs(names) do gates[i] = { name = name, kind = kinds[i] } end
  read_columns(file, group, gates, true)
  report.val = read_part(file, group .. "/val", gates)
  if file:exists(group .. "/test") then report.test = read_part(file, group .. "/test", gates) end
  report.gates = stored.join(report)
  return report
end

--- The evaluations that a run holds: names of their groups under /swap, sorted.
-- @param run  a reader (store.open)
function stored.list(run)
  return run:read(function(file)
    local keys = {}
    for _, name in ipairs(file:exists(ROOT) and file:is_group(ROOT) and file:list(ROOT) or {}) do
      if name == "all" or name:match("^gates%-[%d-]+$") then keys[#keys + 1] = name end
    end
    return keys
  end)
end

--- A stored report, as swap.measure gave it.
-- @param run  a reader (store.open)
-- @param key  name of its group, of `list`; default "all": every gate swapped
-- @return report; nil when there is none
-- @raise fails for a group that is damaged, saying how to measure again
function stored.read(run, key)
  local group = ROOT .. "/" .. (key or "all")
  return run:read(function(file)
    if not file:exists(group) then return nil end
    local ok, result = pcall(read_report, file, group)
    if ok then return result end
    if not errors.is(result, "fail") then error(result, 0) end
    return errors.fail("%s: the stored swap %s is damaged (%s): measure it again with 'lgelu swap %s --again'",
      file.path, group, result.message, run.dir)
  end)
end

return stored
