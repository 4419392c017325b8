--- export/tokens: the nodes of Transformers as plain ONNX ops, further rules of export/onnx: attention, embeddings,
-- normalization of rows, and what cuts and joins arrays. All of them work on the engine's order of elements.
-- What it is not: a use of LayerNormalization (opset 17) or Attention (opset 23). Readers of opset 13 know neither, and
-- verifiers take the plain ops that they are made of. Layer normalization is the chain with Pow that PyTorch wrote
-- before opset 17: optimizers (onnxruntime's LayerNormFusion) look for it, to make one node of it again.

local HIDDEN = -1e30 -- added to the score of a key that is not seen: its weight is then exactly 0, and nothing is NaN

-- A helper that adds nodes with names of their own: op("MatMul", ".scores", { names }, attrs) → the value's name.
local function namer(g, node)
  return function(op, suffix, inputs, attrs) return g:node(op, node.name .. suffix, inputs, nil, nil, attrs).name end
end

local function numbers(g, node, suffix, list, dtype) return g:constant(node.name .. suffix, list, dtype) end

-- The last dimension is -1: ReduceMean, Concat and Softmax count from the end too.
local LAST = { { "axes", { -1 } }, { "keepdims", 1 } }

-- x over the root of its mean square, where x has its mean already.
local function scaled_rows(g, node, x, op)
  local square = op("Pow", ".square", { x, numbers(g, node, ".two", { 2 }) })
  local variance = op("ReduceMean", ".variance", { square }, LAST)
  local shifted = op("Add", ".shifted", { variance, numbers(g, node, ".eps", { node.eps }) })
  local rows = op("Div", ".rows", { x, op("Sqrt", ".deviation", { shifted }) })
  return op("Mul", node.beta and ".scaled" or "", { rows, g:constant(node.name .. ".gamma", node.gamma) })
end

local rules = {}

function rules.layer_norm(g, node, x)
  local op, from = namer(g, node), g:plain(x).name
  local centred = op("Sub", ".centred", { from, op("ReduceMean", ".mean", { from }, LAST) })
  local inputs = { scaled_rows(g, node, centred, op), g:constant(node.name .. ".beta", node.beta) }
  return g:node("Add", node.name, inputs, node.shape)
end

function rules.rms_norm(g, node, x)
  return { name = scaled_rows(g, node, g:plain(x).name, namer(g, node)), shape = node.shape, order = "engine" }
end

function rules.embedding(g, node, ids)
  local inputs = { g:constant(node.name .. ".weight", node.weight), g:plain(ids).name }
  return g:node("Gather", node.name, inputs, node.shape, "engine", { { "axis", 0 } })
end

function rules.positions(g, node, x)
  local inputs = { g:plain(x).name, g:constant(node.name .. ".weight", node.weight) }
  return g:node("Add", node.name, inputs, node.shape)
end

-- A cut of an axis that ONNX counts, the batch being 0.
local function slice(g, name, x, axis, start, length, shape)
  local inputs = { x }
  for i, part in ipairs({ { ".starts", start }, { ".ends", start + length }, { ".axes", axis } }) do
    inputs[i + 1] = g:constant(name .. part[1], { part[2] }, "i32")
  end
  return g:node("Slice", name, inputs, shape)
end

function rules.slice(g, node, x)
  return slice(g, node.name, g:plain(x).name, node.axis + 1, node.start, node.length, node.shape)
end

function rules.concat(g, node, ...)
  local names = {}
  for i, x in ipairs({ ... }) do names[i] = g:plain(x).name end
  return g:node("Concat", node.name, names, node.shape, "engine", { { "axis", node.axis + 1 } })
end

-- The token once for each row of the batch. Only where that is open does it take nodes.
function rules.class_token(g, node, x)
  local op, n, from = namer(g, node), node.weight.size, g:plain(x).name
  local token = g:constant(node.name .. ".weight", node.weight:reshape({ 1, 1, n }))
  if not g.batch then
    local rows = slice(g, node.name .. ".batch", op("Shape", ".shape", { from }), 0, 0, 1).name
    local shape = op("Concat", ".one_each", { rows, numbers(g, node, ".one", { 1, n }, "i32") }, { { "axis", 0 } })
    token = op("Expand", ".tokens", { token, shape })
  end
  return g:node("Concat", node.name, { token, from }, node.shape, "engine", { { "axis", 1 } })
end

function rules.product(g, node, a, b)
  return g:node("Mul", node.name, { g:plain(a).name, g:plain(b).name }, node.shape)
end

local function swapped_last(g, name, x, rank)
  local perm = {}
  for i = 1, rank do perm[i] = i - 1 end
  perm[rank - 1], perm[rank] = rank - 1, rank - 2
  return g:node("Transpose", name, { x }, nil, nil, { { "perm", perm } }).name
end

function rules.batch_matmul(g, node, a, b)
  local left, right, rank = g:plain(a).name, g:plain(b).name, #node.shape + 1
  if node.transpose_a then left = swapped_last(g, node.name .. ".left", left, rank) end
  if node.transpose_b then right = swapped_last(g, node.name .. ".right", right, rank) end
  return g:node("MatMul", node.name, { left, right }, node.shape)
end

-- What is added to scores [batch, heads, t, t] where no query sees a later key; one constant for all blocks.
local function causal_mask(g, t)
  local list = {}
  for i = 1, t do
    list[i] = {}
    for j = 1, t do list[i][j] = j > i and HIDDEN or 0 end
  end
  return g:constant("causal_mask", { { list } })
end

local function hide_later(g, scores, t, op)
  g.masks = g.masks or {}
  g.masks[t] = g.masks[t] or causal_mask(g, t)
  return op("Add", ".causal", { scores, g.masks[t] })
end

-- 0 … t-1 as int64 with a shape of its own.
local function places(g, node, t, shape)
  local list = {}
  for j = 1, t do list[j] = j - 1 end
  return g:constant(node.name .. ".places", require("lgelu.tensor").tensor(list, "i32"):reshape(shape))
end

-- Which of t tokens count, [batch, …, t] of rank dimensions; and the lengths themselves, [batch, …, 1].
local function counting(g, node, lengths, t, rank, op)
  local one_each, shape = { -1, 1, 1, 1 }, { 1, 1, 1, t }
  one_each[rank + 1], shape = nil, { unpack(shape, 5 - rank) }
  local each = op("Reshape", ".lengths", { lengths, g:constant(node.name .. ".each", one_each, "i32") })
  return op("Less", ".counting", { places(g, node, t, shape), each }), each
end

local function hide_padding(g, node, scores, lengths, t, op)
  local seen = counting(g, node, lengths, t, 4, op)
  return op("Where", ".masked", { seen, scores, numbers(g, node, ".hidden", { HIDDEN }) })
end

-- 1 + the greatest place that is not padding, place 0 standing for none.
function rules.token_lengths(g, node, ids)
  local op = namer(g, node)
  local padding = op("Equal", ".padding", { ids.name, numbers(g, node, ".pad", { node.pad }, "i32") })
  local filled = op("Where", ".filled", { padding, numbers(g, node, ".none", { 0 }, "i32"),
    places(g, node, ids.shape[1], { 1, ids.shape[1] }) })
  local last = op("ReduceMax", ".last", { filled }, LAST)
  return g:node("Add", node.name, { last, numbers(g, node, ".one", { 1 }, "i32") }, node.shape)
end

local FLOAT = { { "to", 1 } } -- TensorProto.FLOAT

function rules.token_mean(g, node, x, lengths)
  local op = namer(g, node)
  local seen, each = counting(g, node, lengths.name, x.shape[1], 3, op)
  local weights = op("Div", ".weights", { op("Cast", ".ones", { seen }, FLOAT), op("Cast", ".count", { each }, FLOAT) })
  local means = op("MatMul", ".means", { weights, g:plain(x).name })
  return g:node("Flatten", node.name, { means }, node.shape, "engine", { { "axis", 1 } })
end

function rules.attention(g, node, x, lengths)
  local op, t, d = namer(g, node), node.shape[1], node.shape[2]
  local dh, from = d / node.heads, g:plain(x).name
  -- q, k or v as [batch, heads, t, dh], or with the last two in another order
  local function part(name, index, perm)
    local cut = slice(g, node.name .. name, from, 2, index * d, d).name
    cut = op("Reshape", name .. "_heads", { cut, g:shape_constant(node.name .. name, { t, node.heads, dh }) })
    return op("Transpose", name .. "_turned", { cut }, { { "perm", perm } })
  end
  local scores = op("MatMul", ".products", { part(".q", 0, { 0, 2, 1, 3 }), part(".k", 1, { 0, 2, 3, 1 }) })
  scores = op("Mul", ".scores", { scores, numbers(g, node, ".scale", { 1 / math.sqrt(dh) }) })
  if node.causal then scores = hide_later(g, scores, t, op) end
  if lengths then scores = hide_padding(g, node, scores, lengths.name, t, op) end
  local weights = op("Softmax", ".weights", { scores }, { { "axis", -1 } })
  local sums = op("MatMul", ".sums", { weights, part(".v", 2, { 0, 2, 1, 3 }) })
  sums = op("Transpose", ".sums_turned", { sums }, { { "perm", { 0, 2, 1, 3 } } })
  return g:node("Reshape", node.name, { sums, g:shape_constant(node.name, node.shape) }, node.shape)
end

return rules
