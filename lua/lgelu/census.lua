--- census: one gate of a network and the statistics of its pre-activations, gathered batch by batch: extremes, share in
-- the transition band, zeros, deviation from ReLU, mean ∂f/∂λ, histogram. The counting is the engine's
-- (lg_gate_census). What it is not: a pass over data (lgelu.swap, lgelu.probe).
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local gate = require("lgelu.gate")

local ffi, lib, check = C.ffi, C.lib, C.check
local census = {}
local Census = {}
Census.__index = Census

-- sup|f − ReLU| of the activations that have no λ: greatest |x|·σ(−|v(x)|). identity has none.
local FIXED_BOUNDS = {
  relu = 0, gelu = gate.bound(1), gelu_tanh = 0.170040750571254, gelu_sigmoid = 0.278464542761074 / 1.702,
  silu = 0.278464542761074,
}

local PLACE, places = {}, 0 -- name → place in a census, from 0
while lib.lg_list_name("census", places) ~= nil do
  PLACE[ffi.string(lib.lg_list_name("census", places))] = places
  places = places + 1
end

--- What gate i of a network computes at present.
-- @return { name, kind, lambda (nil: a kind without), bound = sup|f − ReLU| (nil: none) }
function census.gate(net, i)
  local state = net:gate_state(i)
  local lambda = state.kind == "lambda_gelu" and state.lambda or nil
  return {
    name = net.gates[i].name, kind = state.kind, lambda = lambda,
    bound = lambda and gate.bound(lambda) or FIXED_BOUNDS[state.kind],
  }
end

--- An empty census of a gate.
-- @param described  what census.gate gave
-- @param bins  nil, or { low, high, count = 1..4096 }: a histogram of [low, high)
function census.new(described, bins)
  return setmetatable({
    of = described, activation = lib.lg_list_find("activation", described.kind), counts = ffi.new("double[?]", places),
    bins = bins, histogram = bins and ffi.new("double[?]", bins[3] + 2),
  }, Census)
end

--- Adds one batch of pre-activations: contiguous f32.
function Census:add(x)
  local b = self.bins or { 0, 0, 0 }
  check(lib.lg_gate_census(self.counts, self.histogram, x, self.activation, self.of.lambda or 1, b[1], b[2], b[3]))
end

--- The statistics so far.
-- @param samples  how many samples they are of
-- @return { name, kind, lambda, bound, outputs (a sample), max_deviation (observed |f − ReLU|), min, max
--   (pre-activations), band (share |λx| < 2; λ = 1 for kinds without; 0 for relu), zeros_before (share f = 0
--   exactly), zeros_after (share x ≤ 0), slope (mean ∂f/∂λ; nil without λ) }
-- @raise fails when there are pre-activations that are not finite
function Census:row(samples)
  local function at(name) return self.counts[PLACE[name]] end
  if at("nonfinite") > 0 then
    errors.fail("gate '%s': %d of its pre-activations are NaN or infinite: the network is broken", self.of.name,
      at("nonfinite"))
  end
  local n, of = at("count"), self.of
  return {
    name = of.name, kind = of.kind, lambda = of.lambda, bound = of.bound, outputs = n / samples,
    max_deviation = at("deviation"), min = at("min"), max = at("max"), band = of.kind ~= "relu" and at("band") / n or 0,
    zeros_before = at("zeros") / n, zeros_after = at("nonpositive") / n, slope = of.lambda and at("slope") / n or nil,
  }
end

return census
