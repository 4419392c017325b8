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
local function plan(words, total, names)
  table.insert(words, "hardening.from=" .. (words.from or 0))
  return hardening.plan(resolve(words), names or NAMES, total)
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
      local p, from = plan({ "hardening.schedule=" .. name }, 10), { 1.1, 3, 20 }
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

  it("of every gate of a run ends at its target, for every shape and switch, s frozen or learned", function()
    local exact = gate.target(0.005)
    for _, shape in ipairs(hardening.shapes()) do
      for _, words in ipairs({ {}, { "hardening.from=0" }, { "hardening.from=1" }, { "hardening.learn=floor" },
        { "hardening.from=0.3333", "hardening.counted=end", "hardening.learn=floor" } }) do
        if shape ~= "none" then
          local all = { "hardening.schedule=" .. shape, unpack(words) }
          local reader = run(all)
          assert.same({ exact, exact, exact }, last_lambda(reader), table.concat(all, " "))
          assert.same({ exact, exact, exact }, trained.open(reader.dir).net:lambdas())
        end
      end
    end
  end)
end)
