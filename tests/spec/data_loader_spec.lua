-- data_loader_spec.lua: split, normalization and batches, against plain Lua.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")

local ffi = C.ffi

local function synthetic(config)
  local full = { source = "synthetic", n = 203, n_test = 20, shape = { 2, 5, 4 }, classes = 4 }
  for key, value in pairs(config or {}) do full[key] = value end
  return data.load(full)
end

-- All batches of an epoch: list of { x = table, y = table, rows = }.
local function epoch(batches, number, skip)
  local list = {}
  batches:start(number, skip)
  for x, y, rows in batches:each() do
    list[#list + 1] = { x = x:totable(), y = y:totable(), rows = rows }
  end
  return list
end

-- Row numbers of an epoch, in order, of a loader over rows whose label is their number.
local function order_of(batches, number, skip)
  local rows = {}
  for _, batch in ipairs(epoch(batches, number, skip)) do
    for _, label in ipairs(batch.y) do rows[#rows + 1] = label end
  end
  return rows
end

-- moons with the labels replaced by row numbers.
local function numbered(n)
  local set = data.load{ source = "moons", n = n, test = 0 }
  local y = ffi.cast("int32_t *", C.lib.lg_tensor_data(set.y))
  for i = 0, n - 1 do y[i] = i end
  return set
end

local function refused(text, ...)
  local ok, e = pcall(...)
  assert.is_false(ok)
  assert(errors.is(e), tostring(e))
  assert.matches(text, e.message, 1, true)
end

describe("data.split", function()
  it("keeps every class in proportion, every row once, in ascending order", function()
    local set = synthetic()
    local train, val = data.split(set, 0.25, 1)
    assert.are.same({ 152 }, train.shape)
    assert.are.same({ 51 }, val.shape)
    local y, seen, all, chosen = set.y:totable(), {}, {}, {}
    for _, index in ipairs({ train:totable(), val:totable() }) do
      for i, row in ipairs(index) do
        assert.is_nil(seen[row])
        seen[row] = true
        assert.is_true(i == 1 or index[i - 1] < row)
      end
    end
    for row, label in ipairs(y) do
      assert.is_true(seen[row])
      all[label] = (all[label] or 0) + 1
    end
    for _, row in ipairs(val:totable()) do chosen[y[row]] = (chosen[y[row]] or 0) + 1 end
    for label = 0, 3 do assert.is_true(math.abs(chosen[label] - all[label] * 51 / 203) < 1) end
  end)

  it("is a function of the seed; takes a share or a number of rows", function()
    local set = synthetic()
    local _, a = data.split(set, 40, 1)
    local _, b = data.split(set, 40, 1)
    local _, c = data.split(set, 40, 2)
    assert.are.same({ 40 }, a.shape)
    assert.are.same(a:totable(), b:totable())
    assert.are_not.same(a:totable(), c:totable())
    local train, none = data.split(set, 0, 1)
    assert.are.same({ 203 }, train.shape)
    assert.are.same({ 0 }, none.shape)
  end)

  it("refuses what is no share and no number of rows", function()
    local set = synthetic()
    refused("found -0.1, expected a share below 1", data.split, set, -0.1, 1)
    refused("found 1.5, expected a share below 1", data.split, set, 1.5, 1)
    refused("found nan", data.split, set, 0 / 0, 1)
    refused("203 of 203 rows leave none for training", data.split, set, 203, 1)
  end)

  it("normalizes by the training rows alone", function()
    local set = synthetic()
    assert.are.equal("training rows", set.normalization)
    assert.is_nil(set.mean)
    local train = data.split(set, 0.25, 1)
    local x = set.x:totable()
    for c = 1, 2 do
      local sum, squares = 0, 0
      for _, row in ipairs(train:totable()) do
        for h = 1, 5 do
          for w = 1, 4 do
            local v = x[row][c][h][w]
            sum, squares = sum + v, squares + v * v
          end
        end
      end
      local n = 152 * 20
      assert.is_true(math.abs(set.mean[c] - sum / n / 255) < 1e-12)
      assert.is_true(math.abs(set.sd[c] - math.sqrt(squares / n - (sum / n) ^ 2) / 255) < 1e-10)
    end
  end)

  it("gives a constant channel 0, not NaN", function()
    local set = synthetic()
    ffi.fill(C.lib.lg_tensor_data(set.x), 203 * 40, 7)
    local train = data.split(set, 0.1, 1)
    assert.are.same({ 1, 1 }, set.sd)
    local batches = data.loader(set, "train", train, { batch = 5 })
    batches:start(0)
    local x = batches:next()
    assert.is_true(math.abs(x:totable()[1][2][1][1]) < 1e-6)
  end)
end)

describe("data.loader", function()
  it("gives batches equal to a plain gather", function()
    local set = synthetic()
    local train = data.split(set, 0.25, 1)
    local batches = data.loader(set, "train", train, { batch = 16 })
    local x, y, rows = set.x:totable(), set.y:totable(), train:totable()
    local at = 0
    for _, batch in ipairs(epoch(batches, 0)) do
      for i = 1, batch.rows do
        local row = rows[at + i]
        assert.are.equal(y[row], batch.y[i])
        for c = 1, 2 do
          for h = 1, 5 do
            for w = 1, 4 do
              local right = (x[row][c][h][w] / 255 - set.mean[c]) / set.sd[c]
              assert.is_true(math.abs(batch.x[i][c][h][w] - right) < 1e-6 * math.max(1, math.abs(right)))
            end
          end
        end
      end
      at = at + batch.rows
    end
    assert.are.equal(152, at)
    assert.are.equal(10, batches:batches())
  end)

  it("shuffles as a function of seed and epoch: fixed values", function()
    local set = numbered(10)
    local batches = data.loader(set, "train", nil, { batch = 3, shuffle = true, seed = 1 })
    -- f(seed 1, stream 2·2^32 + epoch): the engine's permutation, and its values on the day this was written.
    local perm = ffi.new("int64_t[10]")
    for number = 0, 2 do
      C.check(C.lib.lg_rng_permutation(perm, 10, 1, 2 * 2 ^ 32 + number))
      local right = {}
      for i = 1, 9 do right[i] = tonumber(perm[i - 1]) end
      assert.are.same(right, order_of(batches, number)) -- the tenth alone is left out, see below
    end
    assert.are.same({ 3, 2, 8, 4, 0, 5, 1, 9, 6 }, order_of(batches, 1))
  end)

  it("differs between epochs and seeds and is the same when asked again", function()
    local set = numbered(100)
    local batches = data.loader(set, "train", nil, { batch = 7, shuffle = true, seed = 5 })
    local other = data.loader(set, "train", nil, { batch = 9, shuffle = true, seed = 5 })
    local third = data.loader(set, "train", nil, { batch = 7, shuffle = true, seed = 6 })
    local first = order_of(batches, 1)
    assert.are_not.same(first, order_of(batches, 2))
    assert.are.same(first, order_of(batches, 1))
    assert.are_not.same(first, order_of(third, 1))
    local by_nine = order_of(other, 1) -- 100 = 11·9 + 1: the last row alone is left out
    for i = 1, 99 do assert.are.equal(first[i], by_nine[i]) end
  end)

  it("goes on in the middle of an epoch with the same batches", function()
    local set = numbered(100)
    local whole = order_of(data.loader(set, "train", nil, { batch = 8, shuffle = true, seed = 3 }), 4)
    for skip = 0, 13 do
      local rest = order_of(data.loader(set, "train", nil, { batch = 8, shuffle = true, seed = 3 }), 4, skip)
      assert.are.equal(math.max(0, 100 - 8 * skip), #rest)
      for i, row in ipairs(rest) do assert.are.equal(whole[8 * skip + i], row) end
    end
  end)

  it("gives the same for any number of threads", function()
    local set, found = synthetic(), {}
    for _, threads in ipairs({ 1, 2, 3 }) do
      local before = C.lib.lg_threads()
      C.check(C.lib.lg_init(threads))
      local train = data.split(set, 0.2, 9)
      found[threads] = { set.mean, set.sd, epoch(data.loader(set, "train", train, { batch = 20, shuffle = true }), 1) }
      C.check(C.lib.lg_init(before))
    end
    assert.are.same(found[1], found[2])
    assert.are.same(found[1], found[3])
  end)

  it("decides on the last batch", function()
    local set = numbered(33)
    local function sizes(options)
      local batches, list = data.loader(set, "train", nil, options), {}
      for i, batch in ipairs(epoch(batches, 0)) do list[i] = batch.rows end
      assert.are.equal(#list, batches:batches())
      return list, batches.note
    end
    assert.are.same({ 10, 10, 10, 3 }, (sizes{ batch = 10 }))
    assert.are.same({ 10, 10, 10 }, (sizes{ batch = 10, last = "drop" }))
    assert.are.same({ 16, 16, 1 }, (sizes{ batch = 16 })) -- evaluation sees every row
    local list, note = sizes{ batch = 16, shuffle = true } -- training does not see a row alone, and says so
    assert.are.same({ 16, 16 }, list)
    assert.matches("a single row (33 rows in batches of 16): it is left out", note, 1, true)
    list, note = sizes{ batch = 16, shuffle = true, last = "drop" }
    assert.are.same({ 16, 16 }, list)
    assert.is_nil(note)
    assert.are.equal(33, #(sizes{ batch = 1, shuffle = true }))
    assert.are.same({ 33 }, (sizes{ batch = 100, shuffle = true }))
    refused("leaves none of 33 rows", data.loader, set, "train", nil, { batch = 34, last = "drop" })
  end)

  it("refuses wrong options, indices and parts", function()
    local set = numbered(10)
    refused("unknown option 'bach', did you mean 'batch'?", data.loader, set, "train", nil, { bach = 1 })
    refused("last = 'kep', expected keep or drop, did you mean 'keep'?", data.loader, set, "train", nil,
      { last = "kep" })
    refused("batch = 0.5", data.loader, set, "train", nil, { batch = 0.5 })
    refused("batch is a string", data.loader, set, "train", nil, { batch = "8" })
    refused("entry 2 of the index is row 11, expected 1 to 10", data.loader, set, "train", { 1, 11 })
    refused("holds no rows", data.loader, set, "train", {})
    refused("train or test", data.loader, set, "val")
    refused("train or test", data.loader, set, "test") -- it has none
    refused("train or test", data.loader, set.train)
    local batches = data.loader(set, "train")
    refused("not been started", batches.next, batches)
    batches:free()
    batches:free()
    refused("was freed", batches.start, batches, 0)
  end)

  it("outlives its set, and its batches outlive it", function()
    local batches = data.loader(numbered(50), "train", nil, { batch = 50 })
    collectgarbage()
    collectgarbage()
    batches:start(0)
    local _, y = batches:next()
    batches:free()
    collectgarbage()
    assert.are.equal(49, y:totable()[50])
  end)

  it("is collected with its thread and memory when it is dropped", function()
    local set = synthetic()
    collectgarbage()
    collectgarbage()
    local live = C.lib.lg_mem_live()
    for number = 1, 50 do
      local batches = data.loader(set, "train", nil, { batch = 16, shuffle = true })
      batches:start(number)
      batches:next()
    end
    collectgarbage()
    collectgarbage()
    assert.are.equal(tonumber(live), tonumber(C.lib.lg_mem_live()))
  end)
end)
