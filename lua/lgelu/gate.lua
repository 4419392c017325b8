--- The gate f(x; λ) = x·Φ(λx) from Lua: values and derivatives, λ(s) and s(λ), hardening targets, error bounds, and the
-- profiles from which training starts.
-- Not here: numerics, which are C's (src/kernels/gate*), and schedules of λ. Called by scripts as lg.gate, by
-- lgelu.network, lgelu.recipe.schema and lgelu.plot.activation.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local ffi, lib, check = C.ffi, C.lib, C.check

local gate = {}

local LAMBDA_GELU = lib.lg_list_find("activation", "lambda_gelu")
local SQRT_2_OVER_PI = 0.79788456080286536 -- √(2/π) = ∫|Φ(u) − H(u)| du
local BOUND = 0.16997120747990366 -- max of u·(1 − Φ(u)), reached at u = 0.75179152469356446

local function is_number(v) return type(v) == "number" and v == v end

-- A finite λ of at least 0, or a usage error in the name of the function.
local function check_lambda(lambda, where)
  if not is_number(lambda) or lambda < 0 or lambda == math.huge then
    errors.usage("%s: λ is %s; a finite number of at least 0 is expected%s", where, tostring(lambda),
      type(lambda) == "cdata" and " for an x that is a number" or "")
  end
  return lambda
end

-- x, λ as tensor operands of one call: at least one of them is a tensor; a number x takes the shape of λ.
local function operands(x, lambda, where)
  local base, operand = require("lgelu.tensor.base"), require("lgelu.tensor.operand")
  if type(x) == "number" then x = require("lgelu.tensor").full(lambda.shape, x, lambda.dtype) end
  if not base.is(x) then errors.usage("%s: x: expected a number or a tensor, found a %s", where, type(x)) end
  if type(lambda) == "number" then check_lambda(lambda, where) end
  return base, x, operand.lend(lambda, x, where .. ": λ")
end

local function are_numbers(x, lambda)
  return type(x) == "number" and not (type(lambda) == "cdata" and require("lgelu.tensor").is_tensor(lambda))
end

--- f(x; λ) = x·Φ(λx) through the float32 kernels that train; Φ: the standard normal distribution function.
-- @param x       number, or tensor (f32; f64 is computed in float64)
-- @param lambda  finite, ≥ 0; a number, or a tensor that broadcasts to x (to whose shape a number x is spread)
-- @return a number (a float32 value) for two numbers, else a tensor of x's shape and dtype
-- @raise usage error for a λ out of range; fails for shapes that do not fit
function gate.value(x, lambda)
  if are_numbers(x, lambda) then return lib.lg_gate_value_f32(x, check_lambda(lambda, "gate.value")) end
  local base, l
  base, x, l = operands(x, lambda, "gate.value")
  local out = base.new((base.layout(x)), base.code(x))
  check(lib.lg_tensor_gate(out, LAMBDA_GELU, x, l))
  return out
end

local dfdx, dfdl = ffi.new("float[1]"), ffi.new("float[1]")

--- ∂f/∂x = Φ(λx) + λx·φ(λx) and ∂f/∂λ = x²·φ(λx), through the kernels that train; φ: the standard normal density.
-- @param x, lambda  as for `value`
-- @return ∂f/∂x, ∂f/∂λ: two numbers (float32 values), or two tensors of x's shape and dtype
-- @raise as `value`
function gate.grad(x, lambda)
  if are_numbers(x, lambda) then
    lib.lg_gate_grad_f32(dfdx, dfdl, x, check_lambda(lambda, "gate.grad"))
    return dfdx[0], dfdl[0]
  end
  local base, l
  base, x, l = operands(x, lambda, "gate.grad")
  local shape, code = base.layout(x), base.code(x)
  local gx, gl = base.new(shape, code), base.new(shape, code)
  check(lib.lg_tensor_gate_grad(gx, gl, LAMBDA_GELU, x, l))
  return gx, gl
end

-- -- reparameterization ------------------------------------------------------------------------------------------

