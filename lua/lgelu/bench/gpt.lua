--- Bench case gpt: one training step of a language model of GPT-2's layout (context 256, width 384, 6 heads, 6
-- blocks, 65 characters) at batch 16 with AdamW. The output layer has weights of its own, as the peer's.
local step = require("lgelu.bench.step")

local CASE = {
  model = { arch = "gpt", width = 384, depth = 6, heads = 6, expansion = 4, dropout = 0, tie = false },
  info = { classes = 65, input_shape = { 256 }, input_dtype = "i32", label_shape = { 256 } },
  batch = 16, warmup = 1, steps = 5, block = 1,
}

return {
  summary = "a training step of a GPT of 6 blocks, context 256, batch 16",
  gate = false,
  columns = step.columns,
  run = function(options) return step.measure(CASE, options) end,
}
