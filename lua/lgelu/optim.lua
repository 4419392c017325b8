--- optim: the optimizer of a network, its parameter groups, and the learning rate as a function of the step.
-- Rates: group = multiplier · base · schedule(step). Groups: `weights` (matrices; they decay), `no_decay` (biases,
-- normalization), `gates` (every s: multiplier c, the optimizer-aware rate η_s = c·η; no decay unless asked).
local C = require("lgelu.C")
local ffi, lib, check = C.ffi, C.lib, C.check

local optim = {}
local methods = {}
methods.__index = methods

local HYPER = {
  sgd = { "momentum", "dampening", "nesterov" }, adam = { "beta1", "beta2", "eps" },
    adamw = { "beta1", "beta2", "eps" },
}

--- The optimizer of a training network.
-- @param net  a network   @param config  resolved optimizer section   @param gate_config  resolved gate section
-- @return optimizer with field groups: list of { name, multiplier, decay, count, lower }
function optim.new(net, config, gate_config)
  local out = ffi.new("lg_optim *[1]")
  check(lib.lg_optim_new(out, net.graph, lib.lg_list_find("optimizer", config.name)))
  local self = setmetatable({ handle = ffi.gc(out[0], lib.lg_optim_free), net = net, config = config, groups = {} },
    methods)
  for _, name in ipairs(HYPER[config.name]) do
    local value = config[name]
    if type(value) == "boolean" then value = value and 1 or 0 end
    if value ~= nil then check(lib.lg_optim_set(self.handle, name, value)) end
  end
  local decay = config.weight_decay or 0
  local groups = {
    { name = "weights", multiplier = 1, decay = decay },
    { name = "no_decay", multiplier = 1, decay = config.decay_biases and decay or 0 },
    {
      name = "gates", multiplier = gate_config.c or 1, decay = config.decay_gates and decay or 0,
      lower = gate_config.reparam == "none" and 1 or nil, -- the naive update: λ learned directly, clamped
    },
  }
  local index = ffi.new("int32_t[1]")
  for _, group in ipairs(groups) do
    group.count = 0
    check(lib.lg_optim_group(index, self.handle, group.name, group.multiplier, group.decay,
      group.lower or -math.huge, 1))
    group.index = index[0]
    for _, p in ipairs(net.params) do
      if p.group == group.name then
        check(lib.lg_optim_assign(self.handle, p.id, index[0]))
        local size = 1
        for _, dim in ipairs(p.shape) do
          size = size * dim
        end
        group.count = group.count + size
      end
    end
    if group.count > 0 then self.groups[#self.groups + 1] = group end
  end
  return self
end

local norm = ffi.new("double[1]")

--- One step. step is 1-based (bias correction), lr the base rate at this step. Returns the gradients' norm; raises,
-- having changed nothing, when it is not finite.
function methods:step(step, lr)
  check(lib.lg_optim_step(norm, self.handle, step, lr, self.config.clip or 0))
  return norm[0]
end

--- From the next step on, a group keeps its values and its state as they are; its gradients do not count in the norm.
function methods:freeze(name)
  for _, g in ipairs(self.groups) do
    if g.name == name then
      check(lib.lg_optim_group_set(self.handle, g.index, g.multiplier, g.decay, g.lower or -math.huge, 0))
    end
  end
end

--- State tensors for checkpoints: function iterator over name ("/optimizer/m/fc1.weight"), tensor (a view).
function methods:state()
  local tensor, list = require("lgelu.tensor"), {}
  local slot, out = 0, ffi.new("lg_tensor *[1]")
  while lib.lg_optim_slot(self.handle, slot) ~= nil do
    local slot_name = ffi.string(lib.lg_optim_slot(self.handle, slot))
    for _, p in ipairs(self.net.params) do
      check(lib.lg_optim_state(out, self.handle, slot, p.id))
      list[#list + 1] = { name = ("/optimizer/%s/%s"):format(slot_name, p.name), tensor = tensor.wrap(out[0]) }
    end
    slot = slot + 1
  end
  local i = 0
  return function()
    i = i + 1
    if list[i] then return list[i].name, list[i].tensor end
  end
end

--- The groups as aligned lines: what is printed at the start and stored with the run.
function methods:describe()
  local lines = {}
  for _, g in ipairs(self.groups) do
    lines[#lines + 1] = ("%-9s %9d numbers, rate x %g, decay %g%s"):format(g.name, g.count, g.multiplier, g.decay,
      g.lower and (", at least %g"):format(g.lower) or "")
  end
  return table.concat(lines, "\n")
end

-- A schedule's own numbers, in the order of lg_schedule (src/optim/schedule.c); their keys are the recipe's.
local PARAMETERS = {
  constant = {}, step = { "gamma", "parts" }, linear = { "final" }, cosine = { "final" },
  one_cycle = { "rise", "start_div", "final_div" },
}

--- The base rate at a 0-based step of `total`: lr · schedule(step).
-- @param schedule  resolved schedule section (warmup: share of all steps)
function optim.rate(lr, schedule, step, total)
  local p = {}
  for i, key in ipairs(PARAMETERS[schedule.name]) do
    p[i] = schedule[key]
  end
  local warmup = math.min(math.floor((schedule.warmup or 0) * total + 0.5), total - 1)
  check(lib.lg_schedule(norm, lib.lg_list_find("schedule", schedule.name), step, total, warmup, p[1] or 0, p[2] or 0,
    p[3] or 0))
  return lr * norm[0]
end

return optim
