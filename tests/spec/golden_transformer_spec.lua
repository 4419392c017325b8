--- Golden trajectories of Transformers: five AdamW steps of a small ViT and of a small GPT, with an output layer of its
-- own and tied to the embedding, against PyTorch in float64 (tests/ref/golden_transformer.py): loss to 1e-4 and λ to
-- 1e-5 in float32, both to 1e-9 in float64. A step has the same bits on one thread and on two.
local C = require("lgelu.C")
local kit = require("tests.spec.support.golden")
local network = require("lgelu.network")
local optim = require("lgelu.optim")

local golden = kit.read("golden_transformer")
local GATE = { kind = "lambda_gelu", reparam = "softplus", t = golden.t, c = golden.c, lambda = golden.lambda0,
  learn = true }

local function size_of(shape)
  local n = 1
  for _, dim in ipairs(shape) do n = n * dim end
  return n
end

local function model(name)
  local declaration = { arch = name, width = golden.width, depth = golden.depth, heads = golden.heads, expansion = 4,
    dropout = 0 }
  if name == "vit" then
    declaration.patch = golden.vit_data.patch
    return declaration, { classes = golden.vit_data.classes,
      input_shape = { 3, golden.vit_data.side, golden.vit_data.side } }
  end
  local t = golden.gpt_data.context
  declaration.arch, declaration.tie = "gpt", name == "gpt_tied"
  return declaration, { classes = golden.gpt_data.classes, input_shape = { t }, input_dtype = "i32",
    label_shape = { t } }
end

local function build(name, dtype)
  local declaration, info = model(name)
  local net = network.new({ model = declaration, gate = GATE, dtype = dtype, batch = golden.batch, seed = 1,
    info = info })
  local stream = 0
  for _, p in ipairs(net.params) do
    if not p.name:find("%.s$") then
      local values = kit.draw(stream, size_of(p.shape), golden.bound)
      if p.name:find("norm%d?%.weight$") then
        for i, v in ipairs(values) do values[i] = 1 + v end
      end
      kit.fill(net:tensor(p.name), dtype, values)
      stream = stream + 1
    end
  end
  return net
end

local function images(dtype)
  local d, list = golden.vit_data, {}
  local size = golden.batch * 3 * d.side * d.side
  local pixels = kit.draw(1000, 5 * size, 1.7)
  for step = 1, 5 do
    local x, y = {}, {}
    for i = 1, size do x[i] = pixels[(step - 1) * size + i] end
    for i = 1, golden.batch do y[i] = ((step - 1) * golden.batch + i - 1) * 3 % d.classes end
    list[step] = { kit.tensor(dtype, { golden.batch, 3, d.side, d.side }, x), kit.tensor("i32", { golden.batch }, y) }
  end
  return list
end

local function text()
  local d, list = golden.gpt_data, {}
  for step = 0, 4 do
    local x, y = {}, {}
    for b = 0, golden.batch - 1 do
      for k = 0, d.context do
        local id = (step * 5 + b * 7 + k * k) % d.classes
        if k < d.context then x[#x + 1] = id end
        if k > 0 then y[#y + 1] = id end
      end
    end
    local shape = { golden.batch, d.context }
    list[step + 1] = { kit.tensor("i32", shape, x), kit.tensor("i32", shape, y) }
  end
  return list
end

local function steps(name, dtype)
  local net = build(name, dtype)
  local data = name == "vit" and images(dtype) or text()
  local opt = optim.new(net, { name = "adamw", weight_decay = golden.decay, beta1 = 0.9, beta2 = 0.999, eps = 1e-8 },
    GATE)
  local worst, found = { loss = 0, lambda = 0 }, {}
  for step, b in ipairs(data) do
    net:bind(b[1], b[2])
    found[step] = net:forward("train", step - 1)
    worst.loss = math.max(worst.loss, math.abs(found[step] - golden[name].loss[step]))
    net:backward()
    opt:step(step, golden.lr)
    worst.lambda = math.max(worst.lambda, kit.largest(net:lambdas(), golden[name].lambda[step]))
  end
  net:bind(data[1][1], data[1][2])
  worst.loss = math.max(worst.loss, math.abs(net:forward("eval") - golden[name]["end"]))
  return worst, found
end

for _, name in ipairs({ "vit", "gpt", "gpt_tied" }) do
  describe("five steps of " .. name .. " against PyTorch", function()
    local function within(dtype, loss, lambda)
      local worst = steps(name, dtype)
      assert.is_true(worst.loss < loss, ("loss off by %.3g"):format(worst.loss))
      assert.is_true(worst.lambda < lambda, ("λ off by %.3g"):format(worst.lambda))
    end
    it("float32", function() within("f32", 1e-4, 1e-5) end)
    it("float64", function() within("f64", 1e-9, 1e-9) end)
    it("the same bits on one thread and on two", function()
      local before = C.lib.lg_threads()
      C.check(C.lib.lg_init(1))
      local _, one = steps(name, "f32")
      C.check(C.lib.lg_init(2))
      local _, two = steps(name, "f32")
      C.check(C.lib.lg_init(before))
      assert.same(one, two)
    end)
  end)
end
