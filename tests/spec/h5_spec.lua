--- Specification of lgelu.h5: what h5py reads of our files and we of h5py's, errors, and files that are dropped.
local kit = dofile("tests/spec/support/store_kit.lua")
local h5 = require("lgelu.h5")
local tensor = require("lgelu.tensor")

describe("an HDF5 file", function()
  local folder, path
  setup(function()
    folder = kit.folder()
    path = folder .. "/a.h5"
  end)
  teardown(function() kit.remove(folder) end)

  it("of ours is read by h5py: shapes, types, str attributes, growable data sets", function()
    h5.with(path, "w", function(f)
      f:write("/a/matrix", tensor.tensor({ { 1, 2, 3 }, { 4, 5, 6.5 } }, "f32"))
      f:write_numbers("/a/column", { 1, 2, 3 }, "i32")
      f:write_numbers("/none", {}, "f64", { 0, 4 })
      f:write_texts("/names", { "fc1", "größe λ", "" })
      f:set_attr("/", "name", "λ-GELU ü")
      f:set_attr("/", "whole", 3)
      f:set_attr("/", "float", 3, "f64")
      f:set_attr("/", "big", 2 ^ 60)
      f:set_attr("/", "yes", true)
      f:set_attr("/a/column", "units", "1")
      f:set_attr("/", "gone", "x")
      f:set_attr("/", "gone", nil)
    end)
    kit.python(([==[
f = h5py.File(%q, "r")
a = dict(f.attrs)
assert a == {"name": "λ-GELU ü", "whole": 3, "float": 3.0, "big": 2.0**60, "yes": 1}, a
assert type(a["name"]) is str and a["whole"].dtype == np.int64 and a["float"].dtype == np.float64
assert f["a/matrix"].dtype == np.float32 and f["a/matrix"][:].tolist() == [[1, 2, 3], [4, 5, 6.5]]
assert f["a/matrix"].maxshape == (None, 3) and f["a/matrix"].chunks
assert f["a/column"].dtype == np.int32 and f["a/column"].attrs["units"] == "1"
assert f["none"].shape == (0, 4)
assert f["names"].asstr()[:].tolist() == ["fc1", "größe λ", ""]
]==]):format(path))
  end)

  it("of h5py's is read by us: other widths that fit, truth values, fixed strings, compression", function()
    kit.python(([==[
f = h5py.File(%q, "w")
f["i64"] = np.array([-2**31, 2**31 - 1]); f["u16"] = np.array([65535], "u2"); f["i8"] = np.array([-1], "i1")
f["u8"] = np.array([255], "u1"); f["f16"] = np.array([0.5], "f2"); f["be"] = np.array([1.5], ">f8")
f["bool"] = np.array([True, False]); f["scalar"] = 2.5
f["i64big"] = np.array([2**31]); f["u64"] = np.array([2**64 - 1], "u8"); f["u32"] = np.array([2**32 - 1], "u4")
f["complex"] = np.array([1j]); f["empty"] = h5py.Empty("f4"); f["bytes"] = np.array([b"ab", b"c"])
f["strings"] = np.array(["x", "größe"], dtype=h5py.string_dtype())
f.create_dataset("zip", data=np.arange(10000.0), compression="gzip", chunks=(100,))
f.attrs["text"] = "ü"; f.attrs["bytes"] = np.bytes_(b"abc"); f.attrs["flag"] = np.bool_(True)
f.attrs["f4"] = np.float32(0.5); f.attrs["list"] = [1, 2]; f.attrs["huge"] = 2**62 + 1
f["link"] = h5py.SoftLink("/nowhere")
]==]):format(path))
    h5.with(path, "r", function(f)
      local function numbers(name) return (f:read_numbers(name)) end
      assert.is_false(f:sealed())
      assert.same({ -2 ^ 31, 2 ^ 31 - 1 }, numbers("/i64"))
      assert.same({ 65535 }, numbers("/u16"))
      assert.same({ -1 }, numbers("/i8"))
      assert.same({ { 255 }, { 1 }, "u8" }, { f:read_numbers("/u8") })
      assert.same({ { 0.5 }, { 1 }, "f32" }, { f:read_numbers("/f16") })
      assert.same({ 1.5 }, numbers("/be"))
      assert.same({ { 1, 0 }, { 2 }, "u8" }, { f:read_numbers("/bool") })
      assert.same({ { 2.5 }, {}, "f64" }, { f:read_numbers("/scalar") })
      assert.equal(9999, numbers("/zip")[10000])
      assert.same({ "x", "größe" }, f:read_texts("/strings"))
      assert.same({ "ab", "c" }, f:read_texts("/bytes"))
      for name, part in pairs({ i64big = "element 1 is 2147483648", u64 = "does not fit a 32-bit integer",
        u32 = "4294967295", complex = "neither floats nor integers", empty = "no shape", bytes = "strings",
        link = "no such data set" }) do
        local message = kit.failure(f.read_numbers, f, "/" .. name).message
        assert.truthy(message:find(part, 1, true), message)
        assert.truthy(message:find(path, 1, true) and message:find("/" .. name, 1, true), message)
      end
      local huge = f:attr("/", "huge")
      assert.equal(kit.ffi.new("int64_t", 2 ^ 62) + 1, huge)
      assert.equal("neither text nor one number", kit.failure(f.attr, f, "/", "list").message:match("neither.*"))
      local attrs = f:attrs("/")
      attrs.huge = nil
      assert.same({ text = "ü", bytes = "abc", flag = 1, f4 = 0.5 }, attrs)
      assert.is_nil(f:attr("/", "none"))
      assert.same({ "be", "bool", "bytes" }, { unpack(f:list("/"), 1, 3) })
    end)
  end)

  it("is not changed when it is discarded, dropped, or its writer fails", function()
    h5.with(path, "w", function(f) f:set_attr("/", "n", 1) end)
    local before = kit.slurp(path)
    local f = h5.open(path, "a")
    f:set_attr("/", "n", 2)
    f:discard()
    h5.open(path, "w"):set_attr("/", "n", 3)
    collectgarbage()
    collectgarbage()
    local e = kit.failure(h5.with, path, "a", function(g)
      g:set_attr("/", "n", 4)
      g:read("/none")
    end)
    assert.truthy(e.message:find("/none: there is no such data set", 1, true), e.message)
    assert.equal(before, kit.slurp(path))
    f:close()
    assert.truthy(kit.failure(f.exists, f, "/").message:find("closed", 1, true))
  end)

  it("of ours that h5py changes is unsealed, not damaged", function()
    for _, change in ipairs({ "f.attrs['note'] = 'mine'", "f['x'][1] = 5.0", "f['y'] = np.zeros(1000)" }) do
      h5.with(path, "w", function(f) f:write_numbers("/x", { 1, 2, 3 }, "f64") end)
      kit.python(("f = h5py.File(%q, 'r+')\n%s\nf.close()"):format(path, change))
      h5.with(path, "r", function(f)
        assert.is_false(f:sealed())
        assert.equal(3, #f:read_numbers("/x"))
      end)
      h5.with(path, "a", function(f) f:set_attr("/", "n", 1) end)
      h5.with(path, "r", function(f) assert.is_true(f:sealed()) end)
    end
  end)

  it("held by a writer elsewhere: the error names file, holder and HDF5_USE_FILE_LOCKING; with it, we read", function()
    h5.with(path, "w", function(f) f:write_numbers("/x", { 1 }, "f64") end)
    local code = ([==[
import subprocess
f = h5py.File(%q, "r+")
code = "package.path='lua/?.lua;lua/?/init.lua;'..package.path; local h5 = require('lgelu.h5'); " \
       "local ok, e = pcall(h5.open, '%s'); print(ok, ok or e.message)"
for value in ("", "FALSE"):
    import os
    env = dict(os.environ)
    if value: env["HDF5_USE_FILE_LOCKING"] = value
    if %q: env["LD_PRELOAD"] = %q
    print(os.getpid(), subprocess.run(["luajit", "-e", code], capture_output=True, text=True, env=env).stdout)
]==]):format(path, path, os.getenv("LGELU_PRELOAD") or "", os.getenv("LGELU_PRELOAD") or "")
    local text = kit.python(code)
    local pid, message = text:match("^(%d+) false%s+(.-)\n")
    assert.truthy(message, text)
    assert.truthy(message:find(path, 1, true), message)
    assert.truthy(message:find("process " .. pid .. ", python3", 1, true), message)
    assert.truthy(message:find("HDF5_USE_FILE_LOCKING=FALSE", 1, true), message)
    assert.truthy(text:find("\n%d+ true"), text)
  end)

  it("cannot be written with text that is not UTF-8, zero bytes, or values of other types", function()
    local f = h5.open(path, "w")
    assert.truthy(kit.failure(f.set_attr, f, "/", "x", "gr\246\223e").message:find("not UTF-8 at byte 3", 1, true))
    assert.truthy(kit.failure(f.set_attr, f, "/", "x", "a\0b").message:find("zero byte", 1, true))
    assert.truthy(kit.failure(f.write_texts, f, "/x", { "a", "b\0" }).message:find("string 2 of /x", 1, true))
    assert.truthy(kit.failure(f.set_attr, f, "/", "x", {}).message:find("is a table", 1, true))
    assert.truthy(kit.failure(f.write_numbers, f, "/x", { 1 }, "f16").message:find("'f16'", 1, true))
    f:discard()
  end)

  it("holds a tensor that is a view as its values stand", function()
    local t = tensor.tensor({ { 1, 2 }, { 3, 4 } }, "f64")
    h5.with(path, "w", function(f) f:write("/t", t:transpose(1, 2)) end)
    h5.with(path, "r", function(f)
      local back = f:read("/t")
      assert.same({ { 1, 3 }, { 2, 4 } }, back:totable())
      assert.equal("f64", back.dtype)
    end)
  end)
end)
