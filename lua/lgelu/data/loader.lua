--- Batches in Lua: a handle on the loader of src/data/loader.c, whose thread prepares two batches ahead.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local split = require("lgelu.data.split")
local tensor = require("lgelu.tensor")
local tensors = require("lgelu.data.tensors")

local ffi, lib, check = C.ffi, C.lib, C.check

local Loader = {}
Loader.__index = Loader

-- option → type, default
local OPTIONS = {
  batch = { "number", 128 }, last = { "string", "keep" }, shuffle = { "boolean", false }, seed = { "number", 0 },
  augment = { "boolean", false },
}

local function read_options(given)
  local options = {}
  for key, value in pairs(given or {}) do
    local option = OPTIONS[key]
    if not option then
      errors.usage("data.loader: unknown option '%s'%s", tostring(key), errors.suggest(key, OPTIONS))
    end
    if type(value) ~= option[1] then
      errors.usage("data.loader: %s is a %s, expected a %s", key, type(value), option[1])
    end
  end
  for key, option in pairs(OPTIONS) do
    options[key] = option[2]
    if given and given[key] ~= nil then options[key] = given[key] end
  end
  if options.last ~= "keep" and options.last ~= "drop" then
    errors.usage("data.loader: last = '%s', expected keep or drop%s", options.last,
      errors.suggest(options.last, { "keep", "drop" }))
  end
  if options.batch < 1 or options.batch % 1 ~= 0 then
    errors.usage("data.loader: batch = %g, expected an integer of at least 1", options.batch)
  end
  return options
end

--- int64_t[n] of 0-based rows, and n, from an i32 tensor or list of 1-based ones, or from nil: all rows.
local function rows_of(index, all)
  local n = index == nil and all or tensor.is_tensor(index) and index.shape[1] or #index
  if n == 0 then errors.usage("data.loader: the index holds no rows") end
  local rows = ffi.new("int64_t[?]", n)
  local from = index ~= nil and type(index) ~= "table" and tensors.pointer(index)
  for i = 0, n - 1 do
    local row = index == nil and i + 1 or from and from[i] or index[i + 1]
    if not (row >= 1 and row <= all) then
      errors.usage("data.loader: entry %d of the index is row %s, expected 1 to %d", i + 1, tostring(row), all)
    end
    rows[i] = row - 1
  end
  return rows, n
end

local function numbers(list)
  return ffi.new("double[?]", #list, list)
end

--- What becomes of the last batch. Keeping a single row would stop batch normalization, which has no variance over one
-- value, at the end of the first epoch: in training such a batch is dropped, and `note` says so for the log.
local function last_policy(options, n)
  if options.last == "drop" then return 1, nil end
  if options.shuffle and options.batch > 1 and n > options.batch and n % options.batch == 1 then
    return 1, ("the last batch of an epoch would hold a single row (%d rows in batches of %d): it is left out")
      :format(n, options.batch)
  end
  return 0, nil
end

local loader = {}

--- Batches of some rows of one part of a set.
-- @param set    of lgelu.data.load
-- @param name   its part: "train" or "test"
-- @param index  i32 tensor or list of 1-based rows (from data.split), or nil: all
-- @param given  batch = 128; last = "keep" (a smaller last batch) or "drop"; shuffle = false: the index's order, true:
--               an order f(seed, epoch); seed = 0; augment = false: true for the random changes of set.augment or the
--               random windows of set.windows, which are a function of (seed, epoch, row)
-- @return loader: l:start(epoch[, skip]), l:next() or l:each(), l:batches(), l:free(); l.count: rows of the index,
--         l.batch; l.note: a line for the log when the last batch was decided on, or nil
function loader.new(set, name, index, given)
  local part = type(set) == "table" and (name == "train" or name == "test") and set[name]
  if not part then
    errors.usage("data.loader: expected a set from data.load and the name of a part that it has, train or test")
  end
  local options = read_options(given)
  local rows, n = rows_of(index, part.x.shape[1])
  local last, note = last_policy(options, n)
  if set.mean == nil then split.normalize_by_all(set) end
  local handle = ffi.new("lg_loader *[1]")
  check(lib.lg_loader_new(handle, part.x, part.y, rows, n, options.batch, last, set.scale, numbers(set.mean),
    numbers(set.sd), #set.mean))
  local owned, changes = ffi.gc(handle[0], lib.lg_loader_free), options.augment and set.augment
  if changes and (changes.crop > 0 or changes.flip or changes.cutout > 0) then
    check(lib.lg_loader_augment(owned, changes.crop, changes.flip and 1 or 0, changes.cutout))
  end
  if changes and changes.erase then check(lib.lg_loader_erase(owned, changes.erase)) end
  if changes and changes.mixup then check(lib.lg_loader_mix(owned, changes.mixup)) end
  if options.augment and set.windows then check(lib.lg_loader_windows(owned, set.windows.starts)) end
  return setmetatable({
    handle = owned, count = n, batch = options.batch, shuffle = options.shuffle,
    seed = options.seed, note = note,
  }, Loader)
end

local function handle_of(self)
  if not self.handle then errors.usage("data.loader: this loader was freed") end
  return self.handle
end

--- Starts an epoch.
-- @param epoch  its number, 0..2^32-1; with shuffle it decides the order
-- @param skip   batches to leave out at the front (resume in the middle of an epoch), default 0
function Loader:start(epoch, skip)
  check(lib.lg_loader_start(handle_of(self), self.shuffle and 1 or 0, self.seed, epoch, skip or 0))
end

--- The next batch.
-- @return x, y (tensors whose content is valid until the next call), rows; nil at the end of the epoch
function Loader:next()
  local x, y, rows = ffi.new("lg_tensor *[1]"), ffi.new("lg_tensor *[1]"), ffi.new("int64_t[1]")
  check(lib.lg_loader_next(x, y, rows, handle_of(self)))
  if rows[0] == 0 then return nil end
  return tensor.wrap(x[0]), tensor.wrap(y[0]), tonumber(rows[0])
end

--- The rest of the epoch, for a loop: for x, y, rows in l:each() do … end
function Loader:each()
  return Loader.next, self
end

--- Batches in an epoch.
function Loader:batches()
  return tonumber(lib.lg_loader_batches(handle_of(self)))
end

--- Ends the loader's thread and gives its memory back; freeing twice is fine.
function Loader:free()
  if not self.handle then return end
  lib.lg_loader_free(ffi.gc(self.handle, nil))
  self.handle = nil
end

return loader
