--- Specification of what lgelu.recipe says about a wrong recipe or command line: place, key, what was found, what was
-- expected, the nearest valid name; always kind "usage", exit status 2.

local fakes = dofile("tests/spec/support/recipe_fakes.lua")
fakes.install()
local recipe = require("lgelu.recipe")

--- A whole recipe around some text, which stands on line 4.
local function around(text)
  return 'return {\n  data = { source = "digits" },\n  model = lg.models.mlp{ hidden = { 8 } },\n  ' .. text .. "\n}\n"
end

local function message_of(source, opts)
  local ok, e = pcall(recipe.from_text, source, "r.lua", opts)
  assert.is_false(ok, "no error: " .. source)
  assert.equal("usage", e.kind)
  assert.equal(2, e.status)
  return e.message
end

--- Each row: text in the recipe, the message.
local IN_RECIPE = {
  { 'gate = { t = { a = 1, b = { 2 } } }', "r.lua:4: gate.t: found {a=1, b={…}}, expected a number > 0" },
  { 'budgets = { desk = { train = 3 } }', "r.lua:4: train: found 3, expected a table such as train = { loss = … }" },
  { 'budgets = { desk = { 3 } }', "r.lua:4: the budget desk: found 3 without a key, expected key = value" },
  { '5', "r.lua:1: the recipe: found 5 without a key, expected key = value" },
  { 'gate = { tt = 1 }', "r.lua:4: gate.tt: unknown key, did you mean 'gate.t'?" },
  { 'gates = {}', "r.lua:4: gates: unknown key, did you mean 'gate'?" },
  { 't = 1', "r.lua:4: t: unknown key, did you mean 'gate.t'?" },
  { 'optimizer = { t = 1 }', "r.lua:4: optimizer.t: unknown key, did you mean 'gate.t'?" },
  { 'gate = { t = 0 }', "r.lua:4: gate.t: found 0, expected a number > 0" },
  { 'gate = { t = -0.1 }', "r.lua:4: gate.t: found -0.1, expected a number > 0" },
  { 'gate = { c = -1 }', "r.lua:4: gate.c: found -1, expected a number >= 0" },
  { 'gate = { lambda = 0.5 }', "r.lua:4: gate.lambda: found 0.5, expected a number >= 1, or a list of numbers >= 1" },
  { 'gate = { lambda = { 2, 0.5 } }',
    "r.lua:4: gate.lambda: found {2, 0.5}, expected a number >= 1, or a list of numbers >= 1" },
  { 'gate = { lambda = {} }', "r.lua:4: gate.lambda: found an empty list, expected one λ for each gate" },
  { 'gate = { lambda = { 2, 3 }, tie = true }',
    "r.lua:4: gate.lambda: found 2 values with gate.tie = true, expected one for all gates" },
  { 'gate = { lambda = 2, init = "hard" }',
    "r.lua:4: gate.lambda: takes the place of gate.init, so give one of the two" },
  { 'gate = { kind = "relu",\n    t = 1 }',
    "r.lua:5: gate.t: a key of gate.kind = lambda_gelu, but here it is 'relu'" },
  { 'gate = { init = "hrd" }',
    "r.lua:4: gate.init: found 'hrd', expected one of gelu, ascending, hard, or a function, did you mean 'hard'?" },
  { 'gate = "relu"', "r.lua:4: gate: found 'relu', expected a table such as gate = { kind = … }" },
  { 'gate = { "relu" }', "r.lua:4: gate: found 'relu' without a key, expected key = value" },
  { 'train = { epochs = 1.5 }', "r.lua:4: train.epochs: found 1.5, expected an integer >= 1" },
  { 'train = { epochs = "3" }', "r.lua:4: train.epochs: found '3', expected an integer >= 1" },
  { 'optimizer = { lr = 0/0 }', "r.lua:4: optimizer.lr: found nan, expected a number > 0" },
  { 'optimizer = { lr = math.huge }', "r.lua:4: optimizer.lr: found inf, expected a number > 0" },
  { 'optimizer = { lr = print_me }', "r.lua:4: 'print_me' is not defined" },
  { 'train = { last = "kep" }', "r.lua:4: train.last: found 'kep', expected one of keep, drop, did you mean 'keep'?" },
  { 'optimizer = { beta1 = 0.9, name = "sgd" }',
    "r.lua:4: optimizer.beta1: a key of optimizer.name = adam, adamw, but here it is 'sgd'" },
  { 'optimizer = { name = "sgd", nesterov = true }', "r.lua:4: optimizer.nesterov: found momentum 0 and dampening 0, "
    .. "expected momentum > 0 and dampening 0" },
  { 'optimizer = { name = "adamv" }',
    "r.lua:4: optimizer.name: found 'adamv', expected one of sgd, adam, adamw, did you mean 'adam'?" },
  { 'schedule = { warmup = 1 }', "r.lua:4: schedule.warmup: found 1, expected a number >= 0 and < 1" },
  { 'seed = -1', "r.lua:4: seed: found -1, expected an integer from 0 to 9007199254740992" },
  { 'name = "a/b"',
    "r.lua:4: name: found 'a/b', expected up to 100 letters, digits, '_', '.', '-', not '.' or '-' at its start" },
  { 'budgets = { smke = {} }',
    "r.lua:4: budgets.smke: unknown budget, expected one of smoke, short, desk, full, did you mean 'smoke'?" },
  { 'budgets = { desk = {\n ["gate.tt"] = 1 } }', "r.lua:5: gate.tt: unknown key, did you mean 'gate.t'?" },
  { 'budgets = { desk = { gate = { t = 0 } } }', "r.lua:4: gate.t: found 0, expected a number > 0" },
  { 'gate = { t = error("too cold") }', "r.lua:4: too cold" },
  { 'gate = { t = 1 + nil }', "r.lua:4: attempt to perform arithmetic on a nil value" },
  { 'x = math.random()',
    "r.lua:4: math.random is not available in a recipe, which must give the same values every time" },
  { 'x = math.flor(1)', "r.lua:4: math.flor does not exist, did you mean 'floor'?" },
}

