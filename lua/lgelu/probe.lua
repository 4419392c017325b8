--- A network under one's hands: its gates looked at, changed, swapped and trained a little, with what each change does
-- to the validation score, and every change undone to the bit. In memory only: a run's files are never changed.
--
-- What it is: the state (a stack of changes) and the numbers, as plain tables that print as text.
-- What it is not: their text (lgelu.probe.report), pictures (lgelu.probe.plot), the globals of the prompt
-- (lgelu.repl.verbs), or the stored swap of a run (lgelu.swap), whose numbers are the same.
--
-- A gate is named as in the model ("fc1.gate") or by its number in forward order. Scores are shares, 0 to 1, of the
-- validation part unless another is named. Called by lgelu.repl.verbs, and by scripts as lg.probe.
-- @module lgelu.probe
local C = require("lgelu.C")
local census = require("lgelu.census")
local errors = require("lgelu.errors")
local report = require("lgelu.probe.report")
local train = require("lgelu.train")

local lib, check = C.lib, C.check
local probe = {}
local Probe = {}
Probe.__index = Probe

-- max of u²φ(u) = 2/(√(2π)·e), reached at u = √2: ∂f/∂λ = x²φ(λx) is at most this over λ².
local ATTENUATION = 2 / (math.sqrt(2 * math.pi) * math.exp(1))
local FINE, COLUMNS = 4096, 64 -- bins that are counted, and at least half as many columns as are drawn
local LEFT_OUT = 0.0005 -- share of values at either end that the drawn range may leave out

--- Takes a run's or a recipe's network.
-- @param t  of lgelu.trained, opened with probe = true; its network is what changes
-- @return probe with fields t, net (points: where λ was at the start and after each training)
function probe.of(t)
  return setmetatable({ t = t, net = t.net, stack = {}, points = { { step = 0, lambda = t.net:lambdas() } } }, Probe)
end

--- Opens a finished run for probing; name and errors as lgelu.trained.open.
function probe.open(name)
  return probe.of(require("lgelu.trained").open(name, { probe = true }))
end

-- Scores --------------------------------------------------------------------------------------------------------------

--- Score over a part of the data, in evaluation mode.
-- @param part  "val" (default), "train" (as it is, not augmented) or "test"
-- @return score, mean loss
function Probe:score(part)
  local loader = self.t:loader(part or "val")
  local loss, score = train.evaluate(self.net, loader)
  loader:free()
  return score, loss
end

--- A text that the network, as it is now, goes on with.
-- @param text         what it begins with, of tokens that the run knows
-- @param n            tokens to add, default 200
-- @param temperature  0 to 100, default 0.8: the logits are divided by it; 0: always the likeliest token
-- @param seed         of the draws, default 0
-- @return the text with its beginning
function Probe:generate(text, n, temperature, seed)
  if type(text) ~= "string" then
    errors.usage("generate: the text is a %s, expected a string to begin with", type(text))
  end
  local function number(value, default, low, high, what)
    value = value == nil and default or value
    if type(value) ~= "number" or not (value >= low and value <= high) then
      errors.usage("generate: %s = %s, expected a number from %g to %g", what, tostring(value), low, high)
    end
    return value
  end
  return require("lgelu.generate").texts(self.net, self.t.set, {
    text = text, n = math.floor(number(n, 200, 0, 1e6, "n")), seed = number(seed, 0, 0, 2 ^ 53, "seed"),
    temperature = number(temperature, 0.8, 0, 100, "temperature"),
  })[1]
end

-- Changes -------------------------------------------------------------------------------------------------------------

local function gate_states(net)
  local list = {}
  for i = 1, #net.gates do list[i] = net:gate_state(i) end
  return list
end

local function set_gates(net, list)
  for i, state in ipairs(list) do net:set_gate(i, state) end
end

