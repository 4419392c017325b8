--- Every op of the engine's list: has samples, agrees with a plain formula, passes a gradient check in float64 on the
-- shipping code, agrees between float32 and float64, adds up gradients of shared inputs, and gives the same bits for
-- one and two threads. An op without samples, or without gradient and reason, fails by name.
local C = require("lgelu.C")
local opkit = require("tests.spec.support.opkit")
local ffi, lib = C.ffi, C.lib

local function ops()
  local names, i = {}, 0
  while lib.lg_list_name("op", i) ~= nil do
    names[#names + 1] = ffi.string(lib.lg_list_name("op", i))
    i = i + 1
  end
  return names
end

local function samples_of(name)
  local ok, samples = pcall(require, "tests.spec.ops." .. name .. "_samples")
  return ok and samples or nil, samples
end

-- Largest |a - b| relative to the largest |b|, 0 when all are equal; not a number counts as infinite.
local function distance(a, b)
  local scale, worst = 1e-30, 0
  for _, v in ipairs(b) do
    scale = math.max(scale, math.abs(v))
  end
  for i, v in ipairs(b) do
    local e = a[i] == v and 0 or math.abs(a[i] - v) / scale
    if e ~= e then e = math.huge end
    worst = math.max(worst, e)
  end
  return worst
end

describe("the list of ops", function()
  for _, name in ipairs(ops()) do
    it(name .. " has samples", function()
      local samples, problem = samples_of(name)
      assert.is_truthy(samples, ("tests/spec/ops/%s_samples.lua: %s"):format(name, tostring(problem)))
      assert.is_true(#samples > 0)
    end)
  end
  it("has no samples left over", function()
    local known = {}
    for _, name in ipairs(ops()) do
      known[name] = true
    end
    for file in require("lfs").dir("tests/spec/ops") do
      local name = file:match("^(.*)_samples%.lua$")
      if name then assert.is_true(known[name] or false, file .. " is for no op of the list") end
    end
  end)
end)

for _, name in ipairs(ops()) do
  for _, sample in ipairs(samples_of(name) or {}) do
    describe(("op %s, %s:"):format(name, sample.name), function()
      local values = opkit.values(sample, 5)
      local shapes = {}
      for i, input in ipairs(sample.inputs) do
        shapes[i] = input.shape
      end

      it("values", function()
        local g = opkit.build(name, sample, "f64", values)
        local got = opkit.forward(g)
        local want = sample.reference(values, shapes, sample.attrs or {}, got)
        if type(want) == "number" then want = { want } end
        assert.are.equal(#want, #got)
        local e = distance(got, want)
        assert.is_true(e < 1e-12, ("off by %.3g"):format(e))
      end)

      it("float32 agrees with float64", function()
        local a = opkit.build(name, sample, "f32", values)
        local b = opkit.build(name, sample, "f64", values)
        local tolerance = sample.f32 or 2e-6
        assert.is_true(distance(opkit.forward(a), opkit.forward(b)) < tolerance)
        if a.differentiable then
          local ga, gb = opkit.gradients(a), opkit.gradients(b)
          for i in ipairs(gb) do
            local e = distance(ga[i], gb[i])
            assert.is_true(e < 10 * tolerance, ("gradient %d off by %.3g"):format(i, e))
          end
        end
      end)

      it("gradients", function()
        local g = opkit.build(name, sample, "f64", values)
        if not g.differentiable then
          assert.is_true(#ffi.string(lib.lg_op_no_grad(lib.lg_list_find("op", name))) > 10)
          return
        end
        local e, place = opkit.gradcheck(g, sample.step)
        assert.is_true(e < 1e-8, ("off by %.3g at %s"):format(e, place))
        local twice, where = opkit.gradcheck(opkit.build(name, sample, "f64", values, true), sample.step)
        assert.is_true(twice < 1e-8, ("shared inputs: off by %.3g at %s"):format(twice, where))
      end)

      for i, a in ipairs(sample.inputs) do
        for j, b in ipairs(sample.inputs) do
          local alike = i < j and table.concat(a.shape, ",") == table.concat(b.shape, ",")
          if alike and not (a.labels or a.s or a.state or b.labels or b.s or b.state) then
            it(("gradients where inputs %d and %d are one node"):format(i, j), function()
              local g = opkit.build(name, sample, "f64", values, false, 1, { i, j })
              local e, place = opkit.gradcheck(g, sample.step)
              assert.is_true(e < 1e-8, ("off by %.3g at %s"):format(e, place))
            end)
          end
        end
      end

      it("the same bits for 1 and 2 threads", function()
        local before = lib.lg_threads()
        local function bits(threads)
          C.check(lib.lg_init(threads))
          local g = opkit.build(name, sample, "f32", values)
          local list = opkit.forward(g)
          for _, grad in ipairs(g.differentiable and opkit.gradients(g) or {}) do
            for _, v in ipairs(grad) do
              list[#list + 1] = v
            end
          end
          return list
        end
        local one, two = bits(1), bits(2)
        C.check(lib.lg_init(before))
        assert.are.same(one, two)
      end)
    end)
  end
end
