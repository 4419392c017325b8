-- A small vision transformer on Fashion-MNIST: 7×7 patches of 4×4 pixels, with a λ-GELU in each block.
--   lgelu run vit_fmnist                                   width 64, depth 4: the desk budget
--   lgelu run vit_fmnist gate.kind=relu                    the same with another activation
return {
  name = "vit_fmnist",
  data = { source = "fashion_mnist", validation = 0.1, flip = true },
  model = lg.models.vit{ patch = 4, width = 64, depth = 4, heads = 4 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 2e-3, weight_decay = 0.05, clip = 1 },
  schedule = { name = "cosine", warmup = 0.1 },
  train = { epochs = 10, batch = 128, eval_batch = 256 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 1000, ["data.test_limit"] = 300 },
    short = { ["train.epochs"] = 4, ["data.limit"] = 20000 },
    desk = {}, -- the values above
    full = { ["model.width"] = 192, ["model.depth"] = 12, ["model.heads"] = 3, ["train.epochs"] = 60,
      ["optimizer.lr"] = 1e-3, ["model.drop_path"] = 0.1, ["data.crop"] = 2, ["data.erase"] = 0.25,
      ["data.mixup"] = 0.2 },
  },
}
