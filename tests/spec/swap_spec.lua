--- lgelu.swap on small trained runs: against a plain forward in float64, against the same weights in a network of ReLU,
-- and what the file holds; then the ways side by side, and what is refused.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folders = require("tests.spec.support.folders")
local gate = require("lgelu.gate")
local h5 = require("lgelu.h5")
local network = require("lgelu.network")
local recipe = require("lgelu.recipe")
local runs = dofile("tests/spec/support/runs.lua")
local store = require("lgelu.store")
local swap = require("lgelu.swap")
local train = require("lgelu.train")
local trained = require("lgelu.trained")
local ways = require("lgelu.swap.ways")

local base = folders.temporary()
local dirs = {}

-- Trains a recipe with these gates into a folder of that name.
local function run_of(name, gate_text, o)
  o = o or {}
  local path = ("%s/%s.lua"):format(base, name)
  folders.write(path, ([[
return {
  name = "t", data = { source = "synthetic", n = 240, n_test = 70, shape = { 1, 6, 6 }, classes = 4,
    validation = 0.25 },
  model = %s, gate = %s, optimizer = { lr = 0.02 }, train = { epochs = 3, batch = 16, eval_batch = 32 }, %s
}]]):format(o.model or "lg.models.mlp{ hidden = { 12, 8 } }", gate_text, o.more or ""))
  local dir = base .. "/" .. name
  train.run(recipe.load(path, { seed = o.seed }), { out = dir, quiet = true })
  return dir
end

setup(function()
  dirs.learned = run_of("learned", '{ init = "ascending", t = 0.1 }')
  dirs.gelu = run_of("gelu", '{ kind = "gelu" }')
  dirs.silu = run_of("silu", '{ kind = "silu" }')
  dirs.relu = run_of("relu", '{ kind = "relu" }')
  dirs.hardened = run_of("hardened", '{ init = "gelu", tie = true }', { more = "hardening = { from = 0.5 }," })
  dirs.fixed = run_of("fixed", "{ lambda = 40, learn = false }")
  dirs.resnet = run_of("resnet", '{ init = "gelu" }', { model = "lg.models.resnet{ width = 4 }" })
end)
teardown(function() os.execute("rm -rf " .. base) end)

-- One row through the MLP in float64; values(layer, x): f of gate `layer`. Returns logits, pre-activations by gate.
local function forward(params, x, values)
  local seen = {}
  for layer, p in ipairs(params) do
    local out = {}
    for j = 1, #p.bias do
      local sum = p.bias[j]
      for i = 1, #x do sum = sum + x[i] * p.weight(i, j) end
      out[j] = sum
    end
    if layer < #params then
      seen[layer] = out
      x = {}
      for j, u in ipairs(out) do x[j] = values(layer, u) end
    else
      return out, seen
    end
  end
end

-- The linear layers' numbers, whichever way the weight lies.
local function layers_of(net)
  local list = {}
  for _, name in ipairs({ "fc1", "fc2", "fc3" }) do
    local w, bias = net:tensor(name .. ".weight"):totable(), net:tensor(name .. ".bias"):totable()
    list[#list + 1] = { bias = bias, weight = #w == #bias and function(i, j) return w[j][i] end
      or function(i, j) return w[i][j] end }
  end
  return list
end

local function argmax(list)
  local best = 1
  for i = 2, #list do
    if list[i] > list[best] then best = i end
  end
  return best
end

