--- lg.data: data sets by name. Loads a source, splits it, makes batches.
--   set = lg.data.load{source = "moons", n = 200}      set.train.x, set.train.y, set.test.x, …; set.x is set.train.x
--   train, val = lg.data.split(set, 0.1, seed)
--   batches = lg.data.loader(set, "train", train, {batch = 64, shuffle = true})
--   batches:start(0); for x, y, rows in batches:each() do … end
-- What it is not: the sources (one file each, listed in data/sources.lua), nor the readers, which are C (src/data).
local C = require("lgelu.C")
local augment = require("lgelu.data.augment")
local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local find = require("lgelu.data.find")
local loader = require("lgelu.data.loader")
local names = require("lgelu.data.sources")
local split = require("lgelu.data.split")
local tensors = require("lgelu.data.tensors")

local data = { split = split.split, loader = loader.new }

-- Keys that every source has.
local COMMON = {
  { key = "validation", type = "number", default = 0.1, exclusive_min = 0, example = "data.validation=5000",
    doc = "Share (below 1) or number of training rows kept for validation, each class in proportion." },
}

--- Names of the sources, in the order in which people see them.
function data.sources()
  return { unpack(names) }
end

--- The module of a source (see data/sources.lua); a usage error with the nearest name for an unknown one.
function data.source(name)
  for _, known in ipairs(names) do
    if known == name then return require("lgelu.data." .. name) end
  end
  errors.usage("data.source: found '%s', expected one of %s%s", tostring(name), table.concat(names, ", "),
    errors.suggest(name, names))
end

--- Entries (as in lgelu.recipe.schema) of the keys of `data = {source = name, …}`, without `source` itself.
function data.schema(name)
  local entries = { unpack(data.source(name).schema) }
  for _, entry in ipairs(data.source(name).own_validation and {} or COMMON) do entries[#entries + 1] = entry end
  return entries
end

--- config with defaults filled in; a usage error that names the key, what was found and what was expected.
local function fill_in(config)
  if type(config) ~= "table" then errors.usage("data.load: expected a table such as {source = 'moons', n = 200}") end
  local source, full, known = data.source(config.source), { source = config.source }, { "source" }
  for _, entry in ipairs(data.schema(config.source)) do
    known[#known + 1] = entry.key
    local value = config[entry.key]
    if value == nil then value = entry.default end
    if value == nil and entry.required then
      errors.usage("data.%s is missing: expected %s", entry.key, check.expected(entry))
    end
    local problem = value ~= nil and check.problem(entry, value)
    if problem then errors.usage("data.%s: %s", entry.key, problem) end
    full[entry.key] = value
  end
  for key in pairs(config) do
    if full[key] == nil then
      errors.usage("data.%s: unknown key of source '%s', which knows: %s%s", tostring(key), config.source,
        table.concat(known, ", "), errors.suggest(key, known))
    end
  end
  local problem = source.problem and source.problem(full)
  if problem then errors.usage("data.%s", problem) end
  return full
end

--- sha256 (hex) over dtype, shape and bytes of all tensors of a set: the same for every way of packing its files.
local function content_hash(set)
  local hex, lines = C.ffi.new("char[65]"), {}
  for _, part in ipairs({ "train", "test" }) do
    for _, name in ipairs({ "x", "y" }) do
      local t = set[part] and set[part][name]
      if t then
        local bytes = C.lib.lg_tensor_size(t) * C.lib.lg_dtype_bytes(C.lib.lg_tensor_dtype(t))
        C.check(C.lib.lg_sha256(hex, tensors.pointer(t), bytes))
        lines[#lines + 1] = ("%s.%s %s[%s] %s\n"):format(part, name, t.dtype, table.concat(t.shape, ", "),
          C.ffi.string(hex))
      end
    end
  end
  local text = table.concat(lines)
  C.check(C.lib.lg_sha256(hex, text, #text))
  return C.ffi.string(hex)
end

--- Pads the images of a set and notes on it what the training loader does to them.
local function treat_images(set, config)
  if config.crop == nil then return end -- the source has no images
  local problem = augment.problem(config, { select(2, unpack(set.train.x.shape)) })
  if problem then errors.usage("data.%s", problem) end
  for _, part in ipairs(config.pad > 0 and { set.train, set.test } or {}) do
    part.x = augment.padded(part.x, config.pad)
  end
  set.augment = { crop = config.crop, flip = config.flip, cutout = config.cutout, erase = config.erase,
    mixup = config.mixup }
end

--- Loads a data set.
-- @param config  {source = name, …}: the `data` section of a recipe, or a part of it; missing keys get their defaults
-- @return set: name (its source's), description, classes, labels (names of classes, or nil), input_shape (of one row),
--   train = {x = u8 or f32 [N, …], y = i32 [N]}, test = the same or nil; x, y = train's;
--   scale, mean, sd: a batch holds (x·scale − mean)/sd per channel; mean and sd are nil until data.split or the first
--   loader takes them from the training rows (normalization = "training rows"), or given ("constants");
--   of ids (texts): input_dtype = "i32", label_shape = { tokens } with y = i32 [N, tokens], held_out = how many of the
--   last training rows are for validation, entries = how many ids there are (of sentences), windows = { starts =
--   places } where they are random, tokens = { level, vocabulary };
--   of tables: columns = { names, kinds, features, kept }, standardize (mean and sd of each column);
--   score = name of what such data are judged by (lgelu.score), nil: accuracy;
--   augment = { crop =, flip =, cutout = } for images, else nil; sha256 of the content, before any padding;
--   found_in (folder, or nil when generated); notes = list of lines for the log, a source's own `note` the last
function data.load(config)
  config = fill_in(config)
  local set = data.source(config.source).load(config)
  set.name = config.source
  set.sha256 = content_hash(set)
  treat_images(set, config)
  set.normalization = set.mean and "constants" or "training rows"
  set.input_shape = { select(2, unpack(set.train.x.shape)) }
  set.x, set.y = set.train.x, set.train.y
  local notes = data.source(config.source).kind == "files" and find.notes() or {}
  notes[#notes + 1] = set.note
  set.notes = notes
  return set
end

return data
