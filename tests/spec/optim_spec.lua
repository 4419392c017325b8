--- Optimizers and schedules: published single steps (Adam's ε, decoupled decay), groups, multipliers that never depend
-- on
-- what was set before, clipping, refusal of gradients that are not finite, and every schedule as a function of the
-- step.
local C = require("lgelu.C")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local ffi, lib, check = C.ffi, C.lib, C.check

-- One float64 parameter w [1, 1] and loss (x·w - 0)²·…: with the gradient set by hand afterwards.
local function one_parameter(optimizer, hyper)
  local out = ffi.new("lg_graph *[1]")
  check(lib.lg_graph_new(out, lib.lg_list_find("dtype", "f64")))
  local graph = ffi.gc(out[0], lib.lg_graph_free)
  local id, one = ffi.new("int32_t[1]"), ffi.new("int64_t[2]", { 1, 1 })
  check(lib.lg_graph_param(id, graph, lib.lg_list_find("dtype", "f64"), 2, one, "w", ""))
  local w = id[0]
  check(lib.lg_graph_param(id, graph, lib.lg_list_find("dtype", "f64"), 2, one, "u", ""))
  local u = id[0]
  check(lib.lg_graph_op(id, graph, lib.lg_list_find("op", "mse"), 2, ffi.new("int32_t[2]", { w, u }), 0, nil, "loss",
    ""))
  check(lib.lg_graph_plan(graph, 1, 1, id[0]))
  local o = ffi.new("lg_optim *[1]")
  check(lib.lg_optim_new(o, graph, lib.lg_list_find("optimizer", optimizer)))
  local self = { graph = graph, optim = ffi.gc(o[0], lib.lg_optim_free), w = w, u = u }
  for name, value in pairs(hyper or {}) do
    check(lib.lg_optim_set(self.optim, name, value))
  end
  local view = ffi.new("lg_tensor *[1]")
  local function pointer(call, node)
    check(call(view, graph, node))
    local p = ffi.cast("double *", lib.lg_tensor_data(view[0]))
    lib.lg_tensor_free(view[0])
    return p
  end
  self.value, self.grad = pointer(lib.lg_graph_value, w), pointer(lib.lg_graph_grad, w)
  self.value[0] = 1
  return self
end

local function group(p, multiplier, decay, lower, trainable)
  local index = ffi.new("int32_t[1]")
  check(lib.lg_optim_group(index, p.optim, "g", multiplier, decay, lower or -math.huge, trainable == false and 0 or 1))
  check(lib.lg_optim_assign(p.optim, p.w, index[0]))
  return index[0]
end

local function near(want, got, tolerance)
  assert.is_true(math.abs(want - got) <= (tolerance or 5e-13), ("%.15g, expected %.15g"):format(got, want))
end

describe("one step from θ = 1, lr = 1e-3", function()
  for _, case in ipairs({ { 0.1, 0.998990000100 }, { 1e-6, 0.998999900990 }, { 1e-8, 0.999490000000 },
    { 0, 0.99999 } }) do
    it(("adamw, decay 0.01, g = %g: ε after the bias correction"):format(case[1]), function()
      local p = one_parameter("adamw")
      group(p, 1, 0.01)
      p.grad[0] = case[1]
      check(lib.lg_optim_step(nil, p.optim, 1, 1e-3, 0))
      near(case[2], p.value[0], 1e-12)
    end)
  end
  it("adam's decay is added to the gradient", function()
    local p = one_parameter("adam")
    group(p, 1, 0.5)
    p.grad[0] = 0
    check(lib.lg_optim_step(nil, p.optim, 1, 1e-3, 0))
    near(1 - 1e-3 * 0.5 / (0.5 + 1e-8), p.value[0])
  end)
  it("the decoupled decay uses the group's own rate", function()
    local p = one_parameter("adamw")
    group(p, 3, 0.01)
    p.grad[0] = 0
    check(lib.lg_optim_step(nil, p.optim, 1, 1e-3, 0))
    near(1 - 3e-3 * 0.01, p.value[0])
  end)
  it("sgd: momentum starts with the gradient itself, dampening comes later", function()
    local p = one_parameter("sgd", { momentum = 0.9, dampening = 0.5 })
    p.grad[0] = 2
    check(lib.lg_optim_step(nil, p.optim, 1, 0.1, 0))
    near(1 - 0.2, p.value[0])
    check(lib.lg_optim_step(nil, p.optim, 2, 0.1, 0))
    near(0.8 - 0.1 * (0.9 * 2 + 0.5 * 2), p.value[0])
  end)
end)

describe("groups", function()
  it("have rates that are multiplier times lr, whatever was set before", function()
    local p = one_parameter("sgd")
    local g = group(p, 7, 0)
    check(lib.lg_optim_group_set(p.optim, g, 3, 0, -math.huge, 1))
    p.grad[0] = 1
    check(lib.lg_optim_step(nil, p.optim, 1, 0.1, 0))
    near(0.7, p.value[0])
    check(lib.lg_optim_step(nil, p.optim, 2, 0.01, 0))
    near(0.67, p.value[0])
  end)
  it("clamp from below and freeze", function()
    local p = one_parameter("sgd")
    local g = group(p, 1, 0, 0.9)
    p.grad[0] = 5
    check(lib.lg_optim_step(nil, p.optim, 1, 0.1, 0))
    assert.are.equal(0.9, p.value[0])
    check(lib.lg_optim_group_set(p.optim, g, 1, 0, -math.huge, 0))
    check(lib.lg_optim_step(nil, p.optim, 2, 0.1, 0))
    assert.are.equal(0.9, p.value[0])
  end)
  it("refuse what makes no sense", function()
    local p, index = one_parameter("sgd"), ffi.new("int32_t[1]")
    assert.are_not.equal(0, lib.lg_optim_group(index, p.optim, "g", -1, 0, -math.huge, 1))
    assert.are_not.equal(0, lib.lg_optim_group(index, p.optim, "g", 1, -0.1, -math.huge, 1))
    assert.are_not.equal(0, lib.lg_optim_group(index, p.optim, "g", 0 / 0, 0, -math.huge, 1))
    assert.are_not.equal(0, lib.lg_optim_set(p.optim, "beta1", 0.9))
    assert.is_truthy(ffi.string(lib.lg_last_error()):find("optimizer 'sgd' has no 'beta1'", 1, true))
    assert.are_not.equal(0, lib.lg_optim_set(p.optim, "momentum", 1))
  end)
end)

describe("a step", function()
  it("clips to the global norm and reports the norm before it", function()
    local p, norm = one_parameter("sgd"), ffi.new("double[1]")
    p.grad[0] = 4
    check(lib.lg_optim_step(norm, p.optim, 1, 0.1, 2))
    near(4, norm[0])
    near(1 - 0.2, p.value[0])
  end)
  for _, bad in ipairs({ 0 / 0, math.huge }) do
    it("changes nothing when a gradient is " .. tostring(bad), function()
      local p = one_parameter("adamw")
      p.grad[0] = bad
      assert.are_not.equal(0, lib.lg_optim_step(nil, p.optim, 1, 0.1, 0))
      assert.are.equal(1, p.value[0])
      p.grad[0] = 0.1
      check(lib.lg_optim_step(nil, p.optim, 1, 0.1, 0))
      assert.is_true(p.value[0] < 1)
    end)
  end
end)

describe("groups of a network", function()
  local function groups_of(optimizer, gate)
    local net = network.new({ model = { arch = "mlp", hidden = { 4, 3 }, dropout = 0, bias = true }, gate = gate,
      batch = 2, seed = 1,
      info = { classes = 2, input_shape = { 5 } } })
    local by_name = {}
    for _, g in ipairs(optim.new(net, optimizer, gate).groups) do
      by_name[g.name] = g
    end
    return by_name
  end
  local gate = { kind = "lambda_gelu", reparam = "softplus", t = 0.1, c = 3, init = "gelu", learn = true }
  it("decay matrices only, and give s its multiplier c", function()
    local g = groups_of({ name = "adamw", weight_decay = 0.01 }, gate)
    assert.are.equal(0.01, g.weights.decay)
    assert.are.equal(0, g.no_decay.decay)
    assert.are.equal(0, g.gates.decay)
    assert.are.equal(3, g.gates.multiplier)
    assert.are.equal(5 * 4 + 4 * 3 + 3 * 2, g.weights.count)
    assert.are.equal(4 + 3 + 2, g.no_decay.count)
    assert.are.equal(2, g.gates.count)
  end)
  it("decay biases and gates when asked, clamp the naive reparameterization at 1", function()
    local g = groups_of({ name = "adamw", weight_decay = 0.01, decay_biases = true, decay_gates = true },
      { kind = "lambda_gelu", reparam = "none", t = 0.1, c = 1, init = "gelu", learn = true })
    assert.are.equal(0.01, g.no_decay.decay)
    assert.are.equal(0.01, g.gates.decay)
    assert.are.equal(1, g.gates.lower)
  end)
end)

describe("schedule", function()
  local function rate(schedule, step, total) return optim.rate(2, schedule, step, total) end
  it("constant, with a warm-up that rises to the whole rate", function()
    local s = { name = "constant", warmup = 0.4 }
    local got = {}
    for step = 0, 9 do
      got[step + 1] = rate(s, step, 10)
    end
    assert.are.same({ 0.5, 1, 1.5, 2, 2, 2, 2, 2, 2, 2 }, got)
  end)
  it("cosine starts at lr and nears its end", function()
    local s = { name = "cosine", warmup = 0, final = 0.1 }
    near(2, rate(s, 0, 100))
    near(2 * (0.1 + 0.9 * 0.5), rate(s, 50, 100))
    assert.is_true(rate(s, 99, 100) < 2 * 0.101)
    assert.is_true(rate(s, 99, 100) > 2 * 0.1)
  end)
  it("linear falls in a straight line", function()
    near(2 * (1 - 0.25), rate({ name = "linear", warmup = 0, final = 0 }, 25, 100))
  end)
  it("step multiplies by gamma at the borders of equal parts", function()
    local s = { name = "step", warmup = 0, gamma = 0.1, parts = 3 }
    near(2, rate(s, 32, 99))
    near(0.2, rate(s, 33, 99))
    near(0.02, rate(s, 66, 99))
  end)
  it("one_cycle rises to the whole rate and falls far below where it began, with or without warm-up", function()
    local s = { name = "one_cycle", warmup = 0, rise = 0.25, start_div = 10, final_div = 100 }
    near(0.2, rate(s, 0, 400))
    near(2 * (1 + 0.1) / 2, rate(s, 50, 400))
    near(2, rate(s, 100, 400))
    assert.is_true(rate(s, 399, 400) < 2 * 0.0011 and rate(s, 399, 400) > 2 * 0.001)
    s.warmup = 0.1
    near(0.2 / 40, rate(s, 0, 400)) -- up to where the cycle begins
    near(0.2, rate(s, 39, 400))
    near(0.2, rate(s, 40, 400))
  end)
  it("refuses numbers that give no rate", function()
    local m = ffi.new("double[1]")
    for name, p in pairs({ one_cycle = { 0.3, 0, 1 }, step = { 0 / 0, 3, 0 }, linear = { -3, 0, 0 },
      cosine = { 1 / 0, 0, 0 } }) do
      assert.are_not.equal(0, lib.lg_schedule(m, lib.lg_list_find("schedule", name), 90, 100, 0, p[1], p[2], p[3]))
      assert.is_truthy(ffi.string(lib.lg_last_error()):find("schedule " .. name .. " with", 1, true))
    end
  end)
  it("refuses steps outside the training", function()
    local m = ffi.new("double[1]")
    assert.are_not.equal(0, lib.lg_schedule(m, 0, 10, 10, 0, 0, 0, 0))
    assert.are_not.equal(0, lib.lg_schedule(m, 0, -1, 10, 0, 0, 0, 0))
    assert.are_not.equal(0, lib.lg_schedule(m, 0, 0, 10, 10, 0, 0, 0))
    assert.are_not.equal(0, lib.lg_schedule(m, 99, 0, 10, 0, 0, 0, 0))
  end)
end)