-- What swap.measure should find on a part, by plain loops. bent: set of swapped gates.
local function plain(dir, part, kinds, bent)
  local t = trained.open(dir)
  local params, loader, lambdas = layers_of(t.net), t:loader(part), t.net:lambdas()
  local function smooth(layer, u)
    if kinds == "relu" then return math.max(u, 0) end
    if kinds == "silu" then return u / (1 + math.exp(-u)) end
    return C.lib.lg_gate_value_f64(u, lambdas[layer] or 1)
  end
  local function hard(layer, u) return bent[layer] and math.max(u, 0) or smooth(layer, u) end
  local r = { n = 0, before = 0, after = 0, flipped = 0, lost = 0, gained = 0, change = 0, gates = {} }
  for l = 1, 2 do r.gates[l] = { min = math.huge, max = -math.huge, dev = 0, band = 0, positive = 0, n = 0 } end
  loader:start(0)
  for x, y, rows in loader:each() do
    local xs, ys = x:reshape({ rows, -1 }):totable(), y:totable()
    for i = 1, rows do
      local a, seen = forward(params, xs[i], smooth)
      local b, truth = forward(params, xs[i], hard), ys[i] + 1
      local p, q = argmax(a), argmax(b)
      r.n, r.before, r.after = r.n + 1, r.before + (p == truth and 1 or 0), r.after + (q == truth and 1 or 0)
      r.flipped = r.flipped + (p ~= q and 1 or 0)
      r.lost = r.lost + (p ~= q and p == truth and 1 or 0)
      r.gained = r.gained + (p ~= q and q == truth and 1 or 0)
      for c = 1, #a do r.change = math.max(r.change, math.abs(a[c] - b[c])) end
      for l, values in ipairs(seen) do
        local g = r.gates[l]
        for _, u in ipairs(values) do
          g.min, g.max, g.n = math.min(g.min, u), math.max(g.max, u), g.n + 1
          g.dev = math.max(g.dev, math.abs(smooth(l, u) - math.max(u, 0)))
          g.band = g.band + (math.abs((lambdas[l] or 1) * u) < 2 and 1 or 0)
          g.positive = g.positive + (u > 0 and 1 or 0)
        end
      end
    end
  end
  return r
end

local function near(want, found, tolerance, what)
  assert.is_true(math.abs(want - found) <= tolerance, ("%s: expected %.9g, found %.9g"):format(what, want, found))
end

local function agrees(want, part)
  assert.equal(want.n, part.samples)
  assert.equal(want.n, part.predictions)
  near(want.before / want.n, part.score_before, 1e-6, "before")
  near(want.after / want.n, part.score_after, 1e-6, "after")
  near((want.before - want.after) / want.n, part.drop, 1e-6, "drop")
  near(part.score_before - part.score_after, part.drop, 1e-12, "drop of the scores")
  for _, name in ipairs({ "flipped", "lost", "gained" }) do assert.equal(want[name], part[name]) end
  near(want.change, part.max_logit_change, 1e-4, "max |Δlogit|")
  for l, g in ipairs(want.gates) do
    local found = part.gates[l]
    near(g.min, found.min, 1e-4, "min")
    near(g.max, found.max, 1e-4, "max")
    near(g.dev, found.max_deviation, 1e-5, "deviation")
    near(g.band / g.n, found.band, 2 / g.n, "band")
    near(1 - g.positive / g.n, found.zeros_after, 2 / g.n, "zeros after")
  end
end

