--- data_sentences_spec.lua: sentences with classes as ids of one length, SST-2's files in small, and that an encoder
-- never sees the padding.
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folders = require("tests.spec.support.folders")
local network = require("lgelu.network")
local sentences = require("lgelu.data.sentences")
local tokens = require("lgelu.data.tokens")

local folder
setup(function() folder = folders.temporary() end)
teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

local HEADER = "sentence\tlabel\n"
local TRAIN = HEADER .. 'a good film\t1\n"bad" , truly bad\t0\ngood , not bad\t1\n\t0\n'
local DEV = HEADER .. "a dull film\t0\n"
local TEST = HEADER .. "truly good\t1\nunseen\t0\n"

-- The set of three files; changes: name → bytes; config: further keys.
local function load(changes, config)
  for name, bytes in pairs({ ["train.tsv"] = TRAIN, ["dev.tsv"] = DEV, ["test.tsv"] = TEST }) do
    folders.write(folder .. "/" .. name, changes and changes[name] or bytes)
  end
  local full = { source = "sst2", path = folder, length = 6 }
  for key, value in pairs(config or {}) do full[key] = value end
  return data.load(full)
end

local function refused(...)
  local ok, e = pcall(load, ...)
  assert.is_false(ok)
  assert(errors.is(e, "fail"), tostring(e))
  return e.message
end

