--- The ways to a ReLU network side by side: runs grouped by what their gates were before the swap, with the scores
-- before and after it over seeds.
--
-- What it is: rows from runs and their swap reports; groups, seeds and intervals are lgelu.compare's. What it is not:
-- measuring (lgelu.swap) or layout (cli/swap.lua).
local compare = require("lgelu.compare")

local ways = {}

--- The ways in their order: id, label.
ways.list = {
  { "abrupt", "GELU, swapped abruptly" },
  { "learned", "λ-GELU learned, swapped" },
  { "fixed", "λ-GELU of fixed λ, swapped" },
  { "hardened", "λ-GELU hardened, swapped" },
  { "relu", "ReLU from the start" },
}

local LABELS, ORDER = {}, {}
for place, way in ipairs(ways.list) do LABELS[way[1]], ORDER[way[1]] = way[2], place end

--- The id of the way of a run, by its configuration.
-- @param config  decoded configuration (run:config())
function ways.of(config)
  local gate = config.gate
  if config.hardening then return "hardened" end
  if gate.kind == "relu" then return "relu" end
  if gate.kind ~= "lambda_gelu" then return "abrupt" end
  return gate.learn == false and "fixed" or "learned"
end

--- What is compared of one run.
-- @param run     reader of a finished run
-- @param report  its swap (lgelu.swap)
-- @raise fails as compare.record
function ways.record(run, report)
  local record = compare.record(run)
  record.way, record.swap = ways.of(run:config()), report
  return record
end

-- Summaries over seeds of one part; nil where a run lacks it.
local function part_of(records, part)
  local summaries = {}
  for _, name in ipairs({ "score_before", "score_after", "drop", "flipped" }) do
    summaries[name] = compare.over_seeds(records, function(r)
      local own = r.swap[part]
      return own and (name == "flipped" and own.flipped / own.predictions or own[name])
    end)
  end
  return summaries.drop and summaries
end

local function lambda_range(records)
  local least, greatest
  for _, record in ipairs(records) do
    for _, g in ipairs(record.swap.gates) do
      if g.lambda then
        least, greatest = math.min(least or g.lambda, g.lambda), math.max(greatest or g.lambda, g.lambda)
      end
    end
  end
  return least, greatest
end

--- The comparison.
-- @param records  of ways.record
-- @return { groups = { { way, label, values = key → text, seeds, records, lambda = { least, greatest } or nil,
--   val, test (nil without) = { score_before, score_after, drop, flipped (fraction of predictions) = summaries over
--   seeds } }, … } in the order of recipes where there are several, then of ways, then of their values, keys = what
--   differs between groups of one way (first "recipe"), pooled, repeated (as compare.groups) }
function ways.compare(records)
  local result, groups, keys, recipes = compare.groups(records), {}, {}, {}
  for i, group in ipairs(result.groups) do
    local first = group.records[1]
    local least, greatest = lambda_range(group.records)
    local recipe = group.values.recipe or ""
    recipes[recipe] = recipes[recipe] or i
    groups[i] = {
      way = first.way, label = LABELS[first.way], values = group.values, seeds = group.seeds, records = group.records,
      lambda = least and { least, greatest }, place = i, recipe = recipes[recipe],
      val = part_of(group.records, "val"), test = part_of(group.records, "test"),
    }
  end
  table.sort(groups, function(a, b)
    if a.recipe ~= b.recipe then return a.recipe < b.recipe end
    if a.way ~= b.way then return ORDER[a.way] < ORDER[b.way] end
    for _, key in ipairs(result.keys) do -- not as the runs were given: a folder's order is that of names
      local x, y = a.values[key] or "", b.values[key] or ""
      if x ~= y then
        local p, q = tonumber(x), tonumber(y)
        if p and q then return p < q end
        if p or q then return p ~= nil end -- numbers before words: "9", "10", "100,50" are a circle otherwise
        return x < y
      end
    end
    return a.place < b.place
  end)
  -- A key that is one value within each way of a recipe only says which way it is.
  for _, key in ipairs(result.keys) do
    local telling = key == "recipe"
    for i = 2, #groups do
      local a, b = groups[i - 1], groups[i]
      telling = telling or (a.way == b.way and a.recipe == b.recipe and a.values[key] ~= b.values[key])
    end
    if telling then keys[#keys + 1] = key end
  end
  return { groups = groups, keys = keys, pooled = result.pooled, repeated = result.repeated }
end

return ways
