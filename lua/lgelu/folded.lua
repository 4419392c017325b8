--- folded: a trained network as plain layers and gates, as export and certificate need it. Batch norms (by their
-- running statistics) and biases are folded into the layer before them, dropout is gone, weights are float64 copies.
-- The engine's layout is kept: images are channels-last from a node channels_last on; what is flattened in front of one
-- is in the data set's order. Computes nothing on samples; writes no files (lgelu.onnx does).
--
--   f = folded.of(t, { relu = true })
--   f.nodes[i] = { op =, name =, where = "file:line", inputs = { index, … }, shape = {…} }, in an order in which inputs
--   come first; input 0 is the network's input; f.output is the logits' index. By op:
--     conv           weight f64 [co, kh, kw, ci/groups], bias f64 [co], stride = { h, w }, groups,
--                    padding = { top, left, bottom, right } (zeros); x and result [h, w, c]
--     linear         weight f64 [n, k], bias f64 [n]; on the last dimension of x
--     gate           kind, lambda (λ-GELU alone), gate_index (nil: a fixed activation, which is no gate)
--     add            of two nodes
--     channels_last  [c, h, w] → [h, w, c]
--     max_pool, avg_pool   kernel, stride, padding as above (avg_pool counts padding as zeros)
--     global_pool    mean over h and w
--     flatten, reshape     the same elements in C order
--     product        of two nodes, element by element
--     concat         axis (from 0, the batch not counted); of two nodes or more
--     slice          axis as above, start (from 0), length
--     batch_matmul   transpose_a, transpose_b = booleans; of two nodes [(…,) m, k] and [(…,) k, n]
--     layer_norm     gamma, beta f64 [n], eps: rows (the last dimension) to mean 0 and variance 1, · gamma + beta
--     rms_norm       gamma f64 [n], eps: rows over the root of their mean square, · gamma
--     embedding      weight f64 [entries, n]: its rows, by ids; one_hot is one of the unit matrix
--     class_token    weight f64 [n]: a row in front of x [tokens, n]
--     positions      weight f64: added to x's last dimensions
--     attention      heads, causal = boolean; of packed x [tokens, 3·n] (and the node of the lengths): op_attention.c
--     token_lengths  pad; ids [tokens] → [], how many of them count: all up to the last that is not pad, at least 1
--     token_mean     of x [tokens, n] and the node of the lengths: the mean of those that count
--     sub, mul       with fold_input alone: x − value, x·value; f64 [channels] along the first dimension, or [1]
--   f.input = { shape, dtype = "i32" of ids (else nil), scale, mean, sd }: a node 0 element is
--   (x·scale − mean[c])/sd[c] of a stored sample's x; with fold_input it is x·scale, and mean and sd are nil. Ids are
--   taken as they are.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local tensor = require("lgelu.tensor")

local ffi, lib, check = C.ffi, C.lib, C.check
local folded = {}

-- The graph ---------------------------------------------------------------------------------------------------------

local function kind_of(w, id) return ffi.string(lib.lg_graph_node_kind(w.graph, id)) end
local function name_of(w, id) return ffi.string(lib.lg_graph_node_name(w.graph, id)) end
local function where_of(w, id) return ffi.string(lib.lg_graph_node_where(w.graph, id)) end

local function refuse(w, id, reason)
  local where = where_of(w, id)
  errors.fail("%snode '%s' (%s) cannot be folded: %s", where ~= "" and where .. ": " or "", name_of(w, id),
    kind_of(w, id), reason)
end

local function inputs_of(w, id)
  local ids, list = ffi.new("int32_t[8]"), {}
  for i = 1, lib.lg_graph_node_inputs(w.graph, id, ids, 8) do
    list[i] = ids[i - 1]
  end
  return list
end

local function attr(w, id, name)
  local value = ffi.new("double[1]")
  check(lib.lg_graph_attr_get(value, w.graph, id, name))
  return value[0]
end

