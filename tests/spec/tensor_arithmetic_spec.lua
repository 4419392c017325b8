-- Arithmetic, comparison, functions, products and conversions: dtypes of results, edges, errors.
local lg = require("lgelu")
local C = require("lgelu.C")

local function fails(pattern, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(e))
end

local nan, inf = 0 / 0, math.huge

describe("arithmetic", function()
  it("has operators and methods, with numbers on either side", function()
    local t = lg.tensor({ 1, 2, 4 })
    assert.same({ 2, 3, 5 }, (t + 1):totable())
    assert.same({ 0, -1, -3 }, (1 - t):totable())
    assert.same({ 1, 4, 16 }, (t * t):totable())
    assert.same({ 8, 4, 2 }, (8 / t):totable())
    assert.same({ 1, 4, 16 }, (t ^ 2):totable())
    assert.same({ 2, 4, 16 }, (2 ^ t):totable())
    assert.same({ -1, -2, -4 }, (-t):totable())
    assert.same({ 3, 3, 4 }, t:maximum(3):totable())
    assert.same({ 1, 2, 3 }, t:minimum(3):totable())
  end)

  it("gives the dtypes that its rules say", function()
    local result = {
      -- a      b      a+b    a/b    min    eq
      { "f32", "f32", "f32", "f32", "f32" },
      { "f32", "f64", "f64", "f64", "f64" },
      { "f32", "i32", "f32", "f32", "f32" },
      { "f64", "i32", "f64", "f64", "f64" },
      { "f32", "u8", "f32", "f32", "f32" },
      { "i32", "i32", "i32", "f32", "i32" },
      { "i32", "u8", "i32", "f32", "i32" },
      { "u8", "u8", "i32", "f32", "u8" },
    }
    for _, row in ipairs(result) do
      local a, b, sum, quotient, least = unpack(row)
      for _, pair in ipairs({ { a, b }, { b, a } }) do
        local x, y = lg.ones(2, pair[1]), lg.ones(2, pair[2])
        assert.equal(sum, (x + y).dtype)
        assert.equal(sum, (x ^ y).dtype)
        assert.equal(quotient, (x / y).dtype)
        assert.equal(least, x:minimum(y).dtype)
        assert.equal("u8", x:lt(y).dtype)
        assert.same({ 2, 2 }, (x + y):totable())
      end
    end
    local with_numbers = {
      f32 = { "f32", "f32" }, f64 = { "f64", "f64" }, i32 = { "i32", "f32" }, u8 = { "i32", "f32" },
    }
    for dtype, with in pairs(with_numbers) do
      local x = lg.ones(2, dtype)
      assert.equal(with[1], (x * 2).dtype)
      assert.equal(with[2], (x * 2.5).dtype)
      assert.same({ 2.5, 2.5 }, (x * 2.5):totable())
    end
    assert.equal("f64", (lg.ones(1, "i32") * 2 ^ 40).dtype)
    assert.equal("u8", lg.ones(1, "u8"):maximum(7).dtype)
    assert.equal("i32", lg.ones(1, "u8"):maximum(-7).dtype)
  end)

  it("of integers never wraps: u8 widens, i32 overflow is an error", function()
    local u = lg.tensor({ 200, 100 }, "u8")
    assert.same({ 300, 200 }, (u + 100):totable())
    assert.same({ -100, 0 }, (100 - u):totable())
    assert.same({ 40000, 10000 }, (u * u):totable())
    assert.same({ -200, -100 }, (-u):totable())
    local big = lg.tensor({ 1, 2147483647 }, "i32")
    fails("add of 2147483647 and 1 is no i32; convert to f64", function() return big + 1 end)
    fails("mul of 2147483647 and 2 is no i32", function() return big * 2 end)
    fails("sub of %-2147483648 and 1 is no i32", function() return lg.tensor({ -2147483648 }, "i32") - 1 end)
    fails("neg of %-2147483648 is no i32", function() return -lg.tensor({ -2147483648 }, "i32") end)
    fails("abs of %-2147483648 is no i32", function() return lg.tensor({ -2147483648 }, "i32"):abs() end)
    fails("pow of 2 and %-1 is no i32", function() return lg.tensor({ 2 }, "i32") ^ -1 end)
    fails("pow of 3 and 40 is no i32", function() return lg.tensor({ 3 }, "i32") ^ 40 end)
    assert.same({ -2147483648, 1, 0, 1 },
      (lg.tensor({ -2, -1, 0, 0 }, "i32") ^ lg.tensor({ 31, 30, 5, 0 }, "i32")):totable())
    assert.same({ 1 / 3, inf }, (lg.tensor({ 1, 1 }, "i32"):to("f64") / lg.tensor({ 3, 0 }, "i32")):totable())
  end)

  it("names the first overflow, however large the tensor", function()
    local t = lg.zeros(200000, "i32")
    t[150001], t[190001] = 2147483647, 2147483646
    fails("add of 2147483647 and 5", function() return t + 5 end)
  end)

  it("broadcasts, and says both shapes where it cannot", function()
    local row, column = lg.tensor({ { 1, 2, 3 } }), lg.tensor({ { 10 }, { 20 } })
    assert.same({ { 11, 12, 13 }, { 21, 22, 23 } }, (row + column):totable())
    fails("f32%[2, 3%] and i32%[2%] do not broadcast", function() return lg.zeros(2, 3) + lg.zeros(2, "i32") end)
    fails("add: expected a tensor or a number, found a string", function() return lg.zeros(2) + "1" end)
    fails("mul: expected a tensor or a number, found a nil", function() return lg.zeros(2):mul(nil) end)
  end)

  it("in place keeps t's dtype, and reads before it writes", function()
    local t = lg.tensor({ 1, 2, 3 })
    assert.equal(t, t:add_(1):mul_(2):sub_(1):div_(2))
    assert.same({ 1.5, 2.5, 3.5 }, t:totable())
    t:add_(t[{ { 3, 1, -1 } }])
    assert.same({ 5, 5, 5 }, t:totable())
    t:add_(lg.tensor({ 0.5 }, "f64"))
    assert.equal("f32", t.dtype)
    fails("out is i32, but the result is f32", function() lg.zeros(2, "i32"):add_(0.5) end)
    fails("out is f32%[2%], but the result is f32%[3, 2%]", function() lg.zeros(2):add_(lg.zeros(3, 2)) end)
    fails("same memory", function() lg.zeros(1):expand(3):add_(1) end)
  end)

  it("does the same on one and two threads", function()
    local a, b = lg.randn(300, 401, "f32", 1), lg.randn(401, 300, "f32", 2)
    local function all()
      return a + b.T, (a * b.T):exp(), a:sum(), a:sum(1), a:matmul(b), a:var(2)
    end
    C.check(C.lib.lg_init(1))
    local one = { all() }
    C.check(C.lib.lg_init(2))
    local two = { all() }
    C.check(C.lib.lg_init(0))
    for i = 1, #one do
      assert.is_true(type(one[i]) == "number" and one[i] == two[i] or one[i]:eq(two[i]):all())
    end
  end)
end)

