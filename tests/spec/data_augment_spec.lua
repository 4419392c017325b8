-- data_augment_spec.lua: padding, random crop, flip and cutout, against plain Lua on images whose pixels are all
-- different.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local ffi, lib = C.ffi, C.lib
local N, CH, H, W = 400, 2, 6, 7
-- Rows 0 to 7: the first pixel left, @ its place, top and left of the square; from tests/ref/augment_draws.py.
local FIXED = { "20@1 2,5", "1@15 3,0", "17@1 4,5", "5@15 4,0", "3@5 0,1", "6@15 2,4", "15@2 1,1", "13@1 1,5" }
local BORDER, ERASED = 0, -1 -- how `decoded` shows black and the mean

-- Images whose pixel (c, h, w) is 2·((c·H + h)·W + w) + 2, normalized so that black, every pixel and 0 (the mean) are
-- different; labels are row numbers. dtype: "u8" or "f32".
local function numbered(config, dtype)
  local full = { source = "synthetic", n = N, n_test = 10, shape = { CH, H, W } }
  for key, value in pairs(config) do full[key] = value end
  local set = data.load(full)
  if dtype == "f32" then set.train.x, set.scale = tensor.zeros({ N, CH, H, W }, "f32"), 1 end
  local x = ffi.cast(dtype == "f32" and "float *" or "uint8_t *", lib.lg_tensor_data(set.train.x))
  local y = ffi.cast("int32_t *", lib.lg_tensor_data(set.train.y))
  for i = 0, N - 1 do
    for k = 0, CH * H * W - 1 do x[i * CH * H * W + k] = 2 * k + 2 end
    y[i] = i
  end
  set.mean, set.sd = { 255 * set.scale, 253 * set.scale }, { 100 * set.scale, 50 * set.scale }
  return set
end

-- Row number → image as a flat list of pixel numbers 1, 2, …, BORDER or ERASED.
local function decoded(batches, epoch, skip)
  local images, n = {}, 0
  batches:start(epoch, skip)
  for x, y, rows in batches:each() do
    local v, label = ffi.cast("float *", lib.lg_tensor_data(x)), ffi.cast("int32_t *", lib.lg_tensor_data(y))
    for i = 0, rows - 1 do
      local image = {}
      for k = 0, CH * H * W - 1 do
        local plane = math.floor(k / (H * W))
        local raw = v[i * CH * H * W + k] * (plane == 0 and 100 or 50) + (plane == 0 and 255 or 253)
        local near = math.floor(raw + 0.5)
        assert(math.abs(raw - near) < 1e-3)
        image[k + 1] = v[i * CH * H * W + k] == 0 and ERASED or near / 2
      end
      images[label[i]] = image
      n = n + 1
    end
  end
  return images, n
end

