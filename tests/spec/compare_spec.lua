--- Specification of lgelu.compare: groups, statistics over seeds, ΔBVS by pairs, what is refused.

local compare = require("lgelu.compare")
local errors = require("lgelu.errors")
local runs = dofile("tests/spec/support/runs.lua")

-- A run of one recipe with these gate keys; its best score is bvs, at epoch 2 of 3.
local function run(o)
  local gate = { kind = o.kind, t = o.t, init = o.init }
  local lambda = { {}, {}, {}, {} }
  if o.kind == "lambda_gelu" then lambda = { { 1, 2 }, { 2, 4 }, { 3, 3 }, { 3, 4 } } end
  return runs.fake({
    dir = ("runs/%s-%s-%s-s%d"):format(o.kind, o.t or "", o.init or "", o.seed), seed = o.seed, kind = o.kind,
    hash = table.concat({ o.kind, o.t or "", o.init or "", o.batch or 128, o.harden and "h" or "", o.name or "",
      o.lr or "" }, "/"),
    status = o.status, lambda = lambda, val_score = { 0.5, o.bvs, 0.7 }, test_score = o.test,
    measure = o.measure, config = {
      name = o.name or "made_up", seed = o.seed, gate = gate, train = { batch = o.batch or 128, lr = o.lr },
      model = { hidden = { 8, 4 } },
      hardening = o.harden and { schedule = "geometric", eps = 0.005 } or nil,
    },
  })
end

local function records(list)
  local result = {}
  for i, o in ipairs(list) do result[i] = compare.record(run(o)) end
  return result
end

local function close(expected, got) assert.is_true(math.abs(expected - got) < 1e-12, tostring(got)) end

