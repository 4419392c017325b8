--- Sentences with classes as data sets: words as ids, filled up to one length. Shared by sources of sentences; reads no
-- files. Id 0 is the padding, ids from 1 the words of the training part, the last one stands for all others.
local errors = require("lgelu.errors")
local tensors = require("lgelu.data.tensors")
local tokens = require("lgelu.data.tokens")

local sentences = {}

--- Keys of every source of sentences.
sentences.schema = {
  { key = "length", type = "integer", default = 40, min = 1, max = 65536, example = "data.length=24",
    doc = "Words of a sentence that are read; shorter ones are filled up with padding." },
  { key = "vocabulary", type = "integer", default = 0, min = 0, max = 1e6, example = "data.vocabulary=5000",
    doc = "Words of the vocabulary at most, the most frequent ones of the training part; 0: all." },
}

-- Words of a part, one sentence behind the other with a newline behind each: int32_t[n], n, names.
local function split(part)
  for i, text in ipairs(part.texts) do
    if text:find("\n", 1, true) then errors.fail("%s: sentence %d holds a newline", part.where, i) end
  end
  local text = "\n" .. table.concat(part.texts, "\n") .. "\n" -- the first line is a header's, for messages
  return tokens.split(tokens.bytes(text), #text, "word", part.where)
end

-- x i32 [rows, length], whose longer sentences are cut, from row `first` (0-based) on. Returns how many are.
local function fill(x, first, length, ids, n, newline)
  local row, column, cut = first - 1, 0, 0
  for i = 0, n - 1 do
    if ids[i] == newline then
      row, column = row + 1, 0
    else
      if column < length then x[row * length + column] = ids[i] end
      column = column + 1
      if column == length + 1 then cut = cut + 1 end
    end
  end
  return cut
end

-- One part of the set out of lists one behind the other, by the vocabulary.
local function part_of(lists, vocabulary, length)
  local rows = 0
  for _, list in ipairs(lists) do rows = rows + #list.texts end
  local x, ids_of = tensors.new("i32", { rows, length })
  local y, label = tensors.new("i32", { rows })
  local first, cut = 0, 0
  for _, list in ipairs(lists) do
    local ids, n, names = split(list)
    tokens.number(ids, n, names, vocabulary, { first = 1, unknown = #vocabulary + 1, where = list.where })
    cut = cut + fill(ids_of, first, length, ids, n, 1) -- a newline is the vocabulary's first entry
    for i, class in ipairs(list.labels) do label[first + i - 1] = class end
    first = first + #list.texts
  end
  return { x = x, y = y, cut = cut }
end

--- A set.
-- @param train   { texts = list of sentences, labels = list of numbers from 0, where = for messages }
-- @param val     the same for validation, or nil: by data.validation
-- @param test    the same for testing, or nil
-- @param config  length, vocabulary
-- @return set as in lgelu.data.sources, without classes and description: entries = how many ids there are
function sentences.set(train, val, test, config)
  local ids, n, names = split(train)
  local words, vocabulary = tokens.vocabulary(ids, n, names, config.vocabulary > 0 and config.vocabulary + 1 or 0), {}
  -- The newline only ends sentences: its number, 1, is free in x and stays so.
  vocabulary[1] = "\n"
  for _, word in ipairs(words) do
    if word ~= "\n" and (config.vocabulary == 0 or #vocabulary <= config.vocabulary) then
      vocabulary[#vocabulary + 1] = word
    end
  end
  local set = {
    input_dtype = "i32", scale = 1, mean = {}, sd = {}, entries = #vocabulary + 2,
    train = part_of(val and { train, val } or { train }, vocabulary, config.length),
    held_out = val and #val.texts or nil,
    test = test and part_of({ test }, vocabulary, config.length) or nil,
  }
  local listed = { "<padding>" }
  for _, word in ipairs(vocabulary) do listed[#listed + 1] = word end
  listed[#listed + 1] = tokens.unknown
  set.tokens = { level = "word", vocabulary = listed }
  local rows, cut = 0, 0
  for _, part in ipairs({ set.train, set.test }) do rows, cut = rows + part.x.shape[1], cut + part.cut end
  set.note = ("%d words; %d of %d sentences are longer than %d and cut"):format(#vocabulary - 1, cut, rows,
    config.length)
  return set
end

return sentences
