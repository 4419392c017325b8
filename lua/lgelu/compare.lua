--- Comparison of finished runs: groups by what differs in their configurations besides the seed, and per group the
-- scores, hardness and drift over seeds, with ΔBVS against the GELU baselines.
--
-- What it is: pure functions from opened runs, or records of sweeps, to rows. What it is not: layout (lgelu.table) or
-- finding runs (lgelu.store, lgelu.sweep). Called by lgelu.cli.compare, the figures of sweeps (lgelu.plot) and at the
-- prompt, as `lg.compare`.
--
-- Seeds are the independent samples: runs of one group that share a seed (as with several init modes pooled by `by`)
-- are averaged first, and n counts seeds. ΔBVS pairs each run with its baseline: the run of the same seed that differs
-- from it in gate.* and hardening.* alone, and is its sweep's baseline or has gate.kind = gelu.
-- @module lgelu.compare

local errors = require("lgelu.errors")
local scores = require("lgelu.score")
local stats = require("lgelu.stats")

local compare = {}

-- Keys that say nothing about the experiment.
local IDENTITY = { name = true, seed = true }

-- Sections in which a run may differ from its baseline.
local OF_GATE = { gate = true, hardening = true }

-- Configuration as key → text: "gate.kind" → "gelu"; lists as "512,256".
local function flatten(config, flat, prefix)
  for key, value in pairs(config) do
    local full = prefix .. key
    if type(value) ~= "table" then
      flat[full] = tostring(value)
    elseif #value > 0 then
      local texts = {}
      for i, item in ipairs(value) do texts[i] = tostring(item) end
      flat[full] = table.concat(texts, ",")
    else
      flatten(value, flat, full .. ".")
    end
  end
  return flat
end