describe("comparison", function()
  it("is of elements and gives 0 or 1; == is of identity, order of tensors an error", function()
    local t = lg.tensor({ 1, 2, 3 })
    assert.same({ 0, 1, 0 }, t:eq(2):totable())
    assert.same({ 1, 0, 1 }, t:ne(2):totable())
    assert.same({ 1, 0, 0 }, t:lt(2):totable())
    assert.same({ 1, 1, 0 }, t:le(2):totable())
    assert.same({ 0, 0, 1 }, t:gt(2):totable())
    assert.same({ 0, 1, 1 }, t:ge(2):totable())
    assert.is_true(t == t and t ~= t:clone() and t ~= nil)
    fails("t:lt%(u%)", function() return t < t end)
    fails("t:lt%(u%)", function() return t >= t end)
  end)

  it("with NaN is false, except ne; NaN goes through min and max", function()
    local t = lg.tensor({ nan, 1 })
    for _, name in ipairs({ "eq", "lt", "le", "gt", "ge" }) do assert.equal(0, t[name](t, nan)[1]) end
    assert.same({ 1, 1 }, t:ne(nan):totable())
    local zeros = lg.zeros(2)
    for _, f in ipairs({ t:minimum(0), t:maximum(0), zeros:minimum(t), zeros:maximum(t) }) do
      assert.is_true(f[1] ~= f[1] and f[2] == f[2])
    end
  end)

  it("of i32 with floats is exact", function()
    local t = lg.tensor({ 16777217 }, "i32")
    assert.equal(0, t:eq(lg.tensor({ 16777216 }))[1])
    assert.equal(1, t:gt(lg.tensor({ 16777216 }))[1])
    assert.equal(1, lg.tensor({ 1, 0 }, "i32"):lt(0.5)[2])
  end)

  it("allclose: within tolerances, infinities by equality, NaN never", function()
    local t = lg.tensor({ 1, 100 }, "f64")
    assert.is_true(t:allclose(t + 5e-6))
    assert.is_false(t:allclose(t + 2e-5))
    assert.is_true(t:allclose(t + 0.01, 0, 0.02))
    assert.is_true(t:allclose(t * 1.001, 0.01))
    assert.is_true(lg.ones(3):allclose(1))
    assert.is_true(lg.tensor({ inf, -inf }):allclose(lg.tensor({ inf, -inf })))
    assert.is_false(lg.tensor({ inf }):allclose(-inf))
    assert.is_false(lg.tensor({ 1 }):allclose(inf))
    assert.is_false(lg.tensor({ inf }):allclose(1))
    assert.is_false(lg.tensor({ nan }):allclose(nan))
    assert.is_true(lg.zeros(0):allclose(0))
  end)
end)

