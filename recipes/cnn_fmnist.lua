-- A small convolutional network on Fashion-MNIST: two stages of convolution, normalization, gate and pooling.
--   lgelu run cnn_fmnist
--   lgelu run cnn_fmnist gate.init=ascending               another start
return {
  name = "cnn_fmnist",
  data = { source = "fashion_mnist", validation = 0.1 },
  model = lg.models.cnn{ channels = { 16, 32 }, hidden = { 128 } },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 2e-3, weight_decay = 0.01 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 10, batch = 128, eval_batch = 256 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 2000, ["data.test_limit"] = 500 },
    short = { ["train.epochs"] = 3 },
    desk = {}, -- the values above
    full = { ["model.channels"] = { 32, 64, 128 }, ["train.epochs"] = 40 },
  },
}