-- What runs of one group have in common: the recipe's hash. A fine-tuned run's hash names its parent, whose seed is its
-- own: there it is the configuration, with the beginning of the parent's hash.
local function identity(r, config)
  local parent = config["hardening.parent"]
  if not parent then return r.hash end
  config["hardening.parent"] = (parent:match("^(%x*)%-s%d+$") or parent):sub(1, 8)
  local texts = {}
  for key, value in pairs(config) do
    if not IDENTITY[key] then texts[#texts + 1] = key .. "=" .. value end
  end
  table.sort(texts)
  return table.concat(texts, "\n")
end

local function is_finite(x) return type(x) == "number" and x == x and math.abs(x) < math.huge end

--- What is compared of one run of a sweep.
-- @tparam table r record of lgelu.sweep: name, status, seed, hash, config, epochs, gates, best; role and attrs where it
-- has them
-- @treturn table name, seed, hash, id (of its group), role, config (key → text), score (of lgelu.score), bvs,
-- best (index of the BVS epoch), test (nil without a test set), epochs (count), lambda (at the BVS epoch; nil without),
-- drift
-- @raise the work failed: the run is not done, or holds no finite BVS
function compare.of_record(r)
  if r.status ~= "done" then errors.fail("it is %s, not done", tostring(r.status)) end
  local best, epochs, gates = r.best, r.epochs, r.gates
  if not best or not is_finite(best.val_score) then errors.fail("it holds no best validation score") end
  local record = {
    name = r.name, seed = tonumber(r.seed), hash = r.hash, role = r.role, config = flatten(r.config, {}, ""),
    score = scores.named(r.attrs and r.attrs.score), bvs = best.val_score,
    test = is_finite(best.test_score) and best.test_score or nil, epochs = #epochs.epoch,
  }
  record.id = identity(r, record.config)
  for e, epoch in ipairs(epochs.epoch) do
    if epoch == best.epoch then record.best = e end
  end
  if not record.best then errors.fail("its best epoch, %s, is none of its epochs", tostring(best.epoch)) end
  if #gates.lambda > 1 and #gates.lambda[1] > 0 then
    record.lambda = gates.lambda[record.best + 1]
    if not record.lambda then errors.fail("it holds no λ of its best epoch, %s", tostring(best.epoch)) end
    record.drift = stats.drift(gates.lambda)
  end
  return record
end

--- The same of an opened run.
-- @tparam table run reader of lgelu.store
-- @treturn table as compare.of_record
-- @raise as compare.of_record
function compare.record(run)
  local attrs = run.attrs
  if attrs.status ~= "done" then errors.fail("it is %s, not done", run:status()) end
  return compare.of_record({
    name = run.dir:match("[^/]*$"), status = attrs.status, seed = attrs.seed, hash = attrs.hash, config = run:config(),
    epochs = run:epochs(), gates = run:gates(), best = run:best(), attrs = attrs,
  })
end

-- All keys of all records, sorted.
local function all_keys(records)
  local seen, keys = {}, {}
  for _, record in ipairs(records) do
    for key in pairs(record.config) do
      if not seen[key] then
        seen[key] = true
        keys[#keys + 1] = key
      end
    end
  end
  table.sort(keys)
  return keys
end

-- What a record has of a key; "recipe" is the recipe's name, of a fine-tuned run that of its parent.
local function value_of(record, key)
  if key ~= "recipe" then return record.config[key] end
  local name = record.config.name
  return record.config["hardening.parent"] and name and name:gsub("_hardened$", "") or name
end

-- Does key have more than one value among the records?
local function varies(records, key)
  for i = 2, #records do
    if value_of(records[i], key) ~= value_of(records[1], key) then return true end
  end
  return false
end

local function present_in(records, key)
  for _, record in ipairs(records) do
    if value_of(record, key) ~= nil then return true end
  end
  return false
end

-- The one value of key among the records that have it; nil when there are several.
local function common(records, key)
  local value
  for _, record in ipairs(records) do
    local own = record.config[key]
    if own and value and own ~= value then return nil end
    value = value or own
  end
  return value
end

-- Records by group in order of appearance; two runs of one configuration and seed are one sample, so only the first
-- of them counts.
local function split(records, identify)
  local groups, by_id, seen, repeated = {}, {}, {}, {}
  for _, record in ipairs(records) do
    local sample = record.hash .. " " .. record.seed
    if seen[sample] then
      repeated[#repeated + 1] = { record.name, seen[sample] }
    else
      seen[sample] = record.name
      local id = identify(record)
      if not by_id[id] then
        by_id[id] = { records = {} }
        groups[#groups + 1] = by_id[id]
      end
      table.insert(by_id[id].records, record)
    end
  end
  return groups, repeated
end

-- Seed and everything but the gate and its hardening: what a run and its baseline have in common.
local function pairing(record, keys)
  local parts = { "seed=" .. record.seed }
  for _, key in ipairs(keys) do
    if not IDENTITY[key] and not OF_GATE[key:match("^[^.]*")] and record.config[key] then
      parts[#parts + 1] = key .. "=" .. record.config[key]
    end
  end
  return table.concat(parts, "\n")
end

local function is_baseline(record)
  return record.role == "baseline" or record.config["gate.kind"] == "gelu"
end

-- Baselines by what they have in common with their runs; a sweep's own before other GELU runs.
local function baselines_of(records, keys)
  local baselines = {}
  for _, own in ipairs({ true, false }) do
    for _, record in ipairs(records) do
      local id = pairing(record, keys)
      if is_baseline(record) and (record.role == "baseline") == own and not baselines[id] then
        baselines[id] = record
      end
    end
  end
  return baselines
end

--- Summary over seeds (stats.summary) of value(record), averaged within each seed; nil when a record has none.
function compare.over_seeds(records, value)
  local seeds, sums, counts = {}, {}, {}
  for _, record in ipairs(records) do
    local x = value(record)
    if x == nil then return nil end
    if not counts[record.seed] then
      seeds[#seeds + 1] = record.seed
      sums[record.seed], counts[record.seed] = 0, 0
    end
    sums[record.seed], counts[record.seed] = sums[record.seed] + x, counts[record.seed] + 1
  end
  if #seeds == 0 then return nil end
  for i, seed in ipairs(seeds) do seeds[i] = sums[seed] / counts[seed] end
  return stats.summary(seeds)
end

-- Mean λ of each gate over the records; nil when they have none, or not equally many.
local function mean_profile(records)
  local profile, count = {}, records[1].lambda and #records[1].lambda or 0
  if count == 0 then return nil end
  for _, record in ipairs(records) do
    if not record.lambda or #record.lambda ~= count then return nil end
    for l = 1, count do profile[l] = (profile[l] or 0) + record.lambda[l] / #records end
  end
  return profile
end

-- The score that a group's runs share: accuracies and bits have no mean.
local function score_of(records)
  for _, record in ipairs(records) do
    if record.score ~= records[1].score then
      errors.usage("--by would pool runs of different scores: %s has %s, %s has %s; compare those of one score",
        records[1].name, records[1].score.name, record.name, record.score.name)
    end
  end
  return records[1].score
end

-- Fills a group in; returns how many of its runs lack a baseline.
local function measure(group, baselines, keys)
  local records = group.records
  group.score = score_of(records)
  group.bvs = compare.over_seeds(records, function(r) return r.bvs end)
  group.test = compare.over_seeds(records, function(r) return r.test end)
  group.drift = compare.over_seeds(records, function(r) return r.drift end)
  group.seeds = group.bvs.n
  group.profile = mean_profile(records)
  group.epochs = { math.huge, 0 }
  local paired, deltas, alone = {}, {}, 0
  for _, record in ipairs(records) do
    group.epochs = { math.min(group.epochs[1], record.epochs), math.max(group.epochs[2], record.epochs) }
    local baseline = baselines[pairing(record, keys)]
    if baseline and not is_baseline(record) then
      deltas[#deltas + 1] = record.score:drop(record.bvs, baseline.bvs) -- above 0: better than the baseline
      paired[#paired + 1] = { seed = record.seed, delta = deltas[#deltas] }
    elseif not is_baseline(record) then
      alone = alone + 1
    end
  end
  group.delta = compare.over_seeds(paired, function(p) return p.delta end)
  group.pairs = #deltas > 0 and stats.summary(deltas) or nil
  return alone
end

-- Keys that say by their presence whether a configuration has a section at all: "hardening.schedule".
local function presence_keys()
  local schema, keys = require("lgelu.recipe.schema"), {}
  for _, name in ipairs(schema.order) do
    local section = schema.section(name)
    if section.optional then keys[name .. "." .. section.variant] = true end
  end
  return keys
end

-- Keys that differ between groups, keys that differ within them, and keys that some groups have, all of them with one
-- value, as gate.t of the λ-GELU runs beside relu ones: { key, value }.
local function differences(records, groups, keys, by)
  local between, within, present, presence = by and by.recipe and { "recipe" } or {}, {}, {}, presence_keys()
  for _, key in ipairs(keys) do
    local pooled = false
    for _, group in ipairs(groups) do pooled = pooled or varies(group.records, key) end
    local telling = varies(records, key) and not IDENTITY[key]
    if by and by[key] then
      between[#between + 1] = key
    elseif telling and pooled then
      within[#within + 1] = key
    elseif telling and not by then
      local value = not presence[key] and common(records, key)
      if value then present[#present + 1] = { key, value } else between[#between + 1] = key end
    end
  end
  return between, within, present
end

-- Does a key only say which recipe a run is of? Not those of the gate and its hardening, which are what is compared.
local function tells_recipe(records, key)
  if OF_GATE[key:match("^[^.]*")] then return false end
  local seen, of = {}, {}
  for _, record in ipairs(records) do
    local name = value_of(record, "recipe")
    if seen[name] and of[name] ~= record.config[key] then return false end
    seen[name], of[name] = true, record.config[key]
  end
  return true
end

-- Where runs of several recipes differ in two or more keys that only say which recipe it is, its name stands for them,
-- as the key "recipe": returns between and present without those keys, and the keys.
local function by_recipe(records, between, present)
  local kept, rest, told = { "recipe" }, {}, {}
  for _, key in ipairs(between) do
    local list = tells_recipe(records, key) and told or kept
    list[#list + 1] = key
  end
  for _, pair in ipairs(present) do
    if tells_recipe(records, pair[1]) then told[#told + 1] = pair[1] else rest[#rest + 1] = pair end
  end
  if #told < 2 or not varies(records, "recipe") then return between, present, {} end
  table.sort(told)
  return kept, rest, told
end

-- Puts groups of one recipe together, in the order in which recipes and groups came.
local function order_by_recipe(groups)
  local places, count = {}, 0
  for i, group in ipairs(groups) do
    local name = group.values.recipe
    if not places[name] then
      count = count + 1
      places[name] = count
    end
    group.place = { places[name], i }
  end
  table.sort(groups, function(a, b)
    if a.place[1] ~= b.place[1] then return a.place[1] < b.place[1] end
    return a.place[2] < b.place[2]
  end)
  for _, group in ipairs(groups) do group.place = nil end
end

--- Compares runs.
-- @tparam table records from compare.record
-- @tparam ?table by list of keys to group by ("recipe": the recipes' names), pooling runs that differ in others; by
-- default every difference counts
-- @treturn table `groups`: list of { values = key → text, records, seeds, score (of lgelu.score), bvs, test, drift,
-- delta (summaries over seeds; nil where there is nothing), pairs (summary of ΔBVS over all runs, whatever their seed),
-- profile (mean λ of each gate at the BVS epoch), epochs = { least, most } };
-- `keys`: what differs between groups, first "recipe" where the name of each stands for the keys in `told` (else
-- empty) and groups of one recipe stand together; `pooled`: what differs within groups; `present`: list of { key,
-- value } that only some groups have, with one value; `repeated`: list of { name, name of the run that it
-- repeats }, left out;
-- `unpaired`: how many runs have no baseline although there are some
-- @raise usage error: no records, a key that no run has, or a group whose runs have different scores
function compare.groups(records, by)
  if #records == 0 then errors.usage("there are no runs to compare") end
  local keys, chosen = all_keys(records), by and {}
  for _, key in ipairs(by or {}) do
    if not present_in(records, key) then
      errors.usage("--by %s: no run has this key%s", key, errors.suggest(key, keys))
    end
    chosen[key] = true
  end
  local groups, repeated = split(records, function(record)
    if not by then return record.id end
    local values = {}
    for i, key in ipairs(by) do values[i] = tostring(value_of(record, key)) end
    return table.concat(values, "\n")
  end)
  local baselines = baselines_of(records, keys)
  local between, within, present = differences(records, groups, keys, chosen)
  local told, unpaired = {}, 0
  if not by then between, present, told = by_recipe(records, between, present) end
  for _, group in ipairs(groups) do
    group.values = {}
    for _, key in ipairs(between) do group.values[key] = value_of(group.records[1], key) end
    unpaired = unpaired + measure(group, baselines, keys)
  end
  if #told > 0 then order_by_recipe(groups) end
  return {
    groups = groups, keys = between, told = told, pooled = within, present = present, repeated = repeated,
    unpaired = next(baselines) and unpaired or 0,
  }
end

--- What scores are multiplied with for people: 100 (per cent, and points of difference) where all are shares in [0, 1].
-- @tparam table records from compare.record
-- @treturn number 100 or 1
function compare.scale(records)
  for _, record in ipairs(records) do
    if record.score.scale == 1 or record.bvs < 0 or record.bvs > 1 then return 1 end
  end
  return 100
end

--- What figures write at the axes of scores: of validation scores, of drops; and a sentence where lower is better.
-- @tparam table records from compare.record
-- @treturn table { score, drop, note = "" or a sentence with a blank before it }
function compare.axes(records)
  local kind = scores.common(records)
  if compare.scale(records) == 100 then
    return { score = "validation score (%)", drop = "drop of the score (points)", note = "" }
  elseif not kind or kind.better == "higher" then
    return { score = "validation score", drop = "drop of the score", note = "" }
  end
  return {
    score = "validation " .. kind.unit, drop = ("drop of the score (%s)"):format(kind.difference),
    note = (" The score is %s, lower is better; a ΔBVS above 0 is better, a drop above 0 worse."):format(kind.unit),
  }
end

return compare
