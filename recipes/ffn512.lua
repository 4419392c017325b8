-- One feed-forward block of a Transformer, 512 wide with 2048 hidden units, on Fashion-MNIST: activations side by side.
--   lgelu run ffn512                                       λ-GELU: the desk budget
--   lgelu run ffn512 gate.kind=relu                        or gelu
--   lgelu run ffn512 model.gated=true gate.kind=silu       SwiGLU; GEGLU with gelu, its λ-form with lambda_gelu
--   lgelu sweep ffn512                                     all of them
return {
  name = "ffn512",
  data = { source = "fashion_mnist", validation = 0.1 },
  model = lg.models.ffn{ width = 512, expansion = 4, dropout = 0.1 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 1e-3, weight_decay = 0.01 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 10, batch = 128 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 2000 },
    short = { ["train.epochs"] = 3 },
    desk = {}, -- the values above
    full = { ["train.epochs"] = 40 },
  },
}
