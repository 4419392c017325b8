--- Source "fashion_mnist": 60,000 training and 10,000 test images of clothing, 28×28 grey, 10 classes (Xiao, Rasul,
-- Vollgraf 2017). Debian's package dataset-fashion-mnist puts it where it is found.
local augment = require("lgelu.data.augment")
local files = require("lgelu.data.files")
local idx = require("lgelu.data.idx")
local manifest = require("lgelu.data.manifest")

local fashion_mnist = {}

fashion_mnist.doc = "Fashion-MNIST, 28×28 grey images of clothing, 10 classes"
fashion_mnist.kind = "files"

fashion_mnist.schema = augment.with({
  { key = "path", type = "string", optional = true, hashed = false, example = "data.path=/data/fashion-mnist",
    doc = "Folder of the files, or the one above it; without it, the data folders are searched." },
  idx.limits[1], idx.limits[2],
})

--- What the schema cannot say: a message, or nil.
function fashion_mnist.problem(config)
  return augment.problem(config, { 1, 28, 28 })
end

local NAMES = {
  train_images = "train-images-idx3-ubyte", train_labels = "train-labels-idx1-ubyte",
  test_images = "t10k-images-idx3-ubyte", test_labels = "t10k-labels-idx1-ubyte",
}
local LABELS = {
  "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
}

function fashion_mnist.load(config)
  local folder = files.demand("fashion_mnist", config.path)
  local set = idx.set(NAMES, folder, { classes = #LABELS, limit = config.limit, test_limit = config.test_limit })
  set.labels = LABELS
  set.description = manifest.get("fashion_mnist").title
  return set
end

return fashion_mnist
