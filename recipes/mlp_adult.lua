-- A λ-GELU MLP on UCI Adult, a table of numbers and categories: does a person earn more than 50,000 dollars a year?
--   lgelu run mlp_adult                                    the recipe's own values: the desk budget
--   lgelu run mlp_adult gate.kind=relu                     the same with another activation
--   lgelu run mlp_adult train.score=auc                    the best epoch by the area under the ROC curve; or f1
--   lgelu run mlp_adult data.source=synthetic_table        without any file
-- Without the files: lgelu data get adult.
return {
  name = "mlp_adult",
  data = { source = "adult", validation = 0.1 },
  model = lg.models.mlp{ hidden = { 128, 64 }, dropout = 0.1 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 1e-3, weight_decay = 0.01 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 15, batch = 128 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 2000, ["data.test_limit"] = 1000 },
    short = { ["train.epochs"] = 5 },
    desk = {}, -- the values above
    full = { ["train.epochs"] = 40 },
  },
}
