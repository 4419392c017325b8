--- lg_gate_census: counts, extremes, histogram and slope of a gate's pre-activations against plain loops over the same
-- values in float64, and against what mathematics says of them.
local C = require("lgelu.C")
local gate = require("lgelu.gate")
local lg = require("lgelu")
local ffi, lib, check = C.ffi, C.lib, C.check

local NAMES = {}
while lib.lg_list_name("census", #NAMES) ~= nil do
  NAMES[#NAMES + 1] = ffi.string(lib.lg_list_name("census", #NAMES))
end

-- A census of some tensors one after another: { name = number } and the histogram's counts.
local function census(tensors, kind, lambda, low, high, bins)
  local out, histogram = ffi.new("double[?]", #NAMES), bins and ffi.new("double[?]", bins + 2) or nil
  for _, x in ipairs(tensors) do
    check(lib.lg_gate_census(out, histogram, x, lib.lg_list_find("activation", kind), lambda, low or 0, high or 0,
      bins or 0))
  end
  local result, counts = {}, {}
  for i, name in ipairs(NAMES) do result[name] = out[i - 1] end
  for b = 1, bins and bins + 2 or 0 do counts[b] = histogram[b - 1] end
  return result, counts
end

-- The same by plain loops; f from the kernels through tensors.
local function plain(x, lambda)
  local xs, ys = x:totable(), gate.value(x, lambda):totable()
  local single, slope = ffi.new("float[1]", lambda)[0], ffi.new("double[2]")
  local want = { count = #xs, nonfinite = 0, min = math.huge, max = -math.huge, band = 0, nonpositive = 0, zeros = 0,
    deviation = 0, slope = 0 }
  for i, v in ipairs(xs) do
    want.min, want.max = math.min(want.min, v), math.max(want.max, v)
    want.band = want.band + (math.abs(single * v) < 2 and 1 or 0)
    want.nonpositive = want.nonpositive + (v <= 0 and 1 or 0)
    want.zeros = want.zeros + (ys[i] == 0 and 1 or 0)
    want.deviation = math.max(want.deviation, math.abs(ys[i] - math.max(v, 0)))
    lib.lg_gate_grad_f64(slope, slope + 1, v, single)
    want.slope = want.slope + slope[1]
  end
  return want
end

local function agree(want, found)
  for _, name in ipairs(NAMES) do
    local tolerance = name == "slope" and 2e-7 * want.slope or name == "deviation" and 3e-8 * math.abs(want.max) or 0
    assert.is_true(math.abs(want[name] - found[name]) <= tolerance,
      ("%s: expected %.17g, found %.17g"):format(name, want[name], found[name]))
  end
end

describe("a census", function()
  it("counts what plain loops count, at every hardness and size", function()
    for _, lambda in ipairs({ 0.5, 1, 1.37, 20, 159.577 }) do
      for _, n in ipairs({ 1, 15, 1024, 1025, 20011 }) do
        local x = lg.randn({ n }, "f32", n) * (3 / lambda)
        agree(plain(x, lambda), (census({ x }, "lambda_gelu", lambda)))
      end
    end
  end)

  it("adds up over calls as if all were one", function()
    local x = lg.randn({ 3000 }, "f32", 2)
    local whole = census({ x }, "lambda_gelu", 4)
    local parts = census({ x[{ { 1, 1000 } }], x[{ { 1001, 3000 } }] }, "lambda_gelu", 4)
    for _, name in ipairs(NAMES) do
      assert.is_true(math.abs(whole[name] - parts[name]) <= 1e-12 * math.abs(whole[name]), name)
    end
  end)

  it("sees the published deviation, and never more", function()
    for _, lambda in ipairs({ 1, 2.5, 40, 159.577 }) do
      local points = {}
      for i = -4000, 4000 do points[#points + 1] = i * 1e-3 / lambda end
      local found = census({ lg.tensor(points) }, "lambda_gelu", lambda)
      assert.is_true(found.deviation > 0.999999 * gate.bound(lambda))
      assert.is_true(found.deviation <= 1.000004 * gate.bound(lambda))
    end
  end)

  it("gives ReLU no deviation, and GELU that of λ = 1", function()
    local x = lg.randn({ 5000 }, "f32", 3)
    local relu, gelu, one = census({ x }, "relu", 1), census({ x }, "gelu", 1), census({ x }, "lambda_gelu", 1)
    assert.equal(0, relu.deviation)
    assert.equal(relu.nonpositive, relu.zeros)
    assert.equal(0, relu.slope)
    assert.equal(one.deviation, gelu.deviation)
    assert.equal(0, gelu.slope)
    assert.is_true(one.slope > 0 and one.slope / one.count < 0.293525)
  end)

  it("keeps the border of the band exact", function()
    for _, lambda in ipairs({ 1, 3, 7.3, 159.577 }) do
      local edge = 2 / lambda
      local x = lg.tensor({ edge * (1 - 2e-7), edge * (1 - 6e-8), edge, edge * (1 + 6e-8), edge * (1 + 2e-7), -edge })
      assert.equal(plain(x, lambda).band, (census({ x }, "lambda_gelu", lambda)).band)
    end
  end)

  it("sets NaN and infinities aside", function()
    local nan, inf = 0 / 0, math.huge
    local clean, dirty = lg.tensor({ -1, 0.5, 2 }), lg.tensor({ nan, -1, inf, 0.5, -inf, 2, nan })
    local want, found = census({ clean }, "lambda_gelu", 3), census({ dirty }, "lambda_gelu", 3)
    assert.equal(4, found.nonfinite)
    found.nonfinite = 0
    assert.are.same(want, found)
    local none, counts = census({ lg.tensor({ nan, inf }) }, "lambda_gelu", 3, -1, 1, 2)
    assert.are.same({ count = 0, nonfinite = 2, min = 0, max = 0, band = 0, nonpositive = 0, zeros = 0, deviation = 0,
      slope = 0 }, none)
    assert.are.same({ 0, 0, 0, 0 }, counts)
    assert.equal(3, census({ lg.tensor({ nan }), clean }, "relu", 1).count)
    assert.equal(-1, census({ lg.tensor({ nan }), clean }, "relu", 1).min)
  end)

  it("fills a histogram with everything that it counts", function()
    local found, counts = census({ lg.tensor({ -9, -1, -0.75, -0.5, 0, 0.49, 0.5, 0.99, 1, 7 }) }, "relu", 1, -1, 1, 4)
    assert.equal(10, found.count)
    assert.are.same({ 1, 2, 1, 2, 2, 2 }, counts)
    local sum = 0
    local _, many = census({ lg.randn({ 40000 }, "f32", 5) }, "gelu", 1, -2, 2, 37)
    for _, c in ipairs(many) do sum = sum + c end
    assert.equal(40000, sum)
  end)

  it("gives the same bits for any number of threads", function()
    local x, before = lg.randn({ 200003 }, "f32", 4), lib.lg_threads()
    check(lib.lg_init(1))
    local one, counts_one = census({ x }, "lambda_gelu", 2.2, -3, 3, 50)
    check(lib.lg_init(5))
    local five, counts_five = census({ x }, "lambda_gelu", 2.2, -3, 3, 50)
    check(lib.lg_init(before))
    assert.are.same(one, five)
    assert.are.same(counts_one, counts_five)
  end)

  it("refuses what it cannot count", function()
    local function refuses(pattern, ...)
      local ok, e = pcall(census, ...)
      assert.is_false(ok)
      assert.matches(pattern, tostring(e))
    end
    local x = lg.tensor({ 1, 2 })
    refuses("f64%[2%]", { lg.tensor({ 1, 2 }, "f64") }, "relu", 1)
    refuses("not contiguous", { lg.randn({ 3, 2 }, "f32", 1):transpose(1, 2) }, "relu", 1)
    refuses("activation", { x }, "rely", 1)
    refuses("lambda = %-?nan", { x }, "relu", 0 / 0)
    refuses("lambda = inf", { x }, "relu", math.huge)
    refuses("bins = 5000", { x }, "relu", 1, 0, 1, 5000)
    refuses("low = 1", { x }, "relu", 1, 1, 1, 2)
  end)
end)
