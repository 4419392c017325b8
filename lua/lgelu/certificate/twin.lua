--- certificate.twin: the same network in float64, before and after the swap: what a certificate is compared with.
-- It runs the engine's own graph, unfolded, with other kernels than the enclosures use; nothing is proved here.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local network = require("lgelu.network")

local ffi, lib, check = C.ffi, C.lib, C.check
local twin = {}
local Twin = {}
Twin.__index = Twin

-- What only starts a training is left out: values are copied.
local function gate_section(t)
  local copy = {}
  for key, value in pairs(t.config.gate) do copy[key] = value end
  copy.init = "gelu"
  copy.lambda = copy.learn == false and t.net:lambdas() or nil
  if copy.tie and copy.lambda then copy.lambda = { copy.lambda[1] } end
  return copy
end

local function copy_attributes(to, from)
  local value, op = ffi.new("double[1]"), lib.lg_list_find("op", "gate")
  for id = 0, lib.lg_graph_nodes(from) - 1 do
    if ffi.string(lib.lg_graph_node_kind(from, id)) == "gate" then
      local i = 0
      while lib.lg_op_attr_name(op, i) ~= nil do
        local name = lib.lg_op_attr_name(op, i)
        check(lib.lg_graph_attr_get(value, from, id, name))
        check(lib.lg_graph_attr_set(to, id, name, value[0]))
        i = i + 1
      end
    end
  end
end

--- The float64 twin of an opened run's network.
-- @param t     of lgelu.trained.open
-- @param rows  most rows of a batch
function twin.new(t, rows)
  local net = network.new({
    model = t.resolved.model, gate = gate_section(t), seed = t.resolved.seed, training = false, dtype = "f64",
    info = t.net.info, loss = "cross_entropy", batch = rows,
  })
  for _, list in ipairs({ t.net.params, t.net.states }) do
    for _, leaf in ipairs(list) do check(lib.lg_tensor_copy(net:tensor(leaf.name), t.net:tensor(leaf.name))) end
  end
  copy_attributes(net.graph, t.net.graph)
  return setmetatable({ net = net }, Twin)
end

local function logits(net)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_graph_value(out, net.graph, net.logits))
  local view = base.wrap(out[0])
  local copy = base.new(view.shape, base.dtype_codes.f64)
  check(lib.lg_tensor_copy(copy, view))
  return copy
end

--- Logits of a network with its gates as they are, and with every gate as ReLU; the gates are put back.
-- @param net   lgelu.network, for evaluation
-- @param x, y  a batch as net:bind takes it
-- @return two f64 tensors [rows, classes]
function twin.both(net, x, y)
  net:bind(x, y)
  net:forward("eval")
  local smooth, states = logits(net), {}
  for i in ipairs(net.gates) do states[i] = net:gate_state(i).kind end
  for i in ipairs(net.gates) do net:set_gate(i, { kind = "relu" }) end
  local ok, e = pcall(net.forward, net, "eval")
  for i, kind in ipairs(states) do net:set_gate(i, { kind = kind }) end
  if not ok then error(e, 0) end
  return smooth, logits(net)
end

--- As twin.both, of the float64 network.
function Twin:both(x, y)
  return twin.both(self.net, x:to("f64"), y)
end

return twin
