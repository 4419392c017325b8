--- Batch normalization and pooling beyond what ops_spec checks of every op: running statistics, evaluation, errors; and
-- normalizations that absorb a residual sum and a gate, which give the numbers of separate ones: values, every
-- gradient, tied gates, frozen scales, evaluation, swaps at run time, and graphs that forbid it.
local C = require("lgelu.C")
local nn = require("lgelu.nn")
local network = require("lgelu.network")
local ffi, lib, check = C.ffi, C.lib, C.check

local GATE = { kind = "lambda_gelu", reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }

local function pointer(g, view, id, kind)
  local out = ffi.new("lg_tensor *[1]")
  check(view(out, g, id))
  local p, n = ffi.cast(kind or "double *", lib.lg_tensor_data(out[0])), tonumber(lib.lg_tensor_size(out[0]))
  lib.lg_tensor_free(out[0]) -- the graph keeps the memory
  return p, n
end

local function values(g, view, id, kind)
  local p, n = pointer(g, view, id, kind)
  local list = {}
  for i = 1, n do
    list[i] = p[i - 1]
  end
  return list
end

local function fails(fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(e)
end

local function has(text, ...)
  for _, part in ipairs({ ... }) do
    assert.is_truthy(text:find(part, 1, true), ("'%s' lacks '%s'"):format(text, part))
  end
end

-- A training graph of fn(b, x) → node, with x a parameter of the shape, so that it has a gradient; the loss is the
-- mean square of the node's distance to fixed numbers. separate: every normalization is an output, which keeps what is
-- behind it from being absorbed.
local function build(shape, fn, options)
  local dtype = options.dtype or "f64"
  local b = nn.builder({ gate = options.gate or GATE, dtype = dtype })
  local y = fn(b, b:param("x", shape, { kind = "normal", a = 0.3, b = 1.5 }))
  local target = b:state("target", y.shape, { kind = "normal", a = 0.1, b = 1 })
  local loss = b:op("mse", { y, target }, nil, "loss")
  local m = { graph = b.graph, b = b, out = y.id, loss = loss.id, gates = b.gates,
    kind = dtype == "f64" and "double *" or "float *" }
  for _, id in ipairs({ y.id, loss.id }) do
    check(lib.lg_graph_output(b.graph, id))
  end
  for id = 0, loss.id do
    if options.separate and ffi.string(lib.lg_graph_node_kind(b.graph, id)) == "batch_norm" then
      check(lib.lg_graph_output(b.graph, id))
    end
  end
  check(lib.lg_graph_plan(b.graph, 1, 1, loss.id))
  local kinds = { constant = 1, uniform = 1, normal = 2, gate = 1 }
  for _, list in ipairs({ b.params, b.states }) do
    for _, leaf in ipairs(list) do
      local kind, init = leaf.init.kind, leaf.init
      local low, high = init.a, init.b
      if kind == "constant" then low, high = 0.4, 1.6 end -- scales, shifts and running statistics that differ
      if kind == "gate" then low, high = 0, 0.1 end
      check(lib.lg_graph_fill(b.graph, leaf.id, kinds[kind], low, high, 7))
    end
  end
  return m
end

-- Everything that a training step and an evaluation of m give, as a list of { name, list of numbers }.
local function results(m)
  local g, all, stat = m.graph, {}, ffi.new("double[1]")
  local function add(name, list) all[#all + 1] = { name, list } end
  check(lib.lg_graph_forward(g, 1, 3, 1))
  add("output", values(g, lib.lg_graph_value, m.out, m.kind))
  add("loss", values(g, lib.lg_graph_value, m.loss))
  check(lib.lg_graph_backward(g))
  for _, p in ipairs(m.b.params) do
    local kind = p.init.kind == "gate" and "double *" or m.kind
    local reached, list = pcall(values, g, lib.lg_graph_grad, p.id, kind)
    add("gradient of " .. p.name, reached and list or {}) -- drawn graphs have ends that lead nowhere
  end
  for i, gate in ipairs(m.gates) do
    for k = 0, 1 do
      check(lib.lg_graph_node_stat(stat, g, gate.id, k))
      add(("number %d of gate %d"):format(k, i), { stat[0] })
    end
  end
  for _, s in ipairs(m.b.states) do
    add(s.name, values(g, lib.lg_graph_value, s.id, m.kind))
  end
  check(lib.lg_graph_forward(g, 0, 3, 1))
  add("output in evaluation", values(g, lib.lg_graph_value, m.out, m.kind))
  return all
end

local function compare(a, b, tolerance)
  assert.are.equal(#b, #a)
  for i, want in ipairs(b) do
    local name, worst, scale = want[1], 0, 1e-3
    assert.are.equal(#want[2], #a[i][2])
    for k, v in ipairs(want[2]) do
      scale = math.max(scale, math.abs(v))
      local e = math.abs(v - a[i][2][k])
      worst = math.max(worst, e == e and e or math.huge)
    end
    assert.is_true(worst <= tolerance * scale, ("%s: off by %.3g of %.3g"):format(name, worst, scale))
  end
end

-- How many gates are computed by the normalization before them: those whose own forward takes no time.
local function absorbed(m)
  local cost, count = ffi.new("double[5]"), 0
  check(lib.lg_graph_profile(m.graph, 1))
  check(lib.lg_graph_forward(m.graph, 1, 3, 1))
  for _, gate in ipairs(m.gates) do
    check(lib.lg_graph_node_cost(cost, cost + 1, cost + 2, cost + 3, cost + 4, m.graph, gate.id))
    if cost[0] == 0 then count = count + 1 end
  end
  check(lib.lg_graph_profile(m.graph, 0))
  return count
end

describe("batch normalization", function()
  local function two(mode, steps)
    local b = nn.builder({ dtype = "f32" })
    local x = b:param("x", { 2, 1 }, { kind = "constant", a = 0 })
    local y = b:batch_norm(x, { name = "bn" })
    local loss = b:op("mse", { y, x }, nil, "loss")
    for _, node in ipairs({ y, loss }) do
      check(lib.lg_graph_output(b.graph, node.id))
    end
    check(lib.lg_graph_plan(b.graph, 1, 1, loss.id))
    for _, list in ipairs({ b.params, b.states }) do
      for _, leaf in ipairs(list) do
        check(lib.lg_graph_fill(b.graph, leaf.id, 0, leaf.init.a, 0, 1))
      end
    end
    local p = pointer(b.graph, lib.lg_graph_value, x.id, "float *")
    p[0], p[1] = 1, 3
    for step = 1, steps do
      check(lib.lg_graph_forward(b.graph, mode, 0, step))
    end
    return values(b.graph, lib.lg_graph_value, y.id, "float *"),
      values(b.graph, lib.lg_graph_value, b.states[1].id, "float *")[1],
      values(b.graph, lib.lg_graph_value, b.states[2].id, "float *")[1]
  end

  it("normalizes with the biased variance and keeps the unbiased one: 1, 3", function()
    local y, mean, var = two(1, 1)
    assert.near(-0.999995, y[1], 1e-7)
    assert.near(0.999995, y[2], 1e-7)
    assert.near(0.2, mean, 1e-7)
    assert.near(1.1, var, 1e-7)
    y, mean, var = two(1, 2)
    assert.near(-0.999995, y[1], 1e-7)
    assert.near(0.38, mean, 1e-7)
    assert.near(1.19, var, 1e-7)
  end)

  it("uses the running statistics in evaluation and leaves them alone", function()
    local y, mean, var = two(0, 3)
    assert.near(1 / math.sqrt(1 + 1e-5), y[1], 1e-7)
    assert.near(3 / math.sqrt(1 + 1e-5), y[2], 1e-7)
    assert.are.equal(0, mean)
    assert.are.equal(1, var)
  end)

  it("keeps its digits where the mean is a million times the deviation", function()
    local m = build({ 64, 3 }, function(b, x) return b:batch_norm(x) end, {})
    local p = pointer(m.graph, lib.lg_graph_value, lib.lg_graph_node_find(m.graph, "x"))
    for i = 0, 64 * 3 - 1 do
      p[i] = p[i] + 1e6
    end
    check(lib.lg_graph_forward(m.graph, 1, 0, 1))
    local far = values(m.graph, lib.lg_graph_value, m.out)
    for i = 0, 64 * 3 - 1 do
      p[i] = p[i] - 1e6
    end
    check(lib.lg_graph_forward(m.graph, 1, 0, 1))
    compare({ { "y", far } }, { { "y", values(m.graph, lib.lg_graph_value, m.out) } }, 1e-9)
  end)

  local function classifier(model)
    return network.new({ model = model, gate = GATE, batch = 4, seed = 1, info = { classes = 3, input_shape = { 5 } } })
  end
  local function tensor(dtype, ...)
    local shape, out = { ... }, ffi.new("lg_tensor *[1]")
    check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, ffi.new("int64_t[8]", shape)))
    return ffi.gc(out[0], lib.lg_tensor_free)
  end

  it("refuses one value for a channel in training, naming the layer and the line; evaluation takes it", function()
    local net = classifier(function(b, x)
      return b:linear(b:scope("block", function() return b:gate(b:batch_norm(x, { name = "norm" })) end), 3)
    end)
    net:bind(tensor("f32", 1, 5), tensor("i32", 1))
    has(fails(net.forward, net, "train"), "batch_norm_spec.lua:", "node 'block.norm' (batch_norm)", "f32[1, 5]",
      "one value for each channel")
    net:forward("eval")
  end)

  it("refuses parameters that do not fit the channels", function()
    has(fails(classifier, function(b, x)
      local p = b:param("p", { 4 }, { kind = "constant", a = 1 })
      return b:op("batch_norm", { x, p, p, p, p }, nil, "norm")
    end), "node 'norm' (batch_norm)", "gamma f32[4] does not fit the channels (last dimension) of f32[batch, 5]")
  end)
end)

-- x: [24, 6] → a node that ends in gates; gates: how many of them a normalization computes.
local CASES = {
  { name = "a gate", gates = 1, fn = function(b, x) return b:gate(b:batch_norm(x)) end },
  { name = "a sum and a gate", gates = 1, fn = function(b, x)
    local r = b:linear(x, 6)
    return b:gate(b:batch_norm(b:linear(x, 6)) + r)
  end },
  { name = "a sum, the residual first", gates = 1, fn = function(b, x)
    local r = b:linear(x, 6)
    return b:gate(r + b:batch_norm(b:linear(x, 6)))
  end },
  { name = "its own input as residual", gates = 1, fn = function(b, x)
    local z = b:linear(x, 6)
    return b:gate(b:batch_norm(z) + z)
  end },
  { name = "its own input as residual, which others read too", gates = 1, fn = function(b, x)
    local z = b:linear(x, 6)
    return b:linear(b:gate(b:batch_norm(z) + z), 6) + z
  end },
  { name = "a parameter as residual", gates = 1, fn = function(b, x)
    return b:gate(b:batch_norm(b:linear(x, 6)) + x)
  end },
  { name = "a residual that is read again later", gates = 2, fn = function(b, x)
    local r = b:gate(b:batch_norm(b:linear(x, 6)))
    return b:linear(b:gate(b:batch_norm(b:linear(r, 6)) + r), 6) + r
  end },
  { name = "normalizations on both sides of a sum", gates = 1, fn = function(b, x)
    return b:gate(b:batch_norm(b:linear(x, 6)) + b:batch_norm(b:linear(x, 6)))
  end },
  { name = "one normalization twice in a sum", gates = 0, fn = function(b, x)
    local z = b:batch_norm(x)
    return b:gate(z + z)
  end },
  { name = "a normalization that is read twice", gates = 0, fn = function(b, x)
    local z = b:batch_norm(x)
    return b:gate(z) + z
  end },
  { name = "blocks", gates = 4, fn = function(b, x)
    for _ = 1, 2 do
      local h = b:gate(b:batch_norm(b:linear(x, 7)))
      x = b:gate(b:batch_norm(b:linear(h, 6)) + x)
    end
    return x
  end },
  { name = "nothing to learn but the gate", gates = 1, fn = function(b, x)
    local function still(name, low, high)
      return b:state(name, { 6 }, { kind = "uniform", a = low, b = high })
    end
    local fixed = b:state("fixed", { 24, 6 }, { kind = "normal", a = 0, b = 1 })
    local z = b:op("batch_norm", { fixed, still("g", 0.5, 1), still("b", -1, 1), still("m", 0, 1), still("v", 1, 2) },
      nil, "still")
    return b:linear(b:gate(z + b:state("r", { 24, 6 }, { kind = "normal", a = 0, b = 1 })), 6) + x
  end },
  { name = "thousands of rows", shape = { 3000, 24 }, gates = 1, fn = function(b, x)
    return b:gate(b:batch_norm(x) + b:linear(x, 24))
  end },
}

describe("a normalization absorbs", function()
  local function both(case, options)
    local result = {}
    for _, separate in ipairs({ false, true }) do
      local o = setmetatable({ separate = separate }, { __index = options })
      result[#result + 1] = build(case.shape or { 24, 6 }, case.fn, o)
    end
    return result[1], result[2]
  end

  for _, case in ipairs(CASES) do
    it(case.name, function()
      local fused, separate = both(case, {})
      compare(results(fused), results(separate), 1e-11)
      assert.are.equal(case.gates, absorbed(fused))
      assert.are.equal(0, absorbed(separate))
    end)
    it(case.name .. ", in float32", function()
      local fused, separate = both(case, { dtype = "f32" })
      compare(results(fused), results(separate), 2e-5)
    end)
    it(case.name .. ", tied", function()
      local gate = setmetatable({ tie = true }, { __index = GATE })
      local fused, separate = both(case, { gate = gate })
      compare(results(fused), results(separate), 1e-11)
    end)
  end

  for _, kind in ipairs({ "relu", "gelu", "silu", "identity" }) do
    it("gates of kind " .. kind, function()
      local fused, separate = both(CASES[11], { gate = { kind = kind }, dtype = "f32" })
      compare(results(fused), results(separate), 2e-5)
      assert.are.equal(4, absorbed(fused))
    end)
  end

  it("gates that are swapped later", function()
    local fused, separate = both(CASES[11], {})
    local before = results(fused)
    for _, m in ipairs({ fused, separate }) do
      results(m)
      for _, gate in ipairs(m.gates) do
        check(lib.lg_graph_attr_set(m.graph, gate.id, "kind", lib.lg_list_find("activation", "relu")))
      end
    end
    results(fused) -- both have now made the same number of steps
    local a, b = results(fused), results(separate)
    a[#a], b[#b] = a[1], b[1] -- running statistics differ by a step: evaluation does, too
    for i = #a, 1, -1 do
      if a[i][1]:find("running") then
        table.remove(a, i)
        table.remove(b, i)
      end
    end
    compare(a, b, 1e-11)
    assert.is_false(pcall(compare, before, a, 1e-3))
  end)

  it("less memory than they take apart", function()
    local fused, separate = both(CASES[11], {})
    local function work(m)
      local out = ffi.new("int64_t[3]")
      check(lib.lg_graph_memory(out, out + 1, out + 2, m.graph))
      return tonumber(out[2])
    end
    assert.is_true(work(fused) < 0.8 * work(separate))
  end)

  it("the same bits for 1 and 2 threads", function()
    local before, lists = lib.lg_threads(), {}
    for threads = 1, 2 do
      check(lib.lg_init(threads))
      lists[threads] = results((both(CASES[13], { dtype = "f32" })))
    end
    check(lib.lg_init(before))
    assert.are.same(lists[1], lists[2])
  end)

  -- Graphs drawn at random of linear layers, normalizations, gates, sums, views and dropout over nodes of one shape:
  -- whatever the plan lets share memory, absorbed or not, the numbers are the same.
  for seed = 1, 60 do
    it("what random graph " .. seed .. " has of them", function()
      local function fn(b, x)
        local draw, nodes = 0, { x }
        local function pick(n)
          draw = draw + 1
          return 1 + math.floor(n * lib.lg_rng_uniform(seed, 77, draw))
        end
        local function recent() return nodes[math.max(1, #nodes + 1 - pick(3))] end
        for _ = 1, 4 + pick(12) do
          local what, a = pick(9), recent()
          if what == 1 then a = b:linear(a, 6)
          elseif what <= 4 then a = b:batch_norm(a)
          elseif what <= 6 then a = b:gate(a)
          elseif what == 7 then a = a + recent()
          elseif what == 8 then a = b:op("reshape", { a }, { rank = 2, d0 = 24, d1 = 6 }, "same" .. draw)
          else a = b:dropout(a, 0.2) end
          nodes[#nodes + 1] = a
        end
        return nodes[#nodes]
      end
      local fused, separate = both({ fn = fn }, {})
      compare(results(fused), results(separate), 1e-8)
    end)
  end
end)

describe("pooling", function()
  local function pooled(op, input, height, width, attrs, grads)
    local b = nn.builder({ dtype = "f32" })
    local x = b:param("x", { 1, height, width, 1 }, { kind = "constant", a = 0 })
    local y = b:op(op, { x }, attrs, "pool")
    local zero = b:state("zero", y.shape, { kind = "constant", a = 0 })
    local loss = b:op("mse", { y, zero }, nil, "loss")
    check(lib.lg_graph_output(b.graph, y.id))
    check(lib.lg_graph_output(b.graph, loss.id))
    check(lib.lg_graph_plan(b.graph, 1, 1, loss.id))
    local p = pointer(b.graph, lib.lg_graph_value, x.id, "float *")
    for i, v in ipairs(input) do
      p[i - 1] = v
    end
    check(lib.lg_graph_forward(b.graph, 1, 0, 1))
    local out = values(b.graph, lib.lg_graph_value, y.id, "float *")
    if not grads then return out end
    check(lib.lg_graph_backward(b.graph))
    return out, values(b.graph, lib.lg_graph_grad, x.id, "float *")
  end

  it("gives the gradient of equal values to the first of them", function()
    local y, dx = pooled("max_pool", { 1, 2, 2, 2 }, 2, 2, {}, true)
    assert.are.same({ 2 }, y)
    assert.are.same({ 0, 4, 0, 0 }, dx)
  end)
  it("never takes padding for a maximum, and counts it as zeros in a mean", function()
    local attrs = { kernel_h = 2, kernel_w = 2, stride_h = 2, stride_w = 2, pad_top = 1, pad_left = 1 }
    assert.are.same({ -4 }, pooled("max_pool", { -4 }, 1, 1, attrs))
    assert.are.same({ -1 }, pooled("avg_pool", { -4 }, 1, 1, attrs))
  end)
  it("passes on what is not a number", function()
    local nan = 0 / 0
    for place = 1, 4 do
      local x = { 1, 2, 3, 4 }
      x[place] = nan
      local y = pooled("max_pool", x, 2, 2, {})
      assert.is_true(y[1] ~= y[1])
    end
    assert.are.same({ -math.huge }, pooled("max_pool", { -math.huge, -math.huge, -math.huge, -math.huge }, 2, 2, {}))
  end)
  it("refuses windows without an output, padding as large as the window, and halves", function()
    local function error_of(kernel, options)
      return fails(network.new, {
        model = function(b, x) return b:max_pool(x, kernel, options) end, gate = GATE, batch = 2, seed = 1,
        info = { classes = 3, input_shape = { 5, 6, 3 } },
      })
    end
    has(error_of({ 6, 2 }), "batch_norm_spec.lua:", "node 'max_pool1' (max_pool)", "the output would be empty",
      "height 6", "f32[batch, 5, 6, 3]")
    has(error_of({ 2, 8 }, { padding = { 0, 0 } }), "the output would be empty", "width 8")
    has(error_of(2, { padding = 2 }), "padding 2 and 2 in height must be smaller than the window, 2")
    has(error_of(2.5), "max_pool: kernel must be a whole number from 1 on, or two of them, found 2.5")
    has(error_of(2, { stride = "1" }), "max_pool: stride must be a whole number from 1 on, or two of them, found 1")
    has(error_of({ 2 }), "max_pool: kernel must be a whole number from 1 on, or two of them, found false")
  end)
end)
