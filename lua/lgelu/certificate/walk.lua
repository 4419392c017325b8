--- certificate.walk: enclosures carried through a folded network (lgelu.folded), layer by layer, a batch at a time.
-- Which intervals follow from which is C's (src/kernels/enclose.c); here is the order, and what is kept how long.
--
-- An enclosure is an f64 tensor [4, rows, …]: centre and radius of the smooth network's value, centre and radius of
-- ReLU network minus smooth network. See docs/CERTIFICATE.md.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")

local lib, check = C.lib, C.check
local walk = {}
local Walk = {}
Walk.__index = Walk

--- How a gate's difference is bounded: by its own value where it is evaluated, or by the constant 0.16998/λ alone.
walk.rules = { value = 0, constant = 1 }

local F64 = base.dtype_codes.f64

local function blank(rows, shape) return base.new({ 4, rows, unpack(shape) }, F64) end

-- λ of a gate: 1 for GELU, ∞ for what is ReLU in both networks.
local function lambda_of(node)
  local lambda = node.kind == "relu" and math.huge or node.kind == "gelu" and 1 or node.kind == "lambda_gelu"
    and node.lambda
  if not lambda then
    errors.fail("'%s' is a %s: the certificate knows gates of kind lambda_gelu, gelu and relu", node.name, node.kind)
  end
  if lambda < math.huge and not node.gate_index then
    errors.fail("'%s' is a %s that stays in the ReLU network: the certificate knows gates that become ReLU", node.name,
      node.kind)
  end
  if lambda <= 0 then errors.fail("'%s' has λ = %g: the certificate needs one above 0", node.name, lambda) end
  return lambda
end

-- Images of one image: [4, rows, 1, 1, channels] as windows see it.
local function pooled(node, x, rows)
  local out, window = blank(rows, node.shape), node
  if node.op == "global_pool" then
    local shape = x.shape
    window = { kernel = { shape[3], shape[4] }, stride = { 1, 1 }, padding = { 0, 0 } }
    out = out:view(4, rows, 1, 1, shape[5])
  end
  check(lib.lg_enclose_pool(out, x, node.op == "max_pool" and 0 or 1, window.kernel[1], window.kernel[2],
    window.stride[1], window.stride[2], window.padding[1], window.padding[2]))
  return out:view(4, rows, unpack(node.shape))
end

-- op → function (node, inputs, rows, rule) → enclosure
local layers = { max_pool = pooled, avg_pool = pooled, global_pool = pooled }
for op, fn in pairs(layers) do
  layers[op] = function(node, inputs, rows) return fn(node, inputs[1], rows) end
end

function layers.linear(node, inputs, rows)
  local out = blank(rows, node.shape)
  check(lib.lg_enclose_affine(out, inputs[1], node.weight, node.bias, 1, 1, 0, 0, 1))
  return out
end

function layers.conv(node, inputs, rows)
  local out, stride, padding = blank(rows, node.shape), node.stride, node.padding
  check(lib.lg_enclose_affine(out, inputs[1], node.weight, node.bias, stride[1], stride[2], padding[1], padding[2],
    node.groups))
  return out
end

function layers.gate(node, inputs, rows, rule)
  local out = blank(rows, node.shape)
  check(lib.lg_enclose_gate(out, inputs[1], lambda_of(node), rule))
  return out
end

function layers.add(node, inputs, rows)
  local out = blank(rows, node.shape)
  check(lib.lg_enclose_add(out, inputs[1], inputs[2]))
  return out
end

function layers.channels_last(_, inputs) return inputs[1]:permute(1, 2, 4, 5, 3):contiguous() end

local function reshaped(node, inputs, rows) return inputs[1]:reshape(4, rows, unpack(node.shape)) end
layers.flatten, layers.reshape = reshaped, reshaped

local function product(shape)
  local n = 1
  for _, dim in ipairs(shape) do n = n * dim end
  return n
end

--- Whether there is a rule for nodes of an op.
function walk.knows(op) return layers[op] ~= nil end

--- Prepares a folded network.
-- @param f  of folded.of: not with relu (its gates would be gone), nor with fold_input
-- @return walk with fields folded, largest (numbers of a sample's largest layer), lambdas (list, in order of the gates)
-- @raise fails for an activation that the certificate does not know, by name
function walk.new(f)
  local self = setmetatable({ folded = f, last = {}, largest = product(f.input.shape), lambdas = {} }, Walk)
  for i, node in ipairs(f.nodes) do
    if not layers[node.op] then errors.fail("'%s': the certificate has no rule for %s", node.name, node.op) end
    if node.op == "gate" then
      local lambda = lambda_of(node)
      if node.gate_index then self.lambdas[node.gate_index] = lambda end
    end
    for _, input in ipairs(node.inputs) do self.last[input] = i end
    self.largest = math.max(self.largest, product(node.shape))
  end
  local top = f.nodes[f.output]
  self.top = top and top.op == "linear" and #top.shape == 1 and top or nil -- the last layer, where it is linear
  return self
end

--- Carries a batch through.
-- @param x     enclosure [4, rows, …] of the input
-- @param rule  name of walk.rules
-- @return logits [4, rows, classes], and what the last linear layer reads (the logits themselves if there is none)
function Walk:run(x, rule)
  local f, rows, values, code = self.folded, x.shape[2], { [0] = x }, walk.rules[rule]
  for i, node in ipairs(f.nodes) do
    local inputs = {}
    for k, input in ipairs(node.inputs) do inputs[k] = values[input] end
    values[i] = layers[node.op](node, inputs, rows, code)
    for _, input in ipairs(node.inputs) do
      if self.last[input] == i and not (self.top and self.top.inputs[1] == input) then values[input] = nil end
    end
  end
  return values[f.output], self.top and values[self.top.inputs[1]] or values[f.output]
end

--- By how much each sample's class is ahead, at least.
-- @param before  the second result of run
-- @return margins f64 [2, rows] (smooth network, ReLU network), classes i32 [rows] (0-based): lg_enclose_margin
function Walk:margins(before)
  local rows, top = before.shape[2], self.top
  local out, classes = base.new({ 2, rows }, F64), base.new({ rows }, base.dtype_codes.i32)
  check(lib.lg_enclose_margin(out, classes, before, top and top.weight or nil, top and top.bias or nil))
  return out, classes
end

return walk
