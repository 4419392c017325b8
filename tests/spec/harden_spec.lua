--- lgelu harden: a run that goes on from a finished one: its weights, its λ, a hash of its own; and what cannot be
-- hardened. How λ rises: hardening_spec.lua.
local folders = require("tests.spec.support.folders")
local harden = require("lgelu.harden")
local recipe = require("lgelu.recipe")
local runs = require("tests.spec.support.runs")
local store = require("lgelu.store")
local train = require("lgelu.train")
local trained = require("lgelu.trained")

local base = folders.temporary()
local TARGET = require("lgelu.gate").target(0.005)

local MODEL = { -- with running statistics, and named by what it builds
  mlp = "lg.models.mlp{ hidden = { 6, 5 } }",
  inline = "function(nn, x, info) return nn:linear(nn:gate(nn:batch_norm(nn:linear(x, 6))), info.classes) end",
}

local function parent(name, model, gate, words)
  local text = ([[
return {
  name = "p", data = { source = "moons", n = 120, validation = 0.25 }, model = %s,
  gate = %s, train = { epochs = 5, batch = 16 }, optimizer = { lr = 0.01 }, seed = 3,
}]]):format(MODEL[model], gate)
  local dir = base .. "/" .. name
  train.run(recipe.from_text(text, "p.lua", { overrides = words }), { out = dir, quiet = true })
  return dir
end

-- Hardens; returns the new run's reader.
local function go(name, dir, words, resume)
  local resolved, start = harden.derive(dir, words)
  train.run(resolved, { out = base .. "/" .. name, quiet = true, start = start, resume = resume })
  return store.open(base .. "/" .. name), resolved
end

