--- Golden trajectories: ten steps of a small λ-GELU MLP against PyTorch in float64 (tests/ref/golden_mlp.py), for AdamW
-- and Adam with c = 3, SGD with Nesterov momentum and c = 3, and plain SGD. Loss to 1e-5, λ to 1e-6 in float32; the
-- float64 build of the same graph to 1e-10.
local C = require("lgelu.C")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local cjson = require("cjson")
local ffi, lib, check = C.ffi, C.lib, C.check

local file = assert(io.open("tests/ref/golden_mlp.json"))
local golden = cjson.decode(file:read("*a"))
file:close()

local OPTIMIZERS = {
  adamw = { { name = "adamw", weight_decay = 0.05, beta1 = 0.9, beta2 = 0.99, eps = 1e-8 }, lr = 1e-2, c = 3 },
  adam = { { name = "adam", weight_decay = 0.05, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 }, lr = 1e-2, c = 3 },
  nesterov = { { name = "sgd", weight_decay = 1e-3, momentum = 0.9, nesterov = true }, lr = 0.05, c = 3 },
  sgd = { { name = "sgd", weight_decay = 0, momentum = 0 }, lr = 0.1, c = 1 },
}

local function new(dtype, shape, values)
  local dims, out = ffi.new("int64_t[8]", shape), ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, dims))
  local t = ffi.gc(out[0], lib.lg_tensor_free)
  local p = ffi.cast(({ f32 = "float *", f64 = "double *", i32 = "int32_t *" })[dtype], lib.lg_tensor_data(t))
  for i, v in ipairs(values) do
    p[i - 1] = v
  end
  return t
end

local function build(dtype, gate)
  local sizes, hidden = golden.sizes, {}
  for i = 2, #sizes - 1 do
    hidden[#hidden + 1] = sizes[i]
  end
  local net = network.new({
    model = { arch = "mlp", hidden = hidden, dropout = 0, bias = true }, gate = gate, dtype = dtype,
      batch = #golden.y[1], seed = 1,
    info = { classes = sizes[#sizes], input_shape = { sizes[1] } }, label_smoothing = 0.1,
  })
  for i = 1, #sizes - 1 do
    for part, values in pairs({ weight = golden.w[i], bias = golden.b[i] }) do
      local view = ffi.new("lg_tensor *[1]")
      check(lib.lg_graph_value(view, net.graph, lib.lg_graph_node_find(net.graph, ("fc%d.%s"):format(i, part))))
      local shape = part == "weight" and { sizes[i + 1], sizes[i] } or { sizes[i + 1] }
      check(lib.lg_tensor_copy(view[0], new(dtype, shape, values)))
      lib.lg_tensor_free(view[0])
    end
  end
  return net
end

local function run(name, dtype)
  local o, want = OPTIMIZERS[name], golden.runs[name]
  local gate = { kind = "lambda_gelu", reparam = "softplus", t = golden.t, c = o.c, lambda = golden.lambda0,
    learn = true }
  local net = build(dtype, gate)
  local opt = optim.new(net, o[1], gate)
  local loss_error, lambda_error = 0, 0
  for step = 1, #golden.y do
    net:bind(new(dtype, { #golden.y[1], golden.sizes[1] }, golden.x[step]),
      new("i32", { #golden.y[1] }, golden.y[step]))
    loss_error = math.max(loss_error, math.abs(net:forward("train", step - 1) - want.loss[step]))
    net:backward()
    opt:step(step, o.lr)
    for i, lambda in ipairs(net:lambdas()) do
      lambda_error = math.max(lambda_error, math.abs(lambda - want.lambda[step][i]))
    end
  end
  return loss_error, lambda_error
end

describe("ten steps against PyTorch", function()
  for name in pairs(OPTIMIZERS) do
    it(name .. " in float32", function()
      local loss, lambda = run(name, "f32")
      assert.is_true(loss < 1e-5, ("loss off by %.3g"):format(loss))
      assert.is_true(lambda < 1e-6, ("λ off by %.3g"):format(lambda))
    end)
    it(name .. " in float64", function()
      local loss, lambda = run(name, "f64")
      assert.is_true(loss < 1e-10, ("loss off by %.3g"):format(loss))
      assert.is_true(lambda < 1e-10, ("λ off by %.3g"):format(lambda))
    end)
  end
end)
