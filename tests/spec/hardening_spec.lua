--- Hardening: every shape against plain formulas of its own, targets met exactly at the last step, whatever the switch,
-- the order, what s does, and also after a kill; a hardened run's weights are its last ones; what cannot be hardened
-- says so. Fine-tuning of finished runs: harden_spec.lua.
local folders = require("tests.spec.support.folders")
local gate = require("lgelu.gate")
local hardening = require("lgelu.hardening")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")
local trained = require("lgelu.trained")

local base = folders.temporary()
local TARGET = math.sqrt(2 / math.pi) / 0.005

local function resolve(words)
  return recipe.from_table({
    name = "h", data = { source = "moons", n = 120, validation = 0.25 }, model = { arch = "mlp", hidden = { 6, 5, 4 } },
    gate = { t = 0.1, c = 3, init = "ascending" }, train = { epochs = 3, batch = 16, eval_batch = 64 },
    optimizer = { lr = 0.01 },
  }, { overrides = words })
end

local NAMES = { "gate1", "gate2", "gate3" }

-- The plan of a training of `total` steps, hardened throughout unless the words say otherwise.
local function plan(total, ...)
  local words = { ... }
  if not table.concat(words, " "):find("hardening.from", 1, true) then words[#words + 1] = "hardening.from=0" end
  return hardening.plan(resolve(words), NAMES, total)
end

local count = 0
-- Trains; returns the run's reader, opened anew.
local function run(words, options)
  count = count + 1
  local dir = ("%s/%d"):format(base, count)
  options = options or {}
  options.out, options.quiet = dir, true
  train.run(resolve(words), options)
  return store.open(dir)
end

local function last_lambda(reader)
  local rows = reader:gates().lambda
  return rows[#rows]
end

describe("hardening", function()
  teardown(function() os.execute("rm -rf " .. base) end)

  local SHAPES = { -- λ after a share p of the way from a to b
    geometric = function(a, b, p) return math.exp(math.log(a) + p * (math.log(b) - math.log(a))) end,
    linear = function(a, b, p) return (1 - p) * a + p * b end,
    cosine = function(a, b, p) return a + (b - a) * math.sin(math.pi * p / 2) ^ 2 end,
    sine = function(a, b, p) return a + (b - a) * math.cos(math.pi * (1 - p) / 2) end,
  }

  it("rises in each shape by its formula, from the switch to the exact target", function()
    for name, lambda in pairs(SHAPES) do
      local p, from = plan(10, "hardening.schedule=" .. name), { 1.1, 3, 20 }
      for step = 0, 9 do
        local floors = p:floors(step, from)
        for i = 1, 3 do
          local want = lambda(from[i], TARGET, (step + 1) / 10)
          assert.is_true(math.abs(floors[i] - want) < 1e-12 * want, name)
          if step == 9 then assert.equal(gate.target(0.005), floors[i]) end
        end
      end
    end
    assert.equal(#hardening.shapes(), 5)
  end)

  it("counts the switch from the start or the end, and leaves one step at least", function()
    for words, first in pairs({
      ["hardening.from=0.25"] = 25, ["hardening.from=0"] = 0, ["hardening.from=1"] = 99, ["hardening.from=0.999"] = 99,
      ["hardening.from=0.25 hardening.counted=end"] = 75, ["hardening.from=1 hardening.counted=end"] = 0,
      ["hardening.from=0 hardening.counted=end"] = 99,
    }) do
      local list = {}
      for word in words:gmatch("%S+") do list[#list + 1] = word end
      assert.equal(first, plan(100, unpack(list)).first, words)
    end
    assert.equal(25, hardening.plan(resolve({ "hardening.schedule=linear" }), NAMES, 100).first) -- by default
  end)

  it("takes one gate after another, each in a window of its own", function()
    local from, target = { 2, 2, 2 }, { 50, 60, 70 }
    for order, places in pairs({ forward = { 1, 2, 3 }, backward = { 3, 2, 1 } }) do
      local p = plan(10, "hardening.order=" .. order, "hardening.target={50,60,70}")
      local ends = { 3, 6, 10 } -- steps after which the first, second and third in turn is at its target
      for step = 0, 9 do
        local floors = p:floors(step, from)
        for i = 1, 3 do
          local last = ends[places[i]]
          local first = places[i] == 1 and 0 or ends[places[i] - 1]
          local state = step >= last - 1 and "hard" or step < first and "soft" or "rising"
          local found = floors[i] == target[i] and "hard" or floors[i] == 2 and "soft" or "rising"
          assert.equal(state, found, ("%s, step %d, gate %d"):format(order, step, i))
        end
      end
    end
    local p = plan(3, "hardening.order=forward")
    assert.same({ TARGET, 2, 2 }, p:floors(0, from))
  end)

  it("of every gate of a run ends at its target, for every shape and switch, s frozen or learned", function()
    local exact = gate.target(0.005)
    local all = {
      { "hardening.schedule=geometric", "hardening.from=0" }, { "hardening.schedule=linear", "hardening.from=1" },
      { "hardening.schedule=cosine", "hardening.learn=floor", "hardening.from=0.3333", "hardening.counted=end" },
      { "hardening.schedule=sine", "hardening.from=0.6667", "hardening.order=backward" },
      { "hardening.learn=floor", "hardening.from=1" }, { "hardening.learn=floor", "gate.tie=true" },
      { "gate.learn=false", "hardening.from=0.5", "hardening.schedule=sine" },
      { "gate.reparam=none", "optimizer.name=sgd", "optimizer.momentum=0.9", "hardening.learn=floor" },
    }
    for _, words in ipairs(all) do
      local reader = run(words)
      assert.same({ exact, exact, exact }, last_lambda(reader), table.concat(words, " "))
      assert.same({ exact, exact, exact }, trained.open(reader.dir).net:lambdas())
    end
    assert.same({ 3, 40, 1e6 }, last_lambda(run({ "hardening.target={3,40,1e6}", "gate.init=gelu" })))
  end)

  it("meets the target where s alone would run past it", function()
    local words = { "optimizer.decay_gates=true", "optimizer.weight_decay=5", "gate.init=gelu" }
    assert.is_true(last_lambda(run(words))[1] > 2)
    words[#words + 1], words[#words + 2] = "hardening.target=1.5", "hardening.learn=floor"
    assert.same({ 1.5, 1.5, 1.5 }, last_lambda(run(words)))
  end)

  it("freezes s and its moments from the switch on", function()
    local one = run({ "train.epochs=1" })
    local two = run({ "train.epochs=2", "hardening.from=0.5" })
    local s = two:gates().s
    assert.same(one:gates().s[2], s[2])
    assert.same(s[2], s[3])
    assert.not_same(s[1], s[2])
    local a = store.load_checkpoint(one.dir .. "/last.ckpt.h5").tensors
    local b = store.load_checkpoint(two.dir .. "/last.ckpt.h5").tensors
    for _, name in ipairs(NAMES) do
      for _, slot in ipairs({ "m", "v" }) do
        local key = ("/optimizer/%s/%s.s"):format(slot, name)
        assert.same(a[key]:totable(), b[key]:totable(), key)
      end
    end
    assert.not_same(a["/params/fc1.weight"]:totable(), b["/params/fc1.weight"]:totable())
    assert.same(one:gates().lambda[2], b["/gates/switch_lambda"]:totable())
  end)

  it("learns s above the rising floor", function()
    local reader = run({ "hardening.from=0", "hardening.learn=floor", "hardening.target=6", "gate.init=gelu" })
    local lambda, s = reader:gates().lambda, reader:gates().s
    local total = reader:epochs().step[3]
    for e = 1, 2 do
      local floor = 1.1 * (6 / 1.1) ^ (reader:epochs().step[e] / total)
      for i = 1, 3 do
        assert.is_true(lambda[e + 1][i] >= floor and lambda[e + 1][i] <= 6)
        assert.equal(lambda[e + 1][i], gate.lambda(s[e + 1][i], 0.1))
      end
    end
  end)

  it("leaves the best epoch its own λ, and uses the last weights, whose scores are stored", function()
    local reader = run({ "hardening.from=0.5", "hardening.target=1e5", "optimizer.lr=0.03", "train.epochs=6" })
    local best, hard = reader:best(), reader:result()
    assert.equal("last", reader:weights())
    assert.equal(6, hard.epoch)
    assert.equal(reader:epochs().val_score[6], hard.val_score)
    local t, early = trained.open(reader.dir), trained.open(reader.dir, { checkpoint = "best" })
    assert.same({ 1e5, 1e5, 1e5 }, t.net:lambdas())
    assert.same(reader:gates().lambda[best.epoch + 1], early.net:lambdas())
    assert.equal(hard.test_score, select(2, train.evaluate(t.net, t:loader("test"))))
    assert.equal(best.test_score, select(2, train.evaluate(early.net, early:loader("test"))))
    t.net:set_gate(1, { lambda = 2 })
    assert.is_true(math.abs(t.net:lambdas()[1] - 2) < 1e-12)
    local plain = run({})
    assert.equal("best", plain:weights())
    assert.same(plain:best(), plain:result())
  end)
end)
