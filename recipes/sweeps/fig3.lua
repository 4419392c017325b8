-- Figure 3: does it matter where s starts? Three starts and the GELU baseline for each pair of model and data set, at a
-- t and c that are in fig1 and fig2 too: runs that those sweeps have done are taken over.
--   lgelu sweep fig3 --budget desk --jobs 2
local MODELS = { "mlp_fmnist", "resnet18_cifar100" }

-- budgets: by model, where it is not that of the same name.
local function runs(budgets)
  local grid, baseline = {}, {}
  for _, model in ipairs(MODELS) do
    local budget = budgets[model]
    for _, start in ipairs({ "gelu", "ascending", "descending" }) do
      grid[#grid + 1] = { recipe = model, budget = budget, ["gate.init"] = start }
    end
    baseline[#baseline + 1] = { recipe = model, budget = budget, label = "GELU", ["gate.kind"] = "gelu" }
  end
  return grid, baseline
end

local grid, baseline = runs({})
local desk_grid, desk_baseline = runs({ resnet18_cifar100 = "short" }) -- as in fig2

return {
  name = "fig3",
  set = { ["gate.t"] = 0.1, ["gate.c"] = 9 },
  grid = grid,
  baseline = baseline,
  seeds = { 1 },
  budgets = {
    smoke = {},
    short = {},
    desk = { grid = desk_grid, baseline = desk_baseline },
    full = { seeds = { 1, 2, 3 } },
  },
}
