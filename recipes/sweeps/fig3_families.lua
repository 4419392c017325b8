-- Figure 3 for the other families: three starts and the GELU baseline for a table, sentences, a text and images in two
-- Transformers, at each recipe's own t and c. Runs that relu's sweeps of the same recipes have done are taken over.
--   lgelu sweep fig3_families --budget desk --jobs 2

-- The grid and the baselines; `budgets` names a recipe's budget where it is not the sweep's.
local function families(budgets)
  local grid, baseline = {}, {}
  for _, model in ipairs({ "mlp_adult", "sst2", "gpt_shakespeare", "vit_fmnist", "vit_cifar100" }) do
    for _, start in ipairs({ "gelu", "ascending", "descending" }) do
      grid[#grid + 1] = { recipe = model, budget = budgets[model], ["gate.init"] = start }
    end
    baseline[#baseline + 1] = { recipe = model, budget = budgets[model], label = "GELU", ["gate.kind"] = "gelu" }
  end
  return { grid = grid, baseline = baseline }
end

local sweep = families({})
sweep.name = "fig3_families"
sweep.seeds = { 1 }
sweep.budgets = {
  smoke = {},
  short = {},
  desk = families({ vit_cifar100 = "short" }), -- 20000 images, eight epochs
  full = { seeds = { 1, 2, 3 } },
}
return sweep
