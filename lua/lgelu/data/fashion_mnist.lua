--- Source "fashion_mnist": 60,000 training and 10,000 test images of clothing, 28×28 grey, 10 classes (Xiao, Rasul,
-- Vollgraf 2017). Debian's package dataset-fashion-mnist puts it where it is found.
local find = require("lgelu.data.find")
local idx = require("lgelu.data.idx")
local manifest = require("lgelu.data.manifest")

local fashion_mnist = {}

fashion_mnist.doc = "Fashion-MNIST, 28×28 grey images of clothing, 10 classes"
fashion_mnist.kind = "files"

fashion_mnist.schema = {
  { key = "path", type = "string", optional = true, hashed = false, example = "data.path=/data/fashion-mnist",
    doc = "Folder of the files, or the one above it; without it, the data folders are searched." },
  idx.limits[1], idx.limits[2],
}

local NAMES = {
  train_images = "train-images-idx3-ubyte", train_labels = "train-labels-idx1-ubyte",
  test_images = "t10k-images-idx3-ubyte", test_labels = "t10k-labels-idx1-ubyte",
}
local LABELS = {
  "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
}

--- The folder of the files; nil and the lines of find.set when there is none.
local function locate(path)
  local entry = manifest.get("fashion_mnist")
  local files = {}
  for i, file in ipairs(entry.files) do files[i] = file.name end
  return find.set({ folders = entry.folders, files = files, path = path })
end

function fashion_mnist.load(config)
  local folder, tried = locate(config.path)
  if not folder then
    find.missing("fashion_mnist", tried, {
      "lgelu data get fashion_mnist, or Debian's package: apt-get install " .. manifest.get("fashion_mnist").debian,
      "LGELU_DATA = the folder that holds fashion-mnist/", "data.source=synthetic",
    })
  end
  local set = idx.set(NAMES, folder, { classes = #LABELS, limit = config.limit, test_limit = config.test_limit })
  set.labels = LABELS
  set.description = manifest.get("fashion_mnist").title
  return set
end

return fashion_mnist
