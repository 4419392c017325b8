--- Sweeps as figures read them: their finished runs, what is missing, and what every caption says of them.
--
-- What it is: records of lgelu.sweep, sorted into those that count (compare.of_record) and gaps with their reasons;
-- groups over seeds come from lgelu.compare. What it is not: reading files (lgelu.sweep) or statistics (lgelu.stats).
-- Called by lgelu.plot and the figures that take sweeps.
--
-- A sweep is { dir = path as given, name, budget, records, done = list of compare.record, each with its cell, label and
-- source, the record that it was made of; gaps =
-- list of { label, seed, message, record } }.
-- @module lgelu.plot.sweeps

local compare = require("lgelu.compare")
local errors = require("lgelu.errors")

local sweeps = {}

-- A value of a recipe as text; lists as "512,256".
local function text_of(value)
  if type(value) ~= "table" then return tostring(value) end
  local texts = {}
  for i, item in ipairs(value) do texts[i] = tostring(item) end
  return table.concat(texts, ",")
end

local function label_of(record)
  return (record.role == "baseline" and "baseline " or "") .. record.label
end

--- Sorts records.
-- @tparam string dir what the sweep was called by: its folder or condensed file
-- @tparam table records as lgelu.sweep.records gives them
-- @tparam table about name and budget, as lgelu.sweep.describe gives them
-- @treturn table sweep, see above
-- @raise the work failed: there are no records, or none of them is a finished run
function sweeps.from(dir, records, about)
  local sweep = { dir = dir, name = about.name, budget = about.budget, records = records, done = {}, gaps = {} }
  if #records == 0 then errors.fail("%s: this sweep has no runs", dir) end
  for _, record in ipairs(records) do
    local ok, result = pcall(compare.of_record, record)
    if ok then
      result.cell, result.source, result.label = record.cell or {}, record, label_of(record)
      sweep.done[#sweep.done + 1] = result
    elseif errors.is(result) then
      local message = result.message:gsub("^it is ", "", 1)
      if record.error then message = ("%s: %s"):format(tostring(record.status), tostring(record.error)) end
      sweep.gaps[#sweep.gaps + 1] = { label = label_of(record), seed = record.seed, message = message, record = record }
    else
      error(result, 0)
    end
  end
  if #sweep.done == 0 then
    local first = sweep.gaps[1]
    errors.fail("%s: none of its %d runs can be drawn; the first: %s, seed %s: %s", dir, #records, first.label,
      tostring(first.seed), first.message)
  end
  return sweep
end

--- Opens a sweep.
-- @tparam string word its folder or condensed file
-- @treturn table sweep, see above
-- @raise as lgelu.sweep.records, and as sweeps.from
function sweeps.open(word)
  local sweep = require("lgelu.sweep")
  local records = sweep.records(word)
  return sweeps.from(sweep.resolve(word), records, sweep.describe(word))
end

--- Where a picture goes when nobody says: fig/NAME.png in the sweep's folder, NAME.png beside a condensed file.
function sweeps.default_out(list, name)
  local dir = list[1].dir:gsub("(.)/+$", "%1")
  if dir:find("%.h5$") then return (dir:match("^(.*/)") or "") .. name .. ".png" end
  return ("%s/fig/%s.png"):format(dir, name)
end

--- The value of a key of one record of lgelu.sweep or compare.record, as text: from its cell, or the configuration.
-- @return nil where neither has it, as in a run that never began
function sweeps.value(record, key)
  if record.cell and record.cell[key] ~= nil then return text_of(record.cell[key]) end
  local at = record.config
  if not at then return nil end
  if at[key] ~= nil then return text_of(at[key]) end
  for part in key:gmatch("[^.]+") do
    at = type(at) == "table" and at[part] or nil
  end
  return at ~= nil and text_of(at) or nil
end

local function recipe_of(record) return sweeps.value(record, "name") or record.recipe or "unknown" end

--- Cuts sweeps by the recipes of their runs: one part for each sweep and recipe that has finished runs.
-- @tparam table list sweeps
-- @treturn table list of sweeps, each of one recipe, in order of appearance; recipe = its name
function sweeps.by_recipe(list)
  local parts = {}
  for _, sweep in ipairs(list) do
    local of = {}
    for _, record in ipairs(sweep.done) do
      local name = recipe_of(record.source)
      if not of[name] then
        of[name] = { dir = sweep.dir, name = sweep.name, budget = sweep.budget, recipe = name, records = {}, done = {},
          gaps = {} }
        parts[#parts + 1] = of[name]
      end
      table.insert(of[name].done, record)
    end
    for _, record in ipairs(sweep.records) do
      local part = of[recipe_of(record)]
      if part then table.insert(part.records, record) end
    end
    for _, gap in ipairs(sweep.gaps) do
      local part = of[recipe_of(gap.record)]
      if part then table.insert(part.gaps, gap) end
    end
  end
  return parts
end

--- Refuses a sweep (of one recipe) that varies what the figure could only average over in silence.
-- @tparam table sweep
-- @tparam string figure its name, for the message
-- @tparam table allowed key → true
-- @raise the work failed: names the key and its values
function sweeps.check_axes(sweep, figure, allowed)
  local cells, keys = {}, {}
  for _, record in ipairs(sweep.records) do
    if record.role ~= "baseline" then
      cells[#cells + 1] = record
      for key in pairs(record.cell) do keys[#keys + 1] = not allowed[key] and key ~= "recipe" and key or nil end
    end
  end
  for _, key in ipairs(sweeps.sorted(keys)) do
    local first
    for _, record in ipairs(cells) do
      -- What a cell does not give is the recipe's; a section such as hardening may not be there at all.
      local value = sweeps.value(record, key) or sweeps.value(record, "gate.t") and "none"
      if first and value and first ~= value then
        errors.fail("%s: %s differs between the cells of this sweep (%s, %s, …); %s shows one value of it", sweep.dir,
          key, first, value, figure)
      end
      first = first or value
    end
  end
end

--- Lists texts in the order of their numbers, or of their letters where they are none; each once.
function sweeps.sorted(texts)
  local seen, list, numeric = {}, {}, true
  for _, text in ipairs(texts) do
    if not seen[text] then
      seen[text] = true
      list[#list + 1] = text
      numeric = numeric and tonumber(text) ~= nil
    end
  end
  table.sort(list, function(a, b)
    if numeric then return tonumber(a) < tonumber(b) end
    return a < b
  end)
  return list
end

--- Different values of a key over records, in order.
function sweeps.values(records, key)
  local texts = {}
  for _, record in ipairs(records) do
    local text = sweeps.value(record, key)
    if text then texts[#texts + 1] = text end
  end
  return sweeps.sorted(texts)
end

-- "20 epochs", "1 to 20 epochs".
local function epochs_text(done)
  local least, most = math.huge, 0
  for _, record in ipairs(done) do least, most = math.min(least, record.epochs), math.max(most, record.epochs) end
  return (least == most and "%d epochs" or "%d to %d epochs"):format(least, most)
end

--- Lines on what is missing, for standard error.
function sweeps.gap_lines(list)
  local lines = {}
  for _, sweep in ipairs(list) do
    for _, gap in ipairs(sweep.gaps) do
      lines[#lines + 1] = ("%s: left out: %s, seed %s: %s"):format(sweep.dir, gap.label, tostring(gap.seed),
        (gap.message:gsub("%s*\n%s*", " ")))
    end
  end
  return lines
end

-- One line a run: hash, seed, cell.
local function runs_text(sweep)
  local lines = {}
  for _, record in ipairs(sweep.done) do
    lines[#lines + 1] = ("  %s seed %s %s"):format(record.hash, tostring(record.seed), record.label)
  end
  return table.concat(lines, "\n")
end

-- "model arch=mlp hidden=512,256; train batch=128 epochs=20": what the runs of a recipe have in common besides gates.
local function setting_text(done)
  local parts = {}
  for _, section in ipairs({ "data", "model", "optimizer", "schedule", "train" }) do
    local texts = {}
    for key, value in pairs(done[1].config) do
      local same = key:sub(1, #section + 1) == section .. "."
      for _, record in ipairs(done) do same = same and record.config[key] == value end
      if same then texts[#texts + 1] = key:sub(#section + 2) .. "=" .. value:gsub("%s+", " ") end
    end
    if #texts > 0 then parts[#parts + 1] = section .. " " .. table.concat(sweeps.sorted(texts), " ") end
  end
  return table.concat(parts, "; ")
end

--- The paragraphs that end every caption: n, budget, seeds, what the runs have in common, what is missing, and the runs
-- by their hashes.
-- @tparam table list sweeps
-- @tparam table notes further lines on what is missing (optional)
-- @treturn table list of paragraphs
function sweeps.paragraphs(list, notes)
  local parts = {}
  for _, sweep in ipairs(list) do
    local baselines = 0
    for _, record in ipairs(sweep.done) do baselines = baselines + (record.role == "baseline" and 1 or 0) end
    local seeds, names = sweeps.values(sweep.done, "seed"), {}
    for i, record in ipairs(sweep.done) do names[i] = recipe_of(record.source) end
    parts[#parts + 1] = ("Sweep %s (recipe %s): n = %d run%s, of them %d baseline%s; seed%s %s; budget %s, %s."):format(
      tostring(sweep.name), table.concat(sweeps.sorted(names), ", "), #sweep.done, #sweep.done == 1 and "" or "s",
      baselines, baselines == 1 and "" or "s", #seeds == 1 and "" or "s", table.concat(seeds, ", "),
      tostring(sweep.budget or "as in the recipe"), epochs_text(sweep.done))
  end
  for _, part in ipairs(sweeps.by_recipe(list)) do
    local setting = setting_text(part.done)
    if setting ~= "" then parts[#parts + 1] = ("%s: %s."):format(part.recipe, setting) end
  end
  local missing = sweeps.gap_lines(list)
  for _, note in ipairs(notes or {}) do missing[#missing + 1] = note end
  if #missing > 0 then parts[#parts + 1] = "Missing:\n  " .. table.concat(missing, "\n  ") end
  for _, sweep in ipairs(list) do
    parts[#parts + 1] = ("Runs of %s, by recipe hash:\n%s"):format(tostring(sweep.name), runs_text(sweep))
  end
  return parts
end

return sweeps