-- A node's shape without the batch in front.
local function shape_of(w, id)
  local rank, shape, list = ffi.new("int32_t[1]"), ffi.new("int64_t[8]"), {}
  check(lib.lg_graph_node_shape(rank, shape, w.graph, id))
  for i = 1, rank[0] - 1 do
    list[i] = tonumber(shape[i])
  end
  return list
end

local function size_of(shape)
  local n = 1
  for _, dim in ipairs(shape) do
    n = n * dim
  end
  return n
end

-- A float64 copy of a parameter or state.
local function leaf(w, reader, id)
  local kind = kind_of(w, id)
  if kind ~= "param" and kind ~= "state" then
    refuse(w, reader, ("'%s' (%s) stands where a parameter is expected"):format(name_of(w, id), kind))
  end
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_graph_value(out, w.graph, id))
  local view = tensor.wrap(out[0])
  local copy = tensor.zeros(view.shape, "f64")
  check(lib.lg_tensor_copy(copy, view))
  return copy
end

-- Adds a node; its index stands for graph node id.
-- @param from  list of the graph nodes that it reads
local function emit(w, id, op, from, fields)
  local node, inputs = fields or {}, {}
  for i, x in ipairs(from) do
    inputs[i] = w.index[x]
  end
  node.op, node.inputs, node.name, node.where, node.shape = op, inputs, name_of(w, id), where_of(w, id), shape_of(w, id)
  w.nodes[#w.nodes + 1] = node
  return #w.nodes
end

-- Layers ------------------------------------------------------------------------------------------------------------

-- Row o of a layer's weights times scale[o]; its bias times scale[o], plus shift[o].
local function rescale(node, scale, shift)
  local rows = node.weight.shape[1]
  local weight, bias, n = base.data(node.weight), base.data(node.bias), size_of(node.weight.shape) / rows
  for o = 0, rows - 1 do
    for i = o * n, o * n + n - 1 do
      weight[i] = weight[i] * scale[o]
    end
    bias[o] = bias[o] * scale[o] + shift[o]
  end
end

-- x·scale + shift for each entry of the last dimension: into the layer before where this is all that reads it, or as a
-- layer of its own with a diagonal matrix.
local function affine(w, id, x, scale, shift)
  local before = w.nodes[w.index[x]]
  if before and w.alone[x] and (before.op == "conv" or before.op == "linear") then
    rescale(before, scale, shift)
    w.alone[id] = w.readers[id] == 1
    return w.index[x]
  end
  local shape = shape_of(w, id)
  local n, image = shape[#shape], #shape == 3
  local node = { weight = tensor.zeros(image and { n, 1, 1, n } or { n, n }, "f64"), bias = tensor.zeros({ n }, "f64") }
  local weight = base.data(node.weight)
  for i = 0, n - 1 do
    weight[i * n + i] = 1
  end
  rescale(node, scale, shift)
  if image then node.stride, node.padding, node.groups = { 1, 1 }, { 0, 0, 0, 0 }, 1 end
  return emit(w, id, image and "conv" or "linear", { x }, node)
end

local function window(w, id, node)
  node.stride = { attr(w, id, "stride_h"), attr(w, id, "stride_w") }
  node.padding = {}
  for i, side in ipairs({ "top", "left", "bottom", "right" }) do
    node.padding[i] = attr(w, id, "pad_" .. side)
  end
  return node
end

local function layer(w, id, inputs, node)
  node.weight = leaf(w, id, inputs[2])
  node.bias = inputs[3] and leaf(w, id, inputs[3]) or tensor.zeros({ node.weight.shape[1] }, "f64")
  return node
end

local function pool(w, id, inputs)
  local node = window(w, id, { kernel = { attr(w, id, "kernel_h"), attr(w, id, "kernel_w") } })
  return emit(w, id, kind_of(w, id), { inputs[1] }, node)
end

-- A node that only hands on what it reads.
local function alias(w, id, x)
  w.alone[id] = w.alone[x] and w.readers[id] == 1
  return w.index[x]
end

-- op → function (w, id, graph inputs) → index. An op that is not here cannot be exported.
local rules = {}

function rules.conv2d(w, id, inputs)
  local node = layer(w, id, inputs, window(w, id, { groups = attr(w, id, "groups") }))
  return emit(w, id, "conv", { inputs[1] }, node)
end

function rules.linear(w, id, inputs)
  return emit(w, id, "linear", { inputs[1] }, layer(w, id, inputs, {}))
end

function rules.batch_norm(w, id, inputs)
  local n, eps, parts = shape_of(w, id), attr(w, id, "eps"), {}
  n = n[#n]
  for i = 2, 5 do
    parts[i] = leaf(w, id, inputs[i]):totable()
  end
  local gamma, beta, mean, var = unpack(parts, 2, 5)
  local scale, shift = ffi.new("double[?]", n), ffi.new("double[?]", n)
  for i = 0, n - 1 do
    scale[i] = gamma[i + 1] / math.sqrt(var[i + 1] + eps)
    shift[i] = beta[i + 1] - mean[i + 1] * scale[i]
  end
  return affine(w, id, inputs[1], scale, shift)
end

function rules.bias(w, id, inputs)
  local shift = leaf(w, id, inputs[2])
  if #shift.shape > 1 then return emit(w, id, "positions", { inputs[1] }, { weight = shift }) end
  return affine(w, id, inputs[1], ffi.new("double[?]", shift.size, 1), base.data(shift))
end

function rules.gate(w, id, inputs)
  local gate_index, lambda = w.gate_index[id], nil
  local kind = ffi.string(lib.lg_list_name("activation", attr(w, id, "kind")))
  if w.relu and gate_index then kind = "relu" end
  if kind == "lambda_gelu" then lambda = gate_index and w.lambdas[gate_index] or attr(w, id, "lambda") end
  return emit(w, id, "gate", { inputs[1] }, { kind = kind, lambda = lambda, gate_index = gate_index })
end

function rules.add(w, id, inputs) return emit(w, id, "add", inputs) end
function rules.channels_last(w, id, inputs) return emit(w, id, "channels_last", { inputs[1] }) end
function rules.global_pool(w, id, inputs) return emit(w, id, "global_pool", { inputs[1] }) end
function rules.dropout(w, id, inputs) return alias(w, id, inputs[1]) end
function rules.drop_rows(w, id, inputs) return alias(w, id, inputs[1]) end
rules.max_pool, rules.avg_pool = pool, pool

-- flatten and reshape: a sample's elements stay its own.
local function reshape(w, id, inputs, keeps_rows)
  local from, to = shape_of(w, inputs[1]), shape_of(w, id)
  if not keeps_rows or size_of(from) ~= size_of(to) then refuse(w, id, "it mixes the samples of a batch") end
  if table.concat(from, " ") == table.concat(to, " ") then return alias(w, id, inputs[1]) end
  return emit(w, id, #to == 1 and "flatten" or "reshape", { inputs[1] })
end

function rules.flatten(w, id, inputs) return reshape(w, id, inputs, attr(w, id, "axis") >= 1) end
function rules.reshape(w, id, inputs) return reshape(w, id, inputs, attr(w, id, "d0") == -1) end

-- Transformers ------------------------------------------------------------------------------------------------------

function rules.layer_norm(w, id, inputs)
  local node = { gamma = leaf(w, id, inputs[2]), beta = leaf(w, id, inputs[3]), eps = attr(w, id, "eps") }
  return emit(w, id, "layer_norm", { inputs[1] }, node)
end

function rules.rms_norm(w, id, inputs)
  return emit(w, id, "rms_norm", { inputs[1] }, { gamma = leaf(w, id, inputs[2]), eps = attr(w, id, "eps") })
end

function rules.embedding(w, id, inputs)
  return emit(w, id, "embedding", { inputs[2] }, { weight = leaf(w, id, inputs[1]) })
end

function rules.one_hot(w, id, inputs)
  local n = attr(w, id, "classes")
  local unit = tensor.zeros({ n, n }, "f64")
  for i = 0, n - 1 do
    base.data(unit)[i * n + i] = 1
  end
  return emit(w, id, "embedding", { inputs[1] }, { weight = unit })
end

function rules.class_token(w, id, inputs)
  return emit(w, id, "class_token", { inputs[1] }, { weight = leaf(w, id, inputs[2]) })
end

function rules.attention(w, id, inputs)
  return emit(w, id, "attention", inputs, { heads = attr(w, id, "heads"), causal = attr(w, id, "causal") ~= 0 })
end

function rules.token_lengths(w, id, inputs)
  return emit(w, id, "token_lengths", inputs, { pad = attr(w, id, "pad") })
end

function rules.token_mean(w, id, inputs) return emit(w, id, "token_mean", inputs) end

-- An axis as folded nodes count it; 0 in the graph is the batch.
local function axis_of(w, id)
  local axis = attr(w, id, "axis")
  if axis == 0 then refuse(w, id, "it mixes the samples of a batch") end
  return axis - 1
end

function rules.concat(w, id, inputs) return emit(w, id, "concat", inputs, { axis = axis_of(w, id) }) end

function rules.slice(w, id, inputs)
  return emit(w, id, "slice", inputs, { axis = axis_of(w, id), start = attr(w, id, "start"),
    length = attr(w, id, "length") })
end

function rules.mul(w, id, inputs) return emit(w, id, "product", inputs) end

function rules.batch_matmul(w, id, inputs)
  if #shape_of(w, id) < 2 then refuse(w, id, "its matrices have the batch as a dimension: take a linear layer") end
  return emit(w, id, "batch_matmul", inputs, { transpose_a = attr(w, id, "transpose_a") ~= 0,
    transpose_b = attr(w, id, "transpose_b") ~= 0 })
end

-- The walk ----------------------------------------------------------------------------------------------------------

-- The op nodes that the logits depend on, ascending, and how many read each (the logits' own user counts).
local function needed(w, logits)
  local wanted = { [logits] = true }
  w.readers = { [logits] = 1 }
  for id = logits, 0, -1 do
    if wanted[id] then
      for _, input in ipairs(inputs_of(w, id)) do
        wanted[input] = true
        w.readers[input] = (w.readers[input] or 0) + 1
      end
    end
  end
  return wanted
end

local function walk(w, net)
  local known = {}
  for op in pairs(rules) do
    known[#known + 1] = op
  end
  table.sort(known)
  local wanted = needed(w, net.logits)
  w.index, w.alone = { [net.input] = 0 }, { [net.input] = w.readers[net.input] == 1 }
  for id = 0, net.logits do
    local kind, fed = kind_of(w, id), false
    for _, x in ipairs(inputs_of(w, id)) do
      fed = fed or w.index[x] ~= nil -- what does not depend on the input is its reader's business
    end
    if wanted[id] and fed then
      if not rules[kind] then refuse(w, id, "ops that can be: " .. table.concat(known, ", ")) end
      w.alone[id] = w.readers[id] == 1
      w.index[id] = rules[kind](w, id, inputs_of(w, id))
    end
  end
end

--- The network of t in folded form.
-- @param t  { net = lgelu.network, set = its data set (lgelu.data), or nil where inputs are taken as they are }, as
--   lgelu.trained.open returns it
-- @param options  { relu = false: true for every gate as ReLU; fold_input = false: true for the input's normalization
--   in the first layers, or where that cannot be, as nodes sub and mul }
-- @return f, see above. Errors: an op that has no folded form, by node, op and the recipe's line.
function folded.of(t, options)
  options = options or {}
  local net, set = t.net, t.set
  local w = { graph = net.graph, nodes = {}, gate_index = {}, lambdas = net:lambdas(), relu = options.relu }
  for i, gate in ipairs(net.gates) do
    w.gate_index[gate.id] = i
  end
  walk(w, net)
  local f = { nodes = w.nodes, output = w.index[net.logits] }
  f.input = { shape = net.info.input_shape, dtype = net.info.input_dtype, scale = 1, mean = { 0 }, sd = { 1 } }
  if set then f.input.scale, f.input.mean, f.input.sd = set.scale, set.mean, set.sd end
  if options.fold_input then require("lgelu.folded.input")(f) end
  return f
end

return folded
