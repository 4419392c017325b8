--- lgelu.probe and the functions of `lgelu repl RUN`: numbers against the gates' inputs and outputs themselves, against
-- lgelu.swap and against the training that a run had; every change undone to the bit; piped and at a pseudo-terminal.
local draw = require("lgelu.probe.draw")
local errors = require("lgelu.errors")
local figures = require("lgelu.probe.plot")
local folders = require("tests.spec.support.folders")
local gnuplot = require("lgelu.plot.gnuplot")
local lg = require("lgelu")
local probe = require("lgelu.probe")
local recipe = require("lgelu.recipe")
local runs = dofile("tests/spec/support/runs.lua")
local store = require("lgelu.store")
local swap = require("lgelu.swap")
local train = require("lgelu.train")
local trained = require("lgelu.trained")

local base = folders.temporary()
local dirs, recipes = {}, {}

local MODELS = { resnet = "lg.models.resnet{ width = 4 }" }

local function recipe_of(name, gate_text, more)
  recipes[name] = ("%s/%s.lua"):format(base, name)
  folders.write(recipes[name], ([[
return {
  name = "t", data = %s, model = %s, gate = %s, optimizer = { lr = 0.02 },
  train = { epochs = 2, batch = 16, eval_batch = 50 }, %s
}]]):format(
    MODELS[name] and '{ source = "synthetic", n = 80, n_test = 20, shape = { 1, 8, 8 }, validation = 0.4 }'
      or '{ source = "moons", n = 300, noise = 0.3, validation = 0.4 }',
    MODELS[name] or "lg.models.mlp{ hidden = { 8, 6 } }", gate_text, more or ""))
  return recipe.load(recipes[name], {})
end

local function run_of(name, gate_text, more)
  dirs[name] = ("%s/%s-run"):format(base, name)
  train.run(recipe_of(name, gate_text, more), { out = dirs[name], quiet = true })
end

setup(function()
  run_of("learned", '{ init = "ascending", t = 0.1 }')
  run_of("gelu", '{ kind = "gelu" }')
  run_of("hard", '{ init = "gelu" }', "hardening = { from = 0.5 },")
  run_of("resnet", '{ init = "descending", tie = true }')
end)
teardown(function() os.execute("rm -rf " .. base) end)