local function fails(kind, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(kind, e.kind, tostring(e.message or e))
  return e.message
end

local function has(text, ...)
  for _, part in ipairs({ ... }) do assert.is_truthy(text:find(part, 1, true), text) end
end

describe("a finished run", function()
  local learned, inline
  setup(function()
    learned = parent("learned", "mlp", '{ t = 0.1, c = 3, init = function(l) return 1 + l / 4 end }')
    inline = parent("inline", "inline", '{ learn = false, lambda = 2 }')
  end)
  teardown(function() os.execute("rm -rf " .. base) end)

  it("is hardened from its best weights and their λ on, over a quarter of its epochs by default", function()
    local old, new = store.open(learned), go("new", learned)
    assert.same(old:gates().lambda[old:best().epoch + 1], new:gates().lambda[1])
    assert.same(old:gates().s[old:best().epoch + 1], new:gates().s[3])
    assert.same({ TARGET, TARGET }, new:gates().lambda[3])
    assert.equal(2, #new:epochs().epoch)
    assert.equal("p_hardened", new.attrs.name)
    assert.equal(old.attrs.hash, new.attrs.parent_hash)
    assert.equal("best", new.attrs.parent_weights)
    assert.equal(3, tonumber(new.attrs.seed))
    assert.equal(old.attrs.hash .. "-s3", new:config().hardening.parent)
    assert.same({ TARGET, TARGET }, trained.open(new.dir).net:lambdas())
  end)

  it("gives its weights and statistics to the first step", function()
    local dir = go("still", inline, { "epochs=1", "optimizer.lr=1e-300", "train.batch=90" }).dir
    local old, new = trained.open(inline), trained.open(dir)
    for _, p in ipairs(old.net.params) do
      assert.same(old.net:tensor(p.name):totable(), new.net:tensor(p.name):totable(), p.name)
    end
    -- A step moves running statistics by a tenth of what they differ from the batch's: they stay near.
    for _, p in ipairs(old.net.states) do
      local a, b = old.net:tensor(p.name):totable(), new.net:tensor(p.name):totable()
      for i in ipairs(a) do assert.is_true(math.abs(b[i] - a[i]) < 0.1 * (math.abs(a[i]) + 0.1), p.name) end
      assert.is_true(p.name:find("var") ~= nil or math.abs(a[1]) > 0.05)
    end
    assert.same({ TARGET }, new.net:lambdas())
  end)

  it("of GELU is hardened as one of λ-GELU whose λ is fixed at 1, with the same bits", function()
    local gelu = parent("gelu", "mlp", '{ kind = "gelu" }')
    local fixed = parent("fixed", "mlp", '{ learn = false, lambda = 1 }')
    local a, b = go("gelu_hard", gelu), go("fixed_hard", fixed)
    assert.same({ 1, 1 }, a:gates().lambda[1])
    assert.same({ TARGET, TARGET }, a:gates().lambda[3])
    local x, y = trained.open(a.dir), trained.open(b.dir)
    for _, p in ipairs(x.net.params) do
      assert.same(y.net:tensor(p.name):totable(), x.net:tensor(p.name):totable(), p.name)
    end
  end)

  it("has a hash of its own, by parent and seed, whatever the parent's folder is", function()
    local a = harden.derive(learned, { "epochs=1" })
    local b = harden.derive(parent("copy", "mlp", '{ t = 0.1, c = 3, init = function(l) return 1 + l / 4 end }'),
      { "train.epochs=1" })
    local c = harden.derive(parent("seed", "mlp", '{ t = 0.1, c = 3, init = function(l) return 1 + l / 4 end }',
      { "seed=4" }), { "epochs=1" })
    assert.equal(a.hash, b.hash)
    assert.not_equal(a.hash, c.hash)
    assert.equal(4, c.seed)
  end)

  it("is hardened again from its last weights when it was hardened", function()
    local once = go("once", learned, { "epochs=1", "hardening.target=30" })
    local twice = go("twice", once.dir, { "epochs=1", "hardening.target=60", "hardening.order=backward" })
    assert.equal("last", twice.attrs.parent_weights)
    assert.equal("p_hardened", twice.attrs.name)
    assert.same({ 30, 30 }, twice:gates().lambda[1])
    assert.same({ 60, 60 }, twice:gates().lambda[2])
    has(fails("usage", go, "lower", once.dir, { "hardening.target=20" }), "command line: hardening: gate 'gate1' has "
      .. "λ = 30, above its target 20")
    has(fails("usage", go, "lower", once.dir, { "hardening.eps=0.05" }), "above its target 15.9577")
  end)

  it("goes on after a stop with the bits of an undisturbed run", function()
    local whole = go("whole", learned, { "epochs=3" })
    local before = train.evaluate
    local evaluations = 0
    train.evaluate = function(...) -- fails at the end of the second epoch
      evaluations = evaluations + 1
      if evaluations == 2 then error("power cut") end
      return before(...)
    end
    local ok = pcall(go, "cut", learned, { "epochs=3" })
    train.evaluate = before
    assert.is_false(ok)
    local cut = go("cut", learned, { "epochs=3" }, true)
    assert.same(whole:gates().lambda, cut:gates().lambda)
    assert.same(whole:epochs().train_loss, cut:epochs().train_loss)
    assert.same(whole:result(), cut:result())
  end)

  it("refuses what belongs to the parent, and parents without λ, unfinished or missing", function()
    has(fails("usage", harden.derive, learned, { "gate.c=2" }), "gate.c: the weights of", "belong to its gate")
    has(fails("usage", harden.derive, learned, { "model.hidden={3}" }), "belong to its model")
    has(fails("usage", harden.derive, learned, { "seed=4" }), "seed: it is that of")
    has(fails("usage", harden.derive, learned, { "epochs=0" }), "train.epochs: found 0, expected an integer >= 1")
    has(fails("usage", harden.derive, learned, { "epochs=1", "train.epochs=2" }), "train.epochs is given twice")
    has(fails("usage", harden.derive, learned, { "hardening.schedule=none" }), "hardening.schedule: found none, "
      .. "expected a shape")
    has(fails("usage", harden.derive, parent("plain", "mlp", '{ kind = "silu" }')), "gates are silu and have no λ")
    local stopped = parent("stopped", "mlp", "{}")
    local run = store.reopen(stopped)
    run:update(function(file) file:set_attr("/", "status", "stopped") end)
    run:release()
    has(fails("fail", harden.derive, stopped), "the run is stopped, not done")
    fails("usage", harden.derive, base .. "/nowhere")
  end)

  it("is needed by recipes that name a parent", function()
    local resolved = harden.derive(learned)
    has(fails("usage", train.run, resolved, { out = base .. "/x" }),
      "hardening.parent: only 'lgelu harden RUN' trains with it")
  end)

  it("is hardened by the program, which shows how", function()
    local status, text = runs.program("harden", learned, "epochs=1", "--out", base .. "/shown")
    assert.equal(0, status, text)
    has(text, "hardening geometric, all gates at once, over the last", "to λ = 159.577; s frozen",
      "λ 159.577..159.577", "hardened, the weights of this run: validation score")
    status, text = runs.program("show", base .. "/shown")
    assert.equal(0, status, text)
    has(text, "Hardening: geometric, all gates at once, from 0 of the steps (counted from the start) to λ = 159.577",
      "The run's weights are its last, hardened ones (last.ckpt.h5)")
    status, text = runs.program("harden", base .. "/plain")
    assert.equal(2, status, text)
  end)
end)
