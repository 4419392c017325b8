-- Reductions: dtypes, what Lua gets, edges, accuracy. Values of small tensors: tensor_fuzz_spec.lua.
local lg = require("lgelu")

local function fails(pattern, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(e))
end

local nan, inf = 0 / 0, math.huge

describe("reductions", function()
  it("give Lua values over all, tensors over an axis, and keep it when asked", function()
    local t = lg.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
    assert.equal(21, t:sum())
    assert.equal(3.5, t:mean())
    assert.same({ 5, 7, 9 }, t:sum(1):totable())
    assert.same({ 6, 15 }, t:sum(2):totable())
    assert.same({ 6, 15 }, t:sum(-1):totable())
    assert.same({ { 6 }, { 15 } }, t:sum(2, true):totable())
    assert.same({ { 21 } }, t:sum(nil, true):totable())
    assert.is_true(t:any() == true and t:all() == true and lg.zeros(2):any() == false)
    assert.same({ 1, 0 }, lg.tensor({ { 1, 2 }, { 0, 3 } }):all(2):totable())
    assert.equal(6, t:argmax())
    assert.same({ 2, 2, 2 }, t:argmax(1):totable())
    assert.same({ 1, 1 }, t:argmin(2):totable())
    assert.equal(7, lg.tensor(7):sum())
  end)

  it("have the dtypes that are said", function()
    for dtype, number in pairs({ f32 = "f32", f64 = "f64", i32 = "f64", u8 = "f64" }) do
      local t = lg.ones({ 2, 2 }, dtype)
      for _, name in ipairs({ "sum", "mean", "prod" }) do assert.equal(number, t[name](t, 1).dtype) end
      for _, name in ipairs({ "min", "max" }) do assert.equal(dtype, t[name](t, 1).dtype) end
      for _, name in ipairs({ "argmin", "argmax" }) do assert.equal("i32", t[name](t, 1).dtype) end
      for _, name in ipairs({ "any", "all" }) do assert.equal("u8", t[name](t, 1).dtype) end
      for _, name in ipairs({ "std", "var", "norm" }) do assert.equal(number, t[name](t, 1).dtype) end
    end
    assert.equal(60000 * 784 * 255, lg.full({ 60000, 784 }, 255, "u8"):sum())
    assert.equal(2 * 2147483647, lg.full({ 2 }, 2147483647, "i32"):sum())
  end)

  it("sum in float64: 1e8 and ones, far more than f32 holds", function()
    local n = 300000
    local t = lg.ones(n)
    t[1] = 1e8
    assert.equal(1e8 + n - 1, t:sum())
    assert.equal((1e8 + n - 1) / n, t:mean())
    assert.equal(n * 1000, (lg.ones(n, 2) * 1000):sum(1)[2])
    assert.equal(n, lg.ones(2, n):sum(2)[1])
    assert.equal(0.1 + 0.2 + 0.3, lg.tensor({ 0.1, 0.2, 0.3 }, "f64"):sum())
  end)

  it("agree between a long axis cut into pieces and plain loops, in any layout", function()
    local t = lg.randn({ 9001, 3 }, "f64", 1)
    t[{ 5000, 2 }], t[{ 8000, 2 }], t[{ 4500, 3 }] = 50, 50, -50
    local list = t:totable()
    local sum, argmax, argmin = { 0, 0, 0 }, { 1, 1, 1 }, { 1, 1, 1 }
    for i, row in ipairs(list) do
      for c = 1, 3 do
        sum[c] = sum[c] + row[c]
        if row[c] > list[argmax[c]][c] then argmax[c] = i end
        if row[c] < list[argmin[c]][c] then argmin[c] = i end
      end
    end
    assert.equal(5000, argmax[2])
    for _, x in ipairs({ t, t.T:contiguous().T }) do
      assert.is_true(x:sum(1):allclose(lg.tensor(sum, "f64"), 1e-12, 1e-10))
      assert.same(argmax, x:argmax(1):totable())
      assert.same(argmin, x:argmin(1):totable())
      assert.equal(50, x:max())
      assert.equal((5000 - 1) * 3 + 2, x:argmax())
    end
  end)

  it("let NaN through, and find the first", function()
    local t = lg.tensor({ 1, nan, 3, nan })
    assert.is_true(t:min() ~= t:min() and t:max() ~= t:max() and t:sum() ~= t:sum())
    assert.equal(2, t:argmin())
    assert.equal(2, t:argmax())
    local m = lg.tensor({ { 1, nan }, { nan, 0 } })
    assert.same({ 2, 1 }, m:argmax(1):totable())
    assert.same({ 2, 1 }, m:argmin(1):totable())
    assert.is_true(m:max(1)[1] ~= m:max(1)[1])
    assert.equal(inf, lg.tensor({ inf, 1 }):max())
    assert.equal(inf, lg.tensor({ inf, inf }):min())
    assert.equal(1, lg.tensor({ -inf, -inf }):argmax())
    assert.is_true(lg.tensor({ nan }):any())
  end)

  it("of no elements: 0, 1, false, true, or an error where there is no answer", function()
    local t = lg.zeros(0, 3)
    assert.equal(0, t:sum())
    assert.equal(1, t:prod())
    assert.is_true(t:any() == false and t:all() == true)
    assert.same({ 0, 0, 0 }, t:sum(1):totable())
    assert.same({}, t:max(2):totable())
    for _, name in ipairs({ "mean", "min", "max", "argmin", "argmax" }) do
      fails(name .. " of no elements: the tensor is f32%[0, 3%]", t[name], t)
      fails(name .. " of no elements", t[name], t, 1)
    end
  end)

  it("var and std divide by n - 1, and do not overflow f32", function()
    local t = lg.tensor({ 1, 2, 3, 4 })
    assert.equal(5 / 3, t:var())
    assert.equal(math.sqrt(5 / 3), t:std())
    assert.same({ 2, 2 }, lg.tensor({ { 1, 3 }, { 5, 7 } }):var(2):totable())
    assert.same({ { 4 }, { 4 } }, (lg.tensor({ { 1, 3 }, { 5, 7 } }):var(2, true) * 2):totable())
    assert.is_true(math.abs(lg.tensor({ 1e8, 1e8 + 16 }):std() / (16 / math.sqrt(2)) - 1) < 1e-12)
    assert.equal(5, lg.tensor({ 3, -4 }):norm())
    assert.same({ 3, 4 }, lg.tensor({ { 3, 0 }, { 0, 4 } }):norm(1):totable())
    assert.is_true(math.abs(lg.tensor({ 3e30, 4e30 }):norm() / 5e30 - 1) < 1e-7)
    assert.equal(5, lg.tensor({ 3, 4 }, "i32"):norm())
    fails("var of 1 elements of f32%[1%]: at least 2", t.var, lg.ones(1))
    fails("std of 1 elements of f32%[1, 5%]: at least 2", t.std, lg.ones(1, 5), 1)
  end)

  it("all_finite", function()
    assert.is_true(lg.ones(3):all_finite() and lg.ones(3, "u8"):all_finite() and lg.zeros(0):all_finite())
    local t = lg.zeros(100, 1000)
    t[{ 77, 500 }] = inf
    assert.is_false(t:all_finite())
    assert.is_false(t.T:all_finite())
    assert.is_true(t[{ {}, { 1, 499 } }]:all_finite())
    t[{ 77, 500 }] = nan
    assert.is_false(t:to("f64"):all_finite())
  end)

  it("name a wrong axis and the valid ones", function()
    fails("axis 3 of f32%[2, 3%]: expected 1..2, or %-1..%-2", lg.zeros(2, 3).sum, lg.zeros(2, 3), 3)
    fails("axis 0 of", lg.zeros(2, 3).max, lg.zeros(2, 3), 0)
    fails("axis x of", lg.zeros(2, 3).max, lg.zeros(2, 3), "x")
    fails("axis 1.5 of", lg.zeros(2, 3).var, lg.zeros(2, 3), 1.5)
    fails("item of f32%[2%]: expected one element, found 2", lg.zeros(2).item, lg.zeros(2))
  end)
end)
