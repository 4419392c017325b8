-- Figure 4: four ways to a ReLU network, measured by replacing every gate by ReLU when a run is done: GELU, λ-GELU
-- whose λ is learned, λ-GELU whose λ is learned and then hardened, and ReLU from the start.
--   lgelu sweep relu --budget desk --jobs 2
-- Of another recipe, with a name of its own:
--   lgelu sweep relu recipe=mlp_adult name=relu_adult --budget desk --jobs 2
--   lgelu sweep relu recipe=resnet18_cifar100 name=relu_cifar100 --budget short --jobs 2
return {
  name = "relu",
  recipe = "mlp_fmnist",
  grid = {
    { label = "λ-GELU", ["gate.kind"] = "lambda_gelu" },
    { label = "λ-GELU, hardened", hardening = { schedule = "geometric" } },
    { label = "ReLU", ["gate.kind"] = "relu" },
  },
  baseline = { label = "GELU", ["gate.kind"] = "gelu" },
  seeds = { 1, 2, 3 },
  after = "swap",
  budgets = {
    smoke = { seeds = { 1 } },
    short = {},
    desk = {},
    full = { seeds = { 1, 2, 3, 4, 5 } },
  },
}
