--- Sections `hardening` that are wrong, or that ask for what cannot be done: the message names place, key, what was
-- found and what was expected. And what the section does to the recipe's hash.
local folders = require("tests.spec.support.folders")
local hardening = require("lgelu.hardening")
local recipe = require("lgelu.recipe")
local train = require("lgelu.train")

local base = folders.temporary()

local function recipe_of(words, schedule)
  return recipe.from_text(([[
return {
  name = "h", data = { source = "moons", n = 60, validation = 0.25 }, model = lg.models.mlp{ hidden = { 6, 5 } },
  gate = { init = "hard" }, train = { epochs = 1, batch = 64 },
  %s
}]]):format(schedule and ("hardening = { schedule = %s },"):format(schedule) or ""), "h.lua", { overrides = words })
end

local function fails(kind, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.equal(kind, e.kind, tostring(e.message or e))
  return e.message
end

local function interpreted(p) return p ^ 2 end
jit.off(interpreted)

local function has(text, ...)
  for _, part in ipairs({ ... }) do assert.is_truthy(text:find(part, 1, true), text) end
end

describe("a section hardening", function()
  teardown(function() os.execute("rm -rf " .. base) end)

  it("with a wrong key or value says so", function()
    for words, parts in pairs({
      ["hardening.from=1.5"] = { "hardening.from: found 1.5, expected a number from 0 to 1" },
      ["hardening.from=-0.1"] = { "hardening.from: found -0.1" },
      ["hardening.schedule=geometrc"] = { "found 'geometrc'", "did you mean 'geometric'?" },
      ["hardening.shedule=linear"] = { "hardening.shedule: unknown key, did you mean 'hardening.schedule'?" },
      ["hardening.eps=0"] = { "hardening.eps: found 0, expected a number > 0" },
      ["hardening.target=0.5"] = { "hardening.target: found 0.5, expected a number > 1" },
      ["hardening.eps=0.1 hardening.target=9"] = { "hardening.target: takes the place of hardening.eps" },
      ["hardening.order=layerwise"] = { "expected one of all, forward, backward" },
      ["hardening.from=0 gate.kind=relu"] = { "hardening: found gate.kind = relu, expected lambda_gelu" },
      ["hardening.learn=floor gate.learn=false"] = { "a fixed λ has no s to learn" },
      ["hardening.order=forward gate.tie=true"] = { "found forward with gate.tie = true, expected all" },
    }) do
      local list = {}
      for word in words:gmatch("%S+") do list[#list + 1] = word end
      has(fails("usage", recipe_of, list), "command line: ", unpack(parts))
    end
  end)

  it("with a function that is no way from 0 to 1 names its line and what it gave", function()
    for schedule, part in pairs({
      ["function(p) return 0 / 0 end"] = "hardening.schedule(0): found nan, expected a number from 0 to 1",
      ["function(p) return p + 0.5 end"] = "hardening.schedule(0): found 0.5, expected 0",
      ["function(p) return p / 2 end"] = "hardening.schedule(1): found 0.5, expected 1",
      ["function(p) return 3 * p end"] = "hardening.schedule(0.333984): found 1.001953125, expected a number from 0",
      ["function(p) end"] = "found nil, expected a number from 0 to 1",
      ["function(p) return p.x end"] = "attempt to index",
    }) do
      has(fails("usage", recipe_of, {}, schedule), "h.lua:4", part)
    end
    -- Between the samples by which it is known, at a step of the training.
    local r = recipe_of({}, "function(p) return p == 1 / 3 and 7 or p end")
    has(fails("usage", hardening.plan, r, { "g" }, 4), "hardening.schedule(0.333333): found 7")
  end)

  it("asks for as many targets as gates, and steps for each gate where each has its turn", function()
    local r = recipe_of({ "hardening.target={30,40,50}" })
    has(fails("usage", train.session, r), "command line: hardening.target: found 3 values, expected 2, one for each")
    r = recipe_of({ "hardening.target={30,40}", "gate.tie=true" })
    has(fails("usage", train.session, r), "found 2 values, expected 1, as the gates share their λ")
    r = recipe_of({ "hardening.target={30,2e30}" })
    has(fails("usage", train.session, r), "hardening: the target of gate 'gate2' is 2e+30, expected at most 1e+30")
    r = recipe_of({ "hardening.eps=1e-300" })
    has(fails("usage", train.session, r), "the target of gate 'gate1' is 7.97885e+299, expected at most 1e+30")
    r = recipe_of({ "hardening.order=forward" })
    has(fails("usage", train.session, r),
      "hardening.order = forward: 1 step of hardening for 2 gates, expected one for each at least")
    r = recipe.from_table({ data = { source = "moons", n = 60 }, model = { arch = "mlp", hidden = {} } },
      { overrides = { "hardening.from=0" } })
    has(fails("usage", train.session, r), "the model has no gates")
  end)

  it("with a target below the present λ names gate, λ and target, before training where that is known", function()
    local message = fails("usage", train.run, recipe_of({ "hardening.target=15" }), { out = base .. "/a" })
    has(message, "gate 'gate1' has λ = 20, above its target 15", "give a higher hardening.target")
    has(fails("usage", train.run, recipe_of({ "hardening.eps=0.05", "hardening.from=0" }), { out = base .. "/a" }),
      "above its target 15.9577 (√(2/π)/eps, hardening.eps = 0.05)", "give a smaller hardening.eps")
    assert.is_nil(require("lfs").attributes(base .. "/a"))
    local late = { "hardening.target=15", "hardening.from=1", "train.epochs=2", "train.batch=16" }
    message = fails("fail", train.run, recipe_of(late), { out = base .. "/b", quiet = true })
    has(message, "hardening at step 6: gate 'gate1' has λ = 19.", "above its target 15")
    assert.equal("failed", require("lgelu.store").open(base .. "/b").attrs.status)
  end)

  it("is in the hash when it is given, with its function's values, and not when it is none", function()
    local without = recipe_of({})
    assert.is_nil(without.config.hardening)
    assert.is_nil(without.hash_text:find("hardening", 1, true))
    local off = recipe_of({ "hardening.schedule=none", "hardening.from=0.5" })
    assert.equal(without.hash, off.hash)
    assert.is_true(off.dropped["hardening.from"])
    assert.equal(without.hash, recipe_of({ "hardening.schedule=none" }, '"linear"').hash)
    local linear, same = recipe_of({ "hardening.schedule=linear" }), recipe_of({}, '"linear"')
    assert.equal(linear.hash, same.hash)
    assert.not_equal(without.hash, linear.hash)
    local a, b = recipe_of({}, "function(p) return p ^ 2 end"), recipe_of({}, "function(p) return p ^ 2.01 end")
    assert.not_equal(a.hash, b.hash)
    assert.equal(a.hash, recipe_of({}, "function(q) return q ^ 2 end").hash)
    -- A function gives the same bits however often it was called: compiled code takes p ^ 2 for p * p.
    local own = { data = { source = "moons" }, model = { arch = "mlp" }, hardening = {} }
    function own.hardening.schedule(p) return p ^ 2 end
    for _, f in ipairs({ a.hardening_function, recipe.from_table(own).hardening_function }) do
      for i = 1, 20000 do
        if f(i / 20001) ~= interpreted(i / 20001) then error(("differs at %d / 20001"):format(i)) end
      end
    end
    local again = recipe.from_stored(a.json, a.source, "run.h5")
    assert.equal(a.hash, again.hash)
    assert.equal(0.25, again.hardening_function(0.5))
    has(fails("usage", recipe.from_stored, a.json, without.source, "run.h5"), "hardening.schedule was a function")
  end)
end)
