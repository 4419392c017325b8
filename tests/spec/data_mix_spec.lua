--- data_mix_spec.lua: random erasing and mixup of the loader, against what the pixels say was done to them. Crop,
-- flip and cutout are in data_augment_spec.lua.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local ffi, lib = C.ffi, C.lib
local N, H, W = 400, 12, 10

-- Images of H×W whose pixels are f(row, place); labels are row numbers (0-based).
local function set_of(f, config)
  local full = { source = "synthetic", n = N, n_test = 10, shape = { 1, H, W } }
  for key, value in pairs(config) do full[key] = value end
  local set = data.load(full)
  set.train.x, set.scale, set.mean, set.sd = tensor.zeros({ N, 1, H, W }, "f32"), 1, { 0 }, { 1 }
  local x = ffi.cast("float *", lib.lg_tensor_data(set.train.x))
  local y = ffi.cast("int32_t *", lib.lg_tensor_data(set.train.y))
  for i = 0, N - 1 do
    for k = 0, H * W - 1 do x[i * H * W + k] = f(i, k) end
    y[i] = i
  end
  return set
end

-- Rows of an epoch in the index's order: list of { pixels (from 0), label }.
local function rows(set, o)
  local loader = data.loader(set, "train", o.index, { batch = o.batch or 64, seed = o.seed or 1,
    augment = o.augment ~= false })
  loader:start(o.epoch or 1, o.skip)
  local list = {}
  for x, y, n in loader:each() do
    local from, label = ffi.cast("float *", lib.lg_tensor_data(x)), ffi.cast("int32_t *", lib.lg_tensor_data(y))
    for i = 0, n - 1 do
      local pixels = {}
      for k = 0, H * W - 1 do pixels[k] = from[i * H * W + k] end
      list[#list + 1] = { pixels, label[i] }
    end
  end
  loader:free()
  return list
end

describe("random erasing", function()
  local function plain() return 5 end

  it("makes a rectangle of 2 to 33 % of an image noise, as often as it is told to", function()
    local count, area, sum, squares, noise = 0, 0, 0, 0, 0
    for _, row in ipairs(rows(set_of(plain, { erase = 0.5 }), {})) do
      local top, bottom, left, right, pixels = H, -1, W, -1, 0
      for k = 0, H * W - 1 do
        if row[1][k] ~= 5 then
          local h, w = math.floor(k / W), k % W
          top, bottom, left, right = math.min(top, h), math.max(bottom, h), math.min(left, w), math.max(right, w)
          pixels, sum, squares = pixels + 1, sum + row[1][k], squares + row[1][k] ^ 2
        end
      end
      if pixels > 0 then
        count, area, noise = count + 1, area + pixels, noise + pixels
        local height, width = bottom - top + 1, right - left + 1
        assert.are.equal(height * width, pixels) -- one whole rectangle
        assert.is_true(height < H and width < W)
        -- sides are rounded: half a pixel either way
        assert.is_true(math.max(height - 0.5, 0) * math.max(width - 0.5, 0) <= 0.33 * H * W)
        assert.is_true((height + 0.5) * (width + 0.5) >= 0.02 * H * W)
        assert.is_true((height + 0.5) / (width - 0.5) >= 0.3 and (height - 0.5) / (width + 0.5) <= 1 / 0.3)
      end
    end
    assert.is_true(math.abs(count / N - 0.5) < 5 * math.sqrt(0.25 / N))
    assert.is_true(math.abs(sum / noise) < 5 / math.sqrt(noise))
    assert.is_true(math.abs(squares / noise - 1) < 5 * math.sqrt(2 / noise))
    assert.is_true(area / count > 0.1 * H * W and area / count < 0.25 * H * W)
  end)

  it("leaves evaluation and images alone where it is off, and goes together with the other changes", function()
    local set = set_of(plain, { erase = 1 })
    for _, row in ipairs(rows(set, { augment = false })) do
      for k = 0, H * W - 1 do assert.are.equal(5, row[1][k]) end
    end
    local both, cut = rows(set_of(plain, { erase = 0.5, cutout = 3 }), {}), rows(set_of(plain, { cutout = 3 }), {})
    local same = 0
    for i, row in ipairs(both) do
      local equal = true
      for k = 0, H * W - 1 do equal = equal and row[1][k] == cut[i][1][k] end
      same = same + (equal and 1 or 0)
    end
    assert.is_true(math.abs(same / N - 0.5) < 5 * math.sqrt(0.25 / N))
  end)
end)

describe("mixup", function()
  -- Two pixels tell which row was mixed in and by which share: i and i².
  local function telling(i, k) return k == 0 and i or k == 1 and i * i or 0 end

  -- For each row i of the index: the share of it, the other row, the label.
  local function mixed(config, o)
    local list = {}
    for i, row in ipairs(rows(set_of(telling, config), o)) do
      local own = o.index and o.index[i] - 1 or i - 1
      local a, b, found = row[1][0], row[1][1], nil
      for other = 0, N - 1 do
        local share = other == own and 1 or (a - other) / (own - other)
        if share > -1e-3 and share < 1 + 1e-3 and math.abs(share * own ^ 2 + (1 - share) * other ^ 2 - b) < 0.05 then
          if not found or found.share == 1 or row[2] == other then
            found = { share = share, other = other, own = own, label = row[2] }
          end
        end
      end
      assert(found, ("row %d: %g and %g are no mixture"):format(i, a, b))
      list[i] = found
    end
    return list
  end

  it("mixes each row with another of the index by shares of Beta(α, α), and draws the label by them", function()
    for _, alpha in ipairs({ 0.3, 1 }) do
      local sum, squares, theirs, expected, variance = 0, 0, 0, 0, 0
      for _, m in ipairs(mixed({ mixup = alpha }, {})) do
        sum, squares = sum + m.share, squares + m.share ^ 2
        assert.is_true(m.label == m.own or m.label == m.other)
        if m.label ~= m.own then theirs = theirs + 1 end
        expected, variance = expected + 1 - m.share, variance + m.share * (1 - m.share)
      end
      local mean, spread = sum / N, 1 / (4 * (2 * alpha + 1)) -- of Beta(α, α)
      assert.is_true(math.abs(mean - 0.5) < 5 * math.sqrt(spread / N))
      assert.is_true(math.abs(squares / N - mean ^ 2 - spread) < 0.03)
      assert.is_true(math.abs(theirs - expected) < 5 * math.sqrt(variance) + 1)
    end
  end)

  it("takes partners from the index alone", function()
    local index = {}
    for i = 1, N / 4 do index[i] = 4 * i end
    for _, m in ipairs(mixed({ mixup = 1 }, { index = index })) do
      if m.share < 0.99 then assert.are.equal(3, m.other % 4) end
    end
  end)

  it("is a function of seed, epoch and row, whatever the batch and after a resume", function()
    local set = set_of(telling, { mixup = 0.5, erase = 0.3, crop = 2, flip = true })
    local first = rows(set, {})
    assert.are.same(first, rows(set, { batch = 7 }))
    assert.are.same({ unpack(first, 129) }, rows(set, { skip = 2 }))
    assert.are_not.same(first, rows(set, { epoch = 2 }))
    assert.are_not.same(first, rows(set, { seed = 2 }))
  end)
end)

describe("both", function()
  it("are refused where they do not fit", function()
    local function refused(text, config)
      local ok, e = pcall(set_of, function() return 0 end, config)
      assert.is_false(ok)
      assert(errors.is(e, "usage"), tostring(e))
      assert.matches(text, e.message, 1, true)
    end
    refused("data.erase: found 1.5", { erase = 1.5 })
    refused("data.mixup: found 0", { mixup = 0 })
    refused("data.mixup: found 2", { mixup = 2 })
    local function refuses(text, status)
      assert.are_not.equal(0, status)
      assert.matches(text, ffi.string(lib.lg_last_error()), 1, true)
    end
    local loader = data.loader(set_of(function() return 0 end, {}), "train", nil, {})
    refuses("p = 2, expected a probability", lib.lg_loader_erase(loader.handle, 2))
    refuses("alpha = -1, expected 0 to 1", lib.lg_loader_mix(loader.handle, -1))
    loader:start(0)
    refuses("before the loader is started", lib.lg_loader_erase(loader.handle, 0.5))
    refuses("before the loader is started", lib.lg_loader_mix(loader.handle, 0.5))
    local points = data.loader(data.load{ source = "moons", n = 20 }, "train", nil, {})
    refuses("only images", lib.lg_loader_erase(points.handle, 0.5))
    local text = data.loader(data.load{ source = "synthetic_text", n = 500, context = 8 }, "train", nil, {})
    refuses("only rows of numbers", lib.lg_loader_mix(text.handle, 0.5))
  end)
end)
