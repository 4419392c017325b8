-- A vision transformer on CIFAR-100: 8×8 patches of 4×4 pixels, flips, and where there is time for them crops, random
-- erasing, mixup and stochastic depth, with a λ-GELU in each block. DeiT-Tiny's shape is the full budget.
--   lgelu run vit_cifar100                                 width 96, depth 6: the desk budget
--   lgelu run vit_cifar100 gate.kind=relu                  the same with another activation
--   lgelu run vit_cifar100 --budget full                   width 192, depth 12, 200 epochs
-- Without the files: lgelu data get cifar100, or data.source=synthetic with data.shape={3,32,32} data.classes=100.
return {
  name = "vit_cifar100",
  data = { source = "cifar100", validation = 0.1, flip = true },
  model = lg.models.vit{ patch = 4, width = 96, depth = 6, heads = 3 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 1e-3, weight_decay = 0.05, clip = 1 },
  schedule = { name = "cosine", warmup = 0.1 },
  train = { epochs = 15, batch = 128, eval_batch = 256 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 600, ["data.test_limit"] = 200 },
    short = { ["train.epochs"] = 8, ["data.limit"] = 20000 },
    desk = {}, -- the values above
    full = { ["model.width"] = 192, ["model.depth"] = 12, ["model.heads"] = 3, ["model.drop_path"] = 0.1,
      ["train.epochs"] = 200, ["data.crop"] = 4, ["data.erase"] = 0.25, ["data.mixup"] = 0.8 },
  },
}
