-- Tensors in files: NumPy's own .npy files (tests/ref/npy_files.py), damaged ones, and round trips.
local lg = require("lgelu")

local FOLDER = "tests/ref/npy/"

local function fails(pattern, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(e))
end

describe(".npy", function()
  local path
  before_each(function()
    path = os.tmpname()
    os.remove(path)
    path = path .. ".npy"
  end)
  after_each(function()
    os.remove(path)
  end)

  it("files of numpy are read, each type, C and Fortran order", function()
    local grid = lg.arange(24):view(2, 3, 4)
    local dtypes = { c_float32 = "f32", c_float64 = "f64", c_int32 = "i32", c_int64 = "i32", c_uint8 = "u8" }
    for name, dtype in pairs(dtypes) do
      local t = lg.load(FOLDER .. name .. ".npy")
      assert.equal(dtype, t.dtype)
      assert.same({ 2, 3, 4 }, t.shape)
      assert.is_true(t:eq(dtype:match("^f") and grid * 0.25 or grid):all())
    end
    assert.is_true(lg.load(FOLDER .. "fortran.npy"):eq(grid):all())
    local truth = lg.load(FOLDER .. "bool.npy")
    assert.equal("u8", truth.dtype)
    assert.same({ 1, 0, 0, 1 }, truth[{ 1, 1 }]:totable())
    assert.equal(-2.5, lg.load(FOLDER .. "scalar.npy"):item())
    assert.same({ 0, 3 }, lg.load(FOLDER .. "empty.npy").shape)
    for _, version in ipairs({ "version2", "version3" }) do
      assert.same({ 1.5, 2.5 }, lg.load(FOLDER .. version .. ".npy"):totable())
    end
    local special = lg.load(FOLDER .. "special.npy")
    assert.is_true(special[1] ~= special[1])
    assert.same({ math.huge, -math.huge }, special[{ { 2, 3 } }]:totable())
    assert.equal(-math.huge, 1 / special[4])
    assert.equal(2 ^ -149, special[5])
  end)

  it("files that are damaged or hold other types are refused with the reason", function()
    local reasons = {
      bad_i8_large = "element 2 is 1099511627776, which does not fit i32",
      bad_big_endian = "type '>f4' are not read; expected <f4",
      bad_complex = "type '<c8' are not read",
      bad_structured = "structured arrays are not read",
      bad_rank = "more than 8 dimensions",
      bad_magic = "not a .npy file",
      bad_no_bytes = "not a .npy file",
      bad_header_cut = "the header has 50 bytes, expected 118",
      bad_data_cut = "the data has 95 bytes, expected 96",
      bad_data_long = "the data has 100 bytes, expected 96",
      bad_version9 = "version 9 is not read; expected 1, 2 or 3",
      bad_no_shape = "unknown key 'shapx'",
      bad_negative = "damaged at byte 53: expected a dimension, found '%-3",
      bad_huge = "the shape in the .npy header is too large",
      bad_lies = "the data has 96 bytes, expected 216",
      bad_bracket = "expected a comma between dimensions, found '%]",
    }
    for name, reason in pairs(reasons) do
      fails(name .. "%.npy: .*" .. reason, lg.load, FOLDER .. name .. ".npy")
    end
  end)

  it("files cut or changed at any byte are read or refused, never more", function()
    local f = assert(io.open(FOLDER .. "c_float32.npy", "rb"))
    local whole = f:read("*a")
    f:close()
    for i = 1, #whole do
      for _, data in ipairs({ whole:sub(1, i - 1), whole:sub(1, i - 1) .. "\255" .. whole:sub(i + 1),
        whole:sub(1, i - 1) .. "'" .. whole:sub(i + 1) }) do
        f = assert(io.open(path, "wb"))
        f:write(data)
        f:close()
        local ok, e = pcall(lg.load, path)
        -- What is read is a number everywhere: a NaN with a payload must not become another of Lua's types.
        assert.is_true(ok and e.size == 24 or not ok and tostring(e):match("npy") ~= nil, not ok and tostring(e))
        if ok then
          for _, v in ipairs(e:reshape(-1):totable()) do assert.equal("number", type(v)) end
          tostring(e)
        end
        if #data < #whole then assert.is_false(ok) end
      end
    end
  end)

  it("comes back as it was written, views too", function()
    for _, dtype in ipairs({ "f32", "f64", "i32", "u8" }) do
      for _, shape in ipairs({ {}, { 0 }, { 3 }, { 2, 3 }, { 1, 2, 3, 1, 2, 1, 1, 2 } }) do
        local t = (lg.rand(shape, "f64", 1) * 100):to(dtype)
        assert.equal(t, t:save(path))
        local u = lg.load(path)
        assert.equal(dtype, u.dtype)
        assert.same(t.shape, u.shape)
        assert.is_true(u:eq(t):all())
      end
    end
    local t = lg.arange(24):view(4, 6)
    t.T[{ { 6, 1, -2 }, { 2, 4 } }]:save(path)
    assert.same(t.T[{ { 6, 1, -2 }, { 2, 4 } }]:totable(), lg.load(path):totable())
  end)

  it("is read by numpy", function()
    lg.tensor({ { 1, 2.5, -3 }, { 4, 5, 6 } }).T:save(path)
    local code = ("import numpy; a = numpy.load('%s'); print(a.dtype, a.tolist())"):format(path)
    local pipe = io.popen(("/usr/bin/python3 -c \"%s\""):format(code))
    local text = pipe:read("*a")
    pipe:close()
    assert.equal("float32 [[1.0, 4.0], [2.5, 5.0], [-3.0, 6.0]]\n", text)
  end)

  it("names the file in errors", function()
    fails("/nonexistent/x.npy: cannot be opened", lg.load, "/nonexistent/x.npy")
    fails("/nonexistent/x.npy", lg.ones(2).save, lg.ones(2), "/nonexistent/x.npy")
    fails("'x.txt' ends in neither .npy nor .h5 nor .hdf5", lg.load, "x.txt")
    fails("expected a path, found a nil", lg.load)
    fails("has no data set '/a'", lg.load, FOLDER .. "empty.npy", "/a")
    fails("takes no data set's name", lg.ones(2).save, lg.ones(2), path, "/a")
  end)
end)

describe("HDF5", function()
  it("data sets come back as they were written", function()
    local path = os.tmpname()
    os.remove(path)
    path = path .. ".h5"
    local a, b = lg.tensor({ { 1, 2.5 }, { 3, 4 } }), lg.arange(5)
    a.T:save(path, "/group/a")
    b:save(path, "/b")
    assert.same(a.T:totable(), lg.load(path, "/group/a"):totable())
    assert.equal("i32", lg.load(path, "/b").dtype)
    assert.same(b:totable(), lg.load(path, "/b"):totable())
    fails("which data set of '.*'%? It has: b, group", lg.load, path)
    fails("under which name", a.save, a, path)
    fails(path:gsub("%p", "%%%0"), lg.load, path, "/none")
    os.remove(path)
  end)
end)
