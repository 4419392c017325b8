--- Specification of lgelu.recipe: defaults, layers, hash, run name, functions. Its errors: recipe_errors_spec.lua.

local fakes = dofile("tests/spec/support/recipe_fakes.lua")
fakes.install()
local recipe = require("lgelu.recipe")

local SOURCE = [[
return {
  name = "demo",
  data = { source = "digits", limit = 100 },
  model = lg.models.mlp{ hidden = { 64, 32 } },
  gate = { t = 0.2 },
  train = { epochs = 4 },
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 20 },
    full = { train = { epochs = 50 } },
  },
}
]]

local function load(opts, source)
  return recipe.from_text(source or SOURCE, "demo.lua", opts)
end

local function table_recipe(changes)
  local t = { name = "t", data = { source = "digits" }, model = { arch = "mlp" } }
  for key, value in pairs(changes or {}) do t[key] = value end
  return t
end

describe("a resolved recipe", function()
  it("has every key, with its default where the recipe is silent", function()
    local r = load()
    assert.equal("demo", r.name)
    assert.equal(1, r.seed)
    assert.same({ source = "digits", validation = 0.1, limit = 100 }, r.config.data)
    assert.same({ arch = "mlp", hidden = { 64, 32 }, dropout = 0 }, r.config.model)
    assert.same({ kind = "lambda_gelu", reparam = "softplus", t = 0.2, c = 1, init = "gelu", tie = false,
      learn = true }, r.config.gate)
    assert.equal(0.01, r.config.optimizer.weight_decay)
    assert.equal(4, r.config.train.epochs)
    assert.equal(r.config.model, r.model)
  end)

  it("takes values in the order default, recipe, budget, command line, and remembers which", function()
    local r = load({ budget = "smoke", overrides = { "train.epochs=2", "gate.c=3" } })
    assert.equal(2, r.config.train.epochs)
    assert.equal(20, r.config.data.limit)
    assert.equal("command line", r.origin["train.epochs"])
    assert.equal("budget smoke", r.origin["data.limit"])
    assert.equal("recipe", r.origin["gate.t"])
    assert.equal("default", r.origin["gate.reparam"])
    assert.equal(50, load({ budget = "full" }).config.train.epochs)
  end)

  it("says where each key stands", function()
    local r = load({ budget = "smoke", overrides = { "gate.c=3" } })
    assert.equal("demo.lua:5", r.where("gate.t"))
    assert.equal("demo.lua:8", r.where("data.limit"))
    assert.equal("command line", r.where("gate.c"))
    assert.equal("demo.lua:5", r.where("gate.kind"), "a default stands at its section")
  end)

  it("reads command-line words by their form: numbers, booleans, lists, text", function()
    local r = load({ overrides = { "model.hidden={8, 8*2}", "gate.tie=true", "optimizer.lr=5e-4",
      "gate.kind=lambda_gelu", "name=7", "data.path=inf", "seed=9" } })
    assert.same({ 8, 16 }, r.config.model.hidden)
    assert.is_true(r.config.gate.tie)
    assert.equal(5e-4, r.config.optimizer.lr)
    assert.equal("7", r.name)
    assert.equal("inf", r.config.data.path)
    assert.equal(9, r.seed)
    assert.equal(3, load({ overrides = { "seed=3" }, seed = 3 }).seed)
  end)

  it("drops keys of a variant that a later layer left, and names them", function()
    local r = load({ overrides = { "gate.kind=relu" } })
    assert.same({ kind = "relu" }, r.config.gate)
    assert.same({ ["gate.t"] = true }, r.dropped)
    assert.truthy(recipe.describe(r):find("not used here: gate.t", 1, true))
    assert.same({ source = "moons", n = 2000, noise = 0.1, validation = 0.2 },
      load({ overrides = { "data.source=moons" } }).config.data)
  end)

  it("knows each optimizer's and schedule's own keys and defaults", function()
    local r = load({ overrides = { "optimizer.name=sgd", "optimizer.momentum=0.9", "schedule.name=one_cycle" } })
    assert.same({ name = "sgd", lr = 1e-3, weight_decay = 0, decay_biases = false, decay_gates = false, clip = 0,
      momentum = 0.9, dampening = 0, nesterov = false }, r.config.optimizer)
    assert.same({ name = "one_cycle", warmup = 0, rise = 0.3, start_div = 25, final_div = 1e4 }, r.config.schedule)
    assert.same({ name = "cosine", warmup = 0, final = 0 },
      load({ overrides = { "schedule.name=cosine" } }).config.schedule)
  end)

  it("lets the later one of gate.lambda and gate.init stand", function()
    local by_lambda = load({ overrides = { "gate.lambda=2" } }).config.gate
    assert.equal(2, by_lambda.lambda)
    assert.is_nil(by_lambda.init)
    local t = table_recipe({ gate = { lambda = { 2, 3 } } })
    assert.same({ 2, 3 }, recipe.from_table(t).config.gate.lambda)
    local by_init = recipe.from_table(t, { overrides = { "gate.init=hard" } })
    assert.equal("hard", by_init.config.gate.init)
    assert.is_nil(by_init.config.gate.lambda)
  end)

  it("shares no table with the recipe", function()
    local hidden = { 4 }
    local r = recipe.from_table(table_recipe({ model = { arch = "mlp", hidden = hidden } }))
    hidden[1] = 99
    assert.same({ 4 }, r.config.model.hidden)
  end)

  it("is printed with every key and its origin, columns aligned", function()
    local text = recipe.describe(load({ budget = "smoke" }))
    assert.truthy(text:find("\n  gate.t                  0.2            recipe\n", 1, true))
    assert.truthy(text:find("\n  train.epochs            1              budget smoke\n", 1, true))
    assert.truthy(text:find("\n  model.hidden            {64, 32}       recipe\n", 1, true))
  end)
end)

