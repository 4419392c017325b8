-- ResNet-18 on CIFAR-100 with a λ-GELU after each block's first normalization and after each residual sum.
--   lgelu run resnet18_cifar100                            a narrow network on all images: the desk budget
--   lgelu run resnet18_cifar100 gate.kind=relu             the same with another activation
--   lgelu run resnet18_cifar100 gate.c=5 gate.init=hard    another rate for s, another start
--   lgelu run resnet18_cifar100 --budget full              width 64, 200 epochs
-- Without the files: lgelu data get cifar100, or data.source=synthetic with data.shape={3,32,32} data.classes=100.
return {
  name = "resnet18_cifar100",
  data = { source = "cifar100", validation = 0.1, crop = 4, flip = true },
  model = lg.models.resnet{ depth = 18, width = 16 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 4e-3, weight_decay = 0.05 },
  schedule = { name = "cosine", warmup = 0.1 },
  train = { epochs = 12, batch = 128, eval_batch = 128 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 600, ["data.test_limit"] = 200 },
    short = { ["train.epochs"] = 8, ["data.limit"] = 20000 },
    desk = {}, -- the values above
    full = { ["model.width"] = 64, ["train.epochs"] = 200, ["optimizer.lr"] = 1e-3, ["data.cutout"] = 8 },
  },
}