-- A row of ids as words, padding left out.
local function text(set, row)
  local words = {}
  for _, id in ipairs(row) do
    if id ~= 0 then words[#words + 1] = set.tokens.vocabulary[id + 1] end
  end
  return table.concat(words, " ")
end

describe("sst2", function()
  it("is words of the training part with padding behind, quotes as they are", function()
    local set = load()
    local x = set.train.x:totable()
    assert.are.same({ 5, 6 }, set.train.x.shape)
    assert.are.equal("a good film", text(set, x[1]))
    assert.are.equal('" bad " , truly bad', text(set, x[2]))
    assert.are.same({ 0, 0, 0 }, { x[1][4], x[1][5], x[1][6] })
    assert.are.same({ 0, 0, 0, 0, 0, 0 }, x[4]) -- an empty sentence
    assert.are.same({ 1, 0, 1, 0, 0 }, set.train.y:totable())
    assert.are.equal("a " .. tokens.unknown .. " film", text(set, x[5]))
    assert.are.equal("truly good", text(set, set.test.x:totable()[1]))
    assert.are.equal(tokens.unknown, text(set, set.test.x:totable()[2]))
    assert.are.equal(#set.tokens.vocabulary, set.entries)
    -- a good film " bad , truly not; with length 6 the row `" bad " , truly bad` is whole, with 5 it is cut
    assert.are.same({ "8 words; 0 of 7 sentences are longer than 6 and cut" }, set.notes)
    assert.are.same({ "8 words; 1 of 7 sentences are longer than 5 and cut" }, load(nil, { length = 5 }).notes)
    set = load()
    for _, row in ipairs(x) do
      for _, id in ipairs(row) do assert.is_true(id >= 0 and id < set.entries) end
    end
  end)

  it("is validated by dev.tsv and has no key for it", function()
    local set = load()
    local train, val = data.split(set, nil, 1)
    assert.are.same({ 1, 2, 3, 4 }, train:totable())
    assert.are.same({ 5 }, val:totable())
    local ok, e = pcall(load, nil, { validation = 0.1 })
    assert.is_false(ok)
    assert.matches("data.validation: unknown key of source 'sst2'", e.message, 1, true)
  end)

  it("is cut to the length, the vocabulary to its most frequent words", function()
    local set = load(nil, { length = 2, vocabulary = 2 })
    local x = set.train.x:totable()
    assert.are.same({ "<padding>", "\n", "bad", '"', tokens.unknown }, set.tokens.vocabulary)
    assert.are.equal('" bad', text(set, x[2]))
    assert.are.equal(tokens.unknown .. " " .. tokens.unknown, text(set, x[1]))
  end)

  it("uses as many rows as the recipe says", function()
    local set = load(nil, { limit = 2, test_limit = 1 })
    assert.are.equal(3, set.train.x.shape[1])
    assert.are.equal(1, set.test.x.shape[1])
  end)

  it("is refused by line where files are wrong", function()
    assert.matches("train.tsv: line 3, column 2 (label): found '2', expected 0 or 1",
      refused({ ["train.tsv"] = HEADER .. "a\t1\nb\t2\n" }), 1, true)
    assert.matches("dev.tsv: found columns text, label, expected sentence, label",
      refused({ ["dev.tsv"] = "text\tlabel\na\t1\n" }), 1, true)
    assert.matches("test.tsv: line 3: 3 fields, expected 2", refused({ ["test.tsv"] = HEADER .. "a\t1\nb\tc\t1\n" }), 1,
      true)
    assert.matches("train.tsv: line 3, byte 3 of it: 0xFF is no UTF-8",
      refused({ ["train.tsv"] = HEADER .. "a\t1\nb \255\t1\n" }), 1, true)
    assert.matches("train.tsv: is empty", refused({ ["train.tsv"] = "" }), 1, true)
  end)
end)

describe("synthetic_sentences", function()
  it("have the class of the sum of their words, where not turns the next one around", function()
    local set = data.load{ source = "synthetic_sentences", n = 50, n_test = 5, words = 16, length = 20 }
    local y = set.train.y:totable()
    for i, row in ipairs(set.train.x:totable()) do
      local sum, turned = 0, 1
      for word in text(set, row):gmatch("%S+") do
        local w = tonumber(word:match("^w(%d+)$"))
        local value = not w and 0 or w < 2 and 1 or w < 4 and -1 or 0
        if word == "not" then turned = -1 end
        sum = sum + turned * value
        if value ~= 0 then turned = 1 end
      end
      assert.are.equal(y[i], sum > 0 and 1 or 0)
      assert.are_not.equal(0, sum)
    end
    assert.are.equal(set.sha256, data.load{ source = "synthetic_sentences", n = 50, n_test = 5, words = 16,
      length = 20 }.sha256)
  end)
end)

describe("an encoder", function()
  local function build(info)
    return network.new({ model = { arch = "encoder", width = 8, depth = 2, heads = 2, expansion = 2, dropout = 0 },
      gate = { kind = "gelu" }, batch = 4, seed = 3, info = info, training = false })
  end

  it("gives the same logits whatever the padding is embedded as, and others for other words", function()
    local set = load()
    local net = build({ classes = 2, input_shape = { 6 }, input_dtype = "i32", entries = set.entries })
    local x, y = set.train.x[{ { 1, 3 } }], set.train.y[{ { 1, 3 } }]
    local function logits()
      net:bind(x, y)
      net:forward("eval")
      return net:tensor_values(net.logits)
    end
    local before = logits()
    local embedded = net:tensor("tokens.weight")
    embedded[{ { 1, 1 } }]:copy_from(embedded[{ { 1, 1 } }] + 5)
    assert.are.same(before, logits())
    embedded[{ { 3, 3 } }]:copy_from(embedded[{ { 3, 3 } }] + 5)
    assert.are_not.same(before, logits())
  end)

  it("wants sentences", function()
    local ok, e = pcall(build, { classes = 2, input_shape = { 6 } })
    assert.is_false(ok)
    assert.matches("model encoder reads sentences as token ids [batch, tokens], these data give [batch, 6]", e.message,
      1, true)
  end)

  it("of one word a sentence has five ids", function()
    local part = { texts = { "yes", "no" }, labels = { 1, 0 }, where = "here" }
    local set = sentences.set(part, nil, nil, { length = 1, vocabulary = 0 })
    assert.are.same({ 2, 1 }, set.train.x.shape)
    assert.are.equal(5, set.entries) -- padding, newline, two words, unknown
  end)
end)