--- Each row: a whole recipe, the message.
local WHOLE = {
  { "", "r.lua: a recipe returns a table, found nothing; end the file with 'return { … }'" },
  { "return 3", "r.lua: a recipe returns a table, found a number; end the file with 'return { … }'" },
  { "return {", "r.lua:1: unexpected symbol near '<eof>'" },
  { "\nx = 1", "r.lua:2: a recipe sets no globals: write 'local x = …', or give x in the returned table" },
  { "return {}", "r.lua:1: model is missing: expected lg.models.NAME{…} or a function (nn, x, info)" },
  { "return { model = lg.models.mlp{} }", "r.lua:1: data.source is missing: expected one of digits, moons" },
  { 'return { data = { source = "digts" }, model = lg.models.mlp{} }',
    "r.lua:1: data.source: found 'digts', expected one of digits, moons, did you mean 'digits'?" },
  { 'return { data = { source = "digits", n = 3 }, model = lg.models.mlp{} }',
    "r.lua:1: data.n: a key of data.source = moons, but here it is 'digits'" },
  { 'return { data = { source = "digits" }, model = { arch = "mpl" } }',
    "r.lua:1: model.arch: found 'mpl', expected one of mlp, did you mean 'mlp'?" },
  { 'return { data = { source = "digits" },\n  model = lg.models.mlp{\n    hiden = { 8 } } }',
    "r.lua:3: model.hiden: unknown key, did you mean 'model.hidden'?" },
  { "\27LJ\2", "r.lua: expected Lua text, found compiled Lua code" },
}

--- Each row: words of the command line, the message.
local ON_COMMAND_LINE = {
  { { "gate.tt=1" }, "command line: gate.tt: unknown key, did you mean 'gate.t'?" },
  { { "epoch=3" }, "command line: epoch: unknown key, did you mean 'train.epochs'?" },
  { { "gate=relu" }, "command line: gate: a section, not a key: expected gate.kind=…" },
  { { "gate.t" }, "command line: 'gate.t': expected key=value, such as gate.t=0.3 or train.epochs=2" },
  { { "gate.t=" }, "command line: 'gate.t=': expected a value after '='" },
  { { "gate.t=abc" }, "command line: gate.t: found 'abc', expected a number > 0" },
  { { "gate.t=0" }, "command line: gate.t: found 0, expected a number > 0" },
  { { "optimizer.lr=-1e-3" }, "command line: optimizer.lr: found -0.001, expected a number > 0" },
  { { "optimizer.lr=inf" }, "command line: optimizer.lr: found 'inf', expected a number > 0" },
  { { "model.hidden={8" },
    "command line: model.hidden={8: expected a Lua list or string such as {64,32}, found what Lua cannot read" },
  { { "model.hidden={os.exit(7)}" }, "command line: model.hidden={os.exit(7)}: expected a Lua list or string such as "
    .. "{64,32}, found what Lua cannot read" },
  { { "gate.kind=relu", "gate.t=2" },
    "command line: gate.t: a key of gate.kind = lambda_gelu, but here it is 'relu'" },
}

