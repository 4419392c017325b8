--- certificate.gates: what can be said of the swap of a network with nodes through which intervals grow too wide to be
-- of any use (attention, normalization of rows, products of two activations) or for which there is no rule. Each gate
-- has its bound all the same, sup|f − ReLU| = 0.169971207/λ, whatever comes in; the rest is observed, not proved: each
-- gate's greatest distance from ReLU, each part's greatest change of a logit, predictions that flip. No bound on a
-- logit follows from these.
-- What it is not: the measurement, which is lgelu.swap's and stored as such; the bounds of other networks
-- (lgelu.certificate).
local folded = require("lgelu.folded")
local swap = require("lgelu.swap")
local walk = require("lgelu.certificate.walk")

local gates = {}

local WIDE = { attention = true, layer_norm = true, rms_norm = true, product = true, batch_matmul = true }

--- Why an opened run's network has no bounds on its logits, with the first node that is to blame; nil: it has.
function gates.reason(t)
  local unknown
  for _, node in ipairs(folded.of(t).nodes) do
    if WIDE[node.op] then return ("intervals grow too wide through '%s' (%s)"):format(node.name, node.op) end
    if not walk.knows(node.op) then unknown = unknown or node end
  end
  return unknown and ("the certificate has no rule for '%s' (%s)"):format(unknown.name, unknown.op)
end

--- Bounds and observations of such a run: the stored swap of all gates, or measured and stored now.
-- @param t     of lgelu.trained.open
-- @param show  function(part, done, samples), called before each batch, or nil
-- @return report of lgelu.swap, with bound and max_deviation of each gate; name of its group in run.h5, or nil and
--   the error where it could not be stored
-- @raise as swap.of
function gates.of(t, show)
  return select(2, swap.of(t.dir, { show = show }))
end

return gates
