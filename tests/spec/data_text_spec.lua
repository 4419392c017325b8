--- data_text_spec.lua: texts as bytes, characters and words; vocabularies, windows, splits; what is refused and how.
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folders = require("tests.spec.support.folders")
local tokens = require("lgelu.data.tokens")

local folder
setup(function() folder = folders.temporary() end)
teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

-- A set of a text that stands in a file; config: further keys.
local function load(bytes, config)
  local path = folder .. "/text.txt"
  folders.write(path, bytes)
  local full = { source = "text", path = path, context = 4, test = 0, validation = 0.25 }
  for key, value in pairs(config or {}) do full[key] = value end
  return data.load(full)
end

local function refused(kind, ...)
  local ok, e = pcall(load, ...)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  return e.message
end

-- A row of ids as text.
local function text(set, row)
  return tokens.text(row, set.tokens.vocabulary, set.tokens.level)
end

describe("tokens", function()
  it("of a text as bytes are its bytes, any of them", function()
    local set = load("a\0\255bcdefghi", { level = "byte" })
    assert.are.equal(256, set.classes)
    assert.is_nil(set.tokens.vocabulary)
    assert.are.same({ "11 tokens in windows of 4, a vocabulary of 256" }, set.notes)
    assert.are.same({ { 97, 0, 255, 98 }, { 99, 100, 101, 102 } }, set.train.x:totable())
    assert.are.same({ { 0, 255, 98, 99 }, { 100, 101, 102, 103 } }, set.train.y:totable())
  end)

  it("of a text as characters are those of UTF-8, of one to four bytes", function()
    local set = load("aλ€😀bλa€😀")
    assert.are.same({ "a", "b", "λ", "€", "😀", tokens.unknown }, load("aλ€😀bλa€😀", { validation = 1 })
      .tokens.vocabulary)
    assert.are.same({ "aλ€😀", "bλa€" }, { text(set, set.train.x:totable()[1]), text(set, set.train.x:totable()[2]) })
    assert.are.same({ 4 }, set.input_shape)
    assert.are.same({ 4 }, set.label_shape)
    assert.are.equal("i32", set.input_dtype)
  end)

  it("of a text as words are words, marks and newlines, blanks left out", function()
    local set = load("Don't  go,\tnaïve fool!\nGo on.\nGo", { level = "word", context = 1, validation = 1 })
    local words = {}
    for i, row in ipairs(set.train.x:totable()) do words[i] = text(set, row) end
    -- the last token is only predicted, the one before it is validated by
    assert.are.same({ "Don't", "go", ",", "naïve", "fool", "!", "\n", "Go", "on", ".", "\n" }, words)
    local all = {}
    for i, row in ipairs(set.train.x:totable()) do all[i] = row[1] end
    assert.are.equal("Don't go, naïve fool!\nGo on.\n", tokens.text(all, set.tokens.vocabulary, "word"))
  end)

  it("have the vocabulary of the training part, and one more for what it lacks", function()
    -- 3 windows of 4 and a token: the last window is for validation, with z in it
    local set = load("dbcadbcdzabzb", { validation = 1 })
    assert.are.same({ "a", "b", "c", "d", "z", tokens.unknown }, set.tokens.vocabulary)
    set = load("abcdabcdaabzb", { validation = 1 })
    assert.are.same({ "a", "b", "c", "d", tokens.unknown }, set.tokens.vocabulary)
    assert.are.equal(5, set.classes)
    assert.are.same({ { 0, 1, 2, 3 }, { 0, 1, 2, 3 }, { 0, 0, 1, 4 } }, set.train.x:totable())
    assert.are.same({ 0, 1, 4, 1 }, set.train.y:totable()[3])
    assert.matches("text.txt: line 1: 'z' is not in the vocabulary of the training part; data.unknown=token",
      refused("fail", "abcdabcdaabzb", { validation = 1, unknown = "error" }), 1, true)
    assert.are.equal(5, load("dbcadbcdzabzb", { validation = 1, unknown = "error" }).classes)
  end)

  it("keep the most frequent entries where the vocabulary is limited", function()
    local set = load("c b a b a b d c c c e f g", { level = "word", vocabulary = 2, context = 2, validation = 1 })
    assert.are.same({ "c", "b", tokens.unknown }, set.tokens.vocabulary)
    assert.are.same({ 0, 1 }, set.train.x:totable()[1])
    assert.are.same({ 2, 1 }, set.train.x:totable()[2])
  end)
end)

