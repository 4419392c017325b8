--- Bench case resnet18: one training step of ResNet-18 for 32×32 images of 100 classes at batch 128 with AdamW.
local step = require("lgelu.bench.step")

local CASE = {
  model = { arch = "resnet", depth = 18, width = 64 },
  info = { classes = 100, input_shape = { 3, 32, 32 } }, batch = 128, warmup = 1, steps = 5, block = 1,
}

return {
  summary = "a training step of ResNet-18, 32×32 images, batch 128",
  gate = false,
  columns = step.columns,
  run = function(options) return step.measure(CASE, options) end,
}
