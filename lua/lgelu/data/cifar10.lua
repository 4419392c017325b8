--- Source "cifar10": 50,000 training and 10,000 test images, 32×32 in colour, of 10 classes (Krizhevsky 2009), from the
-- files of the binary version.
local cifar = require("lgelu.data.cifar")

local cifar10 = {}

cifar10.doc = "CIFAR-10, 32×32 colour images, 10 classes"
cifar10.kind = "files"
cifar10.schema = cifar.schema("cifar-10-batches-bin", {})
cifar10.problem = cifar.problem

local LABELS = { "airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck" }

function cifar10.load(config)
  return cifar.load("cifar10", config, {
    kind = 10, column = 0, labels = LABELS, test = { "test_batch.bin" },
    train = { "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin" },
  })
end

return cifar10
