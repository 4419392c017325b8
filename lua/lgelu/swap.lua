--- swap: what becomes of a trained network when gates are replaced by ReLU: scores before and after, predictions that
-- flip, and how far each gate was from ReLU on the values that it met.
--
-- What it is: the measurement, on the network of lgelu.trained. What it is not: its place in run.h5 (swap/stored.lua),
-- the comparison of several runs (swap/ways.lua) or layout (cli/swap.lua).
-- Both passes of a batch go through the same network, so that gates that stay give the same bits; the gates' statistics
-- are of the pass before the swap.
local C = require("lgelu.C")
local census = require("lgelu.census")
local errors = require("lgelu.errors")
local store = require("lgelu.store")
local stored = require("lgelu.swap.stored")
local trained = require("lgelu.trained")

local ffi, lib, check = C.ffi, C.lib, C.check

local swap = {
  store = stored.write,
  read = stored.read,
  list = stored.list,
}

--- Opens a finished run so that `measure` can work on it, at its own weights: of a hardened run the last.
-- @param name  folder, run.h5, or the beginning of a name under runs/
-- @return what lgelu.trained.open gives
function swap.open(name) return trained.open(name, { probe = true }) end

-- Numbers of the gates that were asked for, in forward order, each once.
local function chosen(net, names)
  local wanted, list = {}, {}
  if names == nil or names == "all" then
    for i = 1, #net.gates do wanted[i] = true end
  else
    for _, name in ipairs(names) do wanted[net:gate_index(name)] = true end
  end
  for i = 1, #net.gates do
    if wanted[i] then list[#list + 1] = i end
  end
  return list
end

-- Runs fn with the gates of the list replaced, and puts them back whatever happens.
local function swapped(net, list, states, fn)
  for _, i in ipairs(list) do net:set_gate(i, { kind = "relu" }) end
  local ok, a, b = pcall(fn)
  for _, i in ipairs(list) do net:set_gate(i, { kind = states[i].kind }) end
  if not ok then error(a, 0) end
  return a, b
end

local function view(net, id)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_graph_value(out, net.graph, id))
  return require("lgelu.tensor").wrap(out[0])
end

local function count_gates(net, counted)
  for i, gate_census in ipairs(counted) do
    local input = net:gate_input(i)
    gate_census:add(input)
    input:free()
  end
end

-- How two sets of logits [rows, …, classes] differ. What is made here is given back at once: a pass has many batches.
local function add_difference(sums, before, after, labels)
  local was, is, truth, change = before:argmax(-1), after:argmax(-1), labels + 1, before - after
  local flipped, right, right_then = was:ne(is), was:eq(truth), is:eq(truth)
  local lost, gained, size = flipped * right, flipped * right_then, change:abs()
  sums.predictions, sums.flipped = sums.predictions + was.size, sums.flipped + flipped:sum()
  sums.lost, sums.gained = sums.lost + lost:sum(), sums.gained + gained:sum()
  sums.max_logit_change = math.max(sums.max_logit_change, size:max())
  for _, t in ipairs({ was, is, truth, change, flipped, right, right_then, lost, gained, size }) do t:free() end
end

local function batch(net, list, states, sums, counted, x, y, rows)
  net:bind(x, y)
  local loss, score = net:forward("eval")
  sums.before:add(net, y, rows, loss, score)
  count_gates(net, counted)
  local logits = view(net, net.logits)
  local before = logits:clone()
  local loss_after, score_after = loss, score
  if #list > 0 then
    loss_after, score_after = swapped(net, list, states, function() return net:forward("eval") end)
  end
  sums.after:add(net, y, rows, loss_after, score_after)
  add_difference(sums, before, logits, y)
  before:free()
  logits:free()
  sums.samples = sums.samples + rows
  sums.loss_before, sums.loss_after = sums.loss_before + loss * rows, sums.loss_after + loss_after * rows
end

