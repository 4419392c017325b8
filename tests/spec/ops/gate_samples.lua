--- Samples of op gate: every activation, every reparameterization with gradients to x and s, fixed λ, hard gates, a
-- floor under λ above it and below it, more than one tile. The plain formula uses an erfc of its own (series
-- and continued fraction), not the engine's.
local C = require("lgelu.C")

local function erfc(x)
  if x < 0 then return 2 - erfc(-x) end
  if x < 3 then -- Maclaurin series of erf
    local sum, term, n = x, x, 0
    repeat
      n = n + 1
      term = -term * x * x / n
      sum = sum + term / (2 * n + 1)
    until math.abs(term) < 1e-18 * math.abs(sum) or n > 200
    return 1 - 2 / math.sqrt(math.pi) * sum
  end
  local f = 0 -- continued fraction, from the end
  for k = 80, 1, -1 do
    f = k / 2 / (x + f)
  end
  return math.exp(-x * x) / math.sqrt(math.pi) / (x + f)
end

local function sigmoid(x) return 1 / (1 + math.exp(-x)) end
local FAMILY = {
  relu = function(x) return math.max(x, 0) end,
  gelu = function(x) return x * 0.5 * erfc(-x / math.sqrt(2)) end,
  gelu_tanh = function(x)
    local u = math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3)
    return 0.5 * x * (1 + math.tanh(u))
  end,
  gelu_sigmoid = function(x) return x * sigmoid(1.702 * x) end,
  silu = function(x) return x * sigmoid(x) end,
  identity = function(x) return x end,
}
local LAMBDA = {
  softplus = function(s, t) return 1 + math.log(1 + math.exp(s / t)) end,
  softplus_beta = function(s, t) return 1 + t * math.log(1 + math.exp(s / t)) end,
  exp = function(s, t) return 1 + math.exp(s / t) end,
  none = function(s) return s end,
}

local function gated(lambda_of)
  return function(v)
    local out, lambda = {}, lambda_of(v)
    for i, x in ipairs(v[1]) do
      out[i] = x * 0.5 * erfc(-lambda * x / math.sqrt(2))
    end
    return out
  end
end

local samples = {}
for name, f in pairs(FAMILY) do
  samples[#samples + 1] = {
    name = name, inputs = { { shape = { 4, 9 }, low = -3, high = 3 } },
      attrs = { kind = C.lib.lg_list_find("activation", name) },
    kinks = name == "relu" and function(x) return math.abs(x) < 0.05 end or nil,
    reference = function(v)
      local out = {}
      for i, x in ipairs(v[1]) do
        out[i] = f(x)
      end
      return out
    end,
  }
end
for name, f in pairs(LAMBDA) do
  local t = name == "none" and 1 or 0.5
  samples[#samples + 1] = {
    name = "lambda_gelu by " .. name, f32 = 5e-6,
    inputs = { { shape = { 5, 8 }, low = -3, high = 3 }, { shape = { 1 }, s = true, low = 1.2, high = 1.6 } },
    attrs = { kind = C.lib.lg_list_find("activation", "lambda_gelu"), reparam = C.lib.lg_list_find("reparam", name),
      t = t },
    reference = gated(function(v) return f(v[2][1], t) end),
  }
end
for _, lambda in ipairs({ 1, 4, 30 }) do
  samples[#samples + 1] = {
    name = "fixed λ = " .. lambda, inputs = { { shape = { 3, 10 }, low = -1, high = 1 } }, attrs = { lambda = lambda },
    reference = gated(function() return lambda end), step = 2e-4 / lambda,
  }
end
-- λ(s) lies between 1.6 and 2.3 here; above it, the floor is λ and s has no gradient.
for _, floor in ipairs({ 1.2, 2.5, 40 }) do
  samples[#samples + 1] = {
    name = "a floor of " .. floor, f32 = 5e-6, step = 2e-3 / math.max(floor, 1),
    inputs = { { shape = { 5, 8 }, low = -1, high = 1 }, { shape = { 1 }, s = true, low = 0, high = 0.4 } },
    attrs = { t = 0.5, floor = floor },
    reference = gated(function(v) return math.max(LAMBDA.softplus(v[2][1], 0.5), floor) end),
  }
end
samples[#samples + 1] = {
  name = "a floor above a fixed λ", inputs = { { shape = { 3, 10 }, low = -1, high = 1 } },
  attrs = { lambda = 2, floor = 7 }, reference = gated(function() return 7 end), step = 5e-5,
}
samples[#samples + 1] = {
  name = "more than a tile", inputs = { { shape = { 8200 }, low = -2, high = 2 },
    { shape = { 1 }, s = true, low = 0.1, high = 0.2 } },
  attrs = { t = 0.1 }, reference = gated(function(v) return LAMBDA.softplus(v[2][1], 0.1) end),
}
return samples
