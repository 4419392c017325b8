--- Child processes: what they print, how they end, that only children can be waited for and stopped.
local C = require("lgelu.C")
local folders = require("tests.spec.support.folders")
local process = require("lgelu.process")

local base = folders.temporary()
teardown(function() os.execute(("rm -r '%s'"):format(base)) end)

local function sh(script) return process.start({ "/bin/sh", "-c", script }, base .. "/log") end

local function output()
  local f = assert(io.open(base .. "/log", "rb"))
  local text = f:read("*a")
  f:close()
  return text
end

local function refused(fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  return e.message
end

describe("a child process", function()
  it("gets its words as they are, prints into its file, and gives its exit status", function()
    folders.write(base .. "/log", ("old"):rep(1000))
    local pid = process.start({ "/bin/sh", "-c", 'echo "$1"; cat; echo no >&2; exit 7', "sh", "two  words; $HOME 'x'" },
      base .. "/log")
    local which, status = process.wait({ pid }, 5)
    assert.are.equal(1, which)
    assert.are.equal(7, status)
    assert.are.equal("two  words; $HOME 'x'\nno\n", output())
  end)

  it("is told apart from others by its place in the list", function()
    local slow, fast = sh("exec sleep 5"), sh("exit 3")
    local which, status = process.wait({ slow, fast }, 5)
    assert.are.same({ 2, 3 }, { which, status })
    assert.is_nil(process.wait({ slow }, 0.02))
    process.stop(slow)
    which, status = process.wait({ slow }, 5)
    assert.are.same({ 1, -2 }, { which, status }) -- Ctrl-C's signal
  end)

  it("can be ended at once, also when it does not mind Ctrl-C", function()
    local pid = sh("trap '' INT; echo up; while :; do sleep 0.02; done")
    local limit = C.lib.lg_clock() + 5
    while output() == "" and C.lib.lg_clock() < limit do process.sleep(0.01) end
    process.stop(pid)
    assert.is_nil(process.wait({ pid }, 0.1))
    process.stop(pid, true)
    local _, status = process.wait({ pid }, 5)
    assert.are.equal(-9, status)
  end)

  it("has signals as usual: Ctrl-C at the terminal is for its parent alone", function()
    local pid = sh("ps -o pgid= -p $$")
    process.wait({ pid }, 5)
    assert.are.equal(pid, tonumber(output()))
  end)

  it("that cannot be run is an error that says why", function()
    assert.is_truthy(refused(process.start, { base .. "/nothing" }, base .. "/log"):find(
      "/nothing: cannot be run: No such file", 1, true))
    assert.is_truthy(refused(process.start, { "/bin/sh" }, base .. "/no/log"):find("cannot be written: No", 1, true))
  end)

  it("is the only thing that can be waited for or stopped", function()
    local pid = sh("exit 0")
    process.wait({ pid }, 5)
    for _, other in ipairs({ pid, 1, 0, -1, 2 ^ 40 }) do
      assert.is_truthy(refused(process.stop, other):find("is no child", 1, true))
      assert.is_truthy(refused(process.wait, { other }, 0):find("is no child", 1, true))
    end
    assert.is_truthy(refused(process.sleep, -1):find("seconds", 1, true))
  end)
end)