local DEFAULT_REPARAM = "softplus"

-- Index of a reparameterization's name (nil: the default), or a usage error with the nearest name.
local function reparam_index(name, where)
  name = name or DEFAULT_REPARAM
  local index = type(name) == "string" and lib.lg_list_find("reparam", name) or -1
  if index >= 0 then return index end
  local names, i = {}, 0
  while lib.lg_list_name("reparam", i) ~= nil do
    i = i + 1
    names[i] = ffi.string(lib.lg_list_name("reparam", i - 1))
  end
  return errors.usage("%s: unknown reparameterization '%s'; expected one of %s%s", where, tostring(name),
    table.concat(names, ", "), errors.suggest(name, names))
end

-- The engine refuses values out of range with a message of its own: wrong usage, where Lua handed them over.
local function usage_check(status, where)
  if status ~= 0 then errors.usage("%s: %s", where, ffi.string(lib.lg_last_error())) end
end

local out = ffi.new("double[2]")

--- λ(s) and its slope, in float64.
-- softplus (default): λ = 1 + softplus(s/t); softplus_beta: 1 + t·softplus(s/t); exp: 1 + exp(s/t); none: λ = s.
-- @param s        any number
-- @param t        temperature, > 0, finite
-- @param reparam  name; nil: softplus
-- @return λ, dλ/ds
-- @raise usage error for NaN, for t ≤ 0, for an unknown name
function gate.lambda(s, t, reparam)
  local where = "gate.lambda"
  local index = reparam_index(reparam, where)
  if type(s) ~= "number" or type(t) ~= "number" then
    errors.usage("%s: s is %s and t is %s; two numbers are expected", where, tostring(s), tostring(t))
  end
  usage_check(lib.lg_gate_lambda(out, out + 1, index, s, t), where)
  return out[0], out[1]
end

-- s(λ), with `where` in front of what is wrong.
local function s_of(lambda, t, reparam, where)
  local index = reparam_index(reparam, where)
  if type(lambda) ~= "number" or type(t) ~= "number" then
    errors.usage("%s: λ is %s and t is %s; two numbers are expected", where, tostring(lambda), tostring(t))
  end
  usage_check(lib.lg_gate_s(out, index, lambda, t), where)
  return out[0]
end

--- s with λ(s) = lambda, in float64: for softplus s = t·log(exp(λ − 1) − 1).
-- @param lambda   finite; > 1, or ≥ 1 for reparam none
-- @param t, reparam  as for `lambda`
-- @return s
-- @raise usage error for a λ that no s reaches (λ = 1 under softplus), naming the nearest usable value
function gate.s(lambda, t, reparam)
  return s_of(lambda, t, reparam, "gate.s")
end

-- -- hardness and error ------------------------------------------------------------------------------------------

--- Hardening target λ*(ε) = √(2/π)/ε: the λ at which the gate error ∫|Φ(λx) − H(x)|dx is ε (0.005 → 159.577).
-- @param eps  > 0, finite, in units of x
-- @return λ*
-- @raise usage error for ε ≤ 0
function gate.target(eps)
  if not is_number(eps) or eps <= 0 or eps == math.huge then
    errors.usage("gate.target: ε is %s; a finite number above 0 is expected", tostring(eps))
  end
  return SQRT_2_OVER_PI / eps
end

--- sup|f(x; λ) − ReLU(x)| = 0.169971…/λ, reached at |x| = 0.751791…/λ; f ≤ ReLU everywhere.
-- @param lambda  > 0, finite
-- @return the bound, in units of x
-- @raise usage error for λ ≤ 0
function gate.bound(lambda)
  if not is_number(lambda) or lambda <= 0 or lambda == math.huge then
    errors.usage("gate.bound: λ is %s; a finite number above 0 is expected", tostring(lambda))
  end
  return BOUND / lambda
end

--- Hardness drift Δλ of a run: `stats.drift` of the rows of λ, one per epoch from initialization on.
function gate.drift(rows)
  return require("lgelu.stats").drift(rows)
end