describe("compare", function()
  it("groups by what differs besides the seed, and pairs with the GELU run of the same seed", function()
    local result = compare.groups(records({
      { kind = "gelu", seed = 1, bvs = 0.80, test = 0.7 }, { kind = "gelu", seed = 2, bvs = 0.90, test = 0.7 },
      { kind = "lambda_gelu", t = 0.1, seed = 1, bvs = 0.82, test = 0.7 },
      { kind = "lambda_gelu", t = 0.1, seed = 2, bvs = 0.96 },
      { kind = "relu", seed = 1, bvs = 0.81 }, { kind = "relu", seed = 3, bvs = 0.83 },
    }))
    assert.are.same({ "gate.kind" }, result.keys)
    assert.are.same({ { "gate.t", "0.1" } }, result.present)
    assert.are.same({}, result.pooled)
    local gelu, learned, relu = result.groups[1], result.groups[2], result.groups[3]
    assert.are.same({ ["gate.kind"] = "lambda_gelu" }, learned.values)
    assert.equal(2, gelu.seeds)
    close(0.85, gelu.bvs.mean)
    close(0.7, gelu.test.mean)
    assert.is_nil(gelu.delta)
    assert.is_nil(gelu.profile)
    assert.is_nil(gelu.drift)
    close(0.04, learned.delta.mean)
    assert.equal(2, learned.delta.n)
    assert.is_nil(learned.test)
    assert.are.same({ 3, 3 }, learned.profile)
    close((1 + 2 + 1 + 1 + 0 + 1) / 6, learned.drift.mean)
    assert.are.same({ 3, 3 }, learned.epochs)
    close(0.01, relu.delta.mean)
    assert.equal(1, relu.delta.n)
    assert.is_nil(relu.delta.ci95)
  end)

  it("tells hardened runs from others by their schedule, and pairs them with the same baseline", function()
    local list = records({
      { kind = "gelu", seed = 1, bvs = 0.80 }, { kind = "lambda_gelu", seed = 1, bvs = 0.82 },
      { kind = "lambda_gelu", seed = 1, bvs = 0.85, harden = true },
    })
    local result = compare.groups(list)
    assert.are.same({ "gate.kind", "hardening.schedule" }, result.keys)
    assert.are.same({ { "hardening.eps", "0.005" } }, result.present)
    assert.are.same({ ["gate.kind"] = "lambda_gelu", ["hardening.schedule"] = "geometric" }, result.groups[3].values)
    close(0.05, result.groups[3].delta.mean)
  end)

  it("groups by several keys, and counts pairs over all runs beside seeds", function()
    local result = compare.groups(records({
      { kind = "gelu", seed = 1, bvs = 0.80 }, { kind = "gelu", seed = 2, bvs = 0.81 },
      { kind = "lambda_gelu", t = 0.1, init = "ascending", seed = 1, bvs = 0.82 },
      { kind = "lambda_gelu", t = 0.1, init = "descending", seed = 1, bvs = 0.84 },
      { kind = "lambda_gelu", t = 0.3, init = "ascending", seed = 2, bvs = 0.90 },
    }), { "gate.kind", "gate.t" })
    assert.equal(3, #result.groups)
    assert.are.same({ ["gate.kind"] = "lambda_gelu", ["gate.t"] = "0.1" }, result.groups[2].values)
    assert.are.same({ 1, 2 }, { result.groups[2].delta.n, result.groups[2].pairs.n })
    assert.equal(0, result.unpaired)
    close(0.03, result.groups[2].pairs.mean)
    close(math.sqrt(2) * 0.01, result.groups[2].pairs.sd)
    close(0.09, result.groups[3].delta.mean)
  end)

  it("takes a sweep's own baseline, whatever its gates, before others", function()
    local list = records({
      { kind = "gelu", seed = 1, bvs = 0.80 }, { kind = "relu", seed = 1, bvs = 0.70 },
      { kind = "lambda_gelu", seed = 1, bvs = 0.82 },
    })
    list[2].role = "baseline"
    local result = compare.groups(list)
    close(0.12, result.groups[3].delta.mean)
    assert.is_nil(result.groups[2].delta)
    assert.is_nil(result.groups[1].delta)
  end)

  it("shows a key of some groups where its values differ", function()
    local result = compare.groups(records({
      { kind = "relu", seed = 1, bvs = 0.8 }, { kind = "lambda_gelu", t = 0.1, seed = 1, bvs = 0.8 },
      { kind = "lambda_gelu", t = 0.3, seed = 1, bvs = 0.8 },
    }))
    assert.are.same({ "gate.kind", "gate.t" }, result.keys)
    assert.are.same({}, result.present)
    assert.is_nil(result.groups[1].values["gate.t"])
    assert.equal("0.3", result.groups[3].values["gate.t"])
  end)

  it("lets a recipe's name stand for two keys or more that it alone decides, never for the gate's", function()
    local function two(lr, kind)
      return compare.groups(records({
        { kind = "gelu", seed = 1, bvs = 0.8 }, { kind = kind, seed = 2, bvs = 0.8 },
        { kind = "relu", seed = 1, bvs = 0.9, name = "other", batch = 64, lr = lr },
      }))
    end
    local result = two("0.1", "gelu")
    assert.are.same({ "recipe", "gate.kind" }, result.keys) -- although each recipe has one gate here
    assert.are.same({ "train.batch", "train.lr" }, result.told)
    assert.are.same({}, result.present)
    assert.are.same({ recipe = "other", ["gate.kind"] = "relu" }, result.groups[2].values)
    result = compare.groups(records({ -- a batch that varies within one recipe stays
      { kind = "relu", seed = 1, bvs = 0.8, lr = "1" }, { kind = "relu", seed = 2, bvs = 0.8, lr = "1", batch = 64 },
      { kind = "relu", seed = 1, bvs = 0.9, name = "other", batch = 64, lr = "0.1" },
    }))
    assert.are.same({ "train.batch", "train.lr" }, result.keys) -- lr alone would be told by the name
    assert.are.same({}, result.told)
    assert.are.same({ "gate.kind", "train.batch" }, two(nil, "gelu").keys)
  end)

  it("puts groups of one recipe together, in the order in which they came", function()
    local list = {}
    for i, kind in ipairs({ "gelu", "relu", "silu" }) do
      list[2 * i - 1] = { kind = kind, seed = 1, bvs = 0.8 }
      list[2 * i] = { kind = kind, seed = 1, bvs = 0.9, name = "another", batch = 64, lr = "0.1" }
    end
    local rows = {}
    for i, group in ipairs(compare.groups(records(list)).groups) do
      rows[i] = group.values.recipe .. " " .. group.values["gate.kind"]
    end
    assert.are.same({ "made_up gelu", "made_up relu", "made_up silu", "another gelu", "another relu", "another silu" },
      rows)
  end)

  it("takes a fine-tuned run for one of its parent's recipe, and groups by a recipe's name", function()
    local function made(name, kind, seed, lr, parent)
      return compare.record(runs.fake({ dir = "runs/" .. name .. kind, seed = seed, kind = kind, lambda = { {}, {} },
        hash = name .. kind, val_score = { 0.7 }, config = { name = name, seed = seed, gate = { kind = kind },
          hardening = parent and { from = 0, parent = parent }, train = { lr = lr, epochs = lr } } }))
    end
    local parent = ("ab"):rep(32) .. "-s1"
    local of_one = { made("a", "gelu", 1, 1), made("a_hardened", "lambda_gelu", 1, 2, parent) }
    assert.are.same({}, compare.groups(of_one).told) -- one recipe, although two keys differ with the name
    local all = { of_one[1], of_one[2], made("b", "gelu", 1, 3), made("c_hardened", "gelu", 1, 3) }
    local names = {}
    local result = compare.groups(all, { "recipe" })
    for i, group in ipairs(result.groups) do names[i] = group.values.recipe end
    assert.are.same({ "a", "b", "c_hardened" }, names) -- the last has that name of its own
    assert.are.same({ "recipe" }, result.keys)
    assert.are.same({ "recipe", "train.lr" }, compare.groups(all, { "train.lr", "recipe" }).keys)
  end)

  it("groups fine-tuned runs over seeds, whose parents differ in theirs", function()
    local function tuned(seed, parent, hash)
      return compare.record(runs.fake({ dir = "runs/" .. hash, seed = seed, kind = "lambda_gelu", hash = hash,
        lambda = { { 1 }, { 2 } }, val_score = { 0.7 + seed / 10 }, config = { name = "t_hardened", seed = seed,
          gate = { kind = "lambda_gelu" }, hardening = { from = 0, parent = ("%s-s%d"):format(parent, seed) } } }))
    end
    local result = compare.groups({ tuned(1, ("ab"):rep(32), "x1"), tuned(2, ("ab"):rep(32), "x2"),
      tuned(1, ("cd"):rep(32), "x3") })
    assert.equal(2, #result.groups)
    assert.equal(2, result.groups[1].seeds)
    assert.are.same({ "hardening.parent" }, result.keys)
    assert.equal("abababab", result.groups[1].values["hardening.parent"])
  end)

  it("does not pair with a baseline that differs in more than the gate", function()
    local result = compare.groups(records({
      { kind = "gelu", seed = 1, bvs = 0.80, batch = 64 }, { kind = "lambda_gelu", seed = 1, bvs = 0.82 },
    }))
    assert.are.same({ "gate.kind", "train.batch" }, result.keys)
    assert.is_nil(result.groups[2].delta)
    assert.equal(1, result.unpaired)
  end)

  it("pools by a key, counting seeds and not runs", function()
    local result = compare.groups(records({
      { kind = "gelu", seed = 1, bvs = 0.80 },
      { kind = "lambda_gelu", init = "ascending", seed = 1, bvs = 0.82 },
      { kind = "lambda_gelu", init = "descending", seed = 1, bvs = 0.84 },
    }), { "gate.kind" })
    assert.are.same({ "gate.kind" }, result.keys)
    assert.are.same({ "gate.init" }, result.pooled)
    local pooled = result.groups[2]
    assert.equal(1, pooled.seeds)
    assert.equal(2, #pooled.records)
    close(0.83, pooled.bvs.mean)
    close(0.03, pooled.delta.mean)
    assert.is_nil(pooled.bvs.ci95)
  end)

  it("says when only seeds differ, and counts a repeated run once", function()
    local list = records({ { kind = "relu", seed = 1, bvs = 0.8 }, { kind = "relu", seed = 2, bvs = 0.9 } })
    list[3] = list[1]
    local result = compare.groups(list)
    assert.are.same({}, result.keys)
    assert.equal(1, #result.groups)
    assert.equal(2, result.groups[1].seeds)
    assert.are.same({ { "relu---s1", "relu---s1" } }, result.repeated)
  end)

  it("refuses runs that are not done, runs without a best score, and unknown keys", function()
    local function fails(kind, words, f, ...)
      local ok, e = pcall(f, ...)
      assert.is_false(ok)
      assert.is_true(errors.is(e, kind), tostring(e))
      assert.truthy(e.message:find(words, 1, true), e.message)
    end
    local failed = run({ kind = "relu", seed = 1, bvs = 0.8, status = "failed" })
    fails("fail", "it is failed, not done", compare.record, failed)
    fails("fail", "no best validation score", compare.record, run({ kind = "relu", seed = 1, bvs = math.huge }))
    fails("usage", "no run has this key, did you mean 'gate.kind'?", compare.groups,
      records({ { kind = "relu", seed = 1, bvs = 0.8 } }), { "gate.kin" })
    fails("usage", "there are no runs", compare.groups, {})
    local mixed = records({ { kind = "gelu", seed = 1, bvs = 0.8 },
      { kind = "gelu", t = 1, seed = 1, bvs = 1.9, measure = "perplexity" } })
    fails("usage", "gelu---s1 has accuracy, gelu-1--s1 has perplexity; compare those of one score", compare.groups,
      mixed, { "gate.kind" })
    assert.equal("perplexity", compare.groups(mixed).groups[2].score.name)
  end)
end)

describe("lgelu compare", function()
  local place = os.tmpname()
  os.remove(place)
  assert(os.execute(("mkdir '%s'"):format(place)) == 0)
  local paths = {}
  for _, o in ipairs({ { "lambda_gelu", 0.9 }, { "gelu", 0.89 } }) do
    for seed = 1, 3 do
      paths[#paths + 1] = ("%s/%s-s%d"):format(place, o[1], seed)
      runs.store({ dir = paths[#paths], kind = o[1], seed = seed, epochs = 4, score = o[2] })
    end
  end
  runs.store({ dir = place .. "/words", kind = "lambda_gelu", seed = 4, epochs = 2, score = 2.954,
    measure = "perplexity" })
  runs.store({ dir = place .. "/broken", kind = "relu", seed = 1, epochs = 2, score = 0.8, status = "failed" })

  teardown(function() os.execute(("rm -r '%s'"):format(place)) end)

  -- bvs of seed 1, 2, 3: score − 0.1·exp(−1) + 0.001·seed, so mean 0.9 − 0.036788 + 0.002 and sd 0.001
  it("prints mean, interval and pairs over seeds, and names what it leaves out", function()
    local status, text = runs.program("compare", place .. "/broken", unpack(paths))
    assert.equal(0, status, text)
    assert.truthy(text:find("broken is left out: it is failed, not done", 1, true), text)
    local row = "lambda_gelu      3  86.52 ± 0.25   +1.00 ± 0.00  85.52 ± 0.25       4"
    assert.truthy(text:find(row, 1, true), text)
    assert.truthy(text:find("gelu             3  85.52 ± 0.25              –", 1, true), text)
    local notes = "Groups differ in gate.kind.\nThe same wherever it applies: gate.t = 0.1.\n"
    assert.truthy(text:find(notes, 1, true), text)
  end)

  it("gives each number its unit where runs have different scores", function()
    local text = select(2, runs.program("compare", place .. "/words", paths[1]))
    assert.truthy(text:find("2.897 perplexity", 1, true), text)
    assert.truthy(text:find("86.42 %", 1, true), text)
    text = select(2, runs.program("compare", place .. "/words", unpack(paths)))
    assert.truthy(text:find("86.52 ± 0.25 %  +1.00 ± 0.00 points", 1, true), text)
    local status, message = runs.program("compare", "--by", "gate.kind", place .. "/words", paths[1])
    assert.equal(2, status)
    assert.truthy(message:find("words has perplexity, lambda_gelu-s1 has accuracy; compare those", 1, true), message)
  end)

  it("prints every digit as CSV, with the notes elsewhere", function()
    local status, text = runs.program("compare", "--format", "csv", "--by", "gate.kind", unpack(paths))
    assert.equal(0, status)
    local header, row = text:match("(gate.kind,[^\n]*)\n([^\n]*)\n")
    local value, fields = {}, {}
    for field in (row .. ","):gmatch("([^,]*),") do fields[#fields + 1] = field end
    for title in (header .. ","):gmatch("([^,]*),") do value[title] = table.remove(fields, 1) end
    assert.equal("lambda_gelu", value["gate.kind"])
    close(0.902 - 0.1 * math.exp(-1), tonumber(value.bvs_mean))
    close(0.001, tonumber(value.bvs_sd))
    assert.equal("3", value.delta_bvs_seeds)
  end)

  it("ends with 2 for a key, format or run that is not there, and with 1 when nothing can be compared", function()
    assert.equal(2, (runs.program("compare", "--by", "gate.kid", paths[1])))
    assert.equal(2, (runs.program("compare", "--format", "txt", paths[1])))
    assert.equal(2, (runs.program("compare", place .. "/nothing")))
    assert.equal(2, (runs.program("compare")))
    assert.equal(1, (runs.program("compare", place .. "/broken")))
  end)
end)