-- Everything that a network computes with and what comes out, as text.
local function bits(p)
  local parts = {}
  for _, list in ipairs({ p.net.params, p.net.states }) do
    for _, leaf in ipairs(list) do
      for _, v in ipairs(p.net:tensor(leaf.name):reshape({ -1 }):totable()) do
        parts[#parts + 1] = ("%.17g"):format(v)
      end
    end
  end
  for i = 1, #p.net.gates do
    local state = p.net:gate_state(i)
    parts[#parts + 1] = ("%s %.17g %.17g"):format(state.kind, state.lambda or 0, state.floor or 0)
  end
  parts[#parts + 1] = ("%.17g %.17g"):format(p:score())
  return table.concat(parts, " ")
end

local function refuses(kind, words, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(e, kind), tostring(e))
  assert.truthy(tostring(e):find(words, 1, true), ("'%s' is not in: %s"):format(words, tostring(e)))
end

describe("probing", function()
  it("shows λ as the run stored it, and its bound", function()
    local rows, run = probe.open(dirs.learned):hardness(), store.open(dirs.learned)
    local stored = run:gates().lambda[run:best().epoch + 1]
    for i, row in ipairs(rows) do
      assert.equal(stored[i], row.lambda)
      assert.equal(run:gates().names[i], row.name)
      assert.near(0.169971207 / row.lambda, row.bound, 1e-9)
    end
    assert.equal(2, #rows)
    local text = tostring(rows)
    assert.truthy(text:find(("1  gate1  lambda_gelu  %.6g"):format(rows[1].lambda), 1, true), text)
    local gelu = probe.open(dirs.gelu):hardness()[1]
    assert.same({ "gelu", nil }, { gelu.kind, gelu.lambda })
    assert.near(0.169971207, gelu.bound, 1e-9)
  end)

  it("counts what arrives at a gate as a plain loop over it does", function()
    local p = probe.open(dirs.learned)
    for gate = 1, 2 do
      local row, values, slope = p:probe(gate), {}, 0
      local loader = p.t:loader("val")
      loader:start(0)
      for x, y in loader:each() do
        p.net:bind(x, y)
        p.net:forward("eval")
        for _, v in ipairs(p.net:gate_input(gate):reshape({ -1 }):totable()) do values[#values + 1] = v end
      end
      local band, negative, low, high = 0, 0, math.huge, -math.huge
      for _, v in ipairs(values) do
        local u = row.lambda * v
        if math.abs(u) < 2 then band = band + 1 end
        if v <= 0 then negative = negative + 1 end
        slope = slope + v * v * math.exp(-u * u / 2) / math.sqrt(2 * math.pi)
        low, high = math.min(low, v), math.max(high, v)
      end
      assert.same({ #values, 120, low, high }, { row.values, row.samples, row.min, row.max })
      assert.equal(band / #values, row.band)
      assert.equal(negative / #values, row.zeros_after)
      assert.near(slope / #values, row.slope, 1e-6)
      assert.near(0.293525 / row.lambda ^ 2, row.ceiling, 1e-6)
      local h, counts, below, above = row.histogram, {}, 0, 0
      for i = 1, #h.counts do counts[i] = 0 end
      for _, v in ipairs(values) do
        local bin = math.floor((v - h.low) / (h.high - h.low) * #counts) + 1
        if bin < 1 then below = below + 1 elseif bin > #counts then above = above + 1
        else counts[bin] = counts[bin] + 1 end
      end
      local total = below + above
      for i, count in ipairs(counts) do
        assert.near(count, h.counts[i], 1) -- a value at a border may be rounded into either
        total = total + h.counts[i]
      end
      assert.equal(#values, total)
    end
  end)

  it("gives the numbers of lgelu.swap: gates, swaps of all and of each, sensitivity", function()
    for _, name in ipairs({ "learned", "gelu", "hard" }) do
      local t, p = swap.open(dirs[name]), probe.open(dirs[name])
      local all = swap.measure(t).val
      local effect = p:swap("all")
      assert.same({ all.score_before, all.score_after, all.drop, all.loss_before, all.loss_after },
        { effect.before, effect.after, effect.drop, effect.loss_before, effect.loss_after })
      p:undo()
      local ranked = p:sensitivity()
      assert.is_true(ranked[1].drop >= ranked[2].drop)
      for _, row in ipairs(ranked) do
        local alone = swap.measure(t, { gates = { row.name } }).val
        assert.same({ alone.score_before, alone.score_after, alone.drop, alone.loss_after },
          { ranked.before, row.after, row.drop, row.loss })
        local found, own = p:probe(row.name), all.gates[row.gate]
        for _, key in ipairs({ "lambda", "bound", "min", "max", "band", "slope", "max_deviation", "zeros_before",
          "zeros_after" }) do
          assert.equal(own[key], found[key], key)
        end
      end
    end
  end)

  it("undoes set, swap and train to the bit, and changes no file", function()
    local function files() return (io.popen(("cd %s && sha256sum *"):format(dirs.learned)):read("*a")) end
    local p, before_files = probe.open(dirs.learned), files()
    local seen = { bits(p) }
    local changes = {
      function() p:set("gate1", 7.5) end, function() p:train(3) end, function() p:swap(2) end,
      function() p:train(20) end, function() p:set("all", 30) end,
    }
    for i, change in ipairs(changes) do
      change()
      seen[i + 1] = bits(p)
      assert.not_equal(seen[i], seen[i + 1])
    end
    for i = #changes, 1, -1 do
      local undone = p:undo()
      assert.equal(i - 1, undone.left)
      assert.is_true(seen[i] == bits(p), "change " .. i)
    end
    changes[1]()
    changes[2]()
    assert.is_true(seen[3] == bits(p), "the same again")
    p:sensitivity()
    p:probe(1)
    assert.is_true(seen[3] == bits(p), "looking")
    assert.equal(before_files, files())
  end)

  it("changes nothing when a change fails", function()
    local p = probe.open(dirs.learned)
    local before = bits(p)
    refuses("usage", "did you mean 'gate1'", p.set, p, "gat1", 3)
    refuses("usage", "gates 1 to 2", p.swap, p, 3)
    refuses("usage", "λ is nil", p.set, p, 1)
    refuses("usage", "1.0", p.set, p, 1, 1)
    refuses("usage", "whole number", p.train, p, 0.5)
    refuses("usage", "rate is -1", p.train, p, 1, -1)
    refuses("usage", "nothing was changed", p.undo, p)
    refuses("usage", "expected train, val or test", p.score, p, "validation")
    refuses("fail", "Nothing was updated", p.train, p, 50, 1e30)
    assert.is_true(before == bits(p))
    refuses("usage", "nothing was changed", p.undo, p)
    refuses("usage", "has no λ", function() probe.open(dirs.gelu):set(1, 3) end)
  end)

  it("trains a recipe as a run does: the same weights after the same steps, hardened too", function()
    for _, name in ipairs({ "learned", "hard", "resnet" }) do
      local t = trained.untrained(recipe.load(recipes[name], {}), { probe = true })
      local p, last = probe.of(t), trained.open(dirs[name], { checkpoint = "last", probe = true })
      local start, steps = bits(p), 2 * (name == "resnet" and 3 or 12) -- 48 and 180 rows in batches of 16
      for _ = 1, 2 do
        p:train(5)
        local made = p:train(steps - 5)
        assert.same({ 6, steps }, { made.from, made.to })
        assert.is_true(bits(probe.of(last)) == bits(p), name)
        p:undo()
        p:undo()
        assert.is_true(start == bits(p), name)
      end
    end
    local hard = probe.open(dirs.hard)
    hard:train(2)
    assert.equal(lg.gate.target(0.005), hard:hardness()[1].lambda)
  end)

  it("goes on where the run's checkpoint left off, and keeps the trajectory", function()
    local p = probe.open(dirs.learned)
    assert.equal(3, #p:trajectory())
    local step = 12 * p.t.run:best().epoch
    assert.same({ step + 1, step + 2 }, { p:train(2).from, p.points[2].step })
    local list = p:trajectory()
    assert.same(p.net:lambdas(), list[#list].lambda)
    p:undo()
    assert.equal(3, #p:trajectory())
  end)
end)

describe("figures of the prompt", function()
  it("are characters, or pictures with their data and caption", function()
    local p = probe.open(dirs.learned)
    local extensions = gnuplot.EXTENSIONS
    for i, what in ipairs({ "profile", "trajectory", "gate1", 2 }) do
      local text = figures.draw(p, what).text
      assert.truthy(#text > 200 and text:find("\n", 1, true) and not text:find("[%z\1-\9\11-\31]"), text)
      local out = ("%s/%s.%s"):format(base, what, extensions[(i - 1) % #extensions + 1]) -- one format each is enough
      gnuplot.check_picture(figures.draw(p, what, out, "plot()").picture)
    end
  end)

  it("say what cannot be drawn", function()
    local p = probe.open(dirs.gelu)
    refuses("fail", "no profile", figures.draw, p, "profile")
    refuses("fail", "no trajectory", figures.draw, p, "trajectory")
    refuses("usage", "did you mean 'profile'", figures.draw, p, "profil")
    refuses("usage", "file is a number", figures.draw, p, 1, 2)
    refuses("usage", "ends in .png", figures.draw, p, 1, base .. "/x.gif", "plot()")
  end)
end)

describe("drawing in characters", function()
  it("makes bars of eighths, with a trace of what is there", function()
    assert.same({ "", "▏", "█▌", "████", "████" },
      { draw.bar(0, 4), draw.bar(1e-9, 4), draw.bar(0.375, 4), draw.bar(1, 4), draw.bar(7, 4) })
  end)

  it("makes histograms with the band heavy on the axis", function()
    assert.same({ " █", "▄█ ▁", "─━╋─", "-2 2" }, draw.histogram({ 4, 16, 0, 1e-3 }, -2, 2, 2, 1))
  end)
end)

describe("lgelu repl RUN", function()
  local function piped(text)
    folders.write(base .. "/chunk.lua", text)
    return runs.program("repl", dirs.learned, "-e", ("dofile(%q)"):format(base .. "/chunk.lua"))
  end

  it("has it all for scripts, without control codes", function()
    local status, text = piped([[
      print(hardness()) print(probe("gate2")) print(sensitivity()) print(plot("profile"))
      assert(tostring(plot(1)):find("pre-activation x", 1, true) and plot(1).text)
      local before = score()
      local made = swap("all")
      print(set(1, 9)) print(train(2))
      assert(made.before == before and #hardness() == 2 and hardness()[2].kind == "relu")
      print(undo()) print(undo()) print(undo())
      assert(score() == before and model:lambdas()[1] == hardness()[1].lambda and data.train.x.shape[2] == 2)
      assert(run:best().val_score == before)
      help(probe) help("swap") help()]])
    assert.equal(0, status, text)
    assert.is_nil(text:find("[%z\1-\9\11-\31\127]"), text)
    for _, words in ipairs({ "transition band", "gradient attenuation", "swapped to ReLU", "undone: swap all gates",
      "undone: train 2 steps", "probe(gate): what arrives", "swap(gate or \"all\"):", "sensitivity()  " }) do
      assert.truthy(text:find(words, 1, true), words)
    end
  end)

  it("says when the test set is looked at", function()
    local _, text = runs.program("repl", dirs.learned, "-e", "score()")
    assert.equal(("%.14g\n"):format(store.open(dirs.learned):best().val_score), text)
    _, text = runs.program("repl", dirs.learned, "-e", 'score("test")')
    assert.truthy(text:find("score on the test set", 1, true), text)
    assert.truthy(text:find(("%.14g"):format(store.open(dirs.learned):best().test_score), 1, true), text)
  end)

  it("names what it does not know", function()
    local status, text = runs.program("repl", dirs.learned, "-e", 'help("sensitivty")')
    assert.same({ 1, true }, { status, text:find("did you mean 'sensitivity'", 1, true) ~= nil })
    status, text = runs.program("repl", dirs.learned, "-e", 'probe("gate3")')
    assert.same({ 1, true }, { status, text:find("expected one of gate1, gate2", 1, true) ~= nil })
  end)

  it("works on a recipe that was not trained", function()
    local status, text = runs.program("repl", recipes.learned, "-e", "train(3).to", "-e", "probe(1).samples")
    assert.same({ 0, "3\n120\n" }, { status, text })
  end)

  it("shows the same at a terminal", function()
    local words = { "TERM=dumb", "XDG_STATE_HOME=" .. base, "python3 tests/spec/support/at_terminal.py" }
    for _, step in ipairs({
      "> =hardness()\\n", "gate2  lambda_gelu=probe(1)\\n", "attenuation=set(\"gate1\", 50)\\n",
      "50; validation=undo()\\n", "0 more to undo=help(set)\\n", "takes it back=dofile(\"" .. base .. "/loop.lua\")\\n",
      "loop.lua\")=\\x03",
      "interrupted=score()\\n", "0.=\\x04",
    }) do
      words[#words + 1] = "'" .. step .. "'"
    end
    folders.write(base .. "/loop.lua", "local i = 0\nwhile true do i = i + 1 end\n")
    local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"
    local pipe = io.popen(("%s -- %s repl %s 2>&1; echo status=$?"):format(table.concat(words, " "), program,
      dirs.learned))
    local text = pipe:read("*a")
    pipe:close()
    assert.truthy(text:find("status=0\n$"), text)
    local p = probe.open(dirs.learned)
    assert.truthy(text:find((tostring(p:hardness()):gsub("\n", "\r\n")), 1, true), text)
    assert.truthy(text:find((tostring(p:probe(1)):gsub("\n", "\r\n")), 1, true), text)
    assert.truthy(text:find(tostring(p:set("gate1", 50)), 1, true), text)
    assert.truthy(text:find(tostring(p:undo()), 1, true), text)
  end)
end)
