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

local function build(case, kind)
  local gate = { kind = kind, reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }
  local net = network.new({ model = case.model, gate = gate, batch = case.batch, seed = SEED, info = case.info })
  local labels = {}
  for i = 1, case.batch do
    labels[i] = i % case.info.classes
  end
  local trainer = {
    kind = kind, net = net, opt = optim.new(net, { name = "adamw", weight_decay = 0.01 }, gate), steps = 0, times = {},
    x = tensor.randn({ case.batch, unpack(case.info.input_shape) }, "f32", SEED), y = tensor.tensor(labels, "i32"),
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
