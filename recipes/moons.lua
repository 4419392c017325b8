-- Two half-moons, a problem small enough to watch: relu against gelu and λ-GELU from the same seed, so from the same
-- weights and the same order of samples.
--   lgelu run moons
--   lgelu run moons gate.kind=gelu
--   lgelu run moons gate.kind=relu
return {
  name = "moons",
  data = { source = "moons", n = 2000, noise = 0.2 },
  model = lg.models.mlp{ hidden = { 32, 32 } },
  gate = { kind = "lambda_gelu" },
  optimizer = { name = "adam", lr = 0.001 },
  train = { epochs = 100, batch = 64 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 2, ["data.n"] = 200 },
    short = { ["train.epochs"] = 20 },
    desk = {}, -- the values above
    full = { ["data.n"] = 20000 },
  },
}
