--- Graphs: what is refused while they are built and run, and with which words; batches of changing size; memory planned
-- once; gates fused into products give the bits of separate ones; values that are not finite are found.
local C = require("lgelu.C")
local nn = require("lgelu.nn")
local network = require("lgelu.network")
local ffi, lib, check = C.ffi, C.lib, C.check

local GATE = { kind = "lambda_gelu", reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }

local function new(dtype, ...)
  local shape, out = { ... }, ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, ffi.new("int64_t[8]", shape)))
  return ffi.gc(out[0], lib.lg_tensor_free)
end

local function data(t, kind) return ffi.cast(kind or "float *", lib.lg_tensor_data(t)) end

local function batch(rows, features, classes)
  local x, y = new("f32", rows, features), new("i32", rows)
  for i = 0, rows * features - 1 do
    data(x)[i] = lib.lg_rng_normal(3, 1, i)
  end
  for i = 0, rows - 1 do
    data(y, "int32_t *")[i] = i % classes
  end
  return x, y
end

local function small(options)
  options = options or {}
  return network.new({
    model = options.model or { arch = "mlp", hidden = { 6, 5 }, dropout = options.dropout or 0, bias = true },
      gate = options.gate or GATE,
    batch = options.batch or 8, seed = 1, info = { classes = 3, input_shape = { 4 } }, dtype = options.dtype,
      training = options.training,
  })
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