describe("a measured swap", function()
  it("is what a plain forward in float64 finds", function()
    for _, case in ipairs({ { "learned" }, { "learned", "fc2" }, { "gelu" }, { "silu" }, { "fixed" } }) do
      local t, bent = swap.open(dirs[case[1]]), { true, true }
      local names = t.run:gates().names
      if case[2] then bent = { false, true } end
      local report = swap.measure(t, { gates = case[2] and { names[2] } or "all" })
      assert.equal(case[2] and names[2] or "all", report.what)
      for _, part in ipairs({ "val", "test" }) do
        agrees(plain(dirs[case[1]], part, case[1] == "silu" and "silu" or "gelu", bent), report[part])
      end
      assert.equal(case[2] and 8 or 20, report.relus)
    end
  end)

  it("starts from the run's own scores and ends at those of the same weights under ReLU", function()
    for _, name in ipairs({ "learned", "gelu", "resnet" }) do
      local t = swap.open(dirs[name])
      local report, best = swap.measure(t), t.run:best()
      near(best.val_score, report.val.score_before, 1e-12, "validation")
      near(best.test_score, report.test.score_before, 1e-12, "test")
      local relu = network.of(setmetatable({ config = setmetatable({ gate = { kind = "relu" } }, { __index = t.config })
        }, { __index = t.resolved }), t.set, { training = false })
      for _, list in ipairs({ relu.params, relu.states }) do
        for _, p in ipairs(list) do relu:tensor(p.name):copy_from(t.net:tensor(p.name)) end
      end
      for _, part in ipairs({ "val", "test" }) do
        local _, score = train.evaluate(relu, t:loader(part))
        near(score, report[part].score_after, 1e-12, name .. ": " .. part)
      end
    end
  end)

  it("never sees more than the bound, and sees it where values are dense", function()
    for _, name in ipairs({ "learned", "gelu", "silu", "fixed", "resnet" }) do
      for _, g in ipairs(swap.measure(swap.open(dirs[name])).gates) do
        assert.is_true(g.max_deviation <= g.bound * 1.000004, g.name)
        if g.lambda then near(0.169971207479904 / g.lambda, g.bound, 1e-15, "bound") end
        if name ~= "fixed" then assert.is_true(g.max_deviation > 0.9 * g.bound, g.name) end
        assert.is_true(g.zeros_before <= g.zeros_after and g.min < 0 and g.max > 0)
      end
    end
  end)

  it("counts the zeros that a hard gate makes before the swap", function()
    local t = swap.open(dirs.fixed)
    for i = 1, 2 do t.net:set_gate(i, { lambda = 1e6 }) end
    for _, g in ipairs(swap.measure(t).gates) do
      assert.is_true(g.zeros_before > 0.3 and g.zeros_before <= g.zeros_after)
    end
  end)

  it("leaves the network as it was", function()
    local t = swap.open(dirs.learned)
    local before = { train.evaluate(t.net, t:loader("test")) }
    swap.measure(t)
    assert.equal("lambda_gelu", t.net:gate_state(1).kind)
    assert.are.same(before, { train.evaluate(t.net, t:loader("test")) })
  end)

  it("of a hardened run is of its last weights, each λ at the target", function()
    local run, report = swap.of(dirs.hardened)
    assert.equal("last", report.checkpoint)
    assert.equal(3, report.epoch)
    assert.equal(run:result().test_score, report.test.score_before)
    for _, g in ipairs(report.gates) do assert.equal(gate.target(0.005), g.lambda) end
    agrees(plain(dirs.hardened, "test", "gelu", { true, true }), report.test)
    assert.equal("hardened", ways.of(run:config()))
  end)

  it("of ReLU swaps nothing and drops nothing", function()
    local report = swap.measure(swap.open(dirs.relu))
    for _, part in ipairs({ report.val, report.test }) do
      assert.equal(0, part.drop)
      assert.equal(0, part.flipped)
      assert.equal(0, part.max_logit_change)
    end
    assert.equal(20, report.relus)
    assert.equal(report.gates[1].zeros_before, report.gates[1].zeros_after)
  end)

  it("refuses unknown gates, and a network that gives what is not finite", function()
    local t = swap.open(dirs.learned)
    local ok, e = pcall(swap.measure, t, { gates = { "gate3" } })
    assert.is_false(ok)
    assert.is_true(errors.is(e, "usage"))
    assert.matches("did you mean 'gate[12]'", e.message)
    assert.matches("was not opened by swap.open", tostring(select(2, pcall(swap.measure, trained.open(dirs.learned)))))
    t.net:tensor("fc1.bias"):fill(0 / 0)
    ok, e = pcall(swap.measure, t)
    assert.is_false(ok)
    assert.matches("gate1.*720 of its pre%-activations are NaN", e.message)
  end)
end)

