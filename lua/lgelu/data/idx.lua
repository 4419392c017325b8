--- Source "idx": images and labels in IDX files (MNIST and its kin), from a folder that the recipe names. Also what
-- fashion_mnist reads its files with. The format itself is read in src/data/idx.c.
local C = require("lgelu.C")
local augment = require("lgelu.data.augment")
local errors = require("lgelu.errors")
local find = require("lgelu.data.find")
local tensor = require("lgelu.tensor")
local tensors = require("lgelu.data.tensors")

local idx = {}

idx.doc = "images or vectors with labels in IDX files (plain or .gz), from the folder data.path"
idx.kind = "files"

--- Keys of every source that reads training and test files.
idx.limits = {
  { key = "limit", type = "integer", default = 0, min = 0, example = "data.limit=5000",
    doc = "Training rows used, from the first on; 0: all." },
  { key = "test_limit", type = "integer", default = 0, min = 0, example = "data.test_limit=1000",
    doc = "Test rows used, from the first on; 0: all." },
}

idx.schema = augment.with({
  { key = "path", type = "string", required = true, hashed = false, example = "data.path=/data/mnist",
    doc = "Folder of the files, as it is or below one of the data folders." },
  { key = "train_images", type = "string", default = "train-images-idx3-ubyte",
    doc = "File of training images [N, …]." },
  { key = "train_labels", type = "string", default = "train-labels-idx1-ubyte",
    doc = "File of training labels [N]." },
  { key = "test_images", type = "string", default = "t10k-images-idx3-ubyte",
    doc = "File of test images; may be missing." },
  { key = "test_labels", type = "string", default = "t10k-labels-idx1-ubyte",
    doc = "File of test labels; may be missing." },
  { key = "classes", type = "integer", default = 0, min = 0, max = 2 ^ 20, doc = "Classes; 0: the largest label + 1." },
  idx.limits[1], idx.limits[2],
})

local function read(path)
  local out = C.ffi.new("lg_tensor *[1]")
  C.check(C.lib.lg_idx_read(out, path))
  return tensor.wrap(out[0])
end

--- [N, H, W] → [N, 1, H, W]; everything else stays.
local function with_channel(x)
  local shape = x.shape
  if #shape ~= 3 then return x end
  return x:view(shape[1], 1, shape[2], shape[3])
end

--- One part: images and labels that belong together.
-- @param images   path of the images' file
-- @param labels   path of the labels' file
-- @param classes  as in tensors.labels
-- @param limit    rows used, 0: all
-- @return { x = u8 or f32 [N, …] (grey images [N, 1, H, W]), y = i32 [N] }, number of classes
function idx.part(images, labels, classes, limit)
  local x, y = read(images), read(labels)
  if x.dtype ~= "u8" and x.dtype ~= "f32" then errors.fail("%s: holds %s, expected u8 or f32", images, x.dtype) end
  if #x.shape < 2 then
    errors.fail("%s: rank 1 is for labels, expected images or vectors: are the files swapped?", images)
  end
  if not x:all_finite() then errors.fail("%s: holds a value that is not finite", images) end
  if #y.shape ~= 1 or (y.dtype ~= "u8" and y.dtype ~= "i32") then
    errors.fail("%s: rank %d of %s, expected one integer label a row: are the files swapped?", labels, #y.shape,
      y.dtype)
  end
  if x.shape[1] ~= y.shape[1] then
    errors.fail("%s holds %d labels, %s holds %d images", labels, y.shape[1], images, x.shape[1])
  end
  if x.shape[1] == 0 then errors.fail("%s: holds no images", images) end
  local found
  y, found = tensors.labels(y, classes, labels)
  x, y = tensors.first_rows(with_channel(x), y, limit)
  return { x = x, y = y }, found
end

--- Training and, when there is one, test part as a set.
-- @param names   { train_images =, train_labels =, test_images =, test_labels = }; no test names: no test part
-- @param folder  where they are, plain or gzipped
-- @param config  classes, limit, test_limit
function idx.set(names, folder, config)
  local function at(name) return find.packed(folder .. "/" .. name) end
  local train, classes = idx.part(at(names.train_images), at(names.train_labels), config.classes, config.limit)
  local test
  if names.test_images then
    test = idx.part(at(names.test_images), at(names.test_labels), classes, config.test_limit)
    for i = 2, math.max(#train.x.shape, #test.x.shape) do
      if train.x.shape[i] ~= test.x.shape[i] or train.x.dtype ~= test.x.dtype then
        errors.fail("%s: the test images differ in shape or type from the training images", at(names.test_images))
      end
    end
  end
  local scale = train.x.dtype == "u8" and 1 / 255 or 1
  return { classes = classes, train = train, test = test, scale = scale, found_in = folder }
end

--- The folder data.path, as it is or below a data folder.
local function locate(config)
  local files = { config.train_images, config.train_labels }
  local folder, tried = find.set({ folders = {}, files = files, path = config.path })
  if not folder and config.path:sub(1, 1) ~= "/" then
    local below, more = find.set({ folders = { config.path }, files = files })
    folder = below
    for _, line in ipairs(more) do tried[#tried + 1] = line end
  end
  if not folder then
    local ways = {
      "data.path = the folder that holds " .. table.concat(files, " and ") .. " (plain or .gz)",
      "data.source=synthetic",
    }
    if config.path:sub(1, 1) ~= "/" then table.insert(ways, 2, "LGELU_DATA = the folder that holds " .. config.path) end
    find.missing("idx", tried, ways)
  end
  return folder
end

function idx.load(config)
  local folder = locate(config)
  local names = { train_images = config.train_images, train_labels = config.train_labels }
  local has_images = find.packed(folder .. "/" .. config.test_images)
  local has_labels = find.packed(folder .. "/" .. config.test_labels)
  if (has_images == nil) ~= (has_labels == nil) then
    errors.fail("%s: holds %s but not %s", folder, has_images and config.test_images or config.test_labels,
      has_images and config.test_labels or config.test_images)
  end
  if has_images then names.test_images, names.test_labels = config.test_images, config.test_labels end
  local set = idx.set(names, folder, config)
  set.description = "IDX files of " .. folder
  return set
end

return idx