describe("building", function()
  local function model_error(fn) return fails(small, { model = fn }) end
  it("names the layer, both shapes and the line of the model", function()
    local e = model_error(function(b, x)
      local w = b:param("w", { 3, 5 }, { kind = "constant", a = 0 })
      return b:op("linear", { x, w }, nil, "odd")
    end)
    has(e, "graph_spec.lua:", "node 'odd' (linear)", "f32[3, 5]", "f32[batch, 4]")
  end)
  it("names residual sums of different shapes", function()
    has(model_error(function(b, x) return b:linear(x, 3) + b:linear(x, 2) end), "f32[batch, 3]", "f32[batch, 2]",
      "equal shapes")
  end)
  it("suggests ops, attributes and activations", function()
    has(model_error(function(b, x) return b:op("liner", { x }, nil, "a") end),
      "there is no op 'liner', did you mean 'linear'?")
    has(model_error(function(b, x) return b:op("dropout", { x }, { q = 1 }, "a") end), "dropout has no attribute 'q'")
    has(model_error(function(b, x) return b:activation(x, "sillu") end),
      "there is no activation 'sillu', did you mean 'silu'?")
  end)
  it("refuses attributes out of range, reshapes that do not fit, two nodes of one name, empty shapes", function()
    has(model_error(function(b, x) return b:dropout(x, 1.5) end), "p = 1.5 is outside 0..0.999999")
    has(model_error(function(b, x) return b:reshape(x, { 3 }) end), "cannot reshape f32[batch, 4] into [batch, 3]")
    has(model_error(function(b, x) return b:linear(b:linear(x, 3, { name = "a" }), 3, { name = "a" }) end),
      "there is a node 'a.weight' already")
    has(model_error(function(b, x) return b:linear(x, 0) end), "units must be a whole number from 1 on, found 0")
  end)
  it("refuses halves where only whole numbers have a meaning", function()
    for _, case in ipairs({ { "gate", { kind = 0.5 } }, { "gate", { reparam = 1.5 } }, { "reshape", { rank = 1.5 } },
      { "flatten", { axis = 0.5 } } }) do
      local key, value = next(case[2])
      has(model_error(function(b, x) return b:op(case[1], { x }, case[2], "a") end),
        ("%s = %g must be a whole number"):format(key, value))
    end
    has(model_error(function(b) return b:op("one_hot", { b:input("y", "i32", {}) }, { classes = 2.5 }, "a") end),
      "classes = 2.5 must be a whole number")
  end)
  it("names a layer that the output does not depend on", function()
    has(model_error(function(b, x)
      b:gate(b:linear(x, 5, { name = "idle" }))
      return b:linear(x, 3)
    end), "graph_spec.lua:", "the model's output does not depend on 'idle.weight'")
  end)
  it("refuses an output that is none", function()
    has(model_error(function() return 7 end), "the model returned 7, expected its output node")
    has(model_error(function(b, x) return b:linear(x, 2) end), "[batch, 2], expected [batch, 3] for 3 classes")
  end)
  it("counts gates, ties them, and refuses a list of λ that does not fit", function()
    assert.are.equal(2, #small().gates)
    local tied = setmetatable({ tie = true, lambda = 2 }, { __index = GATE })
    local net = small({ gate = tied })
    assert.are.same(net:s_values()[1], net:s_values()[2])
    has(fails(small, { gate = setmetatable({ lambda = { 2, 3, 4 } }, { __index = GATE }) }),
      "gate.lambda has 3 values, but the model has 2 gates")
  end)
end)

describe("running", function()
  it("takes batches of any size up to the planned one, with the same numbers for each row", function()
    local net = small()
    local x, y = batch(8, 4, 3)
    net:bind(x, y)
    net:forward("eval")
    local whole = net:tensor_values(net.logits)
    local out = ffi.new("lg_tensor *[2]")
    for _, rows in ipairs({ 1, 3, 8 }) do
      check(lib.lg_tensor_view(out, x, 2, ffi.new("int64_t[2]", { rows, 4 }), ffi.new("int64_t[2]", { 4, 1 }), 0))
      check(lib.lg_tensor_view(out + 1, y, 1, ffi.new("int64_t[1]", { rows }), ffi.new("int64_t[1]", { 1 }), 0))
      net:bind(out[0], out[1])
      net:forward("eval")
      local part = net:tensor_values(net.logits)
      assert.are.equal(rows * 3, #part)
      for i, v in ipairs(part) do
        assert.is_true(math.abs(v - whole[i]) < 1e-5)
      end
      lib.lg_tensor_free(out[0])
      lib.lg_tensor_free(out[1])
    end
  end)
  it("refuses batches that do not fit", function()
    local net = small()
    local x, y = batch(8, 4, 3)
    has(fails(net.bind, net, batch(9, 4, 3)), "f32[9, 4] does not fit f32[batch, 4] with a batch of 1 to 8")
    has(fails(net.bind, net, new("f64", 8, 4), y), "f64[8, 4]")
    net:bind(x, new("i32", 5))
    has(fails(net.forward, net, "eval"), "a batch of 5, but input 'input' has 8")
  end)
  it("refuses labels that are no class, naming the row", function()
    local net = small()
    local x, y = batch(4, 4, 3)
    data(y, "int32_t *")[2] = 3
    net:bind(x, y)
    has(fails(net.forward, net, "train"), "node 'loss' (softmax_xent)", "label 3 of row 2 is outside 0..2")
  end)
  it("needs forward in training before backward, and a plan for training", function()
    local net = small()
    net:bind(batch(4, 4, 3))
    has(fails(net.backward, net), "backward needs a forward in training mode just before it")
    net:forward("eval")
    has(fails(net.backward, net), "backward needs a forward")
    local eval = small({ training = false })
    eval:bind(batch(4, 4, 3))
    eval:forward("eval")
    has(fails(eval.forward, eval, "train"), "planned for evaluation only")
  end)
  it("needs a forward between another binding, another attribute or a search for NaN and backward", function()
    local net = small()
    local x, y = batch(8, 4, 3)
    local few, few_y = batch(2, 4, 3)
    for _, disturb in ipairs({
      function() net:bind(few, few_y) end,
      function() check(lib.lg_graph_attr_set(net.graph, net.gates[1].id, "t", 0.2)) end,
      function() net:explain_nonfinite() end,
    }) do
      net:bind(x, y)
      net:forward("train")
      disturb()
      has(fails(net.backward, net), "backward needs a forward in training mode just before it")
    end
    net:bind(few, few_y)
    assert.is_truthy(net:explain_nonfinite():find("are finite", 1, true)) -- of 2 rows, not of 8
  end)
  it("refuses its own workspace as an input", function()
    local b = nn.builder({ gate = GATE })
    local x = b:input("input", "f32", { 4 })
    local y = b:linear(x, 4)
    check(lib.lg_graph_output(b.graph, y.id))
    check(lib.lg_graph_plan(b.graph, 8, 0, -1))
    check(lib.lg_graph_bind(b.graph, x.id, (batch(8, 4, 3))))
    check(lib.lg_graph_forward(b.graph, 0, 1, 1))
    local out = ffi.new("lg_tensor *[1]")
    check(lib.lg_graph_value(out, b.graph, y.id))
    has(fails(function() check(lib.lg_graph_bind(b.graph, x.id, out[0])) end), "own workspace")
    lib.lg_tensor_free(out[0])
  end)
  it("refuses to plan what no memory can hold, and to plan again after a failure", function()
    local b = nn.builder({ gate = GATE })
    local y = b:linear(b:input("input", "f32", { 4 }), 512)
    check(lib.lg_graph_output(b.graph, y.id))
    local function plan(rows) check(lib.lg_graph_plan(b.graph, rows, 0, -1)) end
    has(fails(plan, 2LL ^ 53), "is larger than any memory") -- 2^64 bytes would count as none
    has(fails(plan, 2LL ^ 61), "is larger than any memory")
    lib.lg_mem_fail_at(3)
    has(fails(plan, 8), "cannot allocate")
    lib.lg_mem_fail_at(0)
    has(fails(plan, 8), "planning failed before")
    has(fails(small, { model = function(n, x) return n:op("one_hot", { n:input("far", "i32",
      { 2 ^ 40 }) }, { classes = 1e9 }, "wide") + x end }), "node 'wide' (one_hot)", "larger than any memory")
  end)
  it("gives evaluation the same numbers in a plan for evaluation as in one for training", function()
    local a, b = small(), small({ training = false })
    local x, y = batch(8, 4, 3)
    a:bind(x, y)
    b:bind(x, y)
    assert.are.equal((a:forward("eval")), (b:forward("eval")))
    local _, _, work_a = a:memory()
    local _, _, work_b = b:memory()
    assert.is_true(work_b < work_a)
  end)
  it("allocates nothing in a step", function()
    local net = small({ dropout = 0.3 })
    net:bind(batch(8, 4, 3))
    net:forward("train", 0)
    net:backward()
    local before = lib.lg_mem_live()
    lib.lg_mem_reset_peak()
    for step = 1, 5 do
      net:forward("train", step)
      net:backward()
    end
    assert.are.equal(tonumber(before), tonumber(lib.lg_mem_peak()))
  end)
  it("replays dropout for a step, and draws anew for another", function()
    local net = small({ dropout = 0.5 })
    net:bind(batch(8, 4, 3))
    local a = net:forward("train", 1)
    local b = net:forward("train", 2)
    local again = net:forward("train", 1)
    assert.are.equal(a, again)
    assert.are_not.equal(a, b)
  end)
end)

describe("a gate that follows a product", function()
  -- The same network twice; in the second a second reader of the product keeps the gate from being fused.
  local function pair(kind)
    local function model(separate)
      return function(b, x)
        local z = b:linear(x, 70, { name = "fc" })
        local y = b:gate(z, { name = "gate" })
        if separate then y = y + b:activation(b:activation(z, "identity", { name = "again" }) , "relu",
          { name = "r" }) end
        return b:linear(y, 3, { name = "out" })
      end
    end
    local gate = setmetatable({ kind = kind }, { __index = GATE })
    local function gate_values(separate)
      local b = nn.builder({ gate = gate })
      local x = b:input("input", "f32", { 4 })
      local y = model(separate)(b, x)
      local g = lib.lg_graph_node_find(b.graph, "gate")
      check(lib.lg_graph_output(b.graph, g))
      check(lib.lg_graph_output(b.graph, y.id))
      check(lib.lg_graph_plan(b.graph, 150, 0, -1))
      for i, p in ipairs(b.params) do
        local s = p.init.kind == "gate"
        check(lib.lg_graph_fill(b.graph, p.id, s and 0 or 1, s and 0.1 or -1, 1, i)) -- the same in both networks
      end
      check(lib.lg_graph_bind(b.graph, x.id, (batch(150, 4, 3))))
      check(lib.lg_graph_forward(b.graph, 0, 1, 1))
      local out, list = ffi.new("lg_tensor *[1]"), {}
      check(lib.lg_graph_value(out, b.graph, g))
      for i = 0, 150 * 70 - 1 do
        list[i + 1] = data(out[0])[i]
      end
      lib.lg_tensor_free(out[0])
      return list
    end
    return gate_values(false), gate_values(true)
  end
  for _, kind in ipairs({ "lambda_gelu", "relu", "silu" }) do
    it("gives the same bits fused or not: " .. kind, function()
      local fused, separate = pair(kind)
      assert.are.same(separate, fused)
    end)
  end
end)

describe("attributes of a node", function()
  it("swap a gate for ReLU in place", function()
    local net = small()
    net:bind(batch(8, 4, 3))
    local before = net:forward("eval")
    for _, g in ipairs(net.gates) do
      check(lib.lg_graph_attr_set(net.graph, g.id, "kind", lib.lg_list_find("activation", "relu")))
    end
    local relu = small({ gate = { kind = "relu" } })
    relu:bind(batch(8, 4, 3))
    local swapped = net:forward("eval")
    assert.are_not.equal(before, swapped)
    assert.is_true(math.abs(swapped - relu:forward("eval")) < 1) -- other parameters: only near
    assert.are_not.equal(0, lib.lg_graph_attr_set(net.graph, net.gates[1].id, "kind", 99))
    assert.are_not.equal(0, lib.lg_graph_attr_set(net.graph, net.gates[1].id, "knd", 0))
    assert.are.equal(swapped, (net:forward("eval")))
  end)
end)

describe("values that are not finite", function()
  it("are found at the first node that has them, with its statistics", function()
    local net = small()
    local x, y = batch(4, 4, 3)
    net:bind(x, y)
    net:forward("train", 0)
    assert.is_truthy(net:explain_nonfinite():find("all values and gradients of the last batch are finite", 1, true))
    local view = ffi.new("lg_tensor *[1]")
    check(lib.lg_graph_value(view, net.graph, lib.lg_graph_node_find(net.graph, "fc2.weight")))
    data(view[0])[7] = 0 / 0
    lib.lg_tensor_free(view[0])
    local loss = net:forward("train", 0)
    assert.is_true(loss ~= loss)
    has(net:explain_nonfinite(), "'fc2.weight' (param)", "1 NaN and 0 infinite of 30 elements, the first at 7")
    data(x)[5] = math.huge
    has(net:explain_nonfinite(), "'input' (input)",
      "0 NaN and 1 infinite of 16 elements, the first at 5; the finite ones lie in [")
    for i = 0, 15 do data(x)[i] = -math.huge end
    has(net:explain_nonfinite(), "0 NaN and 16 infinite of 16 elements, the first at 0; none is finite")
  end)
end)

describe("memory that runs out", function()
  it("is an error at every allocation of a build, never a crash", function()
    collectgarbage()
    local live = tonumber(lib.lg_mem_live())
    local failures = 0
    for n = 1, 400 do
      lib.lg_mem_fail_at(n)
      local ok, e = pcall(small)
      lib.lg_mem_fail_at(0)
      if ok then break end
      failures = failures + 1
      assert.is_truthy(tostring(e):find("cannot allocate", 1, true), tostring(e))
    end
    assert.is_true(failures > 20 and failures < 400)
    collectgarbage()
    collectgarbage()
    assert.are.equal(live, tonumber(lib.lg_mem_live()))
  end)
end)