describe("an error of a recipe", function()
  for _, row in ipairs(IN_RECIPE) do
    it("names place and remedy: " .. row[1], function() assert.equal(row[2], message_of(around(row[1]))) end)
  end

  for _, row in ipairs(WHOLE) do
    it("names place and remedy: " .. row[2], function() assert.equal(row[2], message_of(row[1])) end)
  end

  it("lists what a recipe may use when it names something else", function()
    local message = message_of(around("x = os.time()"))
    assert.equal("r.lua:4: 'os' is not available in a recipe (available: assert, error, ipairs, lg, math, next, pairs, "
      .. "select, string, table, tonumber, tostring, type, unpack)", message)
  end)

  it("names the activations of the engine for a misspelt one", function()
    local message = message_of(around('gate = { kind = "lambda_glu" }'))
    assert.truthy(message:find("^r.lua:4: gate.kind: found 'lambda_glu', expected one of .*relu"))
    assert.truthy(message:find(", did you mean 'lambda_gelu'?", 1, true))
  end)

  it("says the nearest usable λ where the reparameterization cannot reach one", function()
    local message = message_of(around("gate = { lambda = 1 }"))
    assert.truthy(message:find("^r.lua:4: gate.lambda: .*nearest usable value"))
    assert.equal(1, recipe.from_text(around('gate = { lambda = 1, reparam = "none" }'), "r.lua").config.gate.lambda)
    assert.equal(1, recipe.from_text(around("gate = { lambda = 1, learn = false }"), "r.lua").config.gate.lambda)
  end)

  it("does not lose itself in tables that hold themselves", function()
    assert.equal("r.lua:3: gate.t: found {t={…}}, expected a number > 0", message_of("local t = {}\nt.t = t\n"
      .. 'return { data = { source = "digits" }, model = { arch = "mlp" }, gate = t }'))
  end)

  it("names the place of what a data source finds wrong with its keys together", function()
    assert.equal("r.lua:2: data.n: found 13, expected any other number",
      message_of('return { model = { arch = "mlp" },\n data = { source = "moons", n = 13 } }'))
  end)

  it("keeps long file names whole", function()
    local file = ("folder/"):rep(20) .. "r.lua"
    for _, source in ipairs({ "return {", "error('x')", "return { model = 3 }" }) do
      local ok, e = pcall(recipe.from_text, source, file)
      assert.is_false(ok)
      assert.equal(file .. ":1: ", e.message:sub(1, #file + 4))
    end
  end)

  it("names the recipe's line for an error raised inside lgelu", function()
    local message = message_of("local m = lg.models\nlocal x = m.mlp(3)\nreturn { model = x }")
    assert.equal("r.lua:2: ", message:sub(1, 9))
  end)
end)

describe("an error of the command line", function()
  for _, row in ipairs(ON_COMMAND_LINE) do
    it("says so: " .. table.concat(row[1], " "), function()
      assert.equal(row[2], message_of(around("gate = { t = 0.2 }"), { overrides = row[1] }))
    end)
  end

  it("names the recipe's budgets", function()
    assert.equal("r.lua:1: this recipe has no budget 'smoke'", message_of(around(""), { budget = "smoke" }))
    assert.equal("r.lua:4: this recipe has no budget 'dsk', did you mean 'desk'?; budgets: short, desk",
      message_of(around("budgets = { desk = {}, short = {} }"), { budget = "dsk" }))
  end)

  it("refuses keys of a model that is a function", function()
    assert.equal("command line: model.hidden: the model is a function in the recipe, and its values stand there",
      message_of('return { data = { source = "digits" }, model = function() end }',
        { overrides = { "model.hidden={}" } }))
  end)
end)

describe("a key that is given twice on the command line", function()
  it("is an error when the values differ, also for the seed", function()
    local function message(words, seed) return message_of(around(""), { overrides = words, seed = seed }) end
    assert.equal("command line: gate.t is given twice, as 1 and as 2: which is meant?",
      message({ "gate.t=1", "gate.t=2" }))
    assert.equal("command line: seed is given twice, as --seed 1 and as seed=2: which is meant?",
      message({ "seed=2" }, 1))
  end)
end)

describe("a model that is a function", function()
  local function build(body, ...)
    local source = 'return { data = { source = "digits" },\n  model = function(nn, x)\n    ' .. body .. "\n  end }"
    return pcall(recipe.from_text(source, "r.lua").model, ...)
  end

  it("names file and line of a Lua error, also of one raised inside lgelu", function()
    local ok, e = build("return nn:linearr(x)", {}, 1)
    assert.is_false(ok)
    assert.equal("usage", e.kind)
    assert.equal("r.lua:3: attempt to call method 'linearr' (a nil value)", e.message)
    ok, e = build("nn.inner() return x", { inner = function() error("deep", 0) end })
    assert.is_false(ok)
    assert.equal("r.lua:3: deep", e.message)
  end)

  it("hands on what it returns and what lgelu raises", function()
    assert.same({ true, 1, nil, 3 }, { build("return 1, nil, 3") })
    local ok, e = build("nn.check()", { check = function() require("lgelu.errors").fail("shapes differ") end })
    assert.is_false(ok)
    assert.equal("fail", e.kind)
    assert.equal("shapes differ", e.message)
  end)
end)

describe("a function gate.init", function()
  local function apply(body)
    local source = around("gate = { init = function(layer, count) " .. body .. " end }")
    local ok, e = pcall(recipe.apply_gate_init, recipe.from_text(source, "r.lua"), 3)
    assert.is_false(ok)
    assert.equal("usage", e.kind)
    return e.message
  end

  it("must give numbers of at least 1", function()
    assert.equal("r.lua:4: gate.init(1, 3): found 0.5, expected a number >= 1", apply("return 0.5"))
    assert.equal("r.lua:4: gate.init(2, 3): found nan, expected a number >= 1", apply("return layer == 2 and 0/0 or 2"))
    assert.equal("r.lua:4: gate.init(1, 3): found nothing, expected a number >= 1", apply(""))
    assert.equal("r.lua:4: no", apply("error('no')"))
  end)
end)
