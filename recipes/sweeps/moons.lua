-- Two half-moons: ReLU, GELU and λ-GELU from the same seeds, so from the same weights, splits and order of samples. The
-- test set is touched once, at the end of each run.
--   lgelu sweep moons --jobs 2
local seeds = {}
for seed = 1, 20 do seeds[seed] = seed end

return {
  name = "moons",
  recipe = "moons",
  grid = {
    { label = "λ-GELU", ["gate.kind"] = "lambda_gelu" },
    { label = "ReLU", ["gate.kind"] = "relu" },
  },
  baseline = { label = "GELU", ["gate.kind"] = "gelu" },
  seeds = seeds,
  budgets = {
    smoke = { seeds = { 1, 2 } },
    short = {},
    desk = {},
    full = {},
  },
}
