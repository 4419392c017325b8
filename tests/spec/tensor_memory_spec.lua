-- Who owns a tensor's memory, and that the collector is told of it (PITFALLS 18 and 19).
local lg = require("lgelu")
local C = require("lgelu.C")

-- Runs code in a LuaJIT of its own (jit: "on" or "off") and returns what it prints.
local function run(code, jit)
  local name = os.tmpname()
  local f = assert(io.open(name, "w"))
  f:write("package.path = 'lua/?.lua;lua/?/init.lua;' .. package.path\n", code)
  f:close()
  -- An engine that was built with a sanitizer needs its runtime loaded first.
  local preload = os.getenv("LGELU_PRELOAD") or ""
  local pipe = assert(io.popen(("LD_PRELOAD='%s' luajit -j%s %s 2>&1"):format(preload, jit, name)))
  local text = pipe:read("*a")
  pipe:close()
  os.remove(name)
  return text
end

local HIGH_WATER = [[
local lg = require("lgelu")
local function high_water()
  return tonumber(io.open("/proc/self/status"):read("*a"):match("VmHWM:%s*(%d+)")) / 1024
end
]]

local function live()
  collectgarbage()
  collectgarbage()
  return tonumber(C.lib.lg_mem_live())
end

-- AddressSanitizer keeps freed memory on purpose, and is slow with it: there only the engine's own count tells, and
-- fewer tensors must do.
local sanitized = C.ffi.string(C.lib.lg_build_info()):match("sanitize")

describe("memory of tensors", function()
  for _, jit in ipairs({ "on", "off" }) do
    it("of 2000 dropped ones of 1 MiB stays under 100 MiB, jit " .. jit, function()
      local text = run(HIGH_WATER .. "local COUNT = " .. (sanitized and 200 or 2000) .. [[
        local before = high_water()
        for i = 1, COUNT do local t = lg.zeros(262144) t[1] = i end
        local engine = require("lgelu.C").lib.lg_mem_peak()
        print(high_water() - before, tonumber(engine) / 2 ^ 20)]], jit)
      local process, engine = text:match("^([%d.]+)%s+([%d.]+)")
      assert.is_truthy(process, text)
      if not sanitized then assert.is_true(tonumber(process) < 100, text) end
      assert.is_true(tonumber(engine) < 100, text)
    end)

    it("of results that are dropped is collected too, jit " .. jit, function()
      local text = run(HIGH_WATER .. [[
        local a = lg.ones(262144)
        for _ = 1, 100 do local b = (a + 1) * 2 - a end
        print(tonumber(require("lgelu.C").lib.lg_mem_peak()) / 2 ^ 20)]], jit)
      assert.is_true(tonumber(text) < 100, text)
    end)

    it("outlives its parent in a view, jit " .. jit, function()
      local text = run([[
        local lg = require("lgelu")
        local views = {}
        for i = 1, 50 do views[i] = lg.full({ 1000, 10 }, i)[{ { 501, 600 }, 3 }] end
        collectgarbage() collectgarbage()
        for _ = 1, 50 do lg.full({ 1000, 10 }, -1) end
        local sum = 0
        for i = 1, 50 do sum = sum + views[i]:sum() - 100 * i + views[i][7] - i end
        print(sum)]], jit)
      assert.equal("0\n", text)
    end)
  end

  it("is given back at once by free, and only once", function()
    local before = live()
    local t = lg.zeros(1000, 1000)
    assert.is_true(tonumber(C.lib.lg_mem_live()) >= before + 4e6)
    t:free()
    assert.is_true(tonumber(C.lib.lg_mem_live()) < before + 1000)
    t:free()
    t = nil -- luacheck: ignore 311
    assert.is_true(live() <= before)
  end)

  it("stays with a view when the parent is freed", function()
    local t = lg.tensor({ 1, 2, 3 })
    local view = t[{ { 2, 3 } }]
    t:free()
    assert.same({ 2, 3 }, view:totable())
  end)

  it("is not used after free: every use is an error", function()
    local uses = {
      function(t) return t.shape end,
      function(t) return t.size end,
      function(t) return t.rank end,
      function(t) return t.dtype end,
      function(t) return t.T end,
      function(t) return #t end,
      function(t) return t[1] end,
      function(t) t[1] = 1 end,
      function(t) return t + 1 end,
      function(t) return 1 - t end,
      function(t) return -t end,
      function(t) return lg.ones(2):add(t) end,
      function(t) return lg.ones(2):add_(t) end,
      function(t) return t:add_(1) end,
      function(t) return t:exp() end,
      function(t) return t:eq(1) end,
      function(t) return t:sum() end,
      function(t) return t:std() end,
      function(t) return t:argmax(1) end,
      function(t) return t:fill(1) end,
      function(t) return t:copy_from(lg.ones(2)) end,
      function(t) return lg.ones(2):copy_from(t) end,
      function(t) return t:to("f64") end,
      function(t) return t:to("f32") end,
      function(t) return t:view(2) end,
      function(t) return t:reshape(2) end,
      function(t) return t:clone() end,
      function(t) return t:contiguous() end,
      function(t) return t:squeeze() end,
      function(t) return t:unsqueeze(1) end,
      function(t) return t:expand(2, 2) end,
      function(t) return t:matmul(lg.ones(2)) end,
      function(t) return lg.ones(2):matmul(t) end,
      function(t) return t:item() end,
      function(t) return t:totable() end,
      function(t) return t:allclose(1) end,
      function(t) return t:all_finite() end,
      function(t) return t:save("/nonexistent/x.npy") end,
      function(t) return lg.tensor(t) end,
      function(t) return lg.cat({ t }) end,
      function(t) return lg.stack({ lg.ones(2), t }) end,
      function(t) return lg.where(t, 1, lg.ones(2)) end,
    }
    for i, use in ipairs(uses) do
      local t = lg.ones(2)
      t:free()
      local ok, e = pcall(use, t)
      assert.is_false(ok, "use " .. i)
      assert.matches("was freed", tostring(e), 1, false, "use " .. i)
    end
    local t = lg.ones(2)
    t:free()
    assert.equal("a tensor that was freed", tostring(t))
  end)

  it("that is not there is an error, and nothing is lost", function()
    local before = live()
    for n = 1, 4 do
      C.lib.lg_mem_fail_at(n)
      local ok = pcall(function()
        local a = lg.zeros(10, 10)
        return a + a.T
      end)
      C.lib.lg_mem_fail_at(0)
      assert.is_false(ok)
    end
    assert.is_true(live() <= before)
    assert.is_false((pcall(lg.zeros, 2 ^ 50)))
  end)
end)