describe("windows", function()
  local alphabet = "abcdefghijklmnopqrstuvwxyz"

  it("are cut into training, validation and test in this order", function()
    local set = load(alphabet:rep(4), { context = 5, test = 0.2, validation = 0.25 }) -- 103 / 5 = 20 windows
    assert.are.same({ 16, 5 }, set.train.x.shape)
    assert.are.same({ 4, 5 }, set.test.x.shape)
    local train, val = data.split(set, 0.25, 1)
    assert.are.same({ 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 }, train:totable())
    assert.are.same({ 13, 14, 15, 16 }, val:totable())
    assert.are.same(train:totable(), (data.split(set, 0.25, 2)):totable())
    local at = 80 % 26 -- the test part begins behind 16 windows
    assert.are.equal(alphabet:sub(at + 1, at + 5), text(set, set.test.x:totable()[1]))
  end)

  it("at random places lie in the training part and are a function of seed, epoch and row", function()
    local set = load(alphabet:rep(8), { context = 5, windows = "random", validation = 0.5 })
    local train = data.split(set, 0.5, 1)
    local function rows(seed, epoch, batch)
      local loader, list = data.loader(set, "train", train, { batch = batch, seed = seed, augment = true }), {}
      loader:start(epoch)
      for x, y in loader:each() do
        local labels = y:totable()
        for i, row in ipairs(x:totable()) do list[#list + 1] = { row, labels[i] } end
      end
      loader:free()
      return list
    end
    local first = rows(1, 1, 4)
    assert.are.equal(train.shape[1], #first)
    local starts = {}
    for _, pair in ipairs(first) do
      for k = 1, 5 do assert.are.equal((pair[1][1] + k - 1) % 26, pair[1][k]) end
      for k = 1, 5 do assert.are.equal((pair[1][1] + k) % 26, pair[2][k]) end
      starts[pair[1][1] % 5] = true
    end
    assert.is_true(starts[0] and starts[1] and starts[2] and starts[3] and starts[4])
    assert.are.same(first, rows(1, 1, 7))
    assert.are_not.same(first, rows(1, 2, 4))
    assert.are_not.same(first, rows(2, 1, 4))
  end)

  it("at random places never reach into the validation part", function()
    local set = load(("a"):rep(40) .. ("b"):rep(61), { context = 5, windows = "random", validation = 12 })
    local train = data.split(set, 12, 1)
    assert.are.equal(8, train.shape[1])
    local loader = data.loader(set, "train", train, { batch = 8, augment = true })
    for epoch = 1, 50 do
      loader:start(epoch)
      for x in loader:each() do assert.are.equal(0, x:sum()) end
    end
    loader:free()
  end)

  it("are contiguous in evaluation, whatever they are in training", function()
    local set = load(alphabet:rep(4), { context = 5, windows = "random" })
    local loader = data.loader(set, "train", nil, { batch = 3 })
    loader:start(1)
    assert.are.equal("abcde", text(set, loader:next():totable()[1]))
    loader:free()
  end)
end)

describe("a text", function()
  it("that is empty, too short or cut too short is refused", function()
    assert.matches("text.txt: is empty, expected a text", refused("fail", ""), 1, true)
    assert.matches("text.txt: holds 8 tokens, expected at least 9: a window of data.context = 4 and the token after it",
      refused("fail", "abcdefgh"), 1, true)
    assert.are.same({ 2, 4 }, load("abcdefghi", { validation = 1 }).x.shape)
    assert.matches("holds 6 tokens, expected at least 9", refused("fail", "abcdefghi", { limit = 6 }), 1, true)
    assert.matches("data.validation: 2 of 2 rows leave none for training", refused("usage", "abcdefghi",
      { validation = 2 }), 1, true)
    assert.matches("data.test: 1 of 2 windows leave none", refused("usage", "abcdefghi", { test = 0.5 }), 1, true)
  end)

  it("that is no UTF-8 is refused by line and byte", function()
    local good = "abcdefgh\nijklm\n"
    for _, bad in ipairs({ "\128", "\255", "\192\128", "\193\191", "\224\159\191", "\237\160\128", "\240\143\191\191",
      "\244\144\128\128", "\245\128\128\128", "\226\130", "\206x" }) do
      for _, level in ipairs({ "char", "word" }) do
        assert.matches(("text.txt: line 3, byte 1 of it: 0x%02X is no UTF-8 here"):format(bad:byte()),
          refused("fail", good .. bad, { level = level }), 1, true)
      end
      assert.are.equal(256, load(good .. bad, { level = "byte" }).classes)
    end
    assert.matches("line 1, byte 3 of it: a zero byte", refused("fail", "ab\0cdefghijkl"), 1, true)
    assert.are.equal(4, #load("\127\194\128\239\191\191\244\143\191\191\127\194\128\239\191\191\244\143\191\191",
      { context = 3, unknown = "error" }).tokens.vocabulary)
  end)

  it("that is nowhere says where it was looked for", function()
    local ok, e = pcall(data.load, { source = "text", path = "no/such/novel.txt" })
    assert.is_false(ok)
    assert(errors.is(e, "fail"))
    assert.matches("no/such/novel.txt: no such file", e.message, 1, true)
    assert.matches("data.source=synthetic_text", e.message, 1, true)
  end)

  it("may be gzipped", function()
    local bytes = ("to be or not to be "):rep(300)
    local plain = load(bytes)
    assert(os.execute(("gzip -f '%s/text.txt'"):format(folder)) == 0)
    local packed = data.load({ source = "text", path = folder .. "/text.txt.gz", context = 4, test = 0,
      validation = 0.25 })
    assert.are.equal(plain.sha256, packed.sha256)
    assert.are.equal(packed.sha256, data.load({ source = "text", path = folder .. "/text.txt", context = 4, test = 0,
      validation = 0.25 }).sha256)
    os.remove(folder .. "/text.txt.gz")
  end)
end)

describe("synthetic_text", function()
  it("is a function of its seed, and certain where each word has one follower", function()
    local function of(config)
      config.source, config.context = "synthetic_text", 8
      return data.load(config)
    end
    local set = of{ n = 3000, seed = 3 }
    assert.are.equal(set.sha256, of{ n = 3000, seed = 3 }.sha256)
    assert.are_not.equal(set.sha256, of{ n = 3000, seed = 4 }.sha256)
    local followers = {}
    local chain = of{ n = 5000, words = 10, followers = 1, level = "word", test = 0 }
    local before
    for _, row in ipairs(chain.train.x:totable()) do
      for _, id in ipairs(row) do
        local word = chain.tokens.vocabulary[id + 1]
        if word:match("^%a") then
          if before then
            assert.are.equal(followers[before] or word, word)
            followers[before] = word
          end
          before = word
        end
      end
    end
  end)
end)