-- The image, shifted by (down, across), mirrored or not; as `decoded` shows it.
local function changed(down, across, flip)
  local image = {}
  for c = 0, CH - 1 do
    for h = 0, H - 1 do
      for w = 0, W - 1 do
        local from_h, from_w = h + down, (flip and W - 1 - w or w) + across
        local inside = from_h >= 0 and from_h < H and from_w >= 0 and from_w < W
        image[#image + 1] = inside and (c * H + from_h) * W + from_w + 1 or BORDER
      end
    end
  end
  return image
end

local function loader(set, options)
  local full = { batch = 32, shuffle = true, seed = 1, augment = true }
  for key, value in pairs(options or {}) do full[key] = value end
  return data.loader(set, "train", nil, full)
end

local function key_of(image) return table.concat(image, " ") end

-- The square of erased pixels of an image: top, left, bottom, right (from 0, inclusive); checks that it is one, and the
-- same in every channel.
local function square(image)
  local top, left, bottom, right, count = H, W, -1, -1, 0
  for h = 0, H - 1 do
    for w = 0, W - 1 do
      local erased = image[h * W + w + 1] == ERASED
      assert.are.equal(erased, image[(H + h) * W + w + 1] == ERASED)
      if erased then
        top, left, bottom, right = math.min(top, h), math.min(left, w), math.max(bottom, h), math.max(right, w)
        count = count + 1
      end
    end
  end
  assert.are.equal(count, (bottom - top + 1) * (right - left + 1))
  return top, left, bottom, right
end

local function refused(kind, text, ...)
  local ok, e = pcall(...)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  assert.matches(text, e.message, 1, true)
end

for _, dtype in ipairs({ "u8", "f32" }) do
  describe("augmentation of " .. dtype, function()
    it("crops and flips: every place and side about equally often, nothing else", function()
      local set, place = numbered({ crop = 2, flip = true }, dtype), {}
      for down = -2, 2 do
        for across = -2, 2 do
          for _, flip in ipairs({ false, true }) do
            place[key_of(changed(down, across, flip))] = { down, across, flip and "flip" or "plain" }
          end
        end
      end
      local counts, batches, total = { {}, {}, {} }, loader(set), 0
      for epoch = 1, 5 do
        local images, n = decoded(batches, epoch)
        total = total + n
        for row, image in pairs(images) do
          local found = place[key_of(image)]
          assert(found, "row " .. row .. " is no crop of the image: " .. key_of(image))
          for k = 1, 3 do counts[k][found[k]] = (counts[k][found[k]] or 0) + 1 end
        end
      end
      assert.are.equal(5 * N, total)
      local function even(count, share) -- within 4.5 standard deviations
        local sd = math.sqrt(total * share * (1 - share))
        assert.is_true(math.abs(count - total * share) < 4.5 * sd, ("%d of %d, share %g"):format(count, total, share))
      end
      for shift = -2, 2 do
        even(counts[1][shift], 1 / 5)
        even(counts[2][shift], 1 / 5)
      end
      even(counts[3].flip, 1 / 2)
    end)

    it("erases a square around any pixel, cut off at the edges", function()
      for _, side in ipairs({ 1, 3, 4 }) do
        local set, centres, n = numbered({ cutout = side }, dtype), {}, 0
        local plain = changed(0, 0, false)
        for _, image in pairs(decoded(loader(set), 1)) do
          local top, left, bottom, right = square(image)
          for k, pixel in ipairs(image) do assert.is_true(pixel == ERASED or pixel == plain[k]) end
          -- A side shorter than the square lies at an edge.
          assert.is_true(bottom - top + 1 == side or top == 0 and bottom < side or bottom == H - 1)
          assert.is_true(right - left + 1 == side or left == 0 and right < side or right == W - 1)
          local key = ("%d %d %d %d"):format(top, left, bottom, right)
          if not centres[key] then n = n + 1 end
          centres[key] = true
        end
        assert.are.equal(H * W, n) -- each centre gives another rectangle, and 400 images find all
      end
    end)
  end)
end

describe("augmentation", function()
  local ALL = { crop = 2, flip = true, cutout = 3 }

  it("is a function of seed, epoch and row alone", function()
    local set = numbered(ALL, "u8")
    local first = decoded(loader(set), 3)
    local again = decoded(loader(set, { batch = 47, shuffle = false }), 3) -- another order, other batches
    assert.are.same(first, again)
    local rest, n = decoded(loader(set), 3, 10) -- resumed in the middle
    assert.are.equal(N - 320, n)
    for row, image in pairs(rest) do assert.are.same(first[row], image) end
    for _, other in ipairs({ decoded(loader(set), 4), (decoded(loader(set, { seed = 2 }), 3)) }) do
      local equal = 0
      for row, image in pairs(other) do
        if key_of(image) == key_of(first[row]) then equal = equal + 1 end
      end
      assert.is_true(equal < N / 20)
    end
  end)

  it("draws each change apart from the others", function()
    local both = decoded(loader(numbered({ crop = 2, flip = true }, "u8")), 1)
    local crop = decoded(loader(numbered({ crop = 2 }, "u8")), 1)
    local flipped = 0
    for row, image in pairs(both) do
      local mirrored = {}
      for k = 0, CH * H * W - 1 do mirrored[k + 1] = crop[row][k - k % W + W - k % W] end
      local same = key_of(image) == key_of(crop[row])
      assert.is_true(same or key_of(image) == key_of(mirrored))
      if not same then flipped = flipped + 1 end
    end
    assert.is_true(flipped > N / 3 and flipped < 2 * N / 3)
  end)

  it("has fixed values", function()
    local images, found = decoded(loader(numbered(ALL, "u8")), 1), {}
    for row = 0, 7 do
      local top, left = square(images[row])
      local anchor -- a pixel that is neither border nor erased tells the shift
      for k, pixel in ipairs(images[row]) do
        if pixel > 0 then anchor = anchor or ("%d@%d"):format(pixel, k) end
      end
      found[row + 1] = ("%s %d,%d"):format(anchor, top, left)
    end
    assert.are.same(FIXED, found)
  end)

  it("is for the loader that asks for it, and for the training part of a run alone", function()
    local set = numbered(ALL, "u8")
    local plain = changed(0, 0, false)
    for _, image in pairs(decoded(loader(set, { augment = false }), 1)) do assert.are.same(plain, image) end
    local asked, new = {}, data.loader
    data.loader = function(of, name, index, options) -- luacheck: ignore
      asked[#asked + 1] = options.augment or false
      return new(of, name, index, options)
    end
    local path = os.tmpname()
    local f = assert(io.open(path, "w"))
    f:write("return { data = { source = 'synthetic', n = 200, shape = {1, 8, 8}, crop = 1, flip = true }, "
      .. "model = lg.models.mlp{ hidden = {4} }, train = { epochs = 1 } }")
    f:close()
    local ok, session = pcall(function()
      return require("lgelu.train").session(require("lgelu.recipe").load(path, {}))
    end)
    data.loader = new -- luacheck: ignore
    assert(ok, tostring(session))
    assert.are.same({ true, false }, asked)
    assert.are.same({ crop = 1, flip = true, cutout = 0 }, session.set.augment)
  end)

  it("normalizes by the images as they are, not as they are changed", function()
    local plain = data.load{ source = "synthetic", n = 50, shape = { 3, 8, 8 } }
    local cut = data.load{ source = "synthetic", n = 50, shape = { 3, 8, 8 }, crop = 2, cutout = 4 }
    data.split(plain, 0.2, 1)
    data.split(cut, 0.2, 1)
    assert.are.same(plain.mean, cut.mean)
    assert.are.same(plain.sd, cut.sd)
  end)

  it("refuses what does not fit the images", function()
    local function load(config)
      config.source, config.n = config.source or "synthetic", 20
      return data.load(config)
    end
    refused("usage", "data.crop: found 8, expected less than the images' side, here 9×8", load,
      { crop = 8, shape = { 1, 9, 8 } })
    refused("usage", "data.cutout: found 13, expected at most the images' side, here 12×13", load,
      { cutout = 13, shape = { 1, 8, 9 }, pad = 2 })
    refused("usage", "data.crop: found -1, expected an integer from 0 to 1024", load, { crop = -1 })
    refused("usage", "data.flip: found 1, expected a boolean", load, { flip = 1 })
    refused("usage", "data.crop: unknown key of source 'moons'", load, { source = "moons", crop = 1 })
    refused("usage", "cutout: found 29, expected at most the images' side, here 28×28", data.load,
      { source = "fashion_mnist", cutout = 29 })
    refused("usage", "crop: found 32", data.load, { source = "cifar100", crop = 32 })
  end)

  it("is refused by the engine for what is no image, out of range, or too late", function()
    local set = numbered(ALL, "u8")
    local function refuses(text, l, crop, flip, cutout)
      assert.are_not.equal(0, lib.lg_loader_augment(l, crop, flip, cutout))
      assert.matches(text, ffi.string(lib.lg_last_error()), 1, true)
    end
    local batches = loader(set, { augment = false })
    refuses("crop = 6 pixels around images of 6×7, expected 0 to 5", batches.handle, 6, 0, 0)
    refuses("crop = -1", batches.handle, -1, 0, 0)
    refuses("flip = 2", batches.handle, 0, 2, 0)
    refuses("cutout = 7 pixels of images of 6×7, expected 0 to 6", batches.handle, 0, 0, 7)
    batches:start(0)
    refuses("before the loader is started", batches.handle, 1, 1, 1)
    local points = data.load{ source = "moons", n = 20 }
    refuses("only images, u8 or f32 [N, C, H, W]", data.loader(points, "train").handle, 1, 0, 0)
    refuses("NULL", nil, 1, 0, 0)
  end)
end)

describe("data.pad", function()
  it("puts black around every image, and changes no hash of the content", function()
    local plain = data.load{ source = "synthetic", n = 30, n_test = 5, shape = { 2, 3, 4 } }
    local set = data.load{ source = "synthetic", n = 30, n_test = 5, shape = { 2, 3, 4 }, pad = 2 }
    assert.are.same({ 30, 2, 7, 8 }, set.train.x.shape)
    assert.are.same({ 5, 2, 7, 8 }, set.test.x.shape)
    assert.are.same({ 2, 7, 8 }, set.input_shape)
    assert.are.equal("u8", set.x.dtype)
    assert.are.equal(plain.sha256, set.sha256)
    for _, part in ipairs({ "train", "test" }) do
      local small, large = plain[part].x:totable(), set[part].x:totable()
      for i = 1, #small do
        for c = 1, 2 do
          for h = 1, 7 do
            for w = 1, 8 do
              local row = small[i][c][h - 2]
              assert.are.equal(row and row[w - 2] or 0, large[i][c][h][w])
            end
          end
        end
      end
    end
  end)

  it("makes Fashion-MNIST 32×32", function()
    if not require("lgelu.data.find").is_folder("/usr/share/datasets/fashion-mnist") then
      print("SKIPPED: dataset-fashion-mnist is not installed")
      return
    end
    local set = data.load{ source = "fashion_mnist", pad = 2, limit = 300, test_limit = 10 }
    assert.are.same({ 300, 1, 32, 32 }, set.x.shape)
    assert.are.same({ 10, 1, 32, 32 }, set.test.x.shape)
    assert.are.equal(0, set.x[{ {}, {}, { 1, 2 } }]:max())
    assert.is_true(set.x:max() == 255)
  end)

  it("is refused for rows that are no images", function()
    local augment = require("lgelu.data.augment")
    assert.are.equal("pad: rows of shape {12} are no images {channels, height, width}",
      augment.problem({ pad = 1, crop = 0, flip = false, cutout = 0 }, { 12 }))
    assert.is_nil(augment.problem({ pad = 0, crop = 0, flip = false, cutout = 0 }, { 12 }))
  end)
end)
