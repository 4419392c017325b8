-- Figure 2: how far λ moves, and what it costs or gains, over the rate c at t = 0.1, for ResNet-18 and CIFAR-100.
-- Each cell is a mean over three starts of s; the baseline is GELU from the same seed.
--   lgelu sweep fig2 --budget desk --jobs 2                    a narrow network, 20000 images, eight epochs
--   lgelu sweep fig2 --budget desk --jobs 2 'seeds={1,2,3}'    the same for three seeds: three times as long
return {
  name = "fig2",
  recipe = "resnet18_cifar100",
  set = { ["gate.t"] = 0.1 },
  grid = {
    ["gate.c"] = { 1, 3, 5, 7, 9 },
    ["gate.init"] = { "gelu", "ascending", "descending" },
  },
  baseline = { label = "GELU", ["gate.kind"] = "gelu" },
  seeds = { 1 },
  budgets = {
    smoke = {},
    short = {}, -- the recipe's: 20000 images, eight epochs
    desk = { budget = "short" },
    full = { seeds = { 1, 2, 3 } }, -- width 64, 200 epochs: weeks
  },
}
