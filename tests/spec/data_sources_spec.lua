-- data_sources_spec.lua: the data sources, their keys, their content, and what they say when something is wrong.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folders = require("tests.spec.support.folders")
local temporary_folder, write = folders.temporary, folders.write

local ffi = C.ffi

-- An IDX file: code of the type, dimensions, payload.
local function idx_bytes(code, dims, payload)
  local parts = { string.char(0, 0, code, #dims) }
  for _, n in ipairs(dims) do
    parts[#parts + 1] = string.char(math.floor(n / 2 ^ 24) % 256, math.floor(n / 2 ^ 16) % 256,
      math.floor(n / 256) % 256, n % 256)
  end
  return table.concat(parts) .. payload
end

-- A folder of MNIST's file names: 4 training and 2 test images of 2×3; changes: file → bytes, or false: no file.
local function idx_folder(changes)
  local folder = temporary_folder()
  local files = {
    ["train-images-idx3-ubyte"] = idx_bytes(8, { 4, 2, 3 }, ("abcdefghijklmnopqrstuvwx")),
    ["train-labels-idx1-ubyte"] = idx_bytes(8, { 4 }, "\0\1\2\1"),
    ["t10k-images-idx3-ubyte"] = idx_bytes(8, { 2, 2, 3 }, "ABCDEFGHIJKL"),
    ["t10k-labels-idx1-ubyte"] = idx_bytes(8, { 2 }, "\2\0"),
  }
  for name, bytes in pairs(changes or {}) do files[name] = bytes end
  for name, bytes in pairs(files) do
    if bytes then write(folder .. "/" .. name, bytes) end
  end
  return folder
end

-- Loads config, which must fail with this kind; returns the message.
local function refused(kind, config)
  local ok, e = pcall(data.load, config)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  return e.message
end

-- Runs code in a fresh luajit with shell assignments before it; returns its output.
local function fresh(assignments, code)
  local preload = os.getenv("LGELU_PRELOAD")
  if preload then assignments = assignments .. " LD_PRELOAD=" .. preload end
  local p = io.popen(("%s luajit -e '%s' 2>&1"):format(assignments,
    ('package.path = "%s;" .. package.path '):format(package.path) .. code))
  local text = p:read("*a")
  p:close()
  return text
end

local HAS_FASHION_MNIST = require("lgelu.data.find").is_folder("/usr/share/datasets/fashion-mnist")

-- A spec that needs Debian's package; says SKIPPED where it is missing.
local function with_fashion_mnist(name, body)
  it(name, function()
    if not HAS_FASHION_MNIST then
      print("SKIPPED: " .. name .. ": dataset-fashion-mnist is not installed")
      return
    end
    body()
  end)
end

describe("the list of sources", function()
  it("has a documented schema for each, whose defaults fit", function()
    local check = require("lgelu.recipe.check")
    assert.are.same({ "fashion_mnist", "cifar10", "cifar100", "idx", "synthetic", "moons", "text", "synthetic_text",
      "csv", "adult", "synthetic_table", "sst2", "synthetic_sentences" }, data.sources())
    for _, name in ipairs(data.sources()) do
      local source = data.source(name)
      assert.is_string(source.doc)
      assert.is_true(source.kind == "files" or source.kind == "generated")
      local seen = {}
      for _, entry in ipairs(data.schema(name)) do
        assert.is_nil(seen[entry.key])
        seen[entry.key] = true
        assert.is_string(entry.doc)
        if entry.default ~= nil then assert.is_nil(check.problem(entry, entry.default)) end
        assert.is_true(entry.default ~= nil or entry.required or entry.optional)
      end
      assert.are.equal(not source.own_validation, seen.validation or false)
    end
  end)

  it("refuses unknown sources, keys and values with the nearest name", function()
    assert.matches("'synthetc', expected one of " .. table.concat(data.sources(), ", ")
      .. ", did you mean 'synthetic'?", refused("usage", { source = "synthetc" }), 1, true)
    assert.matches("data.nois: unknown key of source 'moons', which knows: source, n, noise, seed, test, validation, "
      .. "did you mean 'noise'?", refused("usage", { source = "moons", nois = 1 }), 1, true)
    assert.matches("data.n: found 1.5, expected an integer", refused("usage", { source = "moons", n = 1.5 }), 1, true)
    assert.matches("data.noise: found -1", refused("usage", { source = "moons", noise = -1 }), 1, true)
    assert.matches("found 2 numbers, expected 3", refused("usage", { source = "synthetic", shape = { 28, 28 } }), 1,
      true)
    assert.matches("data.path is missing", refused("usage", { source = "idx" }), 1, true)
    assert.matches("expected a table", select(2, pcall(data.load, "moons")).message, 1, true)
  end)
end)

describe("moons", function()
  it("without noise are the points of make_moons, each once", function()
    local n = 41
    local set = data.load{ source = "moons", n = n, noise = 0, test = 0 }
    assert.is_nil(set.test)
    assert.are.same({ n, 2 }, set.x.shape)
    assert.are.same({ 2 }, set.input_shape)
    local x, y, seen = set.x:totable(), set.y:totable(), {}
    for i = 1, n do
      local px, py = x[i][1], x[i][2]
      -- The angle on the half circle of the class gives the point's number: even steps over [0, π].
      local count = y[i] == 0 and 20 or 21
      local cx, cy = px, py
      if y[i] == 1 then cx, cy = 1 - px, 0.5 - py end
      assert.is_true(math.abs(cx * cx + cy * cy - 1) < 1e-6)
      local step = math.atan2(cy, cx) / math.pi * (count - 1)
      if step < -0.5 then step = step + 2 * (count - 1) end
      assert.is_true(math.abs(step - math.floor(step + 0.5)) < 1e-5)
      local key = y[i] * 100 + math.floor(step + 0.5)
      assert.is_nil(seen[key])
      seen[key] = true
    end
    for k = 0, 19 do assert.is_true(seen[k]) end
    for k = 0, 20 do assert.is_true(seen[100 + k]) end
  end)

  it("have noise of the given size, other points in the test part, and depend on the seed alone", function()
    local clean = data.load{ source = "moons", n = 4000, noise = 0, seed = 3 }
    local noisy = data.load{ source = "moons", n = 4000, noise = 0.3, seed = 3 }
    assert.are.same(clean.y:totable(), noisy.y:totable())
    local a, b, sum, squares = clean.x:totable(), noisy.x:totable(), 0, 0
    for i = 1, 4000 do
      for k = 1, 2 do
        local d = b[i][k] - a[i][k]
        sum, squares = sum + d, squares + d * d
      end
    end
    assert.is_true(math.abs(sum / 8000) < 4 * 0.3 / math.sqrt(8000))
    assert.is_true(math.abs(math.sqrt(squares / 8000) - 0.3) < 0.01)
    assert.are.same({ 2000, 2 }, noisy.test.x.shape)
    assert.are_not.same(noisy.test.x:totable()[1], b[1])
    assert.are.equal(noisy.sha256, data.load{ source = "moons", n = 4000, noise = 0.3, seed = 3 }.sha256)
    assert.are_not.equal(noisy.sha256, data.load{ source = "moons", n = 4000, noise = 0.3, seed = 4 }.sha256)
  end)
end)

describe("synthetic", function()
  it("is the same for the same keys, and has the shape and classes that are asked for", function()
    local config = { source = "synthetic", n = 300, n_test = 50, shape = { 3, 8, 6 }, classes = 7, seed = 2 }
    local set = data.load(config)
    assert.are.same({ 300, 3, 8, 6 }, set.train.x.shape)
    assert.are.same({ 50, 3, 8, 6 }, set.test.x.shape)
    assert.are.equal("u8", set.x.dtype)
    assert.are.equal("i32", set.y.dtype)
    assert.are.equal(7, set.classes)
    local seen = {}
    for _, label in ipairs(set.y:totable()) do seen[label] = true end
    for label = 0, 6 do assert.is_true(seen[label]) end
    assert.are.equal(set.sha256, data.load(config).sha256)
    config.n = 100 -- the first images and the test part do not depend on how many there are
    local less = data.load(config)
    assert.are.same(less.y:totable()[100], set.y:totable()[100])
    assert.are.same(less.test.y:totable(), set.test.y:totable())
    config.seed = 3
    assert.are_not.equal(less.sha256, data.load(config).sha256)
    config.n_test = 0
    assert.is_nil(data.load(config).test)
  end)

  -- Nearest class mean is a linear classifier; one neighbour is not. Both see 2000 images at most, so both stay below
  -- what a trained model gets.
  it("is learnable, not linearly so, and not wholly", function()
    local set = data.load{ source = "synthetic", n = 2000, n_test = 300 }
    local d, n, m = 784, 2000, 300
    local function pointer(t, kind) return ffi.cast(kind, C.lib.lg_tensor_data(t)) end
    local x, y = pointer(set.train.x, "uint8_t *"), pointer(set.train.y, "int32_t *")
    local xt, yt = pointer(set.test.x, "uint8_t *"), pointer(set.test.y, "int32_t *")
    local means, counts = ffi.new("double[?]", 10 * d), ffi.new("double[10]")
    for i = 0, n - 1 do
      counts[y[i]] = counts[y[i]] + 1
      for k = 0, d - 1 do means[y[i] * d + k] = means[y[i] * d + k] + x[i * d + k] end
    end
    local function nearest(i, rows, row_at)
      local best, at = math.huge, 0
      for r = 0, rows - 1 do
        local sum = 0
        for k = 0, d - 1 do
          local e = xt[i * d + k] - row_at(r, k)
          sum = sum + e * e
        end
        if sum < best then best, at = sum, r end
      end
      return at
    end
    local linear, neighbour = 0, 0
    for i = 0, m - 1 do
      if nearest(i, 10, function(r, k) return means[r * d + k] / counts[r] end) == yt[i] then linear = linear + 1 end
      if y[nearest(i, n, function(r, k) return x[r * d + k] end)] == yt[i] then neighbour = neighbour + 1 end
    end
    assert.is_true(linear / m > 0.5 and linear / m < 0.85, "nearest mean: " .. linear / m)
    assert.is_true(neighbour / m > 0.6 and neighbour / m < 0.99, "nearest neighbour: " .. neighbour / m)
  end)
end)

describe("idx", function()
  it("reads plain and gzipped files alike, to the same content", function()
    local folder = idx_folder()
    local set = data.load{ source = "idx", path = folder }
    assert.are.same({ 4, 1, 2, 3 }, set.x.shape)
    assert.are.same({ 0, 1, 2, 1 }, set.y:totable())
    assert.are.same({ 2, 0 }, set.test.y:totable())
    assert.are.same({ 1, 2, 3 }, set.input_shape)
    assert.are.equal(3, set.classes)
    assert.are.equal(folder, set.found_in)
    assert.are.equal(("x"):byte(), set.x:totable()[4][1][2][3])
    assert(os.execute(("gzip '%s'/*"):format(folder)) == 0)
    assert.are.equal(set.sha256, data.load{ source = "idx", path = folder }.sha256)
    local two = data.load{ source = "idx", path = folder, limit = 2, test_limit = 1 }
    assert.are.same({ 2, 1, 2, 3 }, two.x.shape)
    assert.are.same({ 0, 1 }, two.y:totable())
    assert.are.same({ 1, 1, 2, 3 }, two.test.x.shape)
    assert.are.equal(3, two.classes)
  end)

  it("takes a folder without a test part, but not with half of one", function()
    local none = { ["t10k-images-idx3-ubyte"] = false, ["t10k-labels-idx1-ubyte"] = false }
    assert.is_nil(data.load{ source = "idx", path = idx_folder(none) }.test)
    none["t10k-images-idx3-ubyte"] = nil
    assert.matches("holds t10k-images-idx3-ubyte but not t10k-labels-idx1-ubyte",
      refused("fail", { source = "idx", path = idx_folder(none) }), 1, true)
  end)

  -- What is wrong with a file of the folder → what the message says.
  local WRONG = {
    { "fewer labels than images", "train-labels-idx1-ubyte", idx_bytes(8, { 3 }, "\0\1\2"),
      "holds 3 labels, .*train%-images%-idx3%-ubyte holds 4 images" },
    { "images where labels should be", "train-labels-idx1-ubyte", idx_bytes(8, { 4, 1 }, "\0\1\2\1"), "swapped" },
    { "labels where images should be", "train-images-idx3-ubyte", idx_bytes(8, { 4 }, "\0\1\2\1"), "swapped" },
    { "a negative label", "train-labels-idx1-ubyte", idx_bytes(9, { 4 }, "\0\1\255\1"), "label %-1 of row 3" },
    { "labels that are not integers", "train-labels-idx1-ubyte", idx_bytes(13, { 4 }, ("\0"):rep(16)), "f32" },
    { "a test label beyond the classes", "t10k-labels-idx1-ubyte", idx_bytes(8, { 2 }, "\0\3"),
      "label 3 of row 2 is outside 0..2" },
    { "test images of another size", "t10k-images-idx3-ubyte", idx_bytes(8, { 2, 3, 2 }, "ABCDEFGHIJKL"),
      "differ in shape" },
    { "no images", "train-images-idx3-ubyte", idx_bytes(8, { 0, 2, 3 }, ""), "holds 4 labels, .* holds 0 images" },
    { "images that are not finite", "train-images-idx3-ubyte", idx_bytes(13, { 4, 1, 1 }, ("\127\128\0\0"):rep(4)),
      "train%-images%-idx3%-ubyte: holds a value that is not finite" },
    { "a file cut short", "train-images-idx3-ubyte", idx_bytes(8, { 4, 2, 3 }, "abc"), "= 24 bytes, found 3 bytes" },
    { "a wrong magic", "train-images-idx3-ubyte", "\31\139\8\8 not really gzip", "train%-images%-idx3%-ubyte" },
  }
  for _, case in ipairs(WRONG) do
    local name, file, bytes, text = unpack(case)
    it("refuses " .. name, function()
      assert.matches(text, refused("fail", { source = "idx", path = idx_folder({ [file] = bytes }) }))
    end)
  end

  it("finds a relative path below LGELU_DATA", function()
    local folder = idx_folder()
    local parent, name = folder:match("^(.*)/([^/]+)$")
    local text = fresh(("LGELU_DATA=/nowhere:'%s'"):format(parent),
      ('local s = require("lgelu.data").load{source="idx", path="%s"} print(s.found_in, s.notes[1])'):format(name))
    assert.matches(folder, text, 1, true)
    assert.matches("LGELU_DATA names /nowhere, which is no folder", text, 1, true)
  end)
end)

describe("fashion_mnist", function()
  with_fashion_mnist("is read whole, with the known mean and deviation", function()
    collectgarbage()
    collectgarbage()
    local start = C.lib.lg_clock()
    local set = data.load{ source = "fashion_mnist", path = "/usr/share/datasets" }
    assert.is_true(C.lib.lg_clock() - start < 30) -- a reading aloud; bench measures
    assert.are.same({ 60000, 1, 28, 28 }, set.train.x.shape)
    assert.are.same({ 10000, 1, 28, 28 }, set.test.x.shape)
    assert.are.equal("u8", set.x.dtype)
    assert.are.equal(10, set.classes)
    assert.are.equal("Ankle boot", set.labels[10])
    assert.are.equal("9060ac31351e140e2c474ddd2ab04cc14127948ba4019da9285a380efa0ed0dd", set.sha256)
    local counts = {}
    for _, label in ipairs(set.y:totable()) do counts[label] = (counts[label] or 0) + 1 end
    for label = 0, 9 do assert.are.equal(6000, counts[label]) end
    data.split(set, 0, 1) -- all rows: the published 0.2860 and 0.3530
    assert.is_true(math.abs(set.mean[1] - 0.28604) < 1e-5 and math.abs(set.sd[1] - 0.35302) < 1e-5)
  end)

  it("says where it looked and names three ways on when it is missing", function()
    local message = refused("fail", { source = "fashion_mnist", path = "/nowhere" })
    for _, text in ipairs({ "/nowhere: no such folder (data.path)", "lgelu data get fashion_mnist",
      "data.path = another folder, or none: then", "data.source=synthetic", "dataset-fashion-mnist" }) do
      assert.matches(text, message, 1, true)
    end
    local folder = temporary_folder()
    write(folder .. "/train-images-idx3-ubyte", "")
    assert.matches(folder .. ": lacks train-labels-idx1-ubyte, t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte",
      refused("fail", { source = "fashion_mnist", path = folder }), 1, true)
    -- A way on is named only where it leads on: no data folder is searched for a path from the root.
    assert.is_nil(message:find("LGELU_DATA", 1, true))
    assert.is_nil(refused("fail", { source = "idx", path = "/nowhere" }):find("LGELU_DATA = ", 1, true))
    assert.matches("LGELU_DATA = the folder that holds nowhere",
      refused("fail", { source = "idx", path = "nowhere" }), 1, true)
  end)
end)

describe("the search order", function()
  local find = require("lgelu.data.find")

  it("is LGELU_DATA, data/, lgelu's data, the user's data, the system's data", function()
    local a, b = temporary_folder(), temporary_folder()
    local text = fresh(("LGELU_DATA='%s:/nowhere:%s:%s' XDG_DATA_HOME=/xdg"):format(b, a, b),
      'for _, f in ipairs(require("lgelu.data.find").folders()) do print(f.path, f.absent) end')
    local order = { b, "/nowhere", a, "data", "/xdg/lgelu", "/usr/share/datasets" }
    local at = 0
    for _, path in ipairs(order) do
      local found = text:find("\n" .. path .. "\t", 1, true) or text:find(path .. "\t", 1, true) == 1 and 1
      assert(found and found >= at, path .. " is not in its place in:\n" .. text)
      at = found
    end
    assert.are.equal(2, select(2, text:gsub("true", ""))) -- /nowhere and /xdg/lgelu are absent
    assert.is_nil(text:find(b .. "\tfalse.*" .. b .. "\t")) -- each folder once
  end)

  it("takes the first folder that has all files", function()
    local a, b = temporary_folder(), temporary_folder()
    assert(os.execute(("mkdir '%s/set' '%s/set'"):format(a, b)) == 0)
    write(a .. "/set/one", "")
    write(b .. "/set/one", "")
    write(b .. "/set/two.gz", "")
    assert.are.equal(b .. "/set", (find.set({ folders = { "set" }, files = { "one", "two" }, path = b })))
    local folder, tried = find.set({ folders = { "set" }, files = { "one", "two" }, path = a })
    assert.is_nil(folder)
    assert.are.equal(a .. "/set: lacks two (data.path)", tried[1])
  end)
end)
