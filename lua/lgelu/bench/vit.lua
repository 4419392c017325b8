--- Bench case vit: one training step of a vision transformer of DeiT-Tiny's shape for 32×32 images of 100 classes,
-- patches of 4, at batch 64 with AdamW.
local step = require("lgelu.bench.step")

local CASE = {
  model = { arch = "vit", patch = 4, width = 192, depth = 12, heads = 3, expansion = 4, dropout = 0 },
  info = { classes = 100, input_shape = { 3, 32, 32 } }, batch = 64, warmup = 1, steps = 5, block = 1,
}

return {
  summary = "a training step of a ViT of DeiT-Tiny's shape, 32×32 images, batch 64",
  gate = false,
  columns = step.columns,
  run = function(options) return step.measure(CASE, options) end,
}
