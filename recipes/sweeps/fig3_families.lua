-- Figure 3 for the other families: three starts and the GELU baseline for a table, sentences, a text and small images
-- in a Transformer, at each recipe's own t and c. Runs that relu's sweeps of the same recipes have done are taken over.
--   lgelu sweep fig3_families --budget desk --jobs 2
local MODELS = { "mlp_adult", "sst2", "gpt_shakespeare", "vit_fmnist" }

local grid, baseline = {}, {}
for _, model in ipairs(MODELS) do
  for _, start in ipairs({ "gelu", "ascending", "descending" }) do
    grid[#grid + 1] = { recipe = model, ["gate.init"] = start }
  end
  baseline[#baseline + 1] = { recipe = model, label = "GELU", ["gate.kind"] = "gelu" }
end

return {
  name = "fig3_families",
  grid = grid,
  baseline = baseline,
  seeds = { 1 },
  budgets = { smoke = {}, short = {}, desk = {}, full = { seeds = { 1, 2, 3 } } },
}
