--- export/onnx: a folded network (lgelu.folded) as an ONNX graph: first as plain Lua lists, which can be looked at,
-- then as a file through the engine's writer (src/io/onnx.c). Images become [batch, channels, height, width], as ONNX
-- has them: weights are permuted for that, once, and no node is spent on it where nothing but layers and gates are in
-- between. What it is not: folding, metadata (lgelu.export).
--
-- A ReLU network needs Conv, Gemm, Relu, Add, Sub, Flatten (MatMul and Reshape where a model works on rows): pooling by
-- means is a Conv, the global one is in the Gemm behind it. Gemm and Conv are as PyTorch writes them (transB = 1, all
-- attributes given). Smooth gates are x·½·(1 + Erf(x·λ/√2)). Maximum pooling is MaxPool. Transformers: export/tokens.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local ffi, lib, check = C.ffi, C.lib, C.check
local onnx = {}

onnx.opset, onnx.ir_version = 13, 7 -- Erf, Gemm, Flatten, Reshape as here are known since; older tools read it

--- Ops that formal verifiers have in common.
onnx.common = { "Constant", "Conv", "Gemm", "MatMul", "Add", "Sub", "Relu", "Flatten", "Reshape" }

-- The graph as lists ------------------------------------------------------------------------------------------------
-- A value is { name, shape = as the engine has it, order = }: "engine": ONNX has it alike; "image": the engine has
-- [h, w, c], ONNX [c, h, w]; "flat": the engine has an image [h, w, c] flattened, ONNX the same as [c, h, w], image = {
-- h, w, c }; "pooled": as flat, and its mean over h and w has still to be taken.

local graph = {}
graph.__index = graph

local function unique(self, name)
  local free, number = name, 1
  while self.taken[free] do
    number = number + 1
    free = name .. "_" .. number
  end
  self.taken[free] = true
  return free
end

