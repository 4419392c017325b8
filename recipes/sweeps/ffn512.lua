-- One feed-forward block, plain and gated, with each activation: what a learned hardness gains in either form.
--   lgelu sweep ffn512 --budget desk --jobs 2
return {
  name = "ffn512",
  recipe = "ffn512",
  grid = {
    { label = "ReLU", ["gate.kind"] = "relu" },
    { label = "λ-GELU", ["gate.kind"] = "lambda_gelu" },
    { label = "SwiGLU", ["model.gated"] = true, ["gate.kind"] = "silu" },
    { label = "λ-GEGLU", ["model.gated"] = true, ["gate.kind"] = "lambda_gelu" },
  },
  baseline = {
    { label = "GELU", ["gate.kind"] = "gelu" },
    { label = "GEGLU", ["model.gated"] = true, ["gate.kind"] = "gelu" },
  },
  seeds = { 1 },
  budgets = {
    smoke = {},
    short = {}, -- three epochs
    desk = { seeds = { 1, 2, 3 } }, -- ten epochs
    full = { seeds = { 1, 2, 3, 4, 5 } },
  },
}
