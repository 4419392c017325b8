--- bench/step: times whole training steps: forward, loss, backward, AdamW, on one batch that stays the same. Shared by
-- the cases that train a model; not a case itself.
-- Without a named gate, relu and lambda_gelu are measured in turns in one process, so that a neighbour's work on the
-- machine falls on both; "of relu" is the ratio of their medians.
local C = require("lgelu.C")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local tensor = require("lgelu.tensor")

local step = {}

step.columns = {
  { key = "fastest_ms", title = "fastest", format = "%.3f" },
  { key = "gflop_per_s", title = "GFLOP/s", format = "%.1f" },
  { key = "of_relu", title = "of relu", format = "%.3f" },
}

local PAIR = { "relu", "lambda_gelu" }
local SEED = 1

-- Class numbers without a short period.
local function ids(case, shape)
  local list, n = {}, 1
  for _, dim in ipairs(shape) do
    n = n * dim
  end
  for i = 1, n do
    list[i] = (i * 7 + math.floor(i / 11)) % case.info.classes
  end
  return tensor.tensor(list, "i32"):reshape(shape)
end

local function build(case, kind)
  local gate = { kind = kind, reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }
  local net = network.new({ model = case.model, gate = gate, batch = case.batch, seed = SEED, info = case.info })
  local shape = { case.batch, unpack(case.info.input_shape) }
  local trainer = {
    kind = kind, net = net, opt = optim.new(net, { name = "adamw", weight_decay = 0.01 }, gate), steps = 0, times = {},
    x = case.info.input_dtype == "i32" and ids(case, shape) or tensor.randn(shape, "f32", SEED),
    y = ids(case, { case.batch, unpack(case.info.label_shape or {}) }),
  }
  net:bind(trainer.x, trainer.y)
  return trainer
end

local function run(trainer)
  local start = C.lib.lg_clock()
  trainer.net:forward("train", trainer.steps)
  trainer.net:backward()
  trainer.steps = trainer.steps + 1
  trainer.opt:step(trainer.steps, 1e-3)
  return C.lib.lg_clock() - start
end

local function record_of(trainer, case, threads, relu)
  table.sort(trainer.times)
  local seconds = trainer.times[math.floor(#trainer.times / 2) + 1]
  return {
    gate = trainer.kind, batch = case.batch, threads = threads, step_ms = seconds * 1e3,
    samples_per_s = case.batch / seconds, fastest_ms = trainer.times[1] * 1e3,
    gflop_per_s = trainer.net:flops() / seconds * 1e-9, of_relu = relu and seconds * 1e3 / relu.step_ms or nil,
  }
end

--- Records of a case, one for each gate.
-- @param case     { model =, info = { classes =, input_shape = }, batch =, warmup =, steps =, block = steps in a turn }
-- @param options  as lgelu.bench gives them to a case; gate = nil: relu and lambda_gelu in turns
function step.measure(case, options)
  local trainers, records = {}, {}
  for i, kind in ipairs(options.gate and { options.gate } or PAIR) do
    trainers[i] = build(case, kind)
    for _ = 1, case.warmup do
      run(trainers[i])
    end
  end
  for done = case.block, case.steps, case.block do
    options.say(("%d of %d steps"):format(done, case.steps))
    for _, trainer in ipairs(trainers) do
      for _ = 1, case.block do
        trainer.times[#trainer.times + 1] = run(trainer)
      end
    end
  end
  for i, trainer in ipairs(trainers) do
    records[i] = record_of(trainer, case, options.threads, records[1])
  end
  return records
end

return step