-- A constant's name. values: tensor, or list of numbers of a dtype.
function graph:constant(name, values, dtype)
  name = unique(self, name)
  if type(values) == "table" then values = tensor.tensor(values, dtype or "f32") end
  self.tensors[#self.tensors + 1] = { name = name, value = values }
  return name
end

-- Adds a node and returns its value. inputs: names; attrs: { { name, number or list }, … }
function graph:node(op, name, inputs, shape, order, attrs)
  name = unique(self, name)
  self.nodes[#self.nodes + 1] = { op = op, name = name, inputs = inputs, output = name, attrs = attrs or {} }
  return { name = name, shape = shape, order = order or "engine" }
end

-- Shape for Reshape: the batch in front, which is left open when it is.
function graph:shape_constant(name, shape)
  return self:constant(name .. ".shape", { self.batch or -1, unpack(shape) }, "i32") -- int64 in the file
end

-- Weights -----------------------------------------------------------------------------------------------------------

-- [co, kh, kw, ci] → [co, ci, kh, kw]
local function channels_first(weight)
  local co, kh, kw, ci = unpack(weight.shape)
  local out = tensor.zeros({ co, ci, kh, kw }, "f64")
  local from, to, area = base.data(weight), base.data(out), kh * kw
  for o = 0, co - 1 do
    for p = 0, area - 1 do
      for k = 0, ci - 1 do
        to[(o * ci + k) * area + p] = from[(o * area + p) * ci + k]
      end
    end
  end
  return out
end

-- Columns of weight [n, h·w·c] for an input that is flattened as [c, h, w].
local function flat_columns(weight, image)
  local n, area, c = weight.shape[1], image[1] * image[2], image[3]
  local out = tensor.zeros(weight.shape, "f64")
  local from, to = base.data(weight), base.data(out)
  for row = 0, n - 1 do
    for p = 0, area - 1 do
      for k = 0, c - 1 do
        to[(row * c + k) * area + p] = from[(row * area + p) * c + k]
      end
    end
  end
  return out
end

-- weight [n, c] behind a mean over h and w → [n, c·h·w]
local function pooled_columns(weight, image)
  local n, c, area = weight.shape[1], image[3], image[1] * image[2]
  local out = tensor.zeros({ n, c * area }, "f64")
  local from, to = base.data(weight), base.data(out)
  for i = 0, n * c - 1 do
    for p = i * area, i * area + area - 1 do
      to[p] = from[i] / area
    end
  end
  return out
end

-- weight[c, c, h, w] with value on the diagonal of its first two dimensions.
local function diagonal(c, h, w, value)
  local out = tensor.zeros({ c, c, h, w }, "f64")
  local to, area = base.data(out), h * w
  for k = 0, c - 1 do
    for p = 0, area - 1 do
      to[(k * c + k) * area + p] = value
    end
  end
  return out
end

-- Orders ------------------------------------------------------------------------------------------------------------

function graph:gemm(name, x, weight, bias)
  local inputs = { x.name, self:constant(name .. ".weight", weight), bias and self:constant(name .. ".bias", bias) }
  return self:node("Gemm", name, inputs, { weight.shape[1] }, "engine", { { "transB", 1 } })
end

-- The value with the engine's order of elements.
function graph:plain(x)
  if x.order == "engine" then return x end
  if x.order == "pooled" then
    local c = x.image[3]
    local mean = pooled_columns(diagonal(c, 1, 1, 1):reshape({ c, c }), x.image)
    return self:gemm(x.name .. ".mean", x, mean)
  end
  local image, name = x.image or x.shape, x.name
  if x.order == "flat" then
    local shape = self:shape_constant(name, { image[3], image[1], image[2] })
    name = self:node("Reshape", name .. ".image", { name, shape }).name
  end
  local y = self:node("Transpose", x.name .. ".plain", { name }, image, "engine", { { "perm", { 0, 2, 3, 1 } } })
  if x.order == "flat" then
    y = self:node("Flatten", x.name .. ".flat", { y.name }, x.shape, "engine", { { "axis", 1 } })
  end
  return y
end

-- The value of an image [h, w, c] as ONNX's [c, h, w].
function graph:image(x)
  if x.order == "image" then return x end
  local y = self:plain(x)
  return self:node("Transpose", x.name .. ".image", { y.name }, x.shape, "image", { { "perm", { 0, 3, 1, 2 } } })
end

-- Ops ---------------------------------------------------------------------------------------------------------------

local rules = {}
for op, rule in pairs(require("lgelu.export.tokens")) do
  rules[op] = rule
end

local function windows(kernel, node, more)
  local attrs = { { "dilations", { 1, 1 } }, { "kernel_shape", kernel }, { "pads", node.padding },
    { "strides", node.stride } }
  if more then attrs[#attrs + 1] = more end
  return attrs
end

local function conv(g, node, x, weight, bias, attrs)
  local inputs = { g:image(x).name, g:constant(node.name .. ".weight", weight) }
  if bias then inputs[3] = g:constant(node.name .. ".bias", bias) end
  return g:node("Conv", node.name, inputs, node.shape, "image", attrs)
end

function rules.conv(g, node, x)
  local kernel = { node.weight.shape[2], node.weight.shape[3] }
  return conv(g, node, x, channels_first(node.weight), node.bias, windows(kernel, node, { "group", node.groups }))
end

function rules.avg_pool(g, node, x)
  local h, w = unpack(node.kernel)
  return conv(g, node, x, diagonal(node.shape[3], h, w, 1 / (h * w)), nil, windows(node.kernel, node, { "group", 1 }))
end

function rules.max_pool(g, node, x)
  local attrs = windows(node.kernel, node)
  table.remove(attrs, 1) -- dilations are its default, and read by few
  return g:node("MaxPool", node.name, { g:image(x).name }, node.shape, "image", attrs)
end

function rules.linear(g, node, x)
  local weight = node.weight
  if x.order == "image" then -- on the channels of each pixel
    local attrs = windows({ 1, 1 }, { padding = { 0, 0, 0, 0 }, stride = { 1, 1 } }, { "group", 1 })
    return conv(g, node, x, weight:reshape({ weight.shape[1], weight.shape[2], 1, 1 }), node.bias, attrs)
  end
  if #x.shape > 1 then
    local product = g:node("MatMul", node.name .. ".product",
      { x.name, g:constant(node.name .. ".weight", weight.T) }, node.shape)
    return g:node("Add", node.name, { product.name, g:constant(node.name .. ".bias", node.bias) }, node.shape)
  end
  if x.order == "flat" then weight = flat_columns(weight, x.image) end
  if x.order == "pooled" then weight = pooled_columns(weight, x.image) end
  return g:gemm(node.name, x, weight, node.bias)
end

-- Smooth gates: functions (g, name, x's name, op) → the value's name, where op adds a node.
local function half_of_one_plus(g, name, x, op, inner)
  local sum = op("Add", name .. ".sum", inner, g:constant(name .. ".one", { 1 }))
  return op("Mul", name, op("Mul", name .. ".half_x", x, g:constant(name .. ".half", { 0.5 })), sum)
end

local function erf_gate(g, name, x, op, lambda)
  local scaled = op("Mul", name .. ".scaled", x, g:constant(name .. ".scale", { lambda / math.sqrt(2) }))
  return half_of_one_plus(g, name, x, op, op("Erf", name .. ".erf", scaled))
end

local function sigmoid_gate(g, name, x, op, scale)
  local inner = scale == 1 and x or op("Mul", name .. ".scaled", x, g:constant(name .. ".scale", { scale }))
  return op("Mul", name, x, op("Sigmoid", name .. ".sigmoid", inner))
end

local GATES = {
  relu = function(_, name, x, op) return op("Relu", name, x) end,
  lambda_gelu = function(g, name, x, op, lambda) return erf_gate(g, name, x, op, lambda) end,
  gelu = function(g, name, x, op) return erf_gate(g, name, x, op, 1) end,
  gelu_sigmoid = function(g, name, x, op) return sigmoid_gate(g, name, x, op, 1.702) end,
  silu = function(g, name, x, op) return sigmoid_gate(g, name, x, op, 1) end,
  gelu_tanh = function(g, name, x, op) -- √(2/π)·x·(1 + 0.044715·x²)
    local square = op("Mul", name .. ".square", x, x)
    local cubic = op("Mul", name .. ".cubic", square, g:constant(name .. ".c", { 0.044715 }))
    local bracket = op("Add", name .. ".bracket", cubic, g:constant(name .. ".one", { 1 }))
    local scaled = op("Mul", name .. ".scaled", x, g:constant(name .. ".scale", { math.sqrt(2 / math.pi) }))
    local inner = op("Mul", name .. ".inner", scaled, bracket)
    return half_of_one_plus(g, name, x, op, op("Tanh", name .. ".tanh", inner))
  end,
}

function rules.gate(g, node, x)
  if node.kind == "identity" then return x end
  if not GATES[node.kind] then
    errors.fail("%s: gate '%s' cannot be exported: there is no form of %s in ONNX", node.where, node.name, node.kind)
  end
  if x.order == "pooled" then x = g:plain(x) end
  local name = GATES[node.kind](g, node.name, x.name, function(op, name, a, b)
    return g:node(op, name, { a, b }).name
  end, node.lambda)
  return { name = name, shape = x.shape, order = x.order, image = x.image }
end

function rules.add(g, node, a, b)
  local alike = a.order == b.order and a.order ~= "pooled"
    and table.concat(a.image or {}, " ") == table.concat(b.image or {}, " ")
  if not alike then a, b = g:plain(a), g:plain(b) end
  local y = g:node("Add", node.name, { a.name, b.name }, node.shape, a.order)
  y.image = a.image
  return y
end

function rules.channels_last(g, node, x) return { name = g:plain(x).name, shape = node.shape, order = "image" } end

local function flatten(g, node, x)
  local y = g:node("Flatten", node.name, { x.name }, node.shape, "engine", { { "axis", 1 } })
  if x.order == "image" and x.shape[3] > 1 and x.shape[1] * x.shape[2] > 1 then y.order, y.image = "flat", x.shape end
  return y
end

function rules.flatten(g, node, x)
  return flatten(g, node, x)
end

function rules.global_pool(g, node, x)
  if x.order == "engine" then -- rows of tokens: nothing behind it would gain by a larger Gemm
    local attrs = { { "axes", { 1, 2 } }, { "keepdims", 0 } }
    return g:node("ReduceMean", node.name, { x.name }, node.shape, "engine", attrs)
  end
  local y = flatten(g, node, x)
  if x.shape[1] * x.shape[2] > 1 then y.order, y.image = "pooled", x.shape end
  return y
end

function rules.reshape(g, node, x)
  return g:node("Reshape", node.name, { g:plain(x).name, g:shape_constant(node.name, node.shape) }, node.shape)
end

local function by_channel(op)
  return function(g, node, x)
    local shape = { 1, node.value.size }
    for i = 3, #node.shape + 1 do
      shape[i] = 1
    end
    local value = node.value.size > 1 and node.value:reshape(shape) or node.value
    return g:node(op, node.name, { x.name, g:constant(node.name .. ".value", value) }, node.shape)
  end
end
rules.sub, rules.mul = by_channel("Sub"), by_channel("Mul")

-- The result --------------------------------------------------------------------------------------------------------

-- The names of the ops of a graph, sorted.
local function ops_of(nodes)
  local seen, list = {}, {}
  for _, node in ipairs(nodes) do
    if not seen[node.op] then list[#list + 1] = node.op end
    seen[node.op] = true
  end
  table.sort(list)
  return list
end

-- Gives the value that is the network's result the name "logits".
local function name_output(g, y)
  if y.name == "input" then y = g:node("Flatten", "logits", { y.name }, y.shape, "engine", { { "axis", 1 } }) end
  for _, node in ipairs(g.nodes) do
    if node.output == y.name then node.output = "logits" end
    for i, input in ipairs(node.inputs) do
      if input == y.name then node.inputs[i] = "logits" end
    end
  end
end

--- The ONNX graph of a folded network, as lists.
-- @param f      of lgelu.folded
-- @param batch  rows of the batch; nil: left open ("batch")
-- @return { nodes = { { op, name, inputs, output, attrs = { { name, value }, … } }, … }, ops = sorted names,
--   tensors = { { name, value }, … }, input = {…}, output = {…} (shapes with the batch, -1 where it is open),
--   input_dtype = "f32", or "i32" of ids, which the file has as int64 }
function onnx.graph(f, batch)
  local g = setmetatable({ nodes = {}, tensors = {}, batch = batch, taken = { input = true, logits = true } }, graph)
  local values = { [0] = { name = "input", shape = f.input.shape, order = "engine" } }
  for i, node in ipairs(f.nodes) do
    local given = {}
    for k, input in ipairs(node.inputs) do
      given[k] = values[input]
    end
    values[i] = rules[node.op](g, node, unpack(given))
  end
  local y = g:plain(values[f.output])
  name_output(g, y)
  g.input_dtype = f.input.dtype or "f32"
  g.input, g.output, g.ops = { batch or -1, unpack(f.input.shape) }, { batch or -1, unpack(y.shape) }, ops_of(g.nodes)
  return g
end

--- Ops of a graph that verifiers do not share, sorted.
function onnx.uncommon(g)
  local known, list = {}, {}
  for _, op in ipairs(onnx.common) do
    known[op] = true
  end
  for _, op in ipairs(g.ops) do
    if not known[op] then list[#list + 1] = op end
  end
  return list
end

local function int64s(list) return ffi.new("int64_t[?]", #list, list) end

local function write_node(m, node)
  check(lib.lg_onnx_node(m, node.op, node.name, node.output))
  for _, input in ipairs(node.inputs) do
    check(lib.lg_onnx_node_input(m, input))
  end
  for _, attr in ipairs(node.attrs) do
    if type(attr[2]) == "table" then
      check(lib.lg_onnx_attr_ints(m, attr[1], int64s(attr[2]), #attr[2]))
    else
      check(lib.lg_onnx_attr_int(m, attr[1], attr[2]))
    end
  end
end

--- Writes a graph as an ONNX file, at one instant.
-- @param meta  list of { key, text }: the model's metadata_props
function onnx.write(g, path, name, meta)
  local out = ffi.new("lg_onnx *[1]")
  check(lib.lg_onnx_new(out, name, onnx.ir_version, onnx.opset))
  local m = ffi.gc(out[0], lib.lg_onnx_free)
  local dtype = lib.lg_list_find("dtype", g.input_dtype)
  check(lib.lg_onnx_value(m, "input", 0, dtype, #g.input, int64s(g.input)))
  check(lib.lg_onnx_value(m, "logits", 1, lib.lg_list_find("dtype", "f32"), #g.output, int64s(g.output)))
  for _, constant in ipairs(g.tensors) do
    check(lib.lg_onnx_tensor(m, constant.name, constant.value))
  end
  for _, node in ipairs(g.nodes) do
    write_node(m, node)
  end
  for _, pair in ipairs(meta) do
    check(lib.lg_onnx_meta(m, pair[1], pair[2]))
  end
  check(lib.lg_onnx_save(m, path))
  lib.lg_onnx_free(ffi.gc(m, nil))
end

return onnx
