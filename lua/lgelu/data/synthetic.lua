--- Source "synthetic": seeded, class-conditional images that need no file. Learnable but not trivial: a linear model
-- gets about three quarters right, a small MLP clearly more, none all.
--
-- A class has a pattern: a few random plane waves, per channel. An image is
--   128 + 40·(a·pattern[class] + b·pattern[another class] + noise),  rounded and clipped to 0..255,
-- with a in [0.5, 1], negative in 15 % of the images (which defeats a linear model: the same class with opposite sign),
-- b in [−0.8, 0.8] (which makes some images truly ambiguous), and the whole shifted by up to one pixel, around the
-- edges. Kinds of data other than images will be further functions beside `images`.
local C = require("lgelu.C")
local augment = require("lgelu.data.augment")
local random = require("lgelu.data.random")
local tensors = require("lgelu.data.tensors")

local synthetic = {}

synthetic.doc = "seeded class-conditional images; needs no files"
synthetic.kind = "generated"

synthetic.schema = augment.with({
  { key = "n", type = "integer", default = 4000, min = 1, max = 1e7, example = "data.n=10000",
    doc = "Images for training and validation together." },
  { key = "n_test", type = "integer", default = 1000, min = 0, max = 1e7, example = "data.n_test=0",
    doc = "Images of the test part; 0: no test part." },
  { key = "classes", type = "integer", default = 10, min = 2, max = 1000, example = "data.classes=100",
    doc = "Number of classes." },
  { key = "shape", type = "list", items = "integer", default = { 1, 28, 28 }, min = 1, max = 4096,
    example = "data.shape={3,32,32}", doc = "Channels, height and width of an image." },
  { key = "noise", type = "number", default = 0.6, min = 0, max = 100, example = "data.noise=1",
    doc = "Standard deviation of a pixel's noise, where a pattern's is 1." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of patterns and images; the run's seed does not change them." },
})

local WAVES, HIGHEST = 3, 2 -- plane waves in a pattern; their highest frequency, in periods an image
local CENTRE, CONTRAST = 128, 40
local STRENGTH_LO, STRENGTH_HI, REVERSED, OTHER, SHIFT = 0.5, 1, 0.15, 0.8, 1

-- Stream numbers: patterns are shared by both parts; an image's own draws and noise follow by part.
local PATTERNS, IMAGES, NOISE = 16, 17, 19
local DRAWS = 8 -- room for the draws of one image or wave

--- double[classes·channels·height·width]: patterns of variance about 1.
local function make_patterns(config)
  local channels, height, width = config.shape[1], config.shape[2], config.shape[3]
  local draws = random.draws(config.seed, PATTERNS)
  local patterns = C.ffi.new("double[?]", config.classes * channels * height * width)
  for plane = 0, config.classes * channels - 1 do
    for wave = 0, WAVES - 1 do
      local at = (plane * WAVES + wave) * DRAWS
      local down = 2 * math.pi * draws.integer(at, -HIGHEST, HIGHEST) / height
      local across = 2 * math.pi * draws.integer(at + 1, 0, HIGHEST) / width
      local phase = draws.uniform(at + 2, 0, 2 * math.pi)
      for h = 0, height - 1 do
        for w = 0, width - 1 do
          local i = (plane * height + h) * width + w
          patterns[i] = patterns[i] + math.sqrt(2 / WAVES) * math.cos(down * h + across * w + phase)
        end
      end
    end
  end
  return patterns
end

--- What image i is made of: class, another class, their strengths, the shift.
local function recipe_of(draws, i, classes)
  local at = i * DRAWS
  local class = draws.integer(at, 0, classes - 1)
  local other = (class + draws.integer(at + 1, 1, classes - 1)) % classes
  local a = draws.uniform(at + 2, STRENGTH_LO, STRENGTH_HI)
  if draws.uniform(at + 3, 0, 1) < REVERSED then a = -a end
  return class, other, a, draws.uniform(at + 4, -OTHER, OTHER), draws.integer(at + 5, -SHIFT, SHIFT),
    draws.integer(at + 6, -SHIFT, SHIFT)
end

--- n images with labels. part: 0 training, 1 test.
local function images(n, config, patterns, part)
  local channels, height, width = config.shape[1], config.shape[2], config.shape[3]
  local pixels = channels * height * width
  local x, to = tensors.new("u8", { n, channels, height, width })
  local y, label = tensors.new("i32", { n })
  local draws, noise = random.draws(config.seed, IMAGES + part), random.draws(config.seed, NOISE + part)
  local spread = config.noise
  for i = 0, n - 1 do
    local class, other, a, b, down, across = recipe_of(draws, i, config.classes)
    label[i] = class
    local at = i * pixels
    for c = 0, channels - 1 do
      for h = 0, height - 1 do
        local row = (c * height + (h + down) % height) * width
        for w = 0, width - 1 do
          local from = row + (w + across) % width
          local value = a * patterns[class * pixels + from] + b * patterns[other * pixels + from]
            + spread * noise.normal(at)
          to[at] = math.max(0, math.min(255, math.floor(CENTRE + CONTRAST * value + 0.5)))
          at = at + 1
        end
      end
    end
  end
  return { x = x, y = y }
end

function synthetic.load(config)
  local shape = config.shape
  local patterns = make_patterns(config)
  return {
    classes = config.classes, scale = 1 / 255,
    train = images(config.n, config, patterns, 0),
    test = config.n_test > 0 and images(config.n_test, config, patterns, 1) or nil,
    description = ("synthetic images: %d of %d×%d×%d, %d classes, noise %g, seed %d"):format(config.n, shape[1],
      shape[2], shape[3], config.classes, config.noise, config.seed),
  }
end

--- What the schema cannot say: a message, or nil.
function synthetic.problem(config)
  if #config.shape ~= 3 then
    return ("shape: found %d numbers, expected 3: channels, height, width"):format(#config.shape)
  end
  return augment.problem(config, config.shape)
end

return synthetic
