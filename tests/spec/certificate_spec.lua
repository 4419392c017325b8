--- lgelu.certificate: enclosures against networks known to 400 digits (tests/ref/certificate_exact.py), against random
-- networks in float64 at many inputs, a network that meets its bound, and certificates of trained runs.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local certificate = require("lgelu.certificate")
local errors = require("lgelu.errors")
local eval = require("tests.spec.support.folded_eval")
local folded = require("lgelu.folded")
local folders = require("tests.spec.support.folders")
local gate_bounds = require("lgelu.certificate.gates")
local json = require("cjson")
local network = require("lgelu.network")
local recipe = require("lgelu.recipe")
local runs = dofile("tests/spec/support/runs.lua")
local store = require("lgelu.store")
local tensor = require("lgelu.tensor")
local train = require("lgelu.train")
local trained = require("lgelu.trained")
local twin = require("lgelu.certificate.twin")
local walk = require("lgelu.certificate.walk")
local lib, check = C.lib, C.check

local RULES = { "value", "constant" }
local PLACE, PEAK = 0.75179152469356446, 0.16997120747990366 -- of the largest ReLU − f, at λ = 1

-- Enclosure of samples (lists of flat lists) ± radius.
local function enclosure(samples, shape, radius)
  local x = tensor.zeros({ 4, #samples, unpack(shape) }, "f64")
  local at, n = base.data(x), #samples[1]
  for r, sample in ipairs(samples) do
    for i, v in ipairs(sample) do
      at[(r - 1) * n + i - 1], at[(#samples + r - 1) * n + i - 1] = v, radius or 0
    end
  end
  return x
end

-- Logit j of row r (from 1): centre, radius, change, change's radius.
local function read(z, r, j)
  local rows, n, at = z.shape[2], z.shape[3], base.data(z)
  local i = (r - 1) * n + j - 1
  return at[i], at[rows * n + i], at[2 * rows * n + i], at[3 * rows * n + i]
end

local function layer_node(weights, bias, input)
  return { op = "linear", name = "fc", inputs = { input }, shape = { #bias }, weight = tensor.tensor(weights, "f64"),
    bias = tensor.tensor(bias, "f64") }
end

-- Folded network of layers { weights, bias, λ (0: no gate) }.
local function chain(layers)
  local nodes, gates = {}, 0
  for _, l in ipairs(layers) do
    nodes[#nodes + 1] = layer_node(l[1], l[2], #nodes)
    if l[3] > 0 then
      gates = gates + 1
      nodes[#nodes + 1] = { op = "gate", name = "g", inputs = { #nodes }, shape = { #l[2] }, kind = "lambda_gelu",
        lambda = l[3], gate_index = gates }
    end
  end
  local input = { shape = { #layers[1][1][1] }, scale = 1, mean = { 0 }, sd = { 1 } }
  return { nodes = nodes, output = #nodes, input = input }
end

local exact
setup(function()
  local file = assert(io.open("tests/ref/certificate_exact.json"))
  exact = json.decode(file:read("*a"))
  file:close()
end)

describe("enclosures", function()
  it("hold single gates of 400 digits, to a few units in the last place", function()
    assert.are.equal(300, #exact.gates)
    for n, g in ipairs(exact.gates) do
      local x, lambda, f, h = unpack(g)
      local z = tensor.zeros({ 4, 1, 1 }, "f64")
      base.data(z)[0] = x
      check(lib.lg_enclose_gate(z, z, lambda, 0))
      local c, r, d, dr = read(z, 1, 1)
      local what = ("gate %d: x = %.17g, λ = %g"):format(n, x, lambda)
      assert.is_true(math.abs(f[1] - c + f[2]) <= r and math.abs(h[1] - d + h[2]) <= dr, what)
      local w = lambda * x
      assert.is_true(r <= 2 ^ -51 * math.abs(x) + 2 ^ -47 * (1 + w * w) * h[1] + 1e-290, what .. ": wide")
      assert.is_true(dr <= 2 ^ -47 * (1 + w * w) * h[1] + 1e-290, what .. ": wide change")
    end
  end)

  it("hold what networks of 400 digits compute, however much cancels", function()
    assert.are.equal(72, #exact.networks)
    for n, net in ipairs(exact.networks) do
      local w = walk.new(chain(net.layers))
      for _, rule in ipairs(RULES) do
        local z, before = w:run(enclosure({ net.input }, { #net.input }), rule)
        local least = math.huge -- of the exact leads of the largest logit
        local top = 1
        for j = 2, 3 do
          if net.smooth[j][1] > net.smooth[top][1] then top = j end
        end
        for j = 1, 3 do
          local c, r, d, dr = read(z, 1, j)
          local s, t = net.smooth[j], net.change[j]
          local off, change_off = math.abs(s[1] - c + s[2]), math.abs(t[1] - d + t[2])
          assert.is_true(off <= r, ("network %d, %s, logit %d: %g outside %g"):format(n, rule, j, off, r))
          assert.is_true(change_off <= dr, ("network %d, %s, logit %d: change %g outside %g"):format(n, rule, j,
            change_off, dr))
          if j ~= top then
            local ahead = net.smooth[top][1] - s[1] + (net.smooth[top][2] - s[2])
            least = math.min(least, ahead, ahead + (net.change[top][1] - t[1]) + (net.change[top][2] - t[2]))
          end
        end
        local margins, classes = w:margins(before)
        local m = margins:totable()
        if classes:totable()[1] == top - 1 then
          assert.is_true(math.min(m[1][1], m[2][1]) <= least + 1e-12 * math.abs(least))
        end
      end
    end
  end)

  it("are narrow where nothing cancels", function()
    local layers = { { { { 1, 2 }, { -3, 1 } }, { 0.5, 0 }, 2 }, { { { 1, 1 } }, { 0 }, 0 } }
    local _, r, d, dr = read(walk.new(chain(layers)):run(enclosure({ { 1, 1 } }, { 2 }), "value"), 1, 1)
    assert.is_true(r < 4e-15 and dr < 4e-15 and d > 0)
  end)

  it("are met by gates at ±0.7518/λ with positive weights, through three layers", function()
    for _, lambda in ipairs({ 1, 159.577, 1e6 }) do
      local peak, place = PEAK / lambda, PLACE / lambda
      -- Units alternate between the two places where f is farthest from ReLU; the next layer's are put there by biases.
      local first, bias, second, output = {}, {}, {}, { {} }
      for i = 1, 6 do
        first[i], bias[i] = { 0 }, i % 2 == 0 and place or -place
        second[i], output[1][i] = {}, 0.3 * i
      end
      local total = 0
      for i = 1, 6 do
        local f = lib.lg_gate_value_f64(bias[i], lambda)
        for k = 1, 6 do second[k][i] = 0.1 * i + 0.05 * k end
        total = total + f
      end
      local biases = {}
      for k = 1, 6 do
        local sum = 0
        for i = 1, 6 do sum = sum + second[k][i] * lib.lg_gate_value_f64(bias[i], lambda) end
        biases[k] = place - sum
      end
      local layers = { { first, bias, lambda }, { second, biases, lambda }, { output, { 0 }, 0 } }
      local f = chain(layers)
      local smooth = eval.run(f, { 1 })[1]
      for _, node in ipairs(f.nodes) do
        if node.op == "gate" then node.kind = "relu" end
      end
      local observed = eval.run(f, { 1 })[1] - smooth
      assert.is_true(observed > 0.9 * peak)
      for _, rule in ipairs(RULES) do
        local _, _, d, dr = read(walk.new(chain(layers)):run(enclosure({ { 1 } }, { 1 }), rule), 1, 1)
        assert.is_true(observed <= d + dr)
        assert.is_true(observed / (d + dr) > 0.999, ("λ = %g, %s: %.6f"):format(lambda, rule, observed / (d + dr)))
      end
      -- The same for a box of inputs, as the first layer ignores them.
      local _, _, d, dr = read(walk.new(chain(layers)):run(enclosure({ { 1 } }, { 1 }, 5), "value"), 1, 1)
      assert.is_true(observed <= d + dr and observed / (d + dr) > 0.999)
    end
  end)

  it("are never NaN, whatever overflows", function()
    local layers = { { { { 1e200, -1e200 }, { 1, 1 } }, { 0, 0 }, 3 }, { { { 1e200, 1 }, { -1e200, 0 } }, { 0, 1 }, 3 },
      { { { 1, -1 }, { 1, 1 } }, { 0, 0 }, 0 } }
    local w = walk.new(chain(layers))
    for _, sample in ipairs({ { 1e300, -1e300 }, { 1e-320, 0 }, { 0, 0 }, { math.huge, 1 }, { 1, 0 / 0 } }) do
      for _, rule in ipairs(RULES) do
        local z, before = w:run(enclosure({ sample }, { 2 }), rule)
        local m = w:margins(before):totable()
        assert.is_true(m[1][1] == m[1][1] and m[2][1] == m[2][1])
        local c, r, d, dr = read(z, 1, 1)
        local proper = math.abs(c) < math.huge and r < math.huge and math.abs(d) < math.huge and dr < math.huge
        if sample[1] > 1e299 then
          assert.is_true(not proper and m[1][1] == -math.huge and m[2][1] == -math.huge)
        elseif sample[1] < 1 then
          assert.is_true(proper)
        end
      end
    end
  end)
end)

-- Models -----------------------------------------------------------------------------------------------------------

local function pools(nn, x, info)
  x = nn:channels_last(x)
  local a = nn:gate(nn:conv2d(x, 6, { kernel = 3, padding = 1 }))
  local b = nn:conv2d(a, 6, { kernel = { 1, 3 }, padding = { left = 2, right = 0 }, groups = 3 })
  x = nn:gate(nn:batch_norm(a + b))
  x = nn:max_pool(x, 3, { stride = 2, padding = 1 })
  x = nn:avg_pool(x, 2, { stride = 1, padding = 1 })
  x = nn:activation(nn:linear(x, 5), "relu")
  return nn:linear(nn:flatten(x), info.classes)
end

local MODELS = {
  { { arch = "mlp", hidden = { 9, 7 }, dropout = 0.1, bias = true }, { 5 } },
  { { arch = "cnn", channels = { 3, 4 }, hidden = { 6 } }, { 2, 8, 8 } },
  { { arch = "resnet", depth = 18, width = 3 }, { 2, 8, 8 } },
  { pools, { 2, 7, 6 } },
}

-- A float64 network with everything random and λ from 1 to 1e6.
local function random_network(model, shape, seed, rows)
  local net = network.new({ model = model, batch = rows, seed = seed, dtype = "f64", training = false,
    gate = { kind = "lambda_gelu", learn = false, lambda = 1 }, info = { classes = 4, input_shape = shape } })
  for _, list in ipairs({ net.params, net.states }) do
    for _, leaf in ipairs(list) do
      if leaf.name:find("running_var$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, 0.5, 2, seed)) end
      if leaf.name:find("running_mean$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1, 1, seed)) end
      if leaf.name:find("bias$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -0.3, 0.3, seed)) end
    end
  end
  for i in ipairs(net.gates) do
    net:set_gate(i, { lambda = 10 ^ (6 * lib.lg_rng_uniform(seed, 5, i) ^ 3) })
  end
  return net
end

local function flat(x)
  local rows, n, at, list = x.shape[1], x.size / x.shape[1], base.data(x), {}
  for r = 1, rows do
    list[r] = {}
    for i = 1, n do list[r][i] = at[(r - 1) * n + i - 1] end
  end
  return list
end

-- What x does in the network, in float64.
local function observe(net, x)
  local smooth, relu = twin.both(net, x, tensor.zeros({ x.shape[1] }, "i32"))
  return smooth:totable(), relu:totable()
end

-- Fails unless both networks' logits of row r lie in z's row `at`; slack: of the float64 forward.
local function inside(z, at, smooth, relu, what)
  for j = 1, #smooth do
    local c, r, d, dr = read(z, at, j)
    local slack = 1e-11 * (1 + math.abs(smooth[j]) + math.abs(relu[j]))
    assert.is_true(math.abs(smooth[j] - c) <= r + slack, what .. ": value")
    assert.is_true(math.abs(relu[j] - smooth[j] - d) <= dr + slack, ("%s: change %g, found %g ± %g"):format(what,
      relu[j] - smooth[j], d, dr))
  end
end

describe("the engine's enclosures", function()
  it("refuse shapes that do not fit, naming them", function()
    local x, w = tensor.zeros({ 4, 2, 3 }, "f64"), tensor.zeros({ 5, 3 }, "f64")
    local image, out = tensor.zeros({ 4, 2, 3, 3, 2 }, "f64"), tensor.zeros({ 4, 2, 5 }, "f64")
    local affine, gate, pool = lib.lg_enclose_affine, lib.lg_enclose_gate, lib.lg_enclose_pool
    local like = tensor.zeros({ 4, 2, 3 }, "f64")
    local function refused(text, status)
      assert.is_true(status ~= 0, text)
      local message = C.ffi.string(lib.lg_last_error())
      assert.is_truthy(message:find(text, 1, true), message)
    end
    refused("weight f64[5, 3] does not take in f64[4, 2, 3] to out f64[4, 2, 3]",
      affine(like, x, w, nil, 1, 1, 0, 0, 1))
    refused("bias has 4 elements, expected 5", affine(out, x, w, tensor.zeros({ 4 }, "f64"), 1, 1, 0, 0, 1))
    refused("out and in share memory", affine(x, x, w, nil, 1, 1, 0, 0, 1))
    refused("groups = 2 do not fit", affine(out, x, w, nil, 1, 1, 0, 0, 2))
    refused("stride_h = 0: expected 1 to 65536", affine(out, x, w, nil, 0, 1, 0, 0, 1))
    refused("in is f32[4, 2, 3], expected f64", gate(x, tensor.zeros(4, 2, 3), 1, 0))
    refused("in is f64[3, 2, 3], expected an enclosure [4, rows, …]", gate(x, tensor.zeros({ 3, 2, 3 }, "f64"), 1, 0))
    refused("lambda = 0: expected more than 0", gate(x, x, 0, 0))
    refused("rule = 2: expected 0 to 1", gate(x, x, 1, 2))
    refused("windows 2×2 do not take in", pool(tensor.zeros({ 4, 2, 4, 3, 2 }, "f64"), image, 0, 2, 2, 1, 1, 0, 0))
    refused("weight is [5, 3], expected [classes, 5]",
      lib.lg_enclose_margin(tensor.zeros({ 2, 2 }, "f64"), tensor.zeros({ 2 }, "i32"), out, w, nil))
  end)
end)

describe("certificates of random networks", function()
  it("hold for each sample, and for inputs around it, under both rules", function()
    for m, case in ipairs(MODELS) do
      for seed = 1, 3 do
        local net, rows = random_network(case[1], case[2], seed, 4), 4
        local w, what = walk.new(folded.of({ net = net })), ("model %d, seed %d"):format(m, seed)
        local x = tensor.randn({ rows, unpack(case[2]) }, "f64", seed)
        local smooth, relu = observe(net, x)
        for _, eps in ipairs({ 0, 1e-6, 0.02 }) do
          for _, rule in ipairs(RULES) do
            local z = w:run(enclosure(flat(x), case[2], eps), rule)
            for r = 1, rows do inside(z, r, smooth[r], relu[r], what) end
            for k = 1, eps > 0 and 3 or 0 do
              local near = x + tensor.rand({ rows, unpack(case[2]) }, "f64", 10 * seed + k) * (2 * eps) - eps
              local s, t = observe(net, near)
              for r = 1, rows do inside(z, r, s[r], t[r], what .. ", near") end
            end
          end
        end
      end
    end
  end)

  it("agree with a plain evaluator of the folded network", function()
    local net = random_network(pools, { 2, 7, 6 }, 4, 2)
    local x = tensor.randn({ 2, 2, 7, 6 }, "f64", 8)
    local z = walk.new(folded.of({ net = net })):run(enclosure(flat(x), { 2, 7, 6 }), "value")
    local smooth, relu = folded.of({ net = net }), folded.of({ net = net }, { relu = true })
    for r, sample in ipairs(flat(x)) do
      inside(z, r, eval.run(smooth, sample), eval.run(relu, sample), "plain")
    end
  end)

  it("of a box hold those of the samples in it", function()
    for m, case in ipairs(MODELS) do
      local net = random_network(case[1], case[2], m, 4)
      local w = walk.new(folded.of({ net = net }))
      local x = tensor.rand({ 4, unpack(case[2]) }, "f64", m)
      local n = x.size / 4
      local whole, centre = {}, {}
      for i = 1, n do centre[i] = 0.5 end
      whole[1] = centre
      for _, rule in ipairs(RULES) do
        local box = w:run(enclosure(whole, case[2], 0.5), rule)
        local each = w:run(enclosure(flat(x), case[2]), rule)
        for r = 1, 4 do
          for j = 1, 4 do
            local c, cr, d, dr = read(each, r, j)
            local bc, br, bd, bdr = read(box, 1, j)
            assert.is_true(c - cr >= bc - br and c + cr <= bc + br)
            assert.is_true(d - dr >= bd - bdr and d + dr <= bd + bdr)
          end
        end
      end
    end
  end)

  it("say which node stops them: one that widens intervals before one without a rule", function()
    local function reason(model, shape) return gate_bounds.reason({ net = random_network(model, shape, 1, 2) }) end
    assert.is_nil(reason(pools, { 2, 7, 6 }))
    assert.are.equal("the certificate has no rule for 'part' (slice)", reason(function(nn, x, info)
      return nn:linear(nn:gate(nn:slice(x, 1, 0, 3, { name = "part" })), info.classes)
    end, { 5 }))
    assert.are.equal("intervals grow too wide through 'square' (product)", reason(function(nn, x, info)
      x = nn:slice(x, 1, 0, 3)
      return nn:linear(nn:gate(nn:mul(x, x, { name = "square" })), info.classes)
    end, { 5 }))
  end)

  it("name a gate that they do not know", function()
    local net = network.new({ model = MODELS[1][1], batch = 2, seed = 1, dtype = "f64", training = false,
      gate = { kind = "silu" }, info = { classes = 4, input_shape = { 5 } } })
    local ok, e = pcall(walk.new, folded.of({ net = net }))
    assert.is_false(ok)
    assert.is_true(errors.is(e, "fail"))
    local expected = "'gate1' is a silu: the certificate knows gates of kind lambda_gelu, gelu and relu"
    assert.is_truthy(e.message:find(expected, 1, true), e.message)
  end)
end)

-- Runs -------------------------------------------------------------------------------------------------------------

local folder = folders.temporary()
local dirs = {}

local function run_of(name, model, gate, hardening)
  local path = ("%s/%s.lua"):format(folder, name)
  folders.write(path, ([[
return {
  name = "t", data = { source = "synthetic", n = 240, n_test = 70, shape = { 1, 6, 6 }, classes = 4,
    validation = 0.25 },
  model = %s, gate = %s, optimizer = { lr = 0.02 }, train = { epochs = 2, batch = 16, eval_batch = 32 }, %s
}]]):format(model, gate, hardening or ""))
  dirs[name] = folder .. "/" .. name
  train.run(recipe.load(path), { out = dirs[name], quiet = true })
end

setup(function()
  run_of("mlp", "lg.models.mlp{ hidden = { 12, 8 } }", '{ init = "ascending", t = 0.1 }')
  run_of("hardened", "lg.models.mlp{ hidden = { 12, 8 } }", "{ init = 'gelu' }", "hardening = { target = { 50, 200 } }")
  run_of("tied", "lg.models.mlp{ hidden = { 6, 5 } }", "{ init = 'gelu', tie = true }")
  run_of("fixed", "lg.models.cnn{ channels = { 4 }, hidden = { 6 } }", "{ lambda = 40, learn = false }")
  run_of("gelu", "lg.models.mlp{ hidden = { 6 } }", '{ kind = "gelu" }')
end)
teardown(function() os.execute("rm -rf " .. folder) end)

describe("certificate.of", function()
  it("covers every test sample of a run, and agrees with what is observed", function()
    for _, name in ipairs({ "mlp", "hardened", "tied", "fixed", "gelu" }) do
      local t = trained.open(dirs[name])
      local report = certificate.of(t)
      assert.are.equal(70, report.samples)
      assert.are.equal(#t.net.gates, #report.lambdas)
      for _, rule in ipairs(RULES) do
        local own = report[rule]
        assert.are.equal(0, own.violations)
        assert.are.equal(0, own.contradicted)
        assert.is_true(own.tightness.max <= 1 + 1e-6 and own.tightness.q05 >= 0)
        for j = 1, 4 do
          assert.is_true(report.observed[j] <= own.bound[j] * (1 + 1e-9) + 1e-12)
          assert.is_true(math.abs(report.observed[j] - report.observed_f32[j]) <= 2 * report.rounding)
          assert.is_true(math.max(-report.box.lo[j], report.box.hi[j]) >= report.value.bound[j])
        end
        local certified = 0
        for i = 1, 70 do
          if own.margin[i] > 0 then certified = certified + 1 end
          assert.is_true(report.sample_observed[i] <= own.sample_bound[i] * (1 + 1e-9) + 1e-12)
        end
        assert.are.equal(own.certified, certified)
        assert.is_true(own.certified <= 70 - report.flipped)
      end
      -- Each gate at its own value leaves next to nothing open.
      assert.is_true(report.value.tightness.median > 0.999)
      assert.is_true(report.value.certified >= 70 - report.flipped - 1)
      for j = 1, 4 do assert.is_true(report.constant.bound[j] >= report.value.bound[j]) end
    end
  end)

  it("takes a hardened run as it ends", function()
    local report = certificate.of(trained.open(dirs.hardened))
    assert.are.same({ 50, 200 }, report.lambdas)
    assert.is_true(report.value.bound[1] < certificate.of(trained.open(dirs.mlp)).value.bound[1])
  end)

  it("leaves the run's gates as they were", function()
    local t = trained.open(dirs.mlp)
    local before = t.net:gate_state(1)
    certificate.of(t, { samples = 5 })
    assert.are.same(before, t.net:gate_state(1))
  end)

  it("widens with eps and with the box, and takes a part of the samples", function()
    local t = trained.open(dirs.mlp)
    local point, around = certificate.of(t, { samples = 20 }), certificate.of(t, { samples = 20, eps = 0.01 })
    local given = certificate.of(t, { samples = 20, part = "val", box = { -100, 100 } })
    local small = certificate.of(t, { samples = 20, box = { 0.5, 0.501 } })
    assert.are.equal(20, given.samples)
    for j = 1, 4 do
      assert.is_true(around.value.bound[j] > point.value.bound[j])
      assert.is_true(given.box.hi[j] >= point.box.hi[j] and small.box.hi[j] < point.box.hi[j])
    end
    assert.is_true(around.value.certified <= point.value.certified)
  end)

  it("refuses wrong options by name", function()
    local t = trained.open(dirs.mlp)
    for option, value in pairs({ eps = -1, samples = 0, part = "train" }) do
      local ok, e = pcall(certificate.of, t, { [option] = value })
      assert.is_true(not ok and errors.is(e, "usage") and e.message:find(option, 1, true) ~= nil, option)
    end
    local ok, e = pcall(certificate.of, t, { box = { 1, 0 } })
    assert.is_true(not ok and errors.is(e, "usage") and e.message:find("box = 1, 0", 1, true) ~= nil)
  end)

  it("is stored and read back as it was made", function()
    local t = trained.open(dirs.mlp)
    assert.is_nil(certificate.read(t.run))
    local report = certificate.of(t, { samples = 30 })
    report.checkpoint = "best"
    certificate.write(t.dir, report)
    local back = certificate.read(store.open(t.dir))
    back.measured = nil
    assert.are.same(report, back)
  end)
end)

describe("lgelu certify", function()
  it("prints the table and stores the certificate", function()
    local status, out = runs.program("certify", dirs.fixed, "--samples", "40")
    assert.are.equal(0, status, out)
    assert.is_truthy(out:find("value +40 +%d+ +0 "), out)
    assert.is_truthy(out:find("Stored in .-run.h5 under /swap/certificate"), out)
    local report = certificate.read(store.open(dirs.fixed))
    assert.are.equal(40, report.samples)
    status, out = runs.program("certify", dirs.fixed, "--samples", "40", "--format", "csv")
    assert.are.equal(0, status, out)
    local logit, observed, bound = out:match("\n(%d),([^,]+),([^,]+),")
    assert.are.same({ 0, report.observed[1], report.value.bound[1] }, { tonumber(logit), tonumber(observed),
      tonumber(bound) })
  end)

  it("says what is wrong with its words", function()
    local status, out = runs.program("certify", dirs.fixed, "--box", "0")
    assert.are.equal(2, status)
    assert.is_truthy(out:find("--box '0': expected LOW,HIGH", 1, true), out)
    for words, message in pairs({ ["--samples=many"] = "--samples: found 'many', expected an integer >= 1",
      ["--samples=0"] = "--samples: found '0', expected an integer >= 1", ["--eps=nan"] = "--eps: found 'nan'",
      ["--eps=-1"] = "--eps: found '-1', expected a number >= 0", ["--eps=wide"] = "--eps: found 'wide'" }) do
      status, out = runs.program("certify", dirs.fixed, words)
      assert.are.equal(2, status)
      assert.is_truthy(out:find(message, 1, true), out)
    end
    status, out = runs.program("certify", folder .. "/none")
    assert.are.equal(2, status, out)
  end)
end)
