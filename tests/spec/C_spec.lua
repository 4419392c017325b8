-- C_spec.lua: loading the engine: declarations, handshake, statuses as errors.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local paths = require("lgelu.paths")

-- Runs code in a fresh luajit with shell assignments before it; returns its exit status and all that it printed.
local function luajit(assignments, code)
  local preload = os.getenv("LGELU_PRELOAD")
  if preload then assignments = assignments .. " LD_PRELOAD=" .. preload end
  local p = io.popen(("%s luajit -e '%s' 2>&1; echo status=$?"):format(assignments,
    'package.path = "lua/?.lua;lua/?/init.lua;" .. package.path ' .. code))
  local text = p:read("*a")
  p:close()
  return tonumber(text:match("status=(%d+)\n$")), text
end

local function temporary_folder()
  local folder = os.tmpname()
  os.remove(folder)
  assert(os.execute(("mkdir '%s'"):format(folder)) == 0)
  return folder
end

describe("lgelu.C", function()
  it("is the same engine when it is loaded again", function()
    package.loaded["lgelu.C"] = nil
    local again = require("lgelu.C")
    assert.are.equal(C.ffi.string(C.lib.lg_abi_hash()), again.ffi.string(again.lib.lg_abi_hash()))
    assert.is_true(again.lib.lg_threads() >= 1)
  end)

  it("says what it was built from", function()
    assert.truthy(C.ffi.string(C.lib.lg_version()):match("^%d+%.%d+%.%d+$"))
    assert.truthy(C.ffi.string(C.lib.lg_build_info()):match("^compiler .+; flags .+; commit %w+"))
  end)

  it("raises the engine's last error", function()
    local out = C.ffi.new("lg_tensor *[1]")
    local ok, e = pcall(C.check, C.lib.lg_tensor_new(out, 0, 99, nil))
    assert.is_false(ok)
    assert.is_true(errors.is(e, "fail"))
    assert.are.equal(C.ffi.string(C.lib.lg_last_error()), e.message)
    assert.is_string(e.engine)
    C.check(0)
  end)

  it("uses as many threads as LGELU_THREADS says, and refuses what is no number", function()
    local code = 'local C = require("lgelu.C") print("threads=" .. C.lib.lg_threads())'
    local _, text = luajit("LGELU_THREADS=3", code)
    assert.truthy(text:find("threads=3", 1, true), text)
    local status
    status, text = luajit("LGELU_THREADS=many", code)
    assert.are.equal(1, status)
    assert.truthy(text:find("LGELU_THREADS = 'many'", 1, true), text)
    for _, most in ipairs({ "1000", "99999999999" }) do
      status, text = luajit("LGELU_THREADS=" .. most, code)
      assert.are.equal(1, status)
      assert.truthy(text:find("LGELU_THREADS = '" .. most .. "'", 1, true), text)
    end
  end)

  it("refuses a library made from another header, and says which is older", function()
    local folder = temporary_folder()
    assert(os.execute(("cp '%s' '%s/liblgelu.so'"):format(paths.library, folder)) == 0)
    local f = assert(io.open(paths.cdef))
    local cdef = f:read("*a")
    f:close()
    f = assert(io.open(folder .. "/cdef.lua", "w"))
    f:write((cdef:gsub('hash = "%x+"', 'hash = "0123456789abcdef"')))
    f:close()
    local status, text = luajit(("LGELU_LIB='%s/liblgelu.so'"):format(folder), 'require("lgelu.C")')
    assert.are.equal(1, status)
    assert.truthy(text:find("lgelu.h 01234567", 1, true), text)
    assert.truthy(text:find("the library is older: build again", 1, true), text)
    assert(os.execute(("touch '%s/liblgelu.so'"):format(folder)) == 0)
    status, text = luajit(("LGELU_LIB='%s/liblgelu.so'"):format(folder), 'require("lgelu.C")')
    assert.are.equal(1, status)
    assert.truthy(text:find("the cdef is older: build again", 1, true), text)
    os.execute(("rm -r '%s'"):format(folder))
  end)

  it("says what to do when there is no library", function()
    local status, text = luajit("LGELU_LIB=/nowhere/liblgelu.so", 'require("lgelu.C")')
    assert.are.equal(1, status)
    assert.truthy(text:find("/nowhere/liblgelu.so", 1, true), text)
  end)
end)
