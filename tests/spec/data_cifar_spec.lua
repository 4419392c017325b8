-- data_cifar_spec.lua: the CIFAR readers on small made files, right and wrong; on the real CIFAR-100 where it is beside
-- the checkout.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local files = require("lgelu.data.files")
local find = require("lgelu.data.find")
local manifest = require("lgelu.data.manifest")
local folders = require("tests.spec.support.folders")
local temporary_folder, write = folders.temporary, folders.write

C.ffi.cdef("int setenv(const char *name, const char *value, int overwrite);")

local PIXELS = 3072
local REAL = "../shared/data/cifar-100-binary"

-- Pixel i (0-based) of an image of this number.
local function pixel(number, i) return (number * 37 + i * 11 + math.floor(i / 256)) % 256 end

-- Records: one for each entry, which lists the label bytes; the images are numbered from `first`.
local function records(list, first)
  local parts = {}
  for k, labels in ipairs(list) do
    parts[#parts + 1] = string.char(unpack(labels))
    local bytes = {}
    for i = 0, PIXELS - 1 do bytes[i + 1] = string.char(pixel(first + k - 1, i)) end
    parts[#parts + 1] = table.concat(bytes)
  end
  return table.concat(parts)
end

local TRAIN, TEST = { { 3, 99 }, { 19, 0 }, { 0, 42 } }, { { 7, 7 }, { 1, 98 } }

-- A folder with CIFAR-100's files; changes: file → bytes, or false: no file.
local function folder100(changes)
  local folder = temporary_folder()
  local content = { ["train.bin"] = records(TRAIN, 0), ["test.bin"] = records(TEST, 50) }
  for name, bytes in pairs(changes or {}) do content[name] = bytes end
  for name, bytes in pairs(content) do
    if bytes then write(folder .. "/" .. name, bytes) end
  end
  return folder
end

local function folder10()
  local folder = temporary_folder()
  for i = 1, 5 do write(("%s/data_batch_%d.bin"):format(folder, i), records({ { i - 1 }, { 9 } }, 2 * i)) end
  write(folder .. "/test_batch.bin", records({ { 8 } }, 99))
  return folder
end

local function refused(kind, config)
  local ok, e = pcall(data.load, config)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  return e.message
end

local function assert_image(number, x)
  for _, at in ipairs({ { 1, 1, 1 }, { 1, 1, 32 }, { 1, 2, 1 }, { 2, 1, 1 }, { 3, 17, 5 }, { 3, 32, 32 } }) do
    local i = (at[1] - 1) * 1024 + (at[2] - 1) * 32 + at[3] - 1
    assert.are.equal(pixel(number, i), x[at])
  end
end

describe("cifar100", function()
  it("is read as planes of red, green, blue with fine or coarse labels", function()
    local folder = folder100()
    local set = data.load{ source = "cifar100", path = folder }
    assert.are.same({ 3, 3, 32, 32 }, set.train.x.shape)
    assert.are.same({ 2, 3, 32, 32 }, set.test.x.shape)
    assert.are.same({ 3, 32, 32 }, set.input_shape)
    assert.are.equal("u8", set.x.dtype)
    assert.are.same({ 99, 0, 42 }, set.y:totable())
    assert.are.same({ 7, 98 }, set.test.y:totable())
    assert.are.equal(100, set.classes)
    assert.are.equal(100, #set.labels)
    assert.are.equal("worm", set.labels[100])
    for k = 1, 3 do assert_image(k - 1, set.train.x[k]) end
    for k = 1, 2 do assert_image(49 + k, set.test.x[k]) end
    local coarse = data.load{ source = "cifar100", path = folder, labels = "coarse" }
    assert.are.same({ 3, 19, 0 }, coarse.y:totable())
    assert.are.equal(20, coarse.classes)
    assert.are.equal("vehicles_2", coarse.labels[20])
    assert.matches("labels: found 'corse', expected one of fine, coarse, did you mean 'coarse'?",
      refused("usage", { source = "cifar100", path = folder, labels = "corse" }), 1, true)
  end)

  it("is the same gzipped, below the named folder, and cut to its first rows", function()
    local folder = folder100()
    local set = data.load{ source = "cifar100", path = folder }
    assert(os.execute(("gzip '%s'/*"):format(folder)) == 0)
    assert.are.equal(set.sha256, data.load{ source = "cifar100", path = folder }.sha256)
    local parent = temporary_folder()
    assert(os.execute(("mv '%s' '%s/cifar-100-binary'"):format(folder, parent)) == 0)
    local less = data.load{ source = "cifar100", path = parent, limit = 2, test_limit = 1 }
    assert.are.equal(parent .. "/cifar-100-binary", less.found_in)
    assert.are.same({ 99, 0 }, less.y:totable())
    assert.are.same({ 1, 3, 32, 32 }, less.test.x.shape)
  end)

  local good = records(TRAIN, 0)
  -- What is wrong with train.bin → what the message says.
  local WRONG = {
    { "a file cut short", good:sub(1, -2), "9221 bytes are 2 of CIFAR-100's records of 3074 bytes with 3073 left "
      .. "over: the file is cut short or not of this format" },
    { "a file that is too long", good .. "x",
      "are 3 of CIFAR-100's records of 3074 bytes with 1 left over" },
    { "CIFAR-10's records", records({ { 1 }, { 2 } }, 0),
      "6146 bytes are 2 of CIFAR-10's records of 3073 bytes, expected "
      .. "CIFAR-100, whose records have 3074" },
    { "an empty file", "", "is empty, expected CIFAR-100 records of 3074 bytes" },
    { "a fine label of 100", records({ { 3, 99 }, { 0, 100 } }, 0),
      "fine label 100 of record 2 (at byte 3075) is outside 0..99 of CIFAR-100" },
    { "a coarse label of 20", records({ { 20, 1 } }, 0), "coarse label 20 of record 1 (at byte 0) is outside 0..19" },
  }
  for _, case in ipairs(WRONG) do
    local name, bytes, text = unpack(case)
    it("refuses " .. name, function()
      local folder = folder100({ ["train.bin"] = bytes })
      local message = refused("fail", { source = "cifar100", path = folder })
      assert.matches(folder .. "/train.bin: ", message, 1, true)
      assert.matches(text, message, 1, true)
      folder = folder100({ ["test.bin"] = bytes }) -- whichever labels are asked for
      assert.matches(text, refused("fail", { source = "cifar100", path = folder, labels = "coarse" }), 1, true)
    end)
  end

  it("refuses a gzipped file cut short", function()
    local folder = folder100()
    assert(os.execute(("gzip '%s/train.bin' && truncate -s -9 '%s/train.bin.gz'"):format(folder, folder)) == 0)
    assert.matches("train.bin.gz: gzip data is cut short", refused("fail", { source = "cifar100", path = folder }), 1,
      true)
  end)

  it("says where it looked and names three ways on when it is missing", function()
    local message = refused("fail", { source = "cifar100", path = "/nowhere" })
    for _, text in ipairs({ "/nowhere: no such folder (data.path)", "lgelu data get cifar100\n",
      "data.path = another folder",
      "data.source=synthetic" }) do
      assert.matches(text, message, 1, true)
    end
    local before = { LGELU_DATA = os.getenv("LGELU_DATA"), XDG_DATA_HOME = os.getenv("XDG_DATA_HOME") }
    for name in pairs({ LGELU_DATA = true, XDG_DATA_HOME = true }) do C.ffi.C.setenv(name, "/nowhere", 1) end
    message = refused("fail", { source = "cifar100" })
    for name in pairs({ LGELU_DATA = true, XDG_DATA_HOME = true }) do C.ffi.C.setenv(name, before[name] or "", 1) end
    for _, text in ipairs({ "lgelu data get cifar100\n", "LGELU_DATA = the folder that holds cifar-100-binary/",
      "data.source=synthetic" }) do
      assert.matches(text, message, 1, true)
    end
    local folder = folder100({ ["test.bin"] = false })
    assert.matches(folder .. ": lacks test.bin", refused("fail", { source = "cifar100", path = folder }), 1, true)
  end)

  it("is the real one, with the published mean and deviation", function()
    if not find.is_folder(REAL) then
      print("SKIPPED: " .. REAL .. " is not there")
      return
    end
    local set = data.load{ source = "cifar100", path = "../shared/data" }
    assert.are.same({ 50000, 3, 32, 32 }, set.train.x.shape)
    assert.are.same({ 10000, 3, 32, 32 }, set.test.x.shape)
    for part, each in pairs({ train = 500, test = 100 }) do
      local counts = {}
      for _, label in ipairs(set[part].y:totable()) do counts[label] = (counts[label] or 0) + 1 end
      for label = 0, 99 do assert.are.equal(each, counts[label]) end
    end
    data.split(set, 0, 1)
    local mean = { 0.5070751592371323, 0.486548873314951, 0.4409178433670343 }
    local sd = { 0.26733428587924, 0.25643846291709, 0.27615047132568 }
    for c = 1, 3 do
      assert.is_true(math.abs(set.mean[c] - mean[c]) < 1e-15)
      assert.is_true(math.abs(set.sd[c] - sd[c]) < 1e-14)
    end
    local results, right = files.check(manifest.get("cifar100"), REAL)
    assert.is_true(right)
    assert.matches("another order", results[1].note, 1, true)
  end)
end)

describe("cifar10", function()
  it("is read from its five files, in their order", function()
    local set = data.load{ source = "cifar10", path = folder10() }
    assert.are.same({ 10, 3, 32, 32 }, set.x.shape)
    assert.are.same({ 0, 9, 1, 9, 2, 9, 3, 9, 4, 9 }, set.y:totable())
    assert.are.same({ 8 }, set.test.y:totable())
    for k = 1, 10 do assert_image(k + 1, set.x[k]) end
    assert.are.equal("truck", set.labels[10])
    assert.are.same({ 0, 9, 1 }, data.load{ source = "cifar10", path = set.found_in, limit = 3 }.y:totable())
  end)

  it("refuses CIFAR-100's records, a label of 10, a missing file", function()
    local folder = folder10()
    write(folder .. "/data_batch_3.bin", records({ { 1, 2 } }, 0))
    assert.matches("data_batch_3.bin: 3074 bytes are 1 of CIFAR-100's records of 3074 bytes, expected CIFAR-10",
      refused("fail", { source = "cifar10", path = folder }), 1, true)
    write(folder .. "/data_batch_3.bin", records({ { 10 } }, 0))
    assert.matches("label 10 of record 1 (at byte 0) is outside 0..9 of CIFAR-10",
      refused("fail", { source = "cifar10", path = folder }), 1, true)
    os.remove(folder .. "/data_batch_3.bin")
    local message = refused("fail", { source = "cifar10", path = folder })
    assert.matches("lacks data_batch_3.bin", message, 1, true)
    assert.matches("lgelu data get cifar10\n", message, 1, true)
  end)
end)

describe("lg_cifar_read", function()
  local ffi, lib = C.ffi, C.lib

  it("refuses wrong arguments and leaves no tensor", function()
    local x, y = ffi.new("lg_tensor *[1]"), ffi.new("lg_tensor *[1]")
    local path = folder100() .. "/train.bin"
    for _, case in ipairs({ { path, 20, 0, "classes = 20, expected 10" }, { path, 100, 2, "column = 2" },
      { path, 10, 1, "column = 1, expected one of CIFAR-10's 1 label bytes" }, { "", 100, 0, "path" },
      { path, 10, 0, "CIFAR-100's records" } }) do
      assert.are_not.equal(0, lib.lg_cifar_read(x, y, case[1], case[2], case[3]))
      assert.matches(case[4], ffi.string(lib.lg_last_error()), 1, true)
      assert.is_true(x[0] == nil and y[0] == nil)
    end
    assert.are_not.equal(0, lib.lg_cifar_read(nil, y, path, 100, 0))
  end)

  it("gives all memory back when an allocation fails, and for files of any length", function()
    local x, y = ffi.new("lg_tensor *[1]"), ffi.new("lg_tensor *[1]")
    local folder = folder100()
    local path = folder .. "/train.bin"
    collectgarbage()
    collectgarbage()
    local live = lib.lg_mem_live()
    local failed = 0
    for k = 1, 20 do
      lib.lg_mem_fail_at(k)
      local status = lib.lg_cifar_read(x, y, path, 100, 1)
      lib.lg_mem_fail_at(0)
      if status ~= 0 then failed = failed + 1 end
      lib.lg_tensor_free(x[0])
      lib.lg_tensor_free(y[0])
      assert.are.equal(tonumber(live), tonumber(lib.lg_mem_live()))
    end
    assert.is_true(failed >= 5 and failed < 20)
    local good = records(TRAIN, 0)
    for length = 0, #good, 769 do
      write(path, good:sub(1, length))
      assert.are.equal(length > 0 and length % 3074 == 0, lib.lg_cifar_read(x, y, path, 100, 1) == 0)
      lib.lg_tensor_free(x[0])
      lib.lg_tensor_free(y[0])
    end
    assert.are.equal(tonumber(live), tonumber(lib.lg_mem_live()))
  end)
end)