describe("functions of one tensor", function()
  it("agree with Lua's", function()
    local x = { -2.5, -0.5, 0, 0.5, 1.5, 2.5, 3 }
    local function check(name, fn)
      for _, dtype in ipairs({ "f32", "f64" }) do
        local got = lg.tensor(x, dtype)[name](lg.tensor(x, dtype))
        assert.equal(dtype, got.dtype)
        for i, v in ipairs(x) do
          local e, g = fn(v), got[i]
          assert.is_true(e ~= e and g ~= g or e == g or math.abs(g - e) <= 1e-6 * math.abs(e), name .. " of " .. v)
        end
      end
    end
    for _, name in ipairs({ "abs", "exp", "log", "sqrt", "tanh", "sin", "cos", "floor", "ceil" }) do
      check(name, math[name])
    end
    check("neg", function(v) return -v end)
    check("round", function(v) -- halves to even
      local down = math.floor(v)
      if v - down ~= 0.5 then return math.floor(v + 0.5) end
      return down % 2 == 0 and down or down + 1
    end)
    check("sign", function(v) return v > 0 and 1 or v < 0 and -1 or 0 end)
    assert.same({ 0, 0, 1, 0, 0, 0, 0 }, lg.tensor(x):logical_not():totable())
    assert.equal("u8", lg.tensor(x):logical_not().dtype)
    -- erf(0.5), erf(1): Abramowitz and Stegun, table 7.1
    assert.is_true(lg.tensor({ 0.5, 1 }, "f64"):erf():allclose(lg.tensor({ 0.5204998778, 0.8427007929 }, "f64"), 1e-9))
  end)

  it("of integers keep them whole or give f32", function()
    local t = lg.tensor({ -3, 0, 4 }, "i32")
    for _, name in ipairs({ "abs", "neg", "sign", "floor", "round" }) do assert.equal("i32", t[name](t).dtype) end
    for _, name in ipairs({ "exp", "sqrt", "erf" }) do assert.equal("f32", t[name](t).dtype) end
    assert.same({ -1, 0, 1 }, t:sign():totable())
    assert.same({ 3, 0, 4 }, t:abs():totable())
    assert.equal("u8", lg.ones(1, "u8"):abs().dtype)
    assert.is_true((lg.tensor({ nan }):sign())[1] ~= (lg.tensor({ nan }):sign())[1])
  end)
end)

