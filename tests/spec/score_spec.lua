--- score_spec.lua: what networks are judged by: values against their definitions, directions, how they are written, and
-- that a run's best epoch, its files and comparisons follow them.
local compare = require("lgelu.compare")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local recipe = require("lgelu.recipe")
local runs = dofile("tests/spec/support/runs.lua")
local score = require("lgelu.score")
local store = require("lgelu.store")
local tensor = require("lgelu.tensor")
local train = require("lgelu.train")

local base = os.tmpname()
os.remove(base)
teardown(function() os.execute(("rm -rf '%s'"):format(base)) end)

local function close(expected, got) assert.is_true(math.abs(expected - got) < 1e-12, tostring(got)) end

-- A network of two classes whose logits are given batch by batch.
local function fake(margins)
  return { tensor_values = function()
    local list = {}
    for i, margin in ipairs(margins) do list[2 * i - 1], list[2 * i] = 0.25, 0.25 + margin end
    return list
  end }
end

-- The score of batches { { margins, labels }, … }.
local function gathered(name, batches)
  local found = score.named(name).gather()
  for _, batch in ipairs(batches) do
    found:add(fake(batch[1]), tensor.tensor(batch[2], "i32"), #batch[2], 0.5, 0.75)
  end
  return found:value()
end

describe("auc", function()
  it("is the share of pairs in the right order, equal ones half", function()
    close(1, gathered("auc", { { { -1, 2 }, { 0, 1 } }, { { 1, 3 }, { 0, 1 } } }))
    close(0, gathered("auc", { { { -1, 2 }, { 1, 0 } } }))
    close(0.5, gathered("auc", { { { 2, 2, 2 }, { 1, 0, 1 } } }))
    local lehmer, batches, margins, labels = 7, {}, {}, {}
    for b = 1, 3 do
      local m, y = {}, {}
      for i = 1, 40 do
        lehmer = lehmer * 16807 % 2147483647
        m[i], y[i] = lehmer % 16, lehmer % 7 < 3 and 1 or 0
        margins[#margins + 1], labels[#labels + 1] = m[i], y[i]
      end
      batches[b] = { m, y }
    end
    local right, pairs_of = 0, 0
    for i, a in ipairs(margins) do
      for k, c in ipairs(margins) do
        if labels[i] == 1 and labels[k] == 0 then
          pairs_of = pairs_of + 1
          right = right + (a > c and 1 or a == c and 0.5 or 0)
        end
      end
    end
    close(right / pairs_of, gathered("auc", batches))
  end)

  it("takes margins for equal that differ by rounding, and no others", function()
    for _, size in ipairs({ 1e-6, 1, 1e6 }) do
      local function of(difference) -- samples of two kinds; those of a kind lie about it in steps of `difference`
        local m, y = {}, {}
        for i = 0, 39 do
          m[i + 1] = size * ((i % 2 == 0 and 1 or -1) + (i % 5 - 2) * difference)
          y[i + 1] = i % 7 < 3 and 1 or 0
        end
        local found = score.named("auc").gather()
        found:add({ tensor_values = function()
          local list = {}
          for i, margin in ipairs(m) do list[2 * i - 1], list[2 * i] = -margin / 2, margin / 2 end
          return list
        end }, tensor.tensor(y, "i32"), #y, 0.5, 0.75)
        return found:value()
      end
      assert.are.equal(of(0), of(1e-7))
      assert.are_not.equal(of(0), of(1e-5))
      assert.are.equal(of(1e-3), of(1e-5))
    end
  end)

  it("of one class alone is an error", function()
    local ok, e = pcall(gathered, "auc", { { { 1, 2 }, { 1, 1 } } })
    assert.is_false(ok)
    assert(errors.is(e, "fail"))
    assert.matches("all 2 samples are of one class", e.message, 1, true)
  end)
end)

describe("f1", function()
  it("is 2·TP/(2·TP + FP + FN) of the second class; a tie is the first class", function()
    -- found: 1 and 4 (TP, FP); there: 1, 3, 5 → TP 1, FP 1, FN 2
    close(2 / 5, gathered("f1", { { { 1, -1, 0 }, { 1, 0, 1 } }, { { 2, -2 }, { 0, 1 } } }))
    close(0, gathered("f1", { { { -1, -1 }, { 0, 0 } } }))
    close(1, gathered("f1", { { { -1, 1 }, { 0, 1 } } }))
  end)
end)

describe("accuracy", function()
  it("is the same for as many right answers, however they lie in batches", function()
    for _, sizes in ipairs({ { 49, 49, 49 }, { 300, 300, 107 }, { 884, 116 } }) do
      local total, count = 0, 0
      for _, size in ipairs(sizes) do total = total + size end
      for right = 0, total, 3 do
        count = count + 1
        for _, forward in ipairs({ true, false }) do -- the right ones first, or last
          local found, left = score.named("accuracy").gather(), forward and right or total - right
          for _, size in ipairs(sizes) do
            local here = math.min(size, left)
            left = left - here
            found:add(nil, { size = size }, size, 0.5, (forward and here or size - here) / size)
          end
          assert.are.equal(right / total, found:value())
        end
      end
      assert.is_true(count > 40)
    end
  end)

  it("of texts counts tokens, not windows", function()
    local found = score.named("accuracy").gather()
    for _, right in ipairs({ 17, 45 }) do found:add(nil, { size = 3 * 49 }, 3, 0.5, right / (3 * 49)) end
    assert.are.equal((17 + 45) / (2 * 3 * 49), found:value())
  end)
end)

describe("a score", function()
  it("does not depend on how samples are cut into batches, where many have the same inputs", function()
    local path, colours, marks = base .. "-table.csv", { "red", "green", "blue" }, { "x", "y" }
    local file = assert(io.open(path, "w"))
    file:write("colour,mark,class\n")
    for i = 0, 999 do
      file:write(("%s,%s,%s\n"):format(colours[i * 7 % 11 % 3 + 1], marks[i * 5 % 13 % 2 + 1],
        (i * 31 % 17 < 5 + i * 7 % 11 % 3 * 4) and "a" or "b"))
    end
    file:close()
    for _, name in ipairs({ "auc", "f1", "accuracy" }) do
      local session = train.session(recipe.from_text(([[return { data = { source = "csv", path = %q, validation = 0.4 },
        model = lg.models.mlp{ hidden = { 300, 200 } }, train = { score = %q } }]]):format(path, name), "table.lua"))
      local seen
      for _, batch in ipairs({ 1, 37, 128, 1000 }) do
        local loader = data.loader(session.set, "train", nil, { batch = batch })
        local value = select(2, train.evaluate(session.net, loader))
        loader:free()
        seen = seen or value
        assert.are.equal(seen, value, ("%s in batches of %d"):format(name, batch))
      end
      session.train:free()
      session.val:free()
    end
    os.remove(path)
  end)

  it("of a text is the mean loss in other units, over batches of any size", function()
    for name, expected in pairs({ bits_per_char = 1.5, bits_per_byte = 1.5, perplexity = 2 ^ 1.5 }) do
      local found = score.named(name).gather()
      found:add(nil, nil, 3, 1 * math.log(2), 0)
      found:add(nil, nil, 1, 3 * math.log(2), 0)
      close(expected, found:value())
    end
  end)

  it("knows its direction", function()
    local bits, accuracy = score.named("bits_per_char"), score.named()
    assert.are.equal("accuracy", accuracy.name)
    assert.is_true(bits:is_better(1, 2) and not bits:is_better(2, 1) and not bits:is_better(1, 1))
    assert.is_true(accuracy:is_better(2, 1) and not accuracy:is_better(1, 2) and not accuracy:is_better(1, 1))
    assert.are.equal(0.5, bits:drop(2, 2.5))
    assert.are.equal(-0.5, accuracy:drop(2, 2.5))
  end)

  it("is written with its unit", function()
    local bits, accuracy = score.named("bits_per_char"), score.named()
    assert.are.equal("87.65 %", accuracy:text(0.87654))
    assert.are.equal("2.1234 bits/char", bits:text(2.12341))
    assert.are.equal("–", bits:text(nil))
    assert.are.equal("–", bits:text(0 / 0))
    assert.are.equal("-1.00 points", accuracy:change(0.01))
    assert.are.equal("+0.0100 bits/char", bits:change(0.01))
    assert.are.equal("+1.00 points", accuracy:drop_text(0.01))
  end)

  it("stands in a table with its unit where there are several, and with its name where they have one unit", function()
    local function units(...)
      local kinds, found = {}, {}
      for i, name in ipairs({ ... }) do kinds[i] = score.named(name) end
      local unit, difference, style_of = score.columns(kinds)
      for i, kind in ipairs(kinds) do found[i] = style_of(kind).value[3] .. style_of(kind).difference[3] end
      return unit .. difference, found
    end
    local title, found = units("f1", "f1")
    assert.are.same({ " (%) (points)", { "", "" } }, { title, found })
    title, found = units("perplexity", "accuracy")
    assert.are.same({ "", { " perplexity perplexity", " % points" } }, { title, found })
    title, found = units("accuracy", "auc", "perplexity", "accuracy")
    assert.are.same({ "", { " % accuracy points", " % auc points", " perplexity perplexity", " % accuracy points" } },
      { title, found })
  end)

  it("has names, and an unknown one is an error", function()
    for _, name in ipairs(score.names()) do assert.are.equal(name, score.named(name).name) end
    local ok, e = pcall(score.named, "bits_per_chr")
    assert.is_false(ok)
    assert.matches("there is no score 'bits_per_chr', did you mean 'bits_per_char'?", e.message, 1, true)
  end)
end)

describe("a run", function()
  local count = 0
  local function run(source)
    count = count + 1
    local dir = base .. "/" .. count
    train.run(recipe.from_text(source, "tiny.lua"), { out = dir, quiet = true })
    return store.open(dir), dir
  end

  it("of a text is judged by bits, the fewest being the best", function()
    -- the rate is far too high at the end, so that the last epoch is not the best
    local reader, dir = run([[return { data = { source = "synthetic_text", n = 3000, context = 16 },
      model = lg.models.gpt{ width = 16, depth = 1, heads = 2 }, train = { epochs = 4, batch = 16, eval_batch = 16 },
      optimizer = { lr = 0.3, clip = 1 } }]])
    assert.are.equal("bits_per_char", reader.attrs.score)
    local epochs, best = reader:epochs(), reader:best()
    for e, loss in ipairs(epochs.val_loss) do
      close(loss / math.log(2), epochs.val_score[e])
      close(epochs.train_loss[e] / math.log(2), epochs.train_score[e])
      assert.is_true(best.val_score <= epochs.val_score[e])
    end
    assert.are.equal(epochs.val_score[best.epoch], best.val_score)
    local log = assert(io.open(dir .. "/log.txt")):read("*a")
    assert.matches("best validation score %d%.%d%d%d%d bits/char %(epoch %d%), test score %d%.%d%d%d%d bits/char",
      log)
    reader.best_data = nil -- as while the run goes on
    assert.are.equal(best.epoch, reader:best().epoch)
    local _, report = require("lgelu.swap").of(dir)
    close(report.val.loss_before / math.log(2), report.val.score_before)
    close(report.val.score_after - report.val.score_before, report.val.drop)
    local probe = require("lgelu.probe").open(dir)
    local made = probe:swap("all")
    close(report.val.drop, made.drop)
    assert.matches("bits/char", tostring(made), 1, true)
  end)

  it("of two classes can be judged by auc or f1; others cannot", function()
    local function moons(name)
      return ([[return { data = { source = "moons", n = 300, test = 1 }, model = lg.models.mlp{ hidden = { 8 } },
        train = { epochs = 2, batch = 32, score = %q } }]]):format(name)
    end
    local auc, f1 = run(moons("auc")), run(moons("f1"))
    assert.are.equal("auc", auc.attrs.score)
    assert.are_not.equal(auc.attrs.hash, f1.attrs.hash)
    assert.is_true(auc:best().val_score > 0.5 and auc:best().val_score <= 1)
    assert.is_true(auc:epochs().train_score[1] ~= auc:epochs().train_score[1])
    local ok, e = pcall(run, [[return { data = { source = "synthetic", n = 50 }, model = lg.models.mlp{},
      train = { score = "auc" } }]])
    assert.is_false(ok)
    assert.matches("train.score: auc is of two classes, found 10", e.message, 1, true)
    ok, e = pcall(run, [[return { data = { source = "moons" }, model = lg.models.mlp{},
      train = { score = "perplexity", label_smoothing = 0.1 } }]])
    assert.is_false(ok)
    assert.matches("perplexity is a function of the plain cross-entropy", e.message, 1, true)
  end)

  it("of accuracy says nothing new in its file", function()
    local reader = run([[return { data = { source = "moons", n = 300 }, model = lg.models.mlp{ hidden = { 8 } },
      train = { epochs = 1 } }]])
    assert.is_nil(reader.attrs.score)
    assert.are.equal("accuracy", reader:score().name)
  end)
end)

describe("ΔBVS", function()
  it("is above 0 where a run is better than its baseline, in either direction", function()
    for _, name in ipairs({ "accuracy", "bits_per_char" }) do
      local records = {}
      for i, o in ipairs({ { "gelu", 0.5 }, { "relu", 0.4 } }) do
        local made = runs.fake({ dir = "runs/" .. o[1], seed = 1, kind = o[1], hash = o[1], lambda = { {}, {} },
          val_score = { o[2] }, config = { name = "n", seed = 1, gate = { kind = o[1] } } })
        made.attrs.score = name ~= "accuracy" and name or nil
        records[i] = compare.record(made)
      end
      local groups = compare.groups(records).groups
      close(name == "accuracy" and -0.1 or 0.1, groups[2].delta.mean)
      assert.are.equal(name == "accuracy" and 100 or 1, compare.scale(records))
    end
  end)
end)
