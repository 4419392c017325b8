--- The condensed file of a sweep: all records (sweep/records.lua) in one small HDF5 file, from which figures are drawn
-- without the runs. The same records give the same bytes. What it is not: enough to go on with a run.
--
-- /             attributes: format = "lgelu-sweep", format_version, name, budget, after, axes (JSON list)
-- /texts        every text of the file once; the columns of /runs that are texts hold its number, from 0
-- /runs/*       a value a run [R]. Texts: run, role, label, recipe, hash, status, error, and as JSON cell, config,
--               attrs, gates (names, kind, t, c, …), swap; "" where there is none. Numbers: seed, epochs and lambdas
--               (how many rows, how many columns of λ), best_epoch, best_val_score, best_test_score (NaN: none)
-- /epochs/*     columns of the runs one after another, epochs of them a run
-- /gates/*      lambda, s (epochs + 1 rows a run), grad_lambda_rms (epochs rows) of lambdas columns, one after another
local errors = require("lgelu.errors")
local format = require("lgelu.store.format")
local h5 = require("lgelu.h5")
local json = require("lgelu.recipe.json")
local text = require("lgelu.store.text")

local condensed = {}

local FORMAT, VERSION = "lgelu-sweep", 1
local PLAIN = { "run", "role", "label", "recipe", "hash", "status", "error" } -- texts as they are
local CODED = { "cell", "config", "attrs", "gates", "swap" } -- as JSON
local COUNTS = { "epochs", "lambdas" }
local NUMBERS = { "seed", "best_epoch", "best_val_score", "best_test_score" }
local WORDS = { NaN = 0 / 0, Infinity = math.huge, ["-Infinity"] = -math.huge } -- JSON has no such numbers

-- A plain table with the numbers that JSON lacks as words.
local function worded(value)
  if type(value) == "number" and (value ~= value or math.abs(value) == math.huge) then
    return value ~= value and "NaN" or value > 0 and "Infinity" or "-Infinity"
  end
  if type(value) ~= "table" then return value end
  local copy = {}
  for key, inner in pairs(value) do copy[key] = worded(inner) end
  return copy
end

local function unworded(value)
  if type(value) == "table" then
    for key, inner in pairs(value) do value[key] = unworded(inner) end
  end
  if type(value) == "string" and WORDS[value] then return WORDS[value] end
  return value
end

-- Writing ------------------------------------------------------------------------------------------------------------

-- What of the gates is no matrix.
local function gates_head(gates)
  local head = {}
  for key, value in pairs(gates) do
    if type(value) ~= "table" or key == "names" then head[key] = value end
  end
  return head
end

-- A record as the flat values of /runs.
local function flatten(record)
  local best = record.best or {}
  local nan = 0 / 0
  local flat = { seed = record.seed, best_epoch = best.epoch or nan, best_val_score = best.val_score or nan,
    best_test_score = best.test_score or nan, epochs = #record.epochs.epoch, lambdas = #(record.gates.lambda[1] or {}) }
  for _, name in ipairs(PLAIN) do flat[name] = record[name] or "" end
  for _, name in ipairs(CODED) do
    local value = name == "gates" and gates_head(record.gates) or record[name]
    flat[name] = value and json.encode(worded(value)) or ""
  end
  return flat
end

-- Texts get numbers, each text one.
local function intern(texts, seen, value)
  if not seen[value] then
    texts[#texts + 1] = value
    seen[value] = #texts - 1
  end
  return seen[value]
end

local function write_runs(file, list)
  local flats, texts, seen = {}, {}, {}
  for i, record in ipairs(list) do flats[i] = flatten(record) end
  local function column(name, dtype, number)
    local values = {}
    for i, flat in ipairs(flats) do values[i] = number and number(flat[name]) or flat[name] end
    file:write_numbers("/runs/" .. name, values, dtype)
  end
  for _, names in ipairs({ PLAIN, CODED }) do
    for _, name in ipairs(names) do
      column(name, "i32", function(value) return intern(texts, seen, text.utf8(value)) end)
    end
  end
  for _, name in ipairs(COUNTS) do column(name, "i32") end
  for _, name in ipairs(NUMBERS) do column(name, "f64") end
  file:write_texts("/texts", texts)
end

local function write_epochs(file, list)
  for _, entry in ipairs(format.epochs) do
    if entry.name ~= "seconds" then
      local values = {}
      for _, record in ipairs(list) do
        for _, value in ipairs(record.epochs[entry.name]) do values[#values + 1] = value end
      end
      local name = "/epochs/" .. entry.name
      file:write_numbers(name, values, entry.dtype)
      file:set_attr(name, "units", entry.units)
      file:set_attr(name, "description", entry.description)
    end
  end
end

local function write_gates(file, list)
  for _, entry in ipairs(format.gates) do
    local values = {}
    for _, record in ipairs(list) do
      for r = 1, #record.gates.lambda > 0 and #record.epochs.epoch + entry.first_row or 0 do
        for _, value in ipairs(record.gates[entry.name][r]) do values[#values + 1] = value end
      end
    end
    local name = "/gates/" .. entry.name
    file:write_numbers(name, values, "f64")
    file:set_attr(name, "units", entry.units)
    file:set_attr(name, "description", entry.description)
  end
end

--- Writes records into a condensed file, replacing it.
-- @param about  description of the sweep, of records.read
function condensed.write(path, list, about)
  h5.with(path, "w", function(file)
    file:set_attr("/", "format", FORMAT)
    file:set_attr("/", "format_version", VERSION)
    file:set_attr("/", "name", about.name)
    file:set_attr("/", "budget", about.budget or "")
    file:set_attr("/", "after", about.after or "")
    file:set_attr("/", "axes", json.encode(about.axes))
    write_runs(file, list)
    write_epochs(file, list)
    write_gates(file, list)
  end)
end

-- Reading ------------------------------------------------------------------------------------------------------------

local function check_format(file)
  local ok, found = pcall(file.attr, file, "/", "format")
  if not ok or found ~= FORMAT then errors.fail("%s: not a condensed sweep of lgelu", file.path) end
  local version = file:attr("/", "format_version")
  if type(version) ~= "number" or version > VERSION then
    errors.fail("%s: written by a newer lgelu (format_version %s, this one reads up to %d)", file.path,
      tostring(version), VERSION)
  end
end

local function read_columns(file)
  local columns, texts = {}, file:read_texts("/texts")
  local function text_column(name)
    local numbers = file:read_numbers("/runs/" .. name)
    for i, number in ipairs(numbers) do
      numbers[i] = texts[number + 1]
      if not numbers[i] then errors.fail("%s: /runs/%s: there is no text %g", file.path, name, number) end
    end
    columns[name] = numbers
  end
  for _, name in ipairs(PLAIN) do text_column(name) end
  for _, name in ipairs(CODED) do text_column(name) end
  for _, name in ipairs(COUNTS) do columns[name] = file:read_numbers("/runs/" .. name) end
  for _, name in ipairs(NUMBERS) do columns[name] = file:read_numbers("/runs/" .. name) end
  return columns
end

-- A reader of one long column, which gives its next n values.
local function slices(file, name)
  local values, at = file:read_numbers(name), 0
  return function(n)
    local slice = {}
    for i = 1, n do slice[i] = values[at + i] end
    at = at + n
    if at > #values then errors.fail("%s: %s has %d values, expected more", file.path, name, #values) end
    return slice
  end
end

local function rows(next_values, count, width)
  local list = {}
  for r = 1, count do list[r] = next_values(width) end
  return list
end

local function best_of(columns, i)
  local epoch, test = columns.best_epoch[i], columns.best_test_score[i]
  if epoch ~= epoch then return nil end
  return { epoch = epoch, val_score = columns.best_val_score[i], test_score = test == test and test or nil }
end

-- Record i, without what stands in long columns.
local function head(columns, i, path)
  local record = { seed = columns.seed[i], best = best_of(columns, i) }
  for _, name in ipairs(PLAIN) do
    if columns[name][i] ~= "" or name ~= "error" then record[name] = columns[name][i] end
  end
  for _, name in ipairs(CODED) do
    if columns[name][i] ~= "" then record[name] = unworded(text.from_json(columns[name][i], path .. ": " .. name)) end
  end
  record.name = record.run
  return record
end

--- Reads a condensed file.
-- @return list of records; description { name, budget, axes, after }
function condensed.read(path)
  return h5.with(path, "r", function(file)
    check_format(file)
    local columns, list, readers = read_columns(file), {}, {}
    for _, entry in ipairs(format.epochs) do
      if entry.name ~= "seconds" then readers[entry.name] = slices(file, "/epochs/" .. entry.name) end
    end
    for _, entry in ipairs(format.gates) do readers[entry.name] = slices(file, "/gates/" .. entry.name) end
    for i = 1, #columns.run do
      local record, epochs, width = head(columns, i, path), columns.epochs[i], columns.lambdas[i]
      record.epochs = {}
      for _, entry in ipairs(format.epochs) do
        if entry.name ~= "seconds" then record.epochs[entry.name] = readers[entry.name](epochs) end
      end
      local began = #record.gates.names > 0
      for _, entry in ipairs(format.gates) do
        record.gates[entry.name] = rows(readers[entry.name], began and epochs + entry.first_row or 0, width)
      end
      list[i] = record
    end
    local budget, after = file:attr("/", "budget"), file:attr("/", "after")
    return list, { name = file:attr("/", "name"), budget = budget ~= "" and budget or nil,
      after = after ~= "" and after or nil, axes = text.from_json(file:attr("/", "axes"), path .. ": axes") }
  end)
end

return condensed
