--- Convolutions: values and gradients against PyTorch (tests/ref/conv_torch.py), in both dtypes; a gate that follows
-- gives the bits of a separate one; what is refused, with which words; the layers of nn.
local cjson = require("cjson")
local C = require("lgelu.C")
local nn = require("lgelu.nn")
local ffi, lib, check = C.ffi, C.lib, C.check

local function size(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

local POINTER = { f32 = "float *", f64 = "double *" }

-- The memory of a node's value or gradient (get: lib.lg_graph_value or lib.lg_graph_grad).
local function memory(get, b, id, dtype)
  local view = ffi.new("lg_tensor *[1]")
  check(get(view, b.graph, id))
  local p = ffi.cast(POINTER[dtype or b.dtype], lib.lg_tensor_data(view[0]))
  lib.lg_tensor_free(view[0])
  return p
end

-- As conv_torch.py's function of this name.
local function fill(b, node, salt)
  local p = memory(lib.lg_graph_value, b, node.id)
  for i = 0, size(node.shape) - 1 do p[i] = ffi.new("float", (i * i * 31 + i * 17 + salt) % 1009 / 504 - 1) end
end

local function filled(b, name, shape, salt, list)
  local node = b:param(name, shape, { kind = "constant", a = 0 })
  list[#list + 1] = { node, salt }
  return node
end

-- A planned graph of one convolution and mse, and its nodes, after a step forward and back.
local function run(case, dtype, gate, kept)
  local b, params = nn.builder({ dtype = dtype }), {}
  local g = { b = b, x = filled(b, "x", case.x, 1, params), w = filled(b, "w", case.w, 2, params) }
  g.bias = filled(b, "bias", { case.w[1] }, 3, params)
  local attrs = { stride_h = case.stride[1], stride_w = case.stride[2], groups = case.groups }
  for side, n in pairs(case.padding) do attrs["pad_" .. side] = n end
  g.y = b:op("conv2d", { g.x, g.w, g.bias }, attrs, "conv")
  g.out = gate and b:op("gate", { g.y }, { kind = lib.lg_list_find("activation", "lambda_gelu"), lambda = 2 }, "gate")
    or g.y
  local target = filled(b, "target", g.out.shape, 4, params)
  g.loss = b:op("mse", { g.out, target }, nil, "loss")
  check(lib.lg_graph_output(b.graph, g.out.id))
  if kept then check(lib.lg_graph_output(b.graph, g.y.id)) end -- an output is computed by itself: no fusion
  check(lib.lg_graph_plan(b.graph, 1, 1, g.loss.id))
  for _, p in ipairs(params) do fill(b, p[1], p[2]) end
  check(lib.lg_graph_forward(b.graph, 1, 1, 1))
  check(lib.lg_graph_backward(b.graph))
  return g
end

describe("convolutions against PyTorch:", function()
  local file = assert(io.open("tests/ref/conv_torch.json"))
  local cases = cjson.decode(file:read("*a"))
  file:close()
  for _, case in ipairs(cases) do
    for dtype, tolerance in pairs({ f32 = 1e-4, f64 = 1e-12 }) do
      it(case.name .. ", " .. dtype, function()
        local g = run(case, dtype)
        assert.are.same(case.shape, g.y.shape)
        local got = {
          y = memory(lib.lg_graph_value, g.b, g.y.id), dx = memory(lib.lg_graph_grad, g.b, g.x.id),
          dw = memory(lib.lg_graph_grad, g.b, g.w.id), db = memory(lib.lg_graph_grad, g.b, g.bias.id),
        }
        for name, want in pairs(case.values) do
          for i, place in ipairs(want.at) do
            local e = math.abs(got[name][place - 1] - want.is[i]) / want.largest
            assert.is_true(e < tolerance, ("%s[%d] off by %.3g of the largest"):format(name, place, e))
          end
        end
      end)
    end
  end

  it("a gate that follows gives the bits of a separate one", function()
    for _, case in ipairs(cases) do
      for _, dtype in ipairs({ "f32", "f64" }) do
        local fused, separate = run(case, dtype, true), run(case, dtype, true, true)
        for _, what in ipairs({ "x", "w", "bias" }) do
          local bytes = size(fused[what].shape) * (dtype == "f32" and 4 or 8)
          local function bits(g)
            return ffi.string(ffi.cast("char *", memory(lib.lg_graph_grad, g.b, g[what].id)), bytes)
          end
          assert.is_true(bits(fused) == bits(separate), ("%s, %s, gradient of %s"):format(case.name, dtype, what))
        end
      end
    end
  end)
end)

describe("what is refused:", function()
  local function refused(fn, ...)
    local b = nn.builder({ where = "recipe.lua:7" })
    local x = b:input("x", "f32", { 8, 6, 3 })
    local ok, e = pcall(fn, b, x)
    assert.is_false(ok)
    assert.equal("usage", e.kind)
    for _, part in ipairs({ ... }) do
      assert.is_truthy(e.message:find(part, 1, true), ("'%s' lacks '%s'"):format(e.message, part))
    end
  end
  it("an empty output", function()
    refused(function(b, x) b:scope("stem", function() b:conv2d(x, 4, { kernel = { 3, 9 }, padding = 1 }) end) end,
      "node 'stem.conv1' (conv2d)", "conv_spec.lua:", "f32[4, 3, 9, 3]", "f32[batch, 8, 6, 3]", "empty output",
      "9 wide does not fit 6 with padding 1 + 1")
  end)
  it("channels that the groups do not divide", function()
    refused(function(b, x) b:conv2d(x, 4, { groups = 2 }) end, "f32[4, 3, 3, 1]", "f32[batch, 8, 6, 3]",
      "3 input and 4 output channels must be divisible by groups = 2")
    refused(function(b, x) b:conv2d(x, 4, { groups = 3 }) end, "3 input and 4 output channels", "groups = 3")
  end)
  it("weights and biases that do not fit", function()
    local function weights(b, ...) return b:param("w", { ... }, { kind = "constant", a = 0 }) end
    local function conv(b, inputs, attrs) return b:op("conv2d", inputs, attrs, "conv") end
    refused(function(b, x) conv(b, { x, weights(b, 4, 3, 3, 2) }) end, "f32[4, 3, 3, 2] do not fit",
      "expected [out, height, width, 3]")
    refused(function(b, x) conv(b, { x, weights(b, 4, 3, 3) }) end, "weights f32[4, 3, 3]")
    refused(function(b, x) conv(b, { b:flatten(x), weights(b, 4, 3, 3, 2) }) end, "images f32[batch, 144]")
    refused(function(b, x)
      conv(b, { x, weights(b, 4, 3, 3, 3), b:param("b", { 3 }, { kind = "constant", a = 0 }) })
    end, "bias f32[3] does not fit weights f32[4, 3, 3, 3]")
    refused(function(b, x) conv(b, { x, weights(b, 4, 3, 3, 3) }, { stride_h = 1.5 }) end,
      "stride_h = 1.5: expected a whole number")
    refused(function(b, x) b:op("channels_last", { b:flatten(x) }, nil, "last") end,
      "f32[batch, 144]: expected images")
  end)
  it("options of the layer", function()
    refused(function(b, x) b:conv2d(x, 0) end, "channels must be a whole number from 1 on", "found 0")
    refused(function(b, x) b:conv2d(x, 4, { kernel = { 3, 0 } }) end, "kernel must be", "found 0")
    refused(function(b, x) b:conv2d(x, 4, { stride = "2" }) end, "stride must be", "found 2")
    refused(function(b, x) b:conv2d(x, 4, { padding = { left = -1 } }) end, "padding must be", "found -1")
    refused(function(b, x) b:conv2d(x, 4, { init = "he" }) end, "no init 'he'")
    refused(function(b, x) b:conv2d(b:flatten(x), 4) end, "expected images", "[batch, 144]")
  end)
end)

describe("nn:conv2d", function()
  it("gives shapes, names and first values", function()
    local b = nn.builder({})
    local x = b:channels_last(b:input("x", "f32", { 3, 9, 8 }))
    assert.are.same({ "batch", 9, 8, 3 }, x.shape)
    local y = b:conv2d(x, 6, { kernel = { 3, 2 }, stride = { 2, 1 }, padding = { top = 1, right = 2 }, groups = 3,
      init = "he_normal" })
    assert.are.same({ "batch", 4, 9, 6 }, y.shape)
    assert.are.same({ "conv1.weight", "conv1.bias" }, { b.params[1].name, b.params[2].name })
    assert.are.same({ 6, 3, 2, 1 }, b.params[1].shape)
    assert.near(math.sqrt(2 / 6), b.params[1].init.b, 1e-15)
    assert.are.same({ "batch", 9, 8, 4 }, b:conv2d(x, 4, { padding = 1, bias = false, name = "c" }).shape)
    assert.are.same({ kind = "uniform", a = -1 / math.sqrt(27), b = 1 / math.sqrt(27) }, b.params[3].init)
    assert.equal(3, #b.params)
  end)
end)

describe("lgelu bench conv", function()
  it("times every convolution, with the FLOPs of the direct computation", function()
    local case = require("lgelu.bench.conv")
    local batch, seconds = case.batch, case.seconds
    case.batch, case.seconds = 1, 0
    local ok, records = pcall(case.run, { threads = 1, say = function() end })
    case.batch, case.seconds = batch, seconds
    assert(ok, records)
    local total, count = 0, 0
    for _, r in ipairs(records) do
      assert.is_true(r.forward_ms > 0 and r.backward_ms > 0 and r.forward_fraction > 0)
      total = total + r.count * r.forward_gflops * r.forward_ms * 1e6
      count = count + r.count
    end
    assert.equal(20, count)
    assert.near(2 * 555.4e6, total, 0.1e6) -- 0.56 G multiply-adds an image, as published for this network
  end)
end)