describe("conversion", function()
  it("truncates floats towards zero and refuses what does not fit", function()
    assert.same({ 1, -1, 0 }, lg.tensor({ 1.9, -1.9, -0.5 }):to("i32"):totable())
    assert.same({ 0, 255 }, lg.tensor({ -0.9, 255.9 }):to("u8"):totable())
    assert.same({ 2147483647, -2147483648 }, lg.tensor({ 2147483647.5, -2147483648.5 }, "f64"):to("i32"):totable())
    fails("2147483648 %(f64%) does not fit i32", function() return lg.tensor({ 2147483648 }, "f64"):to("i32") end)
    fails("nan %(f32%) does not fit u8", function() return lg.tensor({ nan }):to("u8") end)
    fails("inf %(f32%) does not fit i32", function() return lg.tensor({ inf }):to("i32") end)
    fails("%-1 %(i32%) does not fit u8", function() return lg.tensor({ -1 }, "i32"):to("u8") end)
    fails("does not fit i32", function() return lg.zeros(2, "i32"):fill(0.5) end)
    local t = lg.zeros(2)
    assert.equal(t, t:to("f32"))
  end)
end)

describe("where", function()
  it("chooses elements, broadcast, numbers too", function()
    local t = lg.tensor({ { 1, -2 }, { -3, 4 } })
    assert.same({ { 1, 0 }, { 0, 4 } }, lg.where(t:gt(0), t, 0):totable())
    assert.same({ { nan ~= nan and 9 or 0, -2 }, { -3, 9 } }, lg.where(t:gt(0), 9, t):totable())
    assert.same({ { 1, 5 }, { 1, 5 } }, lg.where(lg.tensor({ 1, 0 }), lg.ones(2, 1), 5):totable())
    assert.equal("f64", lg.where(t, lg.ones(2, "f64"), t).dtype)
    assert.equal(2, lg.where(lg.tensor({ 0 }), lg.tensor({ nan }), 2)[1])
    fails("one of the two values must be a tensor", lg.where, t, 1, 2)
    fails("lg.where: expected a tensor, found a boolean", lg.where, true, t, t)
    fails("do not broadcast", lg.where, t, lg.zeros(3), t)
  end)
end)

describe("matmul", function()
  it("takes matrices, vectors and batches", function()
    local a, v = lg.tensor({ { 1, 2 }, { 3, 4 } }), lg.tensor({ 1, 10 })
    assert.same({ { 7, 10 }, { 15, 22 } }, a:matmul(a):totable())
    assert.same({ 21, 43 }, a:matmul(v):totable())
    assert.same({ 31, 42 }, lg.matmul(v, a):totable())
    assert.equal(101, v:matmul(v))
    assert.same({ 5, 2, 2 }, lg.zeros(5, 2, 2):matmul(a).shape)
    assert.same({ 0, 2 }, lg.zeros(0, 2):matmul(a).shape)
    assert.same({ { 0, 0 } }, lg.zeros(1, 0):matmul(lg.zeros(0, 2)):totable())
    assert.equal("f64", a:matmul(lg.eye(2, "f64")).dtype)
  end)

  it("cuts large ones into tiles without a difference", function()
    local a, b = lg.randn(300, 70, "f64", 1), lg.randn(70, 90, "f64", 2)
    local whole = a:matmul(b)
    local rows = {}
    for i = 1, 300 do rows[i] = a[{ { i, i } }]:matmul(b) end
    assert.is_true(whole:allclose(lg.cat(rows), 1e-13, 1e-13))
    assert.is_true(whole.T:allclose(b.T:matmul(a.T), 1e-13, 1e-13))
  end)

  it("names both shapes in errors, and refuses integers", function()
    fails("f32%[2, 3%] and f32%[2, 3%]: 3 columns against 2 rows", lg.matmul, lg.zeros(2, 3), lg.zeros(2, 3))
    fails("leading dimensions do not broadcast", lg.matmul, lg.zeros(2, 3, 3), lg.zeros(4, 3, 3))
    fails("expected f32 or f64", lg.matmul, lg.zeros(2, 3, "i32"), lg.zeros(3, 2))
    fails("at least 1 dimension", lg.matmul, lg.tensor(1), lg.zeros(3, 2))
    fails("matmul: expected a tensor, found a number", lg.matmul, 2, lg.zeros(3, 2))
  end)
end)