describe("a stored swap", function()
  it("is read as it was measured, and leaves the rest of the run alone", function()
    local before = store.open(dirs.learned)
    assert.is_nil(swap.read(before))
    local report = swap.measure(swap.open(dirs.learned))
    local partial = swap.measure(swap.open(dirs.learned), { gates = { report.gates[1].name } })
    assert.equal("/swap/all", swap.store(dirs.learned, report))
    assert.equal("/swap/gates-1", swap.store(dirs.learned, partial))
    assert.equal("/swap/all", swap.store(dirs.learned, report))
    local after = store.open(dirs.learned)
    assert.are.same({ "all", "gates-1" }, swap.list(after))
    local found = swap.read(after)
    assert.are.same(report.gates, found.gates)
    for _, part in ipairs({ "val", "test" }) do assert.are.same(report[part], found[part]) end
    for _, name in ipairs({ "what", "checkpoint", "epoch", "kind", "hash", "relus" }) do
      assert.equal(report[name], found[name])
    end
    assert.are.same(partial.gates, swap.read(after, "gates-1").gates)
    for _, what in ipairs({ "epochs", "gates", "best" }) do
      assert.are.same(before[what](before), after[what](after))
    end
    assert.are.same(before.attrs, after.attrs)
    assert.equal("done", after:status())
  end)

  it("is not measured twice, unless asked for", function()
    swap.of(dirs.gelu)
    h5.with(dirs.gelu .. "/run.h5", "a", function(file) file:set_attr("/swap/all/test", "drop", 0.125) end)
    assert.equal(0.125, select(2, swap.of(dirs.gelu)).test.drop)
    assert.are_not.equal(0.125, select(2, swap.of(dirs.gelu, { again = true })).test.drop)
    assert.are_not.equal(0.125, swap.read(store.open(dirs.gelu)).test.drop)
  end)

  it("is given and shown also where it cannot be stored", function()
    local dir = run_of("taken", '{ kind = "gelu" }')
    h5.with(dir .. "/run.h5", "a", function(file) file:write_numbers("/swap", { 1 }, "f64") end)
    local _, report, where, e = swap.of(dir, { again = true })
    assert.is_true(report.test.samples > 0)
    assert.is_nil(where)
    assert.matches("run.h5: /swap", e.message)
    for verb, line in pairs({ swap = "Gates before the swap, on the test", certify = "constant  " }) do
      local status, out = runs.program(verb, dir)
      assert.equal(1, status)
      assert.matches(line, out)
      assert.matches("lgelu: [^\n]*run.h5: /swap[^\n]*\n$", out)
      assert.is_nil(out:find("Stored", 1, true))
    end
    os.execute(("rm -r '%s'"):format(dir))
  end)

  it("that is damaged says so and how to go on", function()
    swap.of(dirs.silu)
    local function damaged(pattern, change)
      h5.with(dirs.silu .. "/run.h5", "a", change)
      local ok, e = pcall(swap.of, dirs.silu)
      assert.is_false(ok)
      assert.is_true(errors.is(e, "fail"), tostring(e))
      assert.matches(pattern, e.message)
      assert.matches("lgelu swap .*silu %-%-again", e.message)
      swap.of(dirs.silu, { again = true })
      assert.are.same(swap.measure(swap.open(dirs.silu)).gates, swap.read(store.open(dirs.silu)).gates)
    end
    damaged("attribute 'drop'", function(file) file:set_attr("/swap/all/test", "drop", nil) end)
    damaged("attribute 'what'", function(file) file:set_attr("/swap/all", "what", nil) end)
    damaged("band has 1 values", function(file) file:write_numbers("/swap/all/val/band", { 1 }, "f64") end)
    damaged("names", function(file) file:write_numbers("/swap/all/names", { 1, 2 }, "f64") end)
    damaged("lambda", function(file) file:write_texts("/swap/all/lambda", { "a", "b" }) end)
  end)
end)

