--- Keys and checks of what is done to images: a border once at load, random changes each time an image is trained on.
-- The random changes themselves are src/data/augment.c. Used by the sources of images and by lgelu.data.
local tensor = require("lgelu.tensor")

local augment = {}

--- Keys of every source of images.
augment.schema = {
  { key = "pad", type = "integer", default = 0, min = 0, max = 1024, example = "data.pad=2",
    doc = "Black pixels put around every image, in training and evaluation: 2 makes 28×28 into 32×32." },
  { key = "crop", type = "integer", default = 0, min = 0, max = 1024, example = "data.crop=4",
    doc = "Training: border of black pixels, out of which a window of the image's size is cut at a random place." },
  { key = "flip", type = "boolean", default = false, example = "data.flip=true",
    doc = "Training: mirror half of the images, drawn at random, left to right." },
  { key = "cutout", type = "integer", default = 0, min = 0, max = 1024, example = "data.cutout=8",
    doc = "Training: side of a square at a random place that becomes the channels' mean; 0: none." },
  { key = "erase", type = "number", optional = true, min = 0, max = 1, example = "data.erase=0.25",
    doc = "Training: probability that a rectangle of 2 to 33 % of an image becomes noise (random erasing)." },
  { key = "mixup", type = "number", optional = true, exclusive_min = 0, max = 1, example = "data.mixup=0.8",
    doc = "Training: α of mixup: each image is mixed with another, shares from Beta(α, α), labels drawn by them." },
}

--- entries with the keys above behind them: the schema of a source of images.
function augment.with(entries)
  local all = { unpack(entries) }
  for _, entry in ipairs(augment.schema) do all[#all + 1] = entry end
  return all
end

--- What does not go together with the images' shape: "key: what is wrong", or nil.
-- @param config  values of the keys above
-- @param shape   of one row before padding
function augment.problem(config, shape)
  if #shape ~= 3 then
    for _, entry in ipairs(augment.schema) do
      if config[entry.key] ~= entry.default then
        return ("%s: rows of shape {%s} are no images {channels, height, width}"):format(entry.key,
          table.concat(shape, ", "))
      end
    end
    return nil
  end
  local height, width = shape[2] + 2 * config.pad, shape[3] + 2 * config.pad
  local side = math.min(height, width)
  if config.crop >= side then
    return ("crop: found %d, expected less than the images' side, here %d×%d"):format(config.crop, height, width)
  end
  if config.cutout > side then
    return ("cutout: found %d, expected at most the images' side, here %d×%d"):format(config.cutout, height, width)
  end
end

--- x [N, C, H, W] → [N, C, H + 2·border, W + 2·border], zeros around.
function augment.padded(x, border)
  local n, channels, height, width = unpack(x.shape)
  local out = tensor.zeros({ n, channels, height + 2 * border, width + 2 * border }, x.dtype)
  out[{ {}, {}, { border + 1, border + height }, { border + 1, border + width } }]:copy_from(x)
  return out
end

return augment
