--- Source "cifar100": 50,000 training and 10,000 test images, 32×32 in colour, of 100 classes in 20 groups (Krizhevsky
-- 2009), from the files of the binary version.
local cifar = require("lgelu.data.cifar")

local cifar100 = {}

cifar100.doc = "CIFAR-100, 32×32 colour images, 100 classes or their 20 groups"
cifar100.kind = "files"
cifar100.schema = cifar.schema("cifar-100-binary", {
  { key = "labels", type = "string", default = "fine", choices = { "fine", "coarse" }, example = "data.labels=coarse",
    doc = "What is learned: the 100 classes (fine) or their 20 groups (coarse)." },
})
cifar100.problem = cifar.problem

-- In the order of the files' label bytes.
local COARSE = {
  "aquatic_mammals", "fish", "flowers", "food_containers", "fruit_and_vegetables", "household_electrical_devices",
  "household_furniture", "insects", "large_carnivores", "large_man-made_outdoor_things", "large_natural_outdoor_scenes",
  "large_omnivores_and_herbivores", "medium_mammals", "non-insect_invertebrates", "people", "reptiles", "small_mammals",
  "trees", "vehicles_1", "vehicles_2",
}
local FINE = {
  "apple", "aquarium_fish", "baby", "bear", "beaver", "bed", "bee", "beetle", "bicycle", "bottle", "bowl", "boy",
  "bridge", "bus", "butterfly", "camel", "can", "castle", "caterpillar", "cattle", "chair", "chimpanzee", "clock",
  "cloud", "cockroach", "couch", "crab", "crocodile", "cup", "dinosaur", "dolphin", "elephant", "flatfish", "forest",
  "fox", "girl", "hamster", "house", "kangaroo", "keyboard", "lamp", "lawn_mower", "leopard", "lion", "lizard",
  "lobster", "man", "maple_tree", "motorcycle", "mountain", "mouse", "mushroom", "oak_tree", "orange", "orchid",
  "otter", "palm_tree", "pear", "pickup_truck", "pine_tree", "plain", "plate", "poppy", "porcupine", "possum", "rabbit",
  "raccoon", "ray", "road", "rocket", "rose", "sea", "seal", "shark", "shrew", "skunk", "skyscraper", "snail", "snake",
  "spider", "squirrel", "streetcar", "sunflower", "sweet_pepper", "table", "tank", "telephone", "television", "tiger",
  "tractor", "train", "trout", "tulip", "turtle", "wardrobe", "whale", "willow_tree", "wolf", "woman", "worm",
}

function cifar100.load(config)
  local fine = config.labels == "fine"
  return cifar.load("cifar100", config, {
    kind = 100, column = fine and 1 or 0, labels = fine and FINE or COARSE, train = { "train.bin" },
    test = { "test.bin" },
  })
end

return cifar100
