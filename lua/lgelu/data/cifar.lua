--- What cifar10 and cifar100 share: finding and reading the files of the binary version. Not a source itself; the
-- format is read in src/data/cifar.c.
local C = require("lgelu.C")
local augment = require("lgelu.data.augment")
local files = require("lgelu.data.files")
local find = require("lgelu.data.find")
local idx = require("lgelu.data.idx")
local manifest = require("lgelu.data.manifest")
local tensor = require("lgelu.tensor")
local tensors = require("lgelu.data.tensors")

local cifar = {}

local SHAPE = { 3, 32, 32 }

--- The schema of a set: its own keys between path and the keys of all image files.
function cifar.schema(folder, own)
  local entries = {
    { key = "path", type = "string", optional = true, hashed = false, example = "data.path=/data/" .. folder,
      doc = "Folder of the files, or the one above it; without it, the data folders are searched." },
  }
  for _, entry in ipairs(own) do entries[#entries + 1] = entry end
  entries[#entries + 1], entries[#entries + 2] = idx.limits[1], idx.limits[2]
  return augment.with(entries)
end

--- What the schema cannot say: a message, or nil.
function cifar.problem(config)
  return augment.problem(config, SHAPE)
end

--- Images u8 [N, 3, 32, 32] and labels i32 [N] of the files, one behind the other.
local function read(folder, names, kind, column)
  local images, labels = {}, {}
  for i, name in ipairs(names) do
    local x, y = C.ffi.new("lg_tensor *[1]"), C.ffi.new("lg_tensor *[1]")
    C.check(C.lib.lg_cifar_read(x, y, find.packed(folder .. "/" .. name), kind, column))
    images[i], labels[i] = tensor.wrap(x[0]), tensor.wrap(y[0])
  end
  if #names == 1 then return images[1], labels[1] end
  local x, y = tensor.cat(images), tensor.cat(labels)
  for i = 1, #names do -- not left to the collector: they are as large as the set
    images[i]:free()
    labels[i]:free()
  end
  return x, y
end

--- Reads a set.
-- @param name    its name in the manifest
-- @param config  path, limit, test_limit
-- @param set     { kind = 10 or 100, column = label byte of a record, from 0, train = files, test = files,
--                labels = names of the classes }
-- @return set as in lgelu.data.sources
function cifar.load(name, config, set)
  local folder = files.demand(name, config.path)
  local function part(names, limit)
    local x, y = read(folder, names, set.kind, set.column)
    x, y = tensors.first_rows(x, y, limit)
    return { x = x, y = y }
  end
  return {
    classes = #set.labels, labels = set.labels, scale = 1 / 255, found_in = folder,
    train = part(set.train, config.limit), test = part(set.test, config.test_limit),
    description = manifest.get(name).title,
  }
end

return cifar