-- -- initial profiles ----------------------------------------------------------------------------------------------

-- The published method names three initializations of s without their values; the modes' names and the ranges below are
-- lgelu's own.
local SOFT, UPPER, HARD = 1.1, 5, 20

-- λ of layer 1 … count, SOFT to UPPER in equal ratios; one gate alone gets their geometric mean.
local function graded(layer, count)
  local part = count > 1 and (layer - 1) / (count - 1) or 0.5
  return SOFT * (UPPER / SOFT) ^ part
end

-- Every mode of gate.init: name, doc, λ of a layer. The only list of modes.
local MODES = {
  {
    name = "gelu", doc = "every gate at λ = 1.1, nearly GELU",
    lambda = function() return SOFT end,
  },
  {
    name = "ascending", doc = "λ from 1.1 at the first gate to 5 at the last, in equal ratios",
    lambda = function(layer, count) return graded(layer, count) end,
  },
  {
    name = "descending", doc = "λ from 5 at the first gate to 1.1 at the last, in equal ratios",
    lambda = function(layer, count) return graded(count + 1 - layer, count) end,
  },
  {
    name = "random", doc = "log λ uniform between those of 1.1 and 5, a function of the seed and the gate's place",
    lambda = function(layer, _, seed)
      return SOFT * (UPPER / SOFT) ^ lib.lg_rng_uniform(seed, gate.RANDOM_STREAM, layer)
    end,
  },
  {
    name = "hard", doc = "every gate at λ = 20, nearly ReLU",
    lambda = function() return HARD end,
  },
}

--- The random-number stream of mode `random` (see lg_rng_uniform): "gate" in ASCII.
gate.RANDOM_STREAM = 0x67617465

--- Names of the initial profiles that `init` knows, in the order of their list.
function gate.init_modes()
  local names = {}
  for i, mode in ipairs(MODES) do names[i] = mode.name end
  return names
end

--- One line on an initial profile; nil for an unknown name.
function gate.init_doc(name)
  for _, mode in ipairs(MODES) do
    if mode.name == name then return mode.doc end
  end
end

-- The function (layer, count, seed) → λ of a mode's name or of a function.
local function mode_function(mode)
  if type(mode) == "function" then return mode end
  for _, m in ipairs(MODES) do
    if m.name == mode then return m.lambda end
  end
  return errors.usage("gate.init: unknown mode '%s'; expected one of %s, or a function (layer, count) → λ%s",
    tostring(mode), table.concat(gate.init_modes(), ", "), errors.suggest(mode, gate.init_modes()))
end

--- λ of every gate at the start of training.
-- @param mode     a name of `init_modes`, or a function (layer, count) → λ with layer = 1 … count in forward order
-- @param count    number of gates, ≥ 0
-- @param options  { t = temperature (1), seed = of mode random (0), reparam = name (softplus) }: each λ must be within
--   the reparameterization's reach at that t
-- @return list of count numbers: finite; > 1, or ≥ 1 for reparam none
-- @raise usage error naming the mode, the gate and what was found
function gate.init(mode, count, options)
  options = options or {}
  if not is_number(count) or count < 0 or count ~= math.floor(count) then
    errors.usage("gate.init: count is %s; a whole number of at least 0 is expected", tostring(count))
  end
  local seed = options.seed or 0
  if not is_number(seed) or seed < 0 or seed ~= math.floor(seed) or seed >= 2 ^ 53 then
    errors.usage("gate.init: seed is %s; a whole number of at least 0 is expected", tostring(seed))
  end
  local fn, lambdas = mode_function(mode), {}
  for layer = 1, count do
    local lambda = fn(layer, count, seed)
    local where = ("gate.init: %s gave λ = %s for gate %d of %d"):format(
      type(mode) == "string" and "mode " .. mode or "the function", tostring(lambda), layer, count)
    if not is_number(lambda) then errors.usage("%s; a number is expected", where) end
    s_of(lambda, options.t or 1, options.reparam, where)
    lambdas[layer] = lambda
  end
  return lambdas
end

return gate