describe("the ways to a ReLU network", function()
  it("are told apart by a run's configuration", function()
    local function way(g, hardening) return ways.of({ gate = g, hardening = hardening }) end
    assert.equal("abrupt", way({ kind = "gelu" }))
    assert.equal("abrupt", way({ kind = "silu" }))
    assert.equal("relu", way({ kind = "relu" }))
    assert.equal("learned", way({ kind = "lambda_gelu" }))
    assert.equal("fixed", way({ kind = "lambda_gelu", learn = false }))
    assert.equal("hardened", way({ kind = "lambda_gelu" }, { from = 0.25 }))
  end)

  it("stand in one table, over seeds", function()
    local records = {}
    local function add(seed, kind, before, after, hardening)
      local run = runs.fake({ dir = ("runs/%s-%s-s%d"):format(kind, hardening and "h" or "", seed), seed = seed,
        kind = kind, hash = kind .. tostring(hardening), lambda = { {} }, val_score = { before }, test_score = before,
        config = { name = "t", seed = seed, gate = { kind = kind }, hardening = hardening and { from = 0.25 } } })
      local part = { samples = 100, predictions = 200, flipped = 10,
        score_before = before, score_after = after, drop = before - after }
      local lambda = kind == "lambda_gelu" and (hardening and 159 or 2) or nil
      records[#records + 1] = ways.record(run, { val = part, test = seed < 3 and part or nil,
        gates = { { lambda = lambda }, { lambda = lambda and lambda + 1 } } })
    end
    add(1, "relu", 0.9, 0.9)
    add(1, "lambda_gelu", 0.9, 0.8)
    add(2, "lambda_gelu", 0.92, 0.78)
    add(1, "lambda_gelu", 0.9, 0.89, true)
    add(3, "gelu", 0.9, 0.5)
    local result = ways.compare(records)
    local found = {}
    for i, group in ipairs(result.groups) do found[i] = group.way end
    assert.are.same({ "abrupt", "learned", "hardened", "relu" }, found)
    assert.are.same({}, result.keys)
    local learned = result.groups[2]
    near(0.12, learned.val.drop.mean, 1e-12, "mean drop")
    near(12.706204736174698 * 0.02, learned.val.drop.ci95, 1e-9, "interval") -- t(0.975, 1)·sd/√2, sd = 0.04/√2
    assert.are.same({ 2, 3 }, learned.lambda)
    near(0.05, learned.test.flipped.mean, 1e-12, "flipped")
    assert.is_nil(result.groups[1].test)
    assert.is_nil(result.groups[1].lambda)
  end)
end)