-- Names of everything that training changes in a network.
local function leaf_names(net)
  local names = {}
  for _, list in ipairs({ net.params, net.states }) do
    for _, leaf in ipairs(list) do names[#names + 1] = leaf.name end
  end
  return names
end

local function copy_leaves(to, from)
  for _, name in ipairs(leaf_names(from)) do check(lib.lg_tensor_copy(to:tensor(name), from:tensor(name))) end
end

-- A training network of its own: where the run's checkpoint left off, or before the first step.
local function start_training(t)
  local states = require("lgelu.train.state")
  local session = train.session(t.resolved, t.set)
  if not t.run then return { session = session, state = states.fresh(#session.net:lambdas()) } end
  return { session = session, state = states.load(t.file, session) }
end

-- What undoing a training needs: the optimizer's state and the place in the data.
local function keep_training(training)
  local kept, state = {}, training.state
  for name, view in training.session.opt:state() do kept[name] = view:clone() end
  return {
    kept = kept, step = state.step, epoch = state.epoch, steps = state.sums.steps, switch = state.switch,
    frozen = training.session.frozen,
  }
end

local function put_back(self, kept)
  if self.live.session.frozen and not kept.frozen then self.live = start_training(self.t) end -- nothing unfreezes
  for name, view in self.live.session.opt:state() do check(lib.lg_tensor_copy(view, kept.kept[name])) end
  local state = self.live.state
  state.step, state.epoch, state.sums.steps, state.switch = kept.step, kept.epoch, kept.steps, kept.switch
end

-- The last change failed, or is undone: everything as it was. A pending Ctrl-C must not stop it half-way.
local function restore(self, before)
  lib.lg_interrupt_clear()
  for name, kept in pairs(before.leaves or {}) do check(lib.lg_tensor_copy(self.net:tensor(name), kept)) end
  set_gates(self.net, before.gates)
  if before.training then put_back(self, before.training) end
  for i = #self.points, (before.points or #self.points) + 1, -1 do self.points[i] = nil end
end

-- How much worse `after` is; of accuracy as a share of whole predictions: exact, where scores are rounded sums.
local function drop(self, before, after)
  local measure, predictions = self.net.measure, self.t.index.val.shape[1]
  if measure.name ~= "accuracy" then return measure:drop(before, after) end
  for _, dim in ipairs(self.net.info.label_shape or {}) do predictions = predictions * dim end
  return math.floor((before - after) * predictions + 0.5) / predictions
end

local function effect(self, what, before, loss_before, after, loss_after)
  return {
    what = what, before = before, after = after, drop = drop(self, before, after), loss_before = loss_before,
    loss_after = loss_after,
  }
end

local function told(self, made) return report.effect(made, self.net.measure) end

-- Makes a change that can be undone, and measures its effect; a change that fails leaves no trace.
-- what: in words. before: state to go back to beyond the gates' (leaves, training), or {}.
local function change(self, what, before, make)
  before.what, before.gates = what, gate_states(self.net)
  local score, loss = self:score()
  local ok, e, score_after, loss_after = pcall(function() return make(), self:score() end)
  if not ok then
    restore(self, before)
    error(e, 0)
  end
  self.stack[#self.stack + 1] = before
  return effect(self, what, score, loss, score_after, loss_after), e
end

-- Numbers of the gates that a name, a number or "all" means.
local function which(self, name)
  if name ~= "all" then return { self.net:gate_index(name) } end
  local list = {}
  for i = 1, #self.net.gates do list[i] = i end
  if #list == 0 then self.net:gate_index(name) end
  return list
end

local function label(self, name) return name == "all" and "all gates" or self.net.gates[which(self, name)[1]].name end

--- Gives a gate (or "all") another λ; a gate that was swapped becomes a λ-GELU again. Tied gates share their λ.
-- @param lambda  > 1 under softplus; see lgelu.gate.s
-- @return { what, before, after = validation scores, drop = before − after, loss_before, loss_after }
-- @raise usage error for an unknown gate, a gate without λ, a λ out of reach; nothing is changed then
function Probe:set(name, lambda)
  local list = which(self, name)
  if type(lambda) ~= "number" then
    errors.usage("set(gate, λ): λ is %s; a number is expected, as in set(\"%s\", 5)", tostring(lambda),
      self.net.gates[list[1]].name)
  end
  local old = self.net:gate_state(list[1])
  local what = (#list > 1 or self.net.gate_config.tie) and ("set all gates: λ = %.6g"):format(lambda)
    or ("set %s: λ %s → %.6g"):format(label(self, name), report.lambda(old), lambda)
  return told(self, change(self, what, {}, function()
    for _, i in ipairs(list) do self.net:set_gate(i, { kind = "lambda_gelu", lambda = lambda }) end
  end))
end

--- Replaces a gate, or "all" (default), by ReLU.
-- @return as set
function Probe:swap(name)
  local list = which(self, name or "all")
  return told(self, change(self, ("swap %s: ReLU"):format(label(self, name or "all")), {}, function()
    for _, i in ipairs(list) do self.net:set_gate(i, { kind = "relu" }) end
  end))
end

--- Takes the last change back, to the bit.
-- @return as set; `left`: changes that can still be undone
-- @raise usage error when there is none
function Probe:undo()
  local last = self.stack[#self.stack]
  if not last then errors.usage("undo(): nothing was changed") end
  local score, loss = self:score()
  restore(self, last)
  self.stack[#self.stack] = nil
  local made = effect(self, "undone: " .. last.what, score, loss, self:score())
  made.left = #self.stack
  return told(self, made)
end

-- Looking -------------------------------------------------------------------------------------------------------------

--- How hard each gate is, in forward order.
-- @return list of { name, kind, lambda (nil: a kind without), bound = sup|f − ReLU| (nil: none) }
function Probe:hardness()
  local rows = {}
  for i = 1, #self.net.gates do rows[i] = census.gate(self.net, i) end
  return report.hardness(rows)
end

-- One pass over the validation part: what arrives at gate i.
local function count_inputs(self, i, described, bins)
  local counted, samples, loader = census.new(described, bins), 0, self.t:loader("val")
  loader:start(0)
  for x, y, rows in loader:each() do
    self.net:bind(x, y)
    self.net:forward("eval")
    local input = self.net:gate_input(i)
    counted:add(input)
    samples = samples + rows
    for _, handle in ipairs({ input, x, y }) do handle:free() end
  end
  loader:free()
  return counted, samples
end

-- The fine bins between both tails' last values that matter, joined to COLUMNS columns of equal width at most.
local function coarse(fine, low, high, values)
  local first, last, left, right = 1, FINE, fine[0], fine[FINE + 1]
  while left + fine[first] <= LEFT_OUT * values do left, first = left + fine[first], first + 1 end
  while right + fine[last] <= LEFT_OUT * values do right, last = right + fine[last], last - 1 end
  local each, width, counts = math.ceil((last - first + 1) / COLUMNS), (high - low) / FINE, {}
  for at = first, last do
    local column = math.floor((at - first) / each) + 1
    counts[column] = (counts[column] or 0) + fine[at]
  end
  local from = low + (first - 1) * width
  return { low = from, high = from + #counts * each * width, counts = counts, below = left, above = right }
end

--- What arrives at a gate on the validation part, and what it makes of it.
-- @return a row of lgelu.census; gate (its number), samples, values (counted), ceiling = greatest ∂f/∂λ there is,
--   0.293525/λ² (nil without λ), histogram = { low, high, counts of equal bins, below, above = counts outside }
function Probe:probe(name)
  local i = self.net:gate_index(name)
  local described = census.gate(self.net, i)
  local counted, samples = count_inputs(self, i, described)
  local row = counted:row(samples)
  local room = math.max(1e-6 * math.max(math.abs(row.min), math.abs(row.max)), 1e-30)
  local low, high = row.min - room, row.max + room
  row.values = math.floor(row.outputs * samples + 0.5)
  local fine = count_inputs(self, i, described, { low, high, FINE }).histogram
  row.gate, row.samples, row.histogram = i, samples, coarse(fine, low, high, row.values)
  row.ceiling = row.lambda and ATTENUATION / row.lambda ^ 2
  return report.probe(row)
end

--- How λ went: a run's epochs, up to where train(n) went on from if it did, and the end of each training here.
-- @return list of { step, lambda = list, one a gate (empty: gates without λ) }
function Probe:trajectory()
  local list, run = {}, self.t.run
  if not run then return self.points end
  local steps, rows = run:epochs().step, run:gates().lambda
  local here = self.points[2] and self.first_step or math.huge
  for e = 0, #steps do
    local step = e == 0 and 0 or steps[e]
    if step <= here then list[#list + 1] = { step = step, lambda = rows[e + 1] } end
  end
  for i = 2, #self.points do list[#list + 1] = self.points[i] end
  return list
end

--- How much of the validation score the swap of each gate alone costs; the greatest drop first, of equal ones the
-- greatest loss.
-- @return list of { name, gate, kind, lambda, bound, before, after, drop, loss (after) }; its field before: the score
--   without a swap
function Probe:sensitivity()
  local states, before, rows = gate_states(self.net), self:score(), {}
  local ok, e = pcall(function()
    for i, state in ipairs(states) do
      local row = census.gate(self.net, i)
      self.net:set_gate(i, { kind = "relu" })
      row.gate, row.before = i, before
      row.after, row.loss = self:score()
      row.drop = drop(self, before, row.after)
      self.net:set_gate(i, state)
      rows[i] = row
    end
  end)
  if not ok then lib.lg_interrupt_clear() end
  set_gates(self.net, states)
  if not ok then error(e, 0) end
  table.sort(rows, function(a, b)
    if a.drop ~= b.drop then return a.drop > b.drop end
    if a.loss ~= b.loss then return a.loss > b.loss end
    return a.gate < b.gate
  end)
  rows.before = before
  return report.sensitivity(rows, self.net.measure)
end

-- Training ------------------------------------------------------------------------------------------------------------

--- Trains a few steps more on the training part, with the run's optimizer, batches and (by default) learning rate.
-- @param count  steps, a whole number from 1 on
-- @param rate   base learning rate; nil: the recipe's schedule, whose last value is kept beyond its end
-- @return as set, with loss and training score (means over the steps), from, to (numbers of the steps), rate
-- @raise usage error for a wrong count or rate; fails, with everything as it was, when the loss is not finite
function Probe:train(count, rate)
  if type(count) ~= "number" or count < 1 or count % 1 ~= 0 then
    errors.usage("train(n): n is %s; a whole number of steps from 1 on is expected", tostring(count))
  end
  if rate ~= nil and not (type(rate) == "number" and rate >= 0 and rate < math.huge) then
    errors.usage("train(n, rate): rate is %s; a number of at least 0 is expected", tostring(rate))
  end
  local net, leaves = self.net, {}
  for _, name in ipairs(leaf_names(net)) do leaves[name] = net:tensor(name):clone() end
  if not self.live then
    self.live = start_training(self.t)
    self.first_step = self.live.state.step
  end
  local training = self.live
  local before = { leaves = leaves, training = keep_training(training), points = #self.points }
  local from = training.state.step + 1
  local made, did = change(self, ("train %d step%s"):format(count, count == 1 and "" or "s"), before, function()
    local own = training.session.net
    copy_leaves(own, net)
    set_gates(own, gate_states(net))
    local loss, score, used = train.steps(training.session, training.state, count, rate)
    copy_leaves(net, own)
    set_gates(net, gate_states(own)) -- floors that hardening raised
    self.points[#self.points + 1] = { step = training.state.step, lambda = net:lambdas() }
    return { loss = loss, score = score, rate = used }
  end)
  made.from, made.to, made.loss, made.score, made.rate = from, training.state.step, did.loss, did.score, did.rate
  return told(self, made)
end

return probe
