--- generate_spec.lua: texts that a language model writes: at the end of its run, and at the prompt.
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local generate = require("lgelu.generate")
local network = require("lgelu.network")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")

local base = os.tmpname()
os.remove(base)
teardown(function() os.execute(("rm -rf '%s'"):format(base)) end)

-- A network that has not learned, on a text of `level`.
local function fresh(level)
  local set = data.load{ source = "synthetic_text", n = 2000, words = 12, context = 8, level = level }
  local net = network.new({
    model = { arch = "gpt", width = 8, depth = 1, heads = 2, expansion = 2, dropout = 0, tie = true },
    gate = { kind = "gelu" }, batch = 3, seed = 3, training = false,
    info = { classes = set.classes, input_shape = { 8 }, input_dtype = "i32", label_shape = { 8 } },
  })
  return net, set
end

describe("generate.texts", function()
  it("is a function of beginning, seed, temperature and weights; samples differ", function()
    local net, set = fresh("char")
    local function of(o)
      o.text, o.n = o.text or " ", o.n or 30
      return generate.texts(net, set, o)
    end
    local three = of({ samples = 3, seed = 5 })
    assert.are.equal(3, #three)
    assert.are_not.equal(three[1], three[2])
    assert.are.same(three, of({ samples = 3, seed = 5 }))
    assert.are.equal(three[1], of({ seed = 5 })[1])
    assert.are_not.equal(three[1], of({ seed = 6 })[1])
    assert.are.equal(31, #three[1])
    assert.are.equal(of({ temperature = 0, seed = 1 })[1], of({ temperature = 0, seed = 2 })[1])
    assert.are.equal(" ", of({ n = 0 })[1])
    assert.is_nil(table.concat(of({ n = 200, temperature = 100 })):find("<unknown>", 1, true))
  end)

  it("looks at the last window of what stands there, in which it continues what it wrote itself", function()
    local net, set = fresh("byte")
    local long = generate.texts(net, set, { text = "ba", n = 20, temperature = 0 })[1]
    for at = 2, 21 do -- from any place on: the beginning is long enough or whole
      local known = long:sub(1, at)
      assert.are.equal(long:sub(1, at + 1), generate.texts(net, set, { text = known, n = 1, temperature = 0 })[1])
      if at >= 8 then
        local window = generate.texts(net, set, { text = known:sub(-8), n = 1, temperature = 0 })[1]
        assert.are.equal(long:sub(at + 1, at + 1), window:sub(-1))
      end
    end
  end)

  it("draws in the proportions of softmax(logits/temperature)", function()
    local net, set = fresh("char")
    local expected, sum = {}, 0
    local x = set.train.x[{ { 1, 1 } }]
    local begin = require("lgelu.data.tokens").text(x:totable()[1], set.tokens.vocabulary, "char")
    net:bind(x, set.train.y[{ { 1, 1 } }])
    net:forward("eval")
    local logits, k = net:tensor_values(net.logits), set.classes
    for i = 1, k - 1 do
      expected[i] = math.exp(logits[7 * k + i] / 0.05)
      sum = sum + expected[i]
    end
    local draws, counts = 600, {}
    for seed = 1, draws / 3 do
      for _, text in ipairs(generate.texts(net, set, { text = begin, n = 1, samples = 3, seed = seed,
        temperature = 0.05 })) do
        counts[text:sub(-1)] = (counts[text:sub(-1)] or 0) + 1
      end
    end
    for i = 1, k - 1 do
      local p = expected[i] / sum
      local found = counts[set.tokens.vocabulary[i]] or 0
      assert.is_true(math.abs(found - draws * p) < 5 * math.sqrt(draws * p * (1 - p)) + 1)
    end
  end)

  it("refuses what the run does not know", function()
    local net, set = fresh("word")
    local function refused(text, ...)
      local ok, e = pcall(generate.texts, ...)
      assert.is_false(ok)
      assert(errors.is(e, "usage"), tostring(e))
      assert.matches(text, e.message, 1, true)
    end
    refused("'qqq' is not in the run's vocabulary", net, set, { text = "qqq", n = 1 })
    refused("the text to begin with is empty", net, set, { text = "  ", n = 1 })
    refused("are no text to go on with", net, data.load{ source = "moons", n = 20 }, { text = "a", n = 1 })
  end)
end)

describe("a run of a text", function()
  it("ends with samples in its folder, which its network writes at the prompt again", function()
    local dir = base .. "/run"
    train.run(recipe.from_text([[return { data = { source = "synthetic_text", n = 4000, words = 5, followers = 1,
      context = 16 }, model = lg.models.gpt{ width = 16, depth = 1, heads = 2 }, train = { epochs = 12, batch = 16,
      eval_batch = 16 }, optimizer = { lr = 0.02 }, seed = 4 }]], "tiny.lua"), { out = dir, quiet = true })
    local text = assert(io.open(dir .. "/samples.txt")):read("*a")
    local first = text:match("^%-%-%- sample 1\n(.-)\n%-%-%- sample 2\n")
    assert.are.equal(401, #first)
    assert.is_true(store.open(dir):best().val_score < 1.5)
    local probe = require("lgelu.probe").open(dir)
    assert.are.equal(first, probe:generate(first:sub(1, 1), 400, 0.8, 4))
    local before = probe:generate("a", 50)
    probe:swap("all")
    probe:undo()
    assert.are.equal(before, probe:generate("a", 50))
    for _, call in ipairs({ { nil, "the text is a nil" }, { "a", "n = -1", -1 }, { "a", "temperature = x", 1, "x" } })
    do
      local ok, e = pcall(probe.generate, probe, call[1], call[3], call[4])
      assert.is_false(ok)
      assert.matches(call[2], e.message, 1, true)
    end
  end)

  it("begins with a token that its vocabulary holds, where the text's own first one is not", function()
    local path, dir = base .. "-words.txt", base .. "/words"
    local f = assert(io.open(path, "w"))
    f:write("rare ", ("cat dog "):rep(60))
    f:close()
    local text = [[return { data = { source = "text", path = %q, level = "word", vocabulary = 2, context = 4 },
      model = lg.models.gpt{ width = 8, depth = 1, heads = 2 }, train = { epochs = 1, batch = 8 } }]]
    train.run(recipe.from_text(text:format(path), "tiny.lua"), { out = dir, quiet = true })
    os.remove(path)
    assert.matches("^%-%-%- sample 1\ncat ", assert(io.open(dir .. "/samples.txt")):read("*a"))
    assert.are.equal("done", store.open(dir).attrs.status)
  end)

  it("hardened writes with its last weights, one of no text writes nothing", function()
    local dir = base .. "/hard"
    train.run(recipe.from_text([[return { data = { source = "synthetic_text", n = 2000, context = 16 },
      model = lg.models.gpt{ width = 8, depth = 1, heads = 2 }, train = { epochs = 2, batch = 16, eval_batch = 16 },
      hardening = { schedule = "geometric" } }]], "tiny.lua"), { out = dir, quiet = true })
    local first = assert(io.open(dir .. "/samples.txt")):read("*a"):match("^%-%-%- sample 1\n(.-)\n%-%-%- sample 2\n")
    assert.are.equal(first, require("lgelu.probe").open(dir):generate(first:sub(1, 1), 400, 0.8, 1))
    dir = base .. "/moons"
    train.run(recipe.from_text([[return { data = { source = "moons", n = 100 }, model = lg.models.mlp{ hidden = { 4 } },
      train = { epochs = 1 } }]], "tiny.lua"), { out = dir, quiet = true })
    assert.is_nil(io.open(dir .. "/samples.txt"))
  end)
end)
