--- attention at the lengths that models have, T = 1, 2, 65, 256 and 1000, plain, causal and with lengths: float64
-- against the plain formula, its gradient against a difference along one direction, float32 against float64. The short
-- samples of ops/attention_samples.lua check every single derivative.
local opkit = require("tests.spec.support.opkit")
local lib = require("lgelu.C").lib

local formula = require("tests.spec.ops.attention_samples")[1].reference

local function sample(t, mask)
  local inputs = { { shape = { 2, t, 12 } } }
  if mask == "lengths" then inputs[2] = { shape = { 2 }, labels = t, first = 1 } end
  return { name = mask, inputs = inputs, attrs = { heads = 2, causal = mask == "causal" and 1 or 0 } }
end

local function largest(a, b)
  local worst, size = 0, 0
  for i, v in ipairs(b) do
    worst, size = math.max(worst, math.abs(a[i] - v)), math.max(size, math.abs(v))
  end
  return worst / size
end

-- The loss at x + h·direction, by a graph of its own.
local function loss_at(s, values, direction, h)
  local moved = { {}, values[2] }
  for i, v in ipairs(values[1]) do moved[1][i] = v + h * direction[i] end
  return opkit.loss(opkit.build("attention", s, "f64", moved))
end

for _, t in ipairs({ 1, 2, 65, 256, 1000 }) do
  for _, mask in ipairs({ "none", "causal", "lengths" }) do
    it(("attention over %d tokens, mask %s"):format(t, mask), function()
      local s = sample(t, mask)
      local values, shapes = opkit.values(s, 5), { s.inputs[1].shape, { 2 } }
      local f64, f32 = opkit.build("attention", s, "f64", values), opkit.build("attention", s, "f32", values)
      local exact = opkit.forward(f64)
      assert.is_true(largest(exact, formula(values, shapes, s.attrs)) < 1e-13)
      local e32 = largest(opkit.forward(f32), exact)
      assert.is_true(e32 < 3e-6, ("float32 off by %.3g"):format(e32))
      local g64, g32 = opkit.gradients(f64)[1], opkit.gradients(f32)[1]
      e32 = largest(g32, g64)
      assert.is_true(e32 < 5e-6, ("float32's gradient off by %.3g"):format(e32))
      local direction, along = {}, 0
      for i, g in ipairs(g64) do
        direction[i] = 2 * lib.lg_rng_uniform(8, 1, i) - 1
        along = along + g * direction[i]
      end
      local h = 1e-5
      local difference = (loss_at(s, values, direction, h) - loss_at(s, values, direction, -h)) / (2 * h)
      assert.is_true(math.abs(difference - along) < 1e-8 * (1 + math.abs(along)),
        ("gradient along a direction %.12g, by differences %.12g"):format(along, difference))
    end)
  end
end
