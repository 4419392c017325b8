-- Figure 1: how far λ moves, and what it costs or gains, over temperature t and rate c, on an MLP and Fashion-MNIST.
-- Each cell is a mean over three starts of s; the baseline is GELU from the same seed.
--   lgelu sweep fig1 --budget desk --jobs 2
return {
  name = "fig1",
  recipe = "mlp_fmnist",
  grid = {
    ["gate.t"] = { 0.1, 0.3, 1, 3 },
    ["gate.c"] = { 1, 3, 9, 27 },
    ["gate.init"] = { "gelu", "ascending", "descending" },
  },
  baseline = { label = "GELU", ["gate.kind"] = "gelu" },
  seeds = { 1 },
  budgets = {
    smoke = {},
    short = {}, -- five epochs
    desk = {}, -- twenty epochs
    full = { seeds = { 1, 2, 3, 4, 5 } }, -- sixty epochs
  },
}
