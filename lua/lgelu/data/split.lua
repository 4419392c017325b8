--- The validation split, and the normalization that follows from its training rows. Arithmetic: src/data/split.c,
-- src/data/stats.c.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local tensors = require("lgelu.data.tensors")

local ffi, lib, check = C.ffi, C.lib, C.check

local split = {}

--- Sets set.mean and set.sd, in units of x·scale, from rows of the training part. A channel that is constant there gets
-- sd 1: it becomes 0, not NaN.
-- @param set   a set of lgelu.data whose normalization is "training rows"
-- @param rows  int64_t pointer to row numbers, 0-based
-- @param n     how many
local function normalize(set, rows, n)
  if set.standardize then return set:standardize(rows, n) end -- a table's columns, each by itself
  local channels = #set.input_shape >= 2 and set.input_shape[1] or 1
  local mean, sd = ffi.new("double[?]", channels), ffi.new("double[?]", channels)
  check(lib.lg_channel_stats(mean, sd, set.train.x, rows, n, channels))
  set.mean, set.sd = {}, {}
  for c = 1, channels do
    set.mean[c] = mean[c - 1] * set.scale
    set.sd[c] = sd[c - 1] > 0 and sd[c - 1] * set.scale or 1
  end
end

--- How many of n rows `validation` means: a share when it is below 1, else a number of rows.
function split.count(validation, n)
  local share = type(validation) == "number" and validation >= 0 and validation < 1
  local rows = type(validation) == "number" and validation >= 1 and validation % 1 == 0
  if not share and not rows then
    errors.usage("data.validation: found %s, expected a share below 1 or a number of rows", tostring(validation))
  end
  local count = share and math.floor(n * validation + 0.5) or validation
  if count >= n then errors.usage("data.validation: %d of %d rows leave none for training", count, n) end
  return count
end

--- i32 tensor of 1-based row numbers from 0-based ones.
local function index_tensor(rows, n)
  local t, to = tensors.new("i32", { n })
  for i = 0, n - 1 do to[i] = tonumber(rows[i]) + 1 end
  return t
end

--- Splits the training part, each class in proportion, and normalizes the set by the rows that stay in training
-- (set.mean, set.sd) unless its source gave constants. A source with an order (text) has cut its last rows off already,
-- set.held_out of them, by data.validation.
-- @param set         from lgelu.data.load
-- @param validation  share (below 1) or number of rows for validation; 0: none
-- @param seed        seed of the choice
-- @return train_index, val_index: i32 tensors of 1-based row numbers, each ascending (val_index may have 0 rows)
function split.split(set, validation, seed)
  local n = set.train.x.shape[1]
  local n_val = set.held_out or split.count(validation, n)
  local index = ffi.new("int64_t[?]", n)
  if set.held_out then
    for i = 0, n - 1 do index[i] = (i + n - n_val) % n end -- as lg_split gives them: first what is kept
  else
    check(lib.lg_split(index, n, n_val, set.train.y, seed))
  end
  if set.normalization == "training rows" then normalize(set, index + n_val, n - n_val) end
  return index_tensor(index + n_val, n - n_val), index_tensor(index, n_val)
end

--- Normalizes by all training rows when no split has been made.
function split.normalize_by_all(set)
  local n = set.train.x.shape[1]
  local index = ffi.new("int64_t[?]", n)
  for i = 0, n - 1 do index[i] = i end
  normalize(set, index, n)
end

return split
