--- A row of tokens as a data set: windows of `context` tokens, each with the tokens that follow. Shared by sources of
-- text; reads no files and knows no letters.
-- The row is cut in three: training, behind it validation, behind that test, all in whole windows. What is kept for
-- validation is the end of the text and not windows from everywhere, whose neighbours would have been trained on.
local errors = require("lgelu.errors")
local split = require("lgelu.data.split")
local tensors = require("lgelu.data.tensors")

local windows = {}

--- Keys of every source of text.
windows.schema = {
  { key = "context", type = "integer", default = 128, min = 1, max = 65536, example = "data.context=256",
    doc = "Tokens of a window, each of which predicts the next." },
  { key = "windows", type = "string", default = "contiguous", choices = { "contiguous", "random" },
    example = "data.windows=random",
    doc = "Training windows: one behind the other, the same in each epoch, or as many at random places." },
  { key = "test", type = "number", default = 0.05, min = 0, exclusive_max = 1, example = "data.test=0",
    doc = "Share of the text, its end, for the test part; 0: no test part." },
}

-- x [n, context] from token `from` (0-based) on, and y, one token further: views, nothing is copied.
local function part(ids, from, n, context)
  local function view(first) return ids[{ { first + 1, first + n * context } }]:view(n, context) end
  return { x = view(from), y = view(from + 1) }
end

--- Where a row of `count` tokens is cut.
-- @param config  context, test, validation
-- @param where   the text, for messages
-- @return windows for training and validation together, for validation, for testing
function windows.cut(count, config, where)
  local context = config.context
  local all = math.floor((count - 1) / context)
  if all < 2 then
    errors.fail("%s: holds %d token%s, expected at least %d: a window of data.context = %d and the token after it, for "
      .. "training and for validation", where, count, count == 1 and "" or "s", 2 * context + 1, context)
  end
  local n_test = math.floor(all * config.test + 0.5)
  if all - n_test < 2 then
    errors.usage("data.test: %d of %d windows leave none for training and validation", n_test, all)
  end
  return all - n_test, split.count(config.validation, all - n_test), n_test
end

--- The set.
-- @param ids     i32 tensor of all tokens
-- @param config  context, windows, test, validation
-- @param where   the text, for messages
-- @return set as in lgelu.data.sources, without classes and description
function windows.set(ids, config, where)
  local context = config.context
  local n, n_val, n_test = windows.cut(ids.shape[1], config, where)
  return {
    input_dtype = "i32", label_shape = { context }, scale = 1, mean = {}, sd = {}, held_out = n_val,
    windows = config.windows == "random" and { starts = (n - n_val - 1) * context + 1 } or nil,
    train = part(ids, 0, n, context), test = n_test > 0 and part(ids, n * context, n_test, context) or nil,
  }
end

--- How many tokens the training part spans, the last one being only predicted.
function windows.training_tokens(count, config, where)
  local n, n_val = windows.cut(count, config, where)
  return (n - n_val) * config.context + 1
end

--- An i32 tensor of n numbers.
function windows.tensor(ids, n)
  local t, to = tensors.new("i32", { n })
  for i = 0, n - 1 do to[i] = ids[i] end
  return t
end

return windows
