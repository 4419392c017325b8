--- train/harden: applies a plan of lgelu.hardening to a training: floors under every λ before each step, s frozen or
-- kept above its floor. All is a function of (step, λ at the switch): a resumed run goes on with the same bits.
local errors = require("lgelu.errors")
local gate = require("lgelu.gate")
local hardening = require("lgelu.hardening")

local harden = {}

local ABOVE = 2 ^ -40 -- relative; far above what rounding does to λ(s(λ)), far below what anybody sees

--- The plan of a session, nil without a section `hardening`.
function harden.plan(session)
  local names = {}
  if not session.resolved.config.hardening then return nil end
  for i, g in ipairs(session.net.gates) do names[i] = g.name end
  return hardening.plan(session.resolved, names, session.total)
end

--- Raises a usage error for a λ that is above its target and cannot change before the switch.
function harden.check(session)
  local plan, resolved = session.hardening, session.resolved
  local gates = resolved.config.gate
  if not plan or (plan.first > 0 and gates.learn and gates.c > 0) then return end
  local problem = plan:problem(session.net:lambdas())
  if not problem then return end
  errors.usage("%s: hardening: %s", resolved.where(plan.config.eps and "hardening.eps" or "hardening.target"), problem)
end

-- s raised to where λ(s) reaches the floor, so that it goes on learning there; λ(s) itself stays below the target,
-- which the floor then meets exactly.
local function keep_above(net, plan, floors)
  local config = net.gate_config
  for i, g in ipairs(net.gates) do
    local lambda, cap = gate.lambda(g.s_value[0], config.t, config.reparam), plan.targets[i] * (1 - ABOVE)
    local least = math.min(floors[i] * (1 + ABOVE), cap)
    if lambda < floors[i] and lambda < least then
      g.s_value[0] = gate.s(least, config.t, config.reparam)
    elseif lambda > cap then
      g.s_value[0] = gate.s(cap, config.t, config.reparam)
    end
  end
end

--- After a step's update, which may have moved s past what is allowed (momentum does, without a gradient).
function harden.after_step(session, state)
  local plan = session.hardening
  if not plan or state.step < plan.first or plan.learn == "frozen" then return end
  keep_above(session.net, plan, plan:floors(state.step, state.switch))
end

--- Before a step: nothing until the switch; there, λ is noted (state.switch) and from then on rises.
-- @raise fails where a λ is above its target at the switch
function harden.before_step(session, state)
  local plan, net = session.hardening, session.net
  if not plan or state.step < plan.first then return end
  if not state.switch then
    local lambdas = net:lambdas()
    local problem = plan:problem(lambdas)
    if problem then errors.fail("hardening at step %d: %s", state.step + 1, problem) end
    state.switch = lambdas
  end
  if plan.learn == "frozen" and not session.frozen then
    session.opt:freeze("gates")
    session.frozen = true
  end
  local floors = plan:floors(state.step, state.switch)
  for i = 1, #net.gates do net:set_floor(i, floors[i]) end
  if plan.learn ~= "frozen" then keep_above(net, plan, floors) end
end

return harden
