--- Bench case mlp: one training step of 784-512-256-128-10 at batch 128 with AdamW.
local step = require("lgelu.bench.step")

local CASE = {
  model = { arch = "mlp", hidden = { 512, 256, 128 }, dropout = 0, bias = true },
  info = { classes = 10, input_shape = { 1, 28, 28 } }, batch = 128, warmup = 5, steps = 400, block = 20,
}

return {
  summary = "a training step of the MLP 784-512-256-128-10, batch 128",
  gate = false,
  columns = step.columns,
  run = function(options) return step.measure(CASE, options) end,
}
