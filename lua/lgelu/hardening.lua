--- hardening: λ of every gate on its way to its target over the last part of a training: the recipe's section
-- `hardening` as a pure function of (step, λ at the switch). Touches no network and no file: lgelu.train.harden applies
-- it, lgelu.recipe checks the section's keys.
local errors = require("lgelu.errors")
local gate = require("lgelu.gate")

local hardening = {}
local Plan = {}
Plan.__index = Plan

-- Every shape: the fraction of the way after progress p, both in [0, 1]; log: of the way in log λ, else in λ itself.
local SHAPES = {
  { name = "geometric", log = true, doc = "in equal ratios: log λ rises evenly", fraction = function(p) return p end },
  { name = "linear", doc = "in equal steps of λ", fraction = function(p) return p end },
  { name = "cosine", doc = "in λ along half a cosine: slow at both ends",
    fraction = function(p) return (1 - math.cos(math.pi * p)) / 2 end },
  { name = "sine", doc = "in λ along a quarter of a sine: fast at first, slow at the end",
    fraction = function(p) return math.sin(math.pi * p / 2) end },
}
-- Of hardening.schedule alone: the section is then as if it were not there.
hardening.OFF = "none"

--- Names of the shapes in the order of their list, and "none".
function hardening.shapes()
  local names = {}
  for i, shape in ipairs(SHAPES) do names[i] = shape.name end
  names[#names + 1] = hardening.OFF
  return names
end

--- One line on a shape; nil for an unknown name.
function hardening.shape_doc(name)
  if name == hardening.OFF then return "no hardening" end
  for _, shape in ipairs(SHAPES) do
    if shape.name == name then return shape.doc end
  end
end

-- What a recipe's own function gives at p, or a usage error.
local function fraction_at(fn, p, where)
  local f = fn(p)
  if type(f) ~= "number" or not (f >= 0 and f <= 1) then
    errors.usage("%s: hardening.schedule(%.6g): found %s, expected a number from 0 to 1", where, p, tostring(f))
  end
  local end_point = (p == 0 or p == 1) and p
  if end_point and f ~= end_point then
    errors.usage("%s: hardening.schedule(%d): found %.6g, expected %d: the way starts at 0 and ends at 1", where, p, f,
      end_point)
  end
  return f
end

local SAMPLES = 1024 -- by which a function is known to the recipe's hash

--- A recipe's own function p → fraction of the way in log λ, as text: its values, for the recipe's hash.
-- @raise usage error in the name of `where` for values that are not numbers in [0, 1], or that miss 0 at 0 or 1 at 1
function hardening.describe_function(fn, where)
  local values = {}
  for i = 0, SAMPLES do values[i + 1] = ("%.17g"):format(fraction_at(fn, i / SAMPLES, where)) end
  return "hardening.schedule " .. table.concat(values, " ")
end

-- -- planning ------------------------------------------------------------------------------------------------------

-- The step (0-based) whose λ is the first to rise; there is always one at least.
local function switch_step(config, total)
  local part = math.floor(config.from * total + 0.5)
  return math.max(0, math.min(config.counted == "end" and total - part or part, total - 1))
end

local MOST = 1e30 -- λ that the engine's gates take, src/ops/op_gate.c

local function targets_of(config, gates, tied, where)
  local target = config.target or gate.target(config.eps)
  local list, expected = {}, tied and 1 or #gates
  if type(target) == "table" and #target ~= expected then
    errors.usage("%s: hardening.target: found %d values, expected %d, %s", where("hardening.target"), #target, expected,
      tied and "as the gates share their λ" or "one for each gate")
  end
  for i = 1, #gates do
    list[i] = type(target) == "table" and target[tied and 1 or i] or target
    if list[i] > MOST then
      errors.usage("%s: hardening: the target of gate '%s' is %.6g, expected at most %g",
        where(config.target and "hardening.target" or "hardening.eps"), gates[i], list[i], MOST)
    end
  end
  return list
end

-- Steps of the hardening, 0-based and from the switch on, over which each gate rises: first, and the one behind the
-- last.
local function windows_of(config, gates, steps, where)
  local list, count = {}, #gates
  if config.order ~= "all" and steps < count then
    errors.usage("%s: hardening.order = %s: %d step%s of hardening for %d gates, expected one for each at least",
      where("hardening.order"), config.order, steps, steps == 1 and "" or "s", count)
  end
  for i = 1, count do
    local place = config.order == "forward" and i or count + 1 - i
    list[i] = config.order == "all" and { 0, steps }
      or { math.floor((place - 1) * steps / count), math.floor(place * steps / count) }
  end
  return list
end

--- The plan of a training with hardening.
-- @param resolved  resolved recipe with a section hardening
-- @param gates     names of the gates in forward order
-- @param total     steps of the training
-- @return plan with fields first (0-based step from which on λ rises), total, targets, names, learn
-- @raise usage error for a model without gates, a list of targets of another length, fewer steps than gates where each
--   has its turn, and a function of the recipe that gives no fraction
function hardening.plan(resolved, gates, total)
  local config, where = resolved.config.hardening, resolved.where
  if #gates == 0 then errors.usage("%s: hardening: the model has no gates", where("hardening.schedule")) end
  local self = setmetatable({
    first = switch_step(config, total), total = total, names = gates, learn = config.learn, config = config,
    targets = targets_of(config, gates, resolved.config.gate.tie, where), where = where,
  }, Plan)
  self.windows = windows_of(config, gates, total - self.first, where)
  for _, shape in ipairs(SHAPES) do
    if shape.name == config.schedule then self.shape = shape end
  end
  if not self.shape then
    local fn = resolved.hardening_function
    self.shape = { log = true, fraction = function(p) return fraction_at(fn, p, where("hardening.schedule")) end }
    for _, window in ipairs(self.windows) do -- a slip of the function shows before the training
      for step = 1, window[2] - window[1] do self.shape.fraction(step / (window[2] - window[1])) end
    end
  end
  return self
end

-- λ on the way from one to another; both ends are met exactly.
local function between(shape, from, target, p)
  if p <= 0 then return from end
  if p >= 1 then return target end
  local f = shape.fraction(p)
  local value = shape.log and from * (target / from) ^ f or from + (target - from) * f
  return math.min(math.max(value, from), target)
end

--- Least λ of each gate at a step (0-based, from `first` on): λ itself where s is frozen.
-- @param from  λ of each gate at the switch
function Plan:floors(step, from)
  local floors = {}
  for i, window in ipairs(self.windows) do
    local done = step - self.first + 1 - window[1]
    floors[i] = between(self.shape, from[i], self.targets[i], done / (window[2] - window[1]))
  end
  return floors
end

--- The first gate whose λ is above its target already, in words; nil when there is none.
function Plan:problem(lambdas)
  for i, lambda in ipairs(lambdas) do
    if lambda > self.targets[i] then
      local given = self.config.eps and (" (√(2/π)/eps, hardening.eps = %g)"):format(self.config.eps) or ""
      return ("gate '%s' has λ = %.6g, above its target %.6g%s: hardening only raises λ; give %s"):format(
        self.names[i], lambda, self.targets[i], given,
        self.config.eps and "a smaller hardening.eps" or "a higher hardening.target")
    end
  end
end

--- One line for people: shape, order, switch, targets, what s does.
function Plan:describe()
  local low, high = math.huge, -math.huge
  for _, target in ipairs(self.targets) do low, high = math.min(low, target), math.max(high, target) end
  return ("hardening %s, %s, over the last %d of %d steps, to λ = %.6g%s; s %s"):format(self.config.schedule,
    self.config.order == "all" and "all gates at once" or "gate by gate " .. self.config.order,
    self.total - self.first, self.total, low, high > low and (" to %.6g"):format(high) or "",
    self.learn == "frozen" and "frozen" or "learned above the rising floor")
end

return hardening
