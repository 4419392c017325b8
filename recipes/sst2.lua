-- A small Transformer encoder on SST-2: is a phrase of a film review positive? With a λ-GELU in each block.
--   lgelu run sst2                                         2 blocks of width 64: the desk budget
--   lgelu run sst2 gate.kind=relu                          the same with another activation
--   lgelu run sst2 data.source=synthetic_sentences         without any file
-- Without the files: lgelu data check sst2 says which they are and where they go.
return {
  name = "sst2",
  data = { source = "sst2", length = 40 },
  model = lg.models.encoder{ width = 64, depth = 2, heads = 4, dropout = 0.2 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 1e-3, weight_decay = 0.1 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 3, batch = 128, eval_batch = 256 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 1000, ["data.test_limit"] = 300 },
    short = { ["train.epochs"] = 2, ["data.limit"] = 20000 },
    desk = {}, -- the values above
    full = { ["model.width"] = 128, ["model.depth"] = 4, ["train.epochs"] = 6 },
  },
}