describe("lgelu swap", function()
  it("prints a run in every format", function()
    local status, out = runs.program("swap", dirs.resnet)
    assert.equal(0, status, out)
    assert.matches("17 of 17 lambda_gelu gates replaced by ReLU", out)
    assert.matches("\nvalidation +60 ", out)
    assert.matches("Stored in .*run%.h5 under /swap/all%.\n$", out)
    for _, format in ipairs({ "markdown", "latex", "csv" }) do
      status, out = runs.program("swap", dirs.learned, "--gates", "gate2", "--format", format)
      assert.equal(0, status, out)
      assert.matches("gate1", out)
    end
    local lines = select(2, out:gsub("\n", "\n"))
    assert.equal(5, lines) -- a head, two gates on two parts
    assert.matches("^part,samples,score_before", out)
  end)

  it("prints several runs as ways, with those left out named", function()
    local status, out = runs.program("swap", dirs.gelu, dirs.learned, dirs.relu)
    assert.equal(0, status, out)
    assert.matches("GELU, swapped abruptly.*learned, swapped.*ReLU from the start", out)
    runs.store({ dir = base .. "/broken", kind = "gelu", seed = 1, epochs = 1, score = 0.5, status = "failed" })
    status, out = runs.program("swap", base, "--format", "csv") -- every run in the folder
    assert.equal(0, status)
    assert.matches("broken is left out: the run failed", out)
    for _, way in ipairs({ "abrupt,,gelu", "abrupt,,silu", "learned", "hardened", "fixed", "relu" }) do
      assert.matches("\n" .. way .. ",[^\n]*test,1,1,", out)
    end
  end)

  it("puts runs of several recipes and scores into one table, each number with its unit", function()
    local function record(name, kind, measure, seed, drop)
      local run = runs.fake({
        dir = name .. seed, seed = seed, hash = name .. kind, kind = kind, lambda = { {}, {} }, val_score = { 0.5 },
        measure = measure, config = { name = name, seed = seed, gate = { kind = kind }, model = { arch = name },
          data = { source = name } },
      })
      local part = { score_before = 0.5, score_after = 0.5 - drop, drop = drop, flipped = 1, predictions = 4 }
      return ways.record(run, { gates = {}, val = part, test = part })
    end
    local result = ways.compare({
      record("b", "relu", nil, 1, 0), record("b", "gelu", nil, 1, 0.1), record("b", "gelu", nil, 2, 0.2),
      record("a", "gelu", "perplexity", 1, 0.25),
    })
    assert.are.same({ "recipe" }, result.keys)
    local rows = {}
    for i, group in ipairs(result.groups) do rows[i] = group.values.recipe .. " " .. group.way end
    assert.are.same({ "b abrupt", "b relu", "a abrupt" }, rows) -- recipes as they were given, then ways
    local columns, cells = require("lgelu.cli.swap").ways_table(result, "test")
    local titles = {}
    for i, column in ipairs(columns) do titles[i] = column.title end
    assert.are.same({ "recipe", "way", "seeds", "λ", "before", "after", "drop", "flipped (%)" }, titles)
    assert.equal("50.00 ± 0.00 %", cells[1][5])
    assert.equal("+15.00 ± 63.53 points", cells[1][7]) -- 12.706 · 7.071 / √2
    assert.are.same({ "a", "GELU, swapped abruptly", 1, nil, "0.500 perplexity", "0.250 perplexity",
      "+0.250 perplexity", "25.00" }, cells[3])
  end)

  it("shows no table of a part that no run has, and orders values, numbers before words", function()
    local function record(hidden, seed)
      local run = runs.fake({ dir = "r" .. table.concat(hidden, "-"), seed = seed, hash = table.concat(hidden, "-"),
        kind = "relu", lambda = { {}, {} }, val_score = { 0.5 },
        config = { name = "a", seed = seed, gate = { kind = "relu" }, model = { hidden = hidden } } })
      return ways.record(run, { gates = {}, val = { score_before = 0.5, score_after = 0.5, drop = 0, flipped = 1,
        predictions = 4 } })
    end
    local list, found = { { 100, 50 }, { 10 }, { 9 }, { 9, 9 }, { 1000 } }, {}
    for i, hidden in ipairs(list) do list[i] = record(hidden, 1) end
    for i, group in ipairs(ways.compare(list).groups) do found[i] = group.values["model.hidden"] end
    assert.are.same({ "9", "10", "1000", "100,50", "9,9" }, found)
    local place = base .. "/without_test"
    for seed = 1, 2 do
      assert(0 == runs.program("run", "moons", "--budget", "smoke", "data.test=0", "--seed", tostring(seed), "--quiet",
        "--out", place .. "/" .. seed))
    end
    local status, out = runs.program("swap", place, place .. "/1")
    assert.equal(0, status, out)
    assert.matches("validation\n", out)
    assert.is_nil(out:find("test", 1, true), out)
    assert.matches("\n\n1 is left out: it repeats 1 %(same configuration and seed%)%.\n$", out)
  end)

  it("refuses in words", function()
    local function refuses(status, pattern, ...)
      local found, out = runs.program("swap", ...)
      assert.equal(status, found, out)
      assert.matches(pattern, out)
    end
    refuses(2, "there is no gate 'gaet1'; expected one of gate1, gate2, did you mean 'gate1'", dirs.gelu, "--gates",
      "gaet1")
    refuses(2, "found an empty name in 'gate1,'", dirs.gelu, "--gates", "gate1,")
    refuses(2, "'txt' is none of", dirs.gelu, "--format", "txt")
    refuses(1, "the run failed", base .. "/broken")
    os.rename(dirs.silu .. "/best.ckpt.h5", dirs.silu .. "/away")
    refuses(1, "best checkpoint %(best%.ckpt%.h5%) is missing", dirs.silu, "--again")
    local run = store.reopen(base .. "/broken") -- which is going on now
    refuses(1, "the run is running, not done", base .. "/broken")
    run:release()
  end)
end)
