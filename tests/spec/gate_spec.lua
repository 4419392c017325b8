-- lgelu.gate: kernels against 60-digit references, λ(s) and back, targets, bounds, initial profiles, and their errors.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local gate = require("lgelu.gate")
local lg = require("lgelu")

-- |found − expected| in float32 units in the last place of the larger of |expected| and least.
local function ulps(found, expected, least)
  local size = math.max(math.abs(expected), least or 0)
  if size > 3.4028234663852886e38 then return found == (expected > 0 and math.huge or -math.huge) and 0 or math.huge end
  local _, exponent = math.frexp(math.max(size, 2 ^ -126))
  return found == found and math.abs(found - expected) / 2 ^ (exponent - 24) or math.huge
end

-- Rows of a reference file as lists of fields; nil when there is no such file.
local function rows(path)
  local file = io.open(path)
  if not file then return nil end
  local list = {}
  for line in file:lines() do
    if not line:match("^#") and not line:match("^%a+,x,") and not line:match("^x,") then
      local fields = {}
      for field in line:gmatch("[^,]+") do
        local tiny = field:match("^%-?[%d.]+e%-%d%d%d%d+$") -- below what tonumber reads: 0
        fields[#fields + 1] = tiny and 0 or tonumber(field) or field
      end
      list[#list + 1] = fields
    end
  end
  file:close()
  return list
end

local function within_4_ulp(x, lambda, found, expected, what)
  local least = what == "df/dx" and 2 ^ -4 or 0
  assert(ulps(found, expected, least) <= 4, ("%s at x=%.9g λ=%.9g: found %.9g, expected %.9g")
    :format(what, x, lambda, found, expected))
end

local function is_usage_error(pattern, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(e, "usage"), tostring(e))
  assert.matches(pattern, e.message)
end

describe("gate.value and gate.grad", function()
  it("are within 4 ulp of 60-digit values", function()
    local n = 0
    for _, row in ipairs(rows("tests/ref/gate_values.csv")) do
      local name, x, lambda = row[1], row[2], row[3]
      if name == "lambda_gelu" then
        local dfdx, dfdl = gate.grad(x, lambda)
        within_4_ulp(x, lambda, gate.value(x, lambda), row[4], "f")
        within_4_ulp(x, lambda, dfdx, row[5], "df/dx")
        within_4_ulp(x, lambda, dfdl, row[6], "df/dλ")
        n = n + 1
      end
    end
    assert.is_true(n > 500)
  end)

  it("are within 4 ulp of the shared reference, where it is", function()
    local list = rows("../shared/reference/lambda_gelu.csv")
    if not list then
      print("SKIPPED: ../shared/reference/lambda_gelu.csv is not there")
      return
    end
    assert.equal(580, #list)
    for _, row in ipairs(list) do
      local x, lambda = row[1], row[2]
      local dfdx, dfdl = gate.grad(x, lambda)
      within_4_ulp(x, lambda, gate.value(x, lambda), row[3], "f")
      within_4_ulp(x, lambda, dfdx, row[4], "df/dx")
      within_4_ulp(x, lambda, dfdl, row[5], "df/dλ")
    end
  end)

  it("keep the tail's digits", function()
    local known = {
      [-4] = -1.266849673e-4, [-5] = -1.433257860e-6, [-5.5] = -1.044425936e-7, [-6] = -5.919525870e-9,
      [-8] = -4.976768459e-15, [-10] = -7.619853024e-23, [-13] = -7.95231372e-38,
    }
    for x, f in pairs(known) do assert.is_true(math.abs(gate.value(x, 1) / f - 1) < 3e-7) end
  end)

  it("are the step function's far out, never NaN", function()
    for _, x in ipairs({ 1e20, 3e38, math.huge }) do
      for _, lambda in ipairs({ 1, 160, 1e6 }) do
        assert.equal(C.ffi.new("float", x), gate.value(x, lambda))
        assert.equal(0, gate.value(-x, lambda))
        assert.same({ 1, 0 }, { gate.grad(x, lambda) })
        assert.same({ 0, 0 }, { gate.grad(-x, lambda) })
      end
    end
    for _, x in ipairs({ 0, 1e-30, -1e-30 }) do
      for _, lambda in ipairs({ 1, 160, 1e6 }) do
        local dfdx, dfdl = gate.grad(x, lambda)
        assert.equal(0.5, dfdx)
        assert.equal(0, dfdl)
      end
    end
  end)

  it("give NaN for NaN", function()
    local nan = 0 / 0
    local f, dfdx = gate.value(nan, 2), gate.grad(nan, 2)
    assert.is_true(f ~= f and dfdx ~= dfdx)
  end)

  it("work below λ = 1, down to 0", function()
    assert.equal(0.5, gate.value(1, 0))
    assert.is_true(ulps(gate.value(1e30, 1e-30), 1e30 * 0.84134474606854293) <= 1)
    assert.is_true(ulps(gate.value(-20, 0.5), -20 * 7.6198530241605261e-24) <= 1)
    assert.equal(math.huge, gate.value(math.huge, 0.5))
  end)

  it("give tensors for tensors, the same values as numbers", function()
    local xs, lambda = { { -2, -0.5, 0 }, { 0.25, 1, 30 } }, 1.75
    local x = lg.tensor(xs)
    local f, dfdx, dfdl = gate.value(x, lambda), gate.grad(x, lambda)
    assert.same({ 2, 3 }, f.shape)
    f, dfdx, dfdl = f:totable(), dfdx:totable(), dfdl:totable()
    for i = 1, 2 do
      for j = 1, 3 do
        local gx, gl = gate.grad(xs[i][j], lambda)
        assert.equal(gate.value(xs[i][j], lambda), f[i][j])
        assert.equal(gx, dfdx[i][j])
        assert.equal(gl, dfdl[i][j])
      end
    end
    local each = gate.value(x, lg.tensor({ 1, 2, 160 })):totable()
    assert.equal(gate.value(-0.5, 2), each[1][2])
    assert.equal(gate.value(30, 160), each[2][3])
  end)

  it("compute float64 tensors in float64", function()
    local f = gate.value(lg.tensor({ -5.5 }, "f64"), 1):totable()[1]
    assert.is_true(math.abs(f / -1.0444259356238246e-7 - 1) < 1e-13)
  end)

  it("refuse a λ out of range and what is no tensor", function()
    is_usage_error("gate%.value: λ is %-1", gate.value, 1, -1)
    is_usage_error("gate%.grad: λ is nan", gate.grad, 1, 0 / 0)
    is_usage_error("gate%.value: λ is inf", gate.value, lg.tensor({ 1 }), math.huge)
    is_usage_error("gate%.value: x: expected a number or a tensor, found a string", gate.value, "1", 1)
    is_usage_error("gate%.value: x: expected a number or a tensor, found a nil", gate.value, nil, lg.tensor({ 2 }))
  end)

  it("spread a number x to the shape of a tensor λ", function()
    local lambda = lg.tensor({ { 1, 2, 160 }, { 5, 1.5, 3 } })
    local f, dfdx = gate.value(-0.5, lambda), (gate.grad(-0.5, lambda))
    assert.are.same({ 2, 3 }, f.shape)
    for i = 1, 2 do
      for j = 1, 3 do
        assert.are.equal(gate.value(-0.5, lambda[{ i, j }]), f[{ i, j }])
        assert.are.equal((gate.grad(-0.5, lambda[{ i, j }])), dfdx[{ i, j }])
      end
    end
  end)
end)

describe("other activations", function()
  it("are within 4 ulp of 60-digit values", function()
    local n = 0
    for _, row in ipairs(rows("tests/ref/gate_values.csv")) do
      local name, x = row[1], row[2]
      if name ~= "lambda_gelu" then
        local activation = C.lib.lg_list_find("activation", name)
        local at, f, dfdx = lg.tensor({ x }), lg.zeros(1), lg.zeros(1)
        C.check(C.lib.lg_tensor_gate(f, activation, at, nil))
        C.check(C.lib.lg_tensor_gate_grad(dfdx, nil, activation, at, nil))
        within_4_ulp(x, 1, f:totable()[1], row[4], "f")
        within_4_ulp(x, 1, dfdx:totable()[1], row[5], "df/dx")
        n = n + 1
      end
    end
    assert.is_true(n > 500)
  end)

  it("give NaN for NaN, relu too", function()
    local nan, index = lg.tensor({ 0 / 0 }), 0
    while C.lib.lg_list_name("activation", index) ~= nil do
      local f = lg.zeros(1)
      C.check(C.lib.lg_tensor_gate(f, index, nan, nil))
      assert.is_true(f:totable()[1] ~= f:totable()[1], C.ffi.string(C.lib.lg_list_name("activation", index)))
      index = index + 1
    end
    assert.is_true(index >= 7)
  end)
end)

describe("gate.lambda and gate.s", function()
  local KINDS = { "softplus", "softplus_beta", "exp", "none" }

  it("give the known values", function()
    assert.near(1.693147180559945, (gate.lambda(0, 0.1)), 1e-15)
    for lambda, u in pairs({ [1.01] = -4.600166, [1.1] = -2.252168, [2] = 0.541325, [160] = 159 }) do
      assert.near(u, gate.s(lambda, 1), 5e-7)
      assert.near(u * 0.3, gate.s(lambda, 0.3), 5e-7)
    end
  end)

  it("neither overflow nor cut softplus off", function()
    assert.equal(101, (gate.lambda(100, 1)))
    assert.equal(1e300 + 1, (gate.lambda(1e300, 1)))
    assert.equal(1, (gate.lambda(-1e300, 1)))
    local _, slope = gate.lambda(100, 1)
    assert.equal(1, slope)
    _, slope = gate.lambda(30, 1)
    assert.is_true(slope < 1)
    for _, u in ipairs({ -17, -50, -700 }) do
      _, slope = gate.lambda(u, 1)
      assert.is_true(math.abs(slope / math.exp(u) - 1) < 1e-7)
    end
    _, slope = gate.lambda(-17, 1)
    assert.near(4.1399e-8, slope, 1e-12)
  end)

  it("are inverse to each other for every reparameterization", function()
    for _, kind in ipairs(KINDS) do
      for _, t in ipairs({ 0.01, 0.1, 1, 3 }) do
        for _, lambda in ipairs({ 1 + 1e-12, 1.0001, 1.01, 1.1, 1.69, 2, 20, 160, 1e6 }) do
          local s = gate.s(lambda, t, kind)
          local back = gate.lambda(s, t, kind)
          assert.is_true(math.abs(back - lambda) <= 4e-15 * lambda, ("%s t=%g λ=%.17g"):format(kind, t, lambda))
        end
      end
    end
  end)

  it("give the slope that differences give", function()
    for _, kind in ipairs(KINDS) do
      for _, t in ipairs({ 0.1, 1 }) do
        for _, s in ipairs({ -1.5, -0.3, 0, 0.2, 1 }) do
          local h = 1e-6
          local _, slope = gate.lambda(s, t, kind)
          local difference = ((gate.lambda(s + h, t, kind)) - (gate.lambda(s - h, t, kind))) / (2 * h)
          assert.is_true(math.abs(slope - difference) <= 1e-6 * math.max(1, math.abs(slope)), kind)
        end
      end
    end
  end)

  it("name the nearest usable value where λ cannot be reached", function()
    for _, kind in ipairs({ "softplus", "softplus_beta", "exp" }) do
      is_usage_error("gate%.s: λ: found 1, .*nearest usable value is 1%.0000000000000002", gate.s, 1, 0.1, kind)
      is_usage_error("found 0%.5", gate.s, 0.5, 0.1, kind)
      assert.is_true(gate.s(1.0000000000000002, 0.1, kind) < 0)
    end
    assert.equal(1, gate.s(1, 0.1, "none"))
    is_usage_error("found 0%.9.*at least 1", gate.s, 0.9, 0.1, "none")
  end)

  it("refuse t ≤ 0, NaN and unknown names", function()
    is_usage_error("t: found 0, expected a finite number above 0", gate.lambda, 1, 0)
    is_usage_error("t: found %-1", gate.s, 2, -1)
    is_usage_error("s: found NaN", gate.lambda, 0 / 0, 1)
    is_usage_error("found inf", gate.s, math.huge, 1)
    is_usage_error("two numbers are expected", gate.s, 2)
    is_usage_error("unknown reparameterization 'softplu'.*did you mean 'softplus'", gate.lambda, 1, 1, "softplu")
  end)
end)

describe("gate.target and gate.bound", function()
  it("follow their formulas", function()
    assert.near(159.576912160573, gate.target(0.005), 1e-11)
    assert.equal(0.16997120747990366 / 160, gate.bound(160))
    local x = 0.75179152469356446 / 2
    assert.near(gate.bound(2), -gate.value(-x, 2), 1e-8)
    for i = 1, 400 do assert.is_true(-gate.value(-i / 100, 2) <= gate.bound(2) * (1 + 1e-7)) end
  end)

  it("refuse what is not above 0", function()
    for _, bad in ipairs({ 0, -1, 0 / 0, math.huge, "x" }) do
      is_usage_error("gate%.target: ε is", gate.target, bad)
      is_usage_error("gate%.bound: λ is", gate.bound, bad)
    end
  end)

  it("gate.drift is the statistics' one", function()
    assert.near(0.25, gate.drift({ { 1, 2 }, { 1.5, 2 }, { 1.5, 1.5 } }), 1e-15)
  end)
end)

describe("gate.init", function()
  it("lists modes, each with a line of documentation and usable for every reparameterization", function()
    assert.same({ "gelu", "ascending", "descending", "random", "hard" }, gate.init_modes())
    for _, mode in ipairs(gate.init_modes()) do
      assert.is_true(#gate.init_doc(mode) > 10)
      for _, reparam in ipairs({ "softplus", "softplus_beta", "exp", "none" }) do
        for count = 0, 5 do
          local lambdas = gate.init(mode, count, { t = 0.1, seed = 3, reparam = reparam })
          assert.equal(count, #lambdas)
          for _, lambda in ipairs(lambdas) do assert.is_true(lambda > 1 and lambda < math.huge) end
        end
      end
    end
    assert.is_nil(gate.init_doc("soft"))
  end)

  it("gives the profiles that the names say", function()
    assert.same({ 1.1, 1.1, 1.1 }, gate.init("gelu", 3))
    assert.same({ 20, 20 }, gate.init("hard", 2))
    local up, down = gate.init("ascending", 4), gate.init("descending", 4)
    assert.near(1.1, up[1], 1e-14)
    assert.near(5, up[4], 1e-14)
    assert.near(up[2] / up[1], up[4] / up[3], 1e-14)
    for i = 1, 4 do assert.equal(up[i], down[5 - i]) end
    assert.near(math.sqrt(5.5), gate.init("ascending", 1)[1], 1e-14)
  end)

  it("draws random profiles from the seed alone", function()
    local a, b = gate.init("random", 50, { seed = 1 }), gate.init("random", 50, { seed = 2 })
    assert.same(a, gate.init("random", 50, { seed = 1 }))
    assert.is_true(a[1] ~= b[1] and a[1] ~= a[2])
    for _, lambda in ipairs(a) do assert.is_true(lambda >= 1.1 and lambda <= 5) end
  end)

  it("takes a function", function()
    assert.same({ 1.5, 2.5, 3.5 }, gate.init(function(layer, count) return layer + 1.5 * count / 3 - 1 end, 3))
    assert.same({ 1 }, gate.init(function() return 1 end, 1, { reparam = "none" }))
  end)

  it("checks every value and every argument", function()
    is_usage_error("the function gave λ = 1 for gate 2 of 3: λ: found 1, .*nearest usable value",
      gate.init, function(layer) return layer == 2 and 1 or 2 end, 3)
    is_usage_error("λ = 0%.5 for gate 1 of 1", gate.init, function() return 0.5 end, 1)
    is_usage_error("λ = inf for gate 1", gate.init, function() return math.huge end, 1)
    is_usage_error("λ = nan for gate 1", gate.init, function() return 0 / 0 end, 1)
    is_usage_error("λ = nil for gate 1 of 1; a number is expected", gate.init, function() end, 1)
    is_usage_error("unknown mode 'ascendin'.*did you mean 'ascending'", gate.init, "ascendin", 3)
    is_usage_error("count is %-1", gate.init, "gelu", -1)
    is_usage_error("count is 1%.5", gate.init, "gelu", 1.5)
    is_usage_error("seed is %-1", gate.init, "random", 1, { seed = -1 })
    is_usage_error("t: found 0", gate.init, "gelu", 1, { t = 0 })
    is_usage_error("unknown reparameterization 'sofplus'", gate.init, "gelu", 1, { reparam = "sofplus" })
  end)
end)
