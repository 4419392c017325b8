-- ResNet-18 on Fashion-MNIST, padded to 32×32: needs no files but those that are installed with lgelu.
--   lgelu run resnet18_fmnist                              a narrow network: the desk budget
--   lgelu run resnet18_fmnist gate.kind=relu               the same with another activation
return {
  name = "resnet18_fmnist",
  data = { source = "fashion_mnist", validation = 0.1, pad = 2, crop = 2, flip = true },
  model = lg.models.resnet{ depth = 18, width = 16 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 2e-3, weight_decay = 0.05 },
  schedule = { name = "cosine", warmup = 0.1 },
  train = { epochs = 15, batch = 128, eval_batch = 128 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 600, ["data.test_limit"] = 200 },
    short = { ["train.epochs"] = 5, ["data.limit"] = 20000 },
    desk = {}, -- the values above
    full = { ["model.width"] = 64, ["train.epochs"] = 60, ["optimizer.lr"] = 1e-3 },
  },
}
