-- Figure 4 for ResNet-18 and CIFAR-100: four ways to a ReLU network; see relu.lua.
--   lgelu sweep relu_cifar100 --budget desk --jobs 2
return {
  name = "relu_cifar100",
  recipe = "resnet18_cifar100",
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
    short = { seeds = { 1 } },
    desk = { budget = "short" }, -- 20000 images, eight epochs
    full = {}, -- width 64, 200 epochs: weeks
  },
}