local function measure_part(t, part, list, states, show)
  local net, counted = t.net, {}
  local sums = { samples = 0, predictions = 0, flipped = 0, lost = 0, gained = 0, max_logit_change = 0, loss_before = 0,
    loss_after = 0, before = net.measure.gather(), after = net.measure.gather() }
  for i, state in ipairs(states) do counted[i] = census.new(state) end
  local loader = t:loader(part)
  loader:start(0)
  for x, y, rows in loader:each() do
    if show then show(part, sums.samples, loader.count) end
    batch(net, list, states, sums, counted, x, y, rows)
    x:free()
    y:free()
  end
  loader:free()
  sums.loss_before, sums.loss_after = sums.loss_before / sums.samples, sums.loss_after / sums.samples
  sums.score_before, sums.score_after = sums.before:value(), sums.after:value()
  sums.before, sums.after = nil, nil
  sums.drop = net.measure:drop(sums.score_before, sums.score_after)
  if net.measure.name == "accuracy" then -- exact, where scores are rounded sums
    sums.drop = (sums.lost - sums.gained) / sums.predictions
  end
  sums.gates = {}
  for i in ipairs(states) do sums.gates[i] = counted[i]:row(sums.samples) end
  return sums
end

--- Measures a swap on the validation and the test part; the network is left as it was.
-- @param t        a run of swap.open
-- @param options  { gates = "all" (default) or a list of names or numbers, show = function(part, done, samples), called
--   before each batch (optional) }
-- @return report {
--   what = "all" or the swapped gates' names with commas, checkpoint, epoch (of the checkpoint), kind (of the gates),
--   hash, val, test (nil without a test part) = {
--     samples, predictions (one a sample; of a language model one a token), score_before, score_after, loss_before,
--     loss_after, drop (of the score, above 0 is worse: of accuracy before − after, a fraction),
--     flipped (predictions that changed), lost (of them, right before), gained (right after), max_logit_change,
--     gates = one row a gate as below },
--   gates = list of rows of lgelu.census, with swapped = boolean, over both parts,
--   relus (outputs an image of gates that are ReLU after the swap) }
-- @raise usage error for an unknown gate; fails for pre-activations that are not finite
function swap.measure(t, options)
  local net, names = t.net, options and options.gates
  local list, states, is_swapped = chosen(net, names), {}, {}
  if #net.gates == 0 then errors.usage("%s: the network has no gates to swap", t.dir) end
  if not net.gates[1].input then errors.usage("%s: was not opened by swap.open, or with probe = true", t.dir) end
  for i = 1, #net.gates do states[i] = census.gate(net, i) end
  local report = { checkpoint = t.checkpoint, kind = t.config.gate.kind, hash = t.run.attrs.hash, relus = 0,
    epoch = t.run:result().epoch }
  local bent, what = {}, {}
  for _, i in ipairs(list) do
    is_swapped[i], what[#what + 1] = true, net.gates[i].name
    if states[i].kind ~= "relu" then bent[#bent + 1] = i end
  end
  report.what = #list == #net.gates and "all" or table.concat(what, ",")
  for _, part in ipairs(t.set.test and { "val", "test" } or { "val" }) do
    report[part] = measure_part(t, part, bent, states, options and options.show)
    for i, row in ipairs(report[part].gates) do row.swapped = is_swapped[i] or false end
  end
  report.gates = stored.join(report)
  for i, row in ipairs(report.gates) do
    if is_swapped[i] or row.kind == "relu" then report.relus = report.relus + row.outputs end
  end
  return report
end

-- The name of the group that holds such a report.
local function key_of(run, names)
  if names == nil or names == "all" then return "all" end
  local wanted, known = {}, {}
  for _, name in ipairs(names) do wanted[name] = true end
  for _, name in ipairs(run:gates().names) do known[name] = true end
  for _, name in ipairs(names) do
    if not known[name] then return nil end -- measuring refuses it
  end
  return stored.key(run:gates().names, wanted)
end

--- The report on a run: the stored one, or measured and stored now.
-- @param name     folder, run.h5, or the beginning of a name under runs/
-- @param options  { gates = "all" (default) or a list of names, again = true: measure even when there is a stored one,
--   show = as for measure }
-- @return reader of the run, report, name of its group in run.h5; where it could not be stored, nil and the error
-- @raise as open, measure and read
function swap.of(name, options)
  options = options or {}
  local dir = store.resolve(name)
  local run = store.open(dir)
  local key = key_of(run, options.gates)
  local report = key and not options.again and run:status() == "done" and stored.read(run, key)
  if report then return run, report, "/swap/" .. key end
  report = swap.measure(swap.open(dir), options)
  local ok, where = pcall(stored.write, dir, report)
  return run, report, ok and where or nil, not ok and where or nil
end

return swap