describe("the hash", function()
  it("never changes by accident", function()
    local r = load()
    assert.equal('{"data":{"limit":100,"source":"digits","validation":0.1},"gate":{"c":1,"init":"gelu",'
      .. '"kind":"lambda_gelu","learn":true,"reparam":"softplus","t":0.2,"tie":false},'
      .. '"model":{"arch":"mlp","dropout":0,"hidden":[64,32]},'
      .. '"optimizer":{"beta1":0.9,"beta2":0.999,"clip":0,"decay_biases":false,"decay_gates":false,"eps":1e-08,'
      .. '"lr":0.001,"name":"adamw","weight_decay":0.01},"schedule":{"name":"constant","warmup":0},'
      .. '"train":{"batch":128,"epochs":4,"eval_batch":1000,"label_smoothing":0,"last":"keep","loss":"cross_entropy"}}',
      r.hash_text)
    assert.equal("a0cb6e9f78f60c187fa6598c40bbfcfd7b4038b85ec21a6a3fa34833f416f7cf", r.hash)
    assert.is_true(r.hash_is_final)
    assert.equal("demo-" .. r.hash:sub(1, 8) .. "-s1", r.run_name)
  end)

  it("is the same for the same values, however they are written", function()
    local hash = load().hash
    local other = [[
local gate = { t = 2 / 10, c = 1.0, kind = "lambda_gelu" }
local recipe = { gate = gate, train = { epochs = 2 + 2, batch = 128.0 } }
recipe.model = { dropout = 0, hidden = { 64, 32 }, arch = "mlp" }
recipe.data = { limit = 1e2, validation = 0.1, source = "digits", path = "elsewhere" }
recipe.seed = 1
recipe.name = "other"
return recipe
]]
    local r = load(nil, other)
    assert.equal(hash, r.hash)
    assert.equal("other-" .. hash:sub(1, 8) .. "-s1", r.run_name)
    assert.equal(hash, load({ overrides = { "train.epochs=4" }, seed = 5 }).hash)
    assert.equal(hash, load({ overrides = { "data.path=there" } }).hash)
    assert.equal(load({ budget = "smoke" }).hash, load({ overrides = { "train.epochs=1", "data.limit=20" } }).hash)
  end)

  it("differs for different values", function()
    local hash = load().hash
    for _, word in ipairs({ "gate.t=0.3", "gate.kind=relu", "train.epochs=5", "model.hidden={64,33}",
      "model.hidden={}" }) do
      assert.not_equal(hash, load({ overrides = { word } }).hash, word)
    end
  end)

  it("does not see values that do not apply", function()
    assert.equal(load({ overrides = { "gate.kind=relu" } }).hash,
      load({ overrides = { "gate.kind=relu" } }, (SOURCE:gsub("t = 0.2", "t = 0.7"))).hash)
  end)

  it("takes in what the caller adds for an inline model", function()
    local r = load()
    local before = r.hash
    assert.not_equal(before, recipe.rehash(r, "input\nlinear 10").hash)
    assert.equal(before, recipe.rehash(r).hash)
  end)
end)

