--- Specification of lgelu.stats: against scipy and numpy (tests/ref/stats_ref.lua), against known values, and at the
-- edges: one value, constant lists, ties, NaN, unequal lengths.

local stats = require("lgelu.stats")
local errors = require("lgelu.errors")
local reference = dofile("tests/ref/stats_ref.lua")

local function close(expected, got, tolerance, what)
  local bound = tolerance * math.max(math.abs(expected), 1e-300)
  assert.is_true(math.abs(got - expected) <= bound, ("%s: %.17g instead of %.17g"):format(what, got, expected))
end

-- Runs f and checks that it raises a usage error with these words in its message.
local function refuses(words, f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(e, "usage"), tostring(e))
  assert.truthy(tostring(e):find(words, 1, true), ("'%s' is not in: %s"):format(words, tostring(e)))
end

describe("t quantile", function()
  it("agrees with the exact values to 1e-9, n = 2 to 1000", function()
    assert.is_true(#reference.t_quantile > 100)
    for _, case in ipairs(reference.t_quantile) do
      local p, df, t = case[1], case[2], case[3]
      if p == 0.5 then
        assert.is_true(math.abs(stats.t_quantile(p, df)) < 1e-15)
      else
        close(t, stats.t_quantile(p, df), 1e-9, ("t(%g, %d)"):format(p, df))
      end
    end
  end)

  it("refuses probabilities and degrees of freedom out of range", function()
    for _, p in ipairs({ 0, 1, -0.1, 0 / 0, "0.5" }) do refuses("p is", stats.t_quantile, p, 3) end
    for _, df in ipairs({ 0, -1, 1.5, 0 / 0, math.huge }) do refuses("df is", stats.t_quantile, 0.975, df) end
  end)
end)

describe("summary", function()
  it("agrees with numpy and scipy", function()
    for i, case in ipairs(reference.summary) do
      local s = stats.summary(case[1])
      assert.equal(#case[1], s.n)
      close(case[2], s.mean, 1e-12, "mean of case " .. i)
      close(case[3], s.sd, 1e-12, "sd of case " .. i)
      close(case[4], s.ci95, 1e-9, "ci95 of case " .. i)
    end
  end)

  it("leaves the spread of one value undefined, not zero", function()
    local s = stats.summary({ 0.9 })
    assert.equal(0.9, s.mean)
    assert.equal(1, s.n)
    assert.is_nil(s.sd)
    assert.is_nil(s.ci95)
  end)

  it("gives a constant list its value and no spread, exactly", function()
    local s = stats.summary({ 0.1, 0.1, 0.1 })
    assert.equal(0.1, s.mean)
    assert.equal(0, s.sd)
    assert.equal(0, s.ci95)
  end)

  it("refuses what has no summary, naming the place", function()
    refuses("is empty", stats.summary, {})
    refuses("list[2] is NaN", stats.summary, { 1, 0 / 0 })
    refuses("list[1] is inf", stats.summary, { math.huge })
    refuses("list[3] is a string", stats.summary, { 1, 2, "3" })
    refuses("is a number", stats.summary, 3)
  end)
end)

describe("paired", function()
  it("agrees with scipy", function()
    for i, case in ipairs(reference.paired) do
      local s = stats.paired(case[1], case[2])
      close(case[3], s.mean, 1e-12, "mean of case " .. i)
      close(case[4], s.ci95, 1e-8, "ci95 of case " .. i)
    end
  end)

  it("summarizes the differences", function()
    local s = stats.paired({ 3, 5, 10 }, { 1, 2, 3 })
    assert.equal(4, s.mean)
    close(math.sqrt(7), s.sd, 1e-15, "sd")
    close(4.302652729911275 * math.sqrt(7 / 3), s.ci95, 1e-9, "ci95")
    assert.is_nil(stats.paired({ 1 }, { 0.5 }).ci95)
  end)

  it("refuses lists of different lengths", function()
    refuses("a has 2 values and b has 1", stats.paired, { 1, 2 }, { 1 })
  end)
end)

describe("spearman", function()
  it("agrees with scipy, ties included", function()
    for i, case in ipairs(reference.spearman) do
      close(case[3], stats.spearman(case[1], case[2]), 1e-12, "rho of case " .. i)
    end
  end)

  it("is exactly 1 and −1 for the same and the reverse order, whatever the values", function()
    assert.equal(1, stats.spearman({ 1, 2, 3, 4 }, { 1.1, 1.2, 7, 900 }))
    assert.equal(-1, stats.spearman({ 1, 2, 3, 4 }, { 5, 4, 2, 1 }))
    assert.equal(1, stats.spearman({ 1, 1, 2 }, { 3, 3, 9 }))
  end)

  it("is undefined for a constant profile, also against itself", function()
    local cases = {
      { { 1, 1, 1 }, { 1, 2, 3 } }, { { 1, 2, 3 }, { 5, 5, 5 } }, { { 2, 2 }, { 2, 2 } }, { { 1 }, { 1 } },
    }
    for _, case in ipairs(cases) do
      local rho, why = stats.spearman(case[1], case[2])
      assert.is_nil(rho)
      assert.equal("undefined", why)
    end
  end)

  it("refuses NaN, empty lists and different lengths", function()
    refuses("b[2] is NaN", stats.spearman, { 1, 2 }, { 1, 0 / 0 })
    refuses("a is empty", stats.spearman, {}, {})
    refuses("a has 1 values and b has 2", stats.spearman, { 1 }, { 1, 2 })
  end)
end)

describe("published values", function()
  -- NIST, Statistical Reference Datasets, univariate: certified mean and sd to 15 digits.
  it("NumAcc1 to NumAcc4 of NIST", function()
    local s = stats.summary({ 10000001, 10000003, 10000002 })
    assert.equal(10000002, s.mean)
    assert.equal(1, s.sd)
    for _, case in ipairs({ { 1.2, 1e-14 }, { 1000000.2, 1e-8 }, { 10000000.2, 1e-7 } }) do
      local mean, list = case[1], { case[1] }
      for i = 1, 1000 do list[i + 1] = mean + (i % 2 == 1 and -0.1 or 0.1) end
      s = stats.summary(list)
      close(mean, s.mean, 1e-15, "mean")
      close(0.1, s.sd, case[2], "sd") -- as near as the input's own rounding allows
    end
  end)

  -- Student, The probable error of a mean, Biometrika 6 (1908): additional hours of sleep; interval as R's t.test.
  it("Student's sleep data", function()
    local a = { 0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0, 2 }
    local b = { 1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4 }
    local s = stats.paired(a, b)
    close(-1.58, s.mean, 1e-14, "mean")
    close(-2.4598858, s.mean - s.ci95, 1e-7, "low")
    close(-0.7001142, s.mean + s.ci95, 1e-7, "high")
  end)

  -- A common textbook example of Spearman's rho (intelligence and hours of television): -29/165.
  it("ten pairs with rho = -29/165", function()
    local iq = { 106, 100, 86, 101, 99, 103, 97, 113, 112, 110 }
    local hours = { 7, 27, 2, 50, 28, 29, 20, 12, 6, 17 }
    close(-29 / 165, stats.spearman(iq, hours), 1e-14, "rho")
  end)

  it("the usual table of Student's t", function()
    for _, row in ipairs({ { 1, 12.706 }, { 2, 4.303 }, { 4, 2.776 }, { 9, 2.262 }, { 19, 2.093 }, { 120, 1.980 } }) do
      assert.is_true(math.abs(stats.t_quantile(0.975, row[1]) - row[2]) < 5.01e-4)
    end
  end)
end)

describe("drift", function()
  it("agrees with numpy", function()
    for i, case in ipairs(reference.drift) do close(case[2], stats.drift(case[1]), 1e-12, "drift of case " .. i) end
  end)

  it("is zero for gates that stand still and undefined for one row", function()
    assert.equal(0, stats.drift({ { 1, 2 }, { 1, 2 } }))
    local drift, why = stats.drift({ { 1, 2 } })
    assert.is_nil(drift)
    assert.equal("undefined", why)
  end)

  it("refuses ragged rows and NaN", function()
    refuses("rows[2] has 1 values and rows[1] has 2", stats.drift, { { 1, 2 }, { 1 } })
    refuses("rows[2][1] is NaN", stats.drift, { { 1 }, { 0 / 0 } })
    refuses("rows is empty", stats.drift, {})
  end)
end)

describe("quantile and median", function()
  it("agree with numpy", function()
    for i, case in ipairs(reference.quantile) do
      close(case[3], stats.quantile(case[1], case[2]), 1e-14, "quantile of case " .. i)
    end
  end)

  it("do not reorder their argument", function()
    local list = { 3, 1, 2 }
    assert.equal(2, stats.median(list))
    assert.same({ 3, 1, 2 }, list)
    assert.equal(2.5, stats.median({ 4, 1, 3, 2 }))
  end)

  it("refuse a q out of range", function()
    refuses("q is 1.5", stats.quantile, { 1, 2 }, 1.5)
    refuses("q is nan", stats.quantile, { 1, 2 }, 0 / 0)
  end)
end)
