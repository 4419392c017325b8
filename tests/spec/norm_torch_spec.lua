--- Batch normalization, alone and with a gate, and pooling against PyTorch (tests/ref/norm_torch.py): values, gradients
-- and running statistics, float32 to 1e-5 of the largest value, float64 to 1e-12.
local C = require("lgelu.C")
local nn = require("lgelu.nn")
local cjson = require("cjson")
local ffi, lib, check = C.ffi, C.lib, C.check

local file = assert(io.open("tests/ref/norm_torch.json"))
local golden = cjson.decode(file:read("*a"))
file:close()

local ZERO = { kind = "constant", a = 0 }

local function each(m, view, id, fn)
  local out = ffi.new("lg_tensor *[1]")
  check(view(out, m.graph, id))
  local p = ffi.cast(m.dtype == "f32" and "float *" or "double *", lib.lg_tensor_data(out[0]))
  local n = tonumber(lib.lg_tensor_size(out[0]))
  lib.lg_tensor_free(out[0]) -- the graph keeps the memory
  fn(p, n)
end

local function put(m, id, values)
  each(m, lib.lg_graph_value, id, function(p, n)
    assert.are.equal(n, #values)
    for i = 1, n do
      p[i - 1] = values[i]
    end
  end)
end

-- Largest error relative to the largest number that is wanted.
local function compare(m, view, id, want, what, tolerance)
  each(m, view, id, function(p, n)
    assert.are.equal(n, #want)
    local worst, scale = 0, 1e-30
    for i = 1, n do
      worst, scale = math.max(worst, math.abs(p[i - 1] - want[i])), math.max(scale, math.abs(want[i]))
    end
    assert.is_true(worst <= tolerance * scale, ("%s off by %.3g of %.3g"):format(what, worst, scale))
  end)
end

local function run(case, dtype, tolerance)
  local b = nn.builder({ dtype = dtype, gate = { kind = case.gate ~= "none" and case.gate or nil } })
  local x, n = b:param("x", case.shape, ZERO), case.shape[4]
  local inputs = { x }
  if case.op == "batch_norm" then
    for i, name in ipairs({ "weight", "bias", "mean", "var" }) do
      inputs[i + 1] = i <= 2 and b:param(name, { n }, ZERO) or b:state(name, { n }, ZERO)
    end
  end
  local y = b:op(case.op, inputs, case.attrs, "op")
  if case.gate and case.gate ~= "none" then y = b:gate(y) end
  local target = b:state("target", case.out, ZERO)
  local loss = b:op("mse", { y, target }, nil, "loss")
  for _, node in ipairs({ y, loss }) do
    check(lib.lg_graph_output(b.graph, node.id))
  end
  check(lib.lg_graph_plan(b.graph, 1, 1, loss.id))
  local m = { graph = b.graph, dtype = dtype }
  put(m, x.id, case.x)
  put(m, target.id, case.target)
  for i, values in ipairs(case.params) do
    put(m, inputs[i + 1].id, values)
  end
  for i, values in ipairs(case.before or {}) do
    put(m, inputs[i + 3].id, values)
  end
  check(lib.lg_graph_forward(m.graph, 1, 0, 1))
  compare(m, lib.lg_graph_value, y.id, case.y, "y", tolerance)
  check(lib.lg_graph_backward(m.graph))
  compare(m, lib.lg_graph_grad, x.id, case.dx, "gradient of x", tolerance)
  for i, want in ipairs(case.dparams) do
    compare(m, lib.lg_graph_grad, inputs[i + 1].id, want, "gradient of parameter " .. i, tolerance)
  end
  for i, want in ipairs(case.after or {}) do
    compare(m, lib.lg_graph_value, inputs[i + 3].id, want, "running statistic " .. i, tolerance)
  end
end

describe("against PyTorch,", function()
  for _, case in ipairs(golden.cases) do
    it(case.name .. " in float32", function() run(case, "f32", 1e-5) end)
    it(case.name .. " in float64", function() run(case, "f64", 1e-12) end)
  end
end)