describe("functions in a recipe", function()
  local INLINE = [[
return {
  name = "inline",
  data = { source = "digits" },
  model = function(nn, x, info)
    local width = 3
    return nn.linear(x, width)
  end,
  gate = {
    init = function(layer, count)
      return 1 + layer / count
    end,
  },
}
]]

  it("may build the model", function()
    local r = load(nil, INLINE)
    assert.equal("function", type(r.model))
    assert.same({ arch = "inline" }, r.config.model)
    assert.is_false(r.hash_is_final)
    assert.truthy(recipe.describe(r):find("^recipe demo.lua, hash known once the model is built\n"))
    assert.equal("inline.lua:4", recipe.from_text(INLINE, "inline.lua").where("model"))
  end)

  it("may give the gates' λ, which the configuration then stores and the hash covers", function()
    local r = load(nil, INLINE)
    assert.equal("function", r.config.gate.init)
    assert.equal("function", type(r.gate_init))
    recipe.apply_gate_init(r, 4)
    assert.same({ 1.25, 1.5, 1.75, 2 }, r.config.gate.lambda)
    assert.is_nil(r.config.gate.init)
    assert.is_nil(r.gate_init)
    assert.is_false(r.hash_is_final)
    assert.is_true(recipe.rehash(r, "graph").hash_is_final)
    recipe.rehash(r)
    local given = load({ overrides = { "gate.lambda={1.25,1.5,1.75,2}" } }, INLINE)
    assert.equal(given.hash, r.hash)
    assert.equal(given.run_name, r.run_name)
  end)
end)

describe("a stored recipe", function()
  it("resolves to what it was", function()
    local r = load({ budget = "smoke", seed = 4, overrides = { "optimizer.lr=0.0003", "data.path=there",
      "model.hidden={}" } })
    local again = recipe.from_stored(r.json, SOURCE, "run.h5")
    assert.same(r.config, again.config)
    assert.equal(r.run_name, again.run_name)
    assert.equal(r.hash, again.hash)
    assert.equal(r.json, again.json)
  end)

  it("takes functions from the stored source", function()
    local source = 'return { data = { source = "digits" }, model = function() return 7 end,\n'
      .. "  gate = { init = function() return 2 end } }\n"
    local again = recipe.from_stored(load(nil, source).json, source, "run.h5")
    assert.equal(7, again.model())
    assert.equal(2, again.gate_init())
  end)

  it("must be JSON", function()
    local ok, e = pcall(recipe.from_stored, "{", SOURCE, "run.h5")
    assert.is_false(ok)
    assert.equal("run.h5: config: expected JSON, found '{'", tostring(e))
  end)
end)

describe("finding a recipe", function()
  local folder

  before_each(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder) == 0)
    local file = assert(io.open(folder .. "/mine.lua", "w"))
    file:write((SOURCE:gsub('  name = "demo",\n', "")))
    file:close()
  end)

  after_each(function() os.execute("rm -r " .. folder) end)

  it("takes a path with or without .lua, and names the run after the file", function()
    assert.equal("mine", recipe.load(folder .. "/mine.lua").name)
    assert.equal(folder .. "/mine.lua", recipe.load(folder .. "/mine").file)
  end)

  it("says what is wrong with a missing file or a folder", function()
    local ok, e = pcall(recipe.load, folder .. "/none.lua")
    assert.is_false(ok)
    assert.truthy(tostring(e):find(folder .. "/none.lua: No such file or directory", 1, true))
    assert.equal(2, e.status)
    ok, e = pcall(recipe.load, folder)
    assert.is_false(ok)
    assert.truthy(tostring(e):find(folder .. ": Is a directory", 1, true))
  end)
end)
