--- Golden trajectory of a residual network: five AdamW steps of a ResNet-18 of width 4 against PyTorch in float64
-- (tests/ref/golden_resnet.py): loss to 1e-4, λ to 1e-5 in float32; the float64 build of the same graph to 1e-9. Then
-- running statistics, and the loss in evaluation mode.
local C = require("lgelu.C")
local golden_kit = require("tests.spec.support.golden")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local lib, check = C.lib, C.check
local draw, fill, new, largest = golden_kit.draw, golden_kit.fill, golden_kit.tensor, golden_kit.largest

local golden = golden_kit.read("golden_resnet")

local GATE = { kind = "lambda_gelu", reparam = "softplus", t = golden.t, c = golden.c, lambda = golden.lambda0,
  learn = true }

local function build(dtype)
  local side = golden.side
  local net = network.new({
    model = { arch = "resnet", depth = 18, width = golden.width }, gate = GATE, dtype = dtype, batch = golden.batch,
    seed = 1, info = { classes = golden.classes, input_shape = { 3, side, side } },
  })
  local stream = 0
  for _, p in ipairs(net.params) do
    local rank, n = #p.shape, 1
    for _, d in ipairs(p.shape) do
      n = n * d
    end
    if rank > 1 then
      local bound = rank == 4 and math.sqrt(6 / (n / p.shape[1])) or math.sqrt(1 / p.shape[2])
      fill(net:tensor(p.name), dtype, draw(stream, n, bound))
      stream = stream + 1
    elseif p.name == "fc.bias" then
      check(lib.lg_tensor_fill(net:tensor(p.name), 0))
    end
  end
  return net
end

local function batches(dtype)
  local side, list = golden.side, {}
  local size = golden.batch * 3 * side * side
  local pixels = draw(1000, golden.steps * size, 1.7)
  for step = 1, golden.steps do
    local x, y = {}, {}
    for i = 1, size do
      x[i] = pixels[(step - 1) * size + i]
    end
    for i = 1, golden.batch do
      y[i] = ((step - 1) * golden.batch + i - 1) * 3 % golden.classes
    end
    list[step] = { new(dtype, { golden.batch, 3, side, side }, x), new("i32", { golden.batch }, y) }
  end
  return list
end

local function run(dtype)
  local net, data, error_of = build(dtype), batches(dtype), { loss = 0, lambda = 0 }
  local opt = optim.new(net, { name = "adamw", weight_decay = golden.decay, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 },
    GATE)
  for step, b in ipairs(data) do
    net:bind(b[1], b[2])
    error_of.loss = math.max(error_of.loss, math.abs(net:forward("train", step - 1) - golden.loss[step]))
    net:backward()
    opt:step(step, golden.lr)
    error_of.lambda = math.max(error_of.lambda, largest(net:lambdas(), golden.lambda[step]))
  end
  error_of.mean = largest(net:tensor("stage4.block2.bn2.running_mean"):totable(), golden.running_mean)
  error_of.var = largest(net:tensor("stage4.block2.bn2.running_var"):totable(), golden.running_var)
  net:bind(data[1][1], data[1][2])
  error_of.eval = math.abs(net:forward("eval") - golden.eval_loss)
  return error_of
end

describe("five steps of a narrow ResNet-18 against PyTorch", function()
  local function within(dtype, loss, lambda)
    local e = run(dtype)
    for what, bound in pairs({ loss = loss, lambda = lambda, mean = loss, var = loss, eval = loss }) do
      assert.is_true(e[what] < bound, ("%s off by %.3g"):format(what, e[what]))
    end
  end
  it("float32", function() within("f32", 1e-4, 1e-5) end)
  it("float64", function() within("f64", 1e-9, 1e-9) end)
end)
