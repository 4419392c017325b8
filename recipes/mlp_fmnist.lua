-- A λ-GELU MLP (784-512-256-128-10) on Fashion-MNIST, whose layers learn their own hardness.
--   lgelu run mlp_fmnist                                   the recipe's own values: the desk budget
--   lgelu run mlp_fmnist gate.kind=relu                    the same with another activation
--   lgelu run mlp_fmnist gate.t=0.3 gate.c=3 --seed 2      another temperature, another rate for s
-- lgelu help recipe explains every key.
return {
  name = "mlp_fmnist",
  data = { source = "fashion_mnist", validation = 0.1 },
  model = lg.models.mlp{ hidden = { 512, 256, 128 } },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 1e-3, weight_decay = 0.01 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 20, batch = 128 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 2000 },
    short = { ["train.epochs"] = 5 },
    desk = {}, -- the values above
    full = { ["train.epochs"] = 60 },
  },
}
