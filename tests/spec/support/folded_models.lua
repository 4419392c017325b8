--- folded_models: small random networks of every model and of inline models with every op that can be folded, for specs
-- of what reads lgelu.folded.
local C = require("lgelu.C")
local network = require("lgelu.network")
local tensor = require("lgelu.tensor")
local lib, check = C.lib, C.check

local models = {}

local BATCH = 3 -- of the plan
local GATE = { kind = "lambda_gelu", reparam = "softplus", t = 0.3, c = 1, init = "random", learn = true }

--- A network whose parameters and running statistics are random, all of them.
-- @param gate  gate section, or nil: learned λ, random    @param dtype  "f64" when nil
-- @param ids   of a model of ids: what models.list says of it
function models.build(model, shape, gate, dtype, ids)
  local info = { classes = 4, input_shape = shape, input_dtype = ids and "i32", label_shape = ids and ids.label_shape }
  local net = network.new({ model = model, gate = gate or GATE, batch = BATCH, seed = 5, dtype = dtype or "f64",
    training = false, info = info, where = "model.lua:7" })
  for _, list in ipairs({ net.params, net.states }) do
    for _, leaf in ipairs(list) do
      local name = leaf.name
      if name:find("running_var$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, 0.2, 2, 9)) end
      if name:find("running_mean$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1, 1, 9)) end
      -- Else attention would be all but uniform, and normalization its own.
      if name:find("qkv%.weight$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1.5, 1.5, 9)) end
      if name:find("norm%d?%.weight$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1.5, 1.5, 9)) end
      if name:find("bn[%d]*%.weight$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1.5, 1.5, 9)) end
      if name:find("bias$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -0.5, 0.5, 9)) end
    end
  end
  return net
end

local RGB = { scale = 1 / 255, mean = { 0.4, 0.5, 0.6 }, sd = { 0.2, 0.25, 0.5 } }
local GREY = { scale = 1, mean = { 0.3 }, sd = { 0.4 } }

local WORDS = { scale = 1, mean = {}, sd = {} }

--- Ids for a network of models.build: i32 [rows, …shape], each from 0 to ids.entries - 1. With ids.shorter, row r
-- (from 0) ends in r·shorter zeros.
function models.ids(ids, rows, shape)
  local n, list = 1, {}
  for _, dim in ipairs(shape) do n = n * dim end
  for i = 0, rows * n - 1 do
    local filled = n - math.floor(i / n) * (ids.shorter or 0)
    list[i + 1] = i % n < filled and (i + 1) ^ 2 % ids.entries or 0
  end
  return tensor.tensor(list, "i32"):reshape({ rows, unpack(shape) })
end

--- { name, model, input shape, set (what a data set says of its numbers), ops of its folded form, of a model that reads
-- ids: { entries, label_shape, shorter } }
models.list = {
  { "mlp", { arch = "mlp", hidden = { 9, 7 }, dropout = 0.2, bias = true }, { 2, 3, 3 },
    { scale = 1, mean = { 0.1, 0.7 }, sd = { 0.3, 0.4 } }, "flatten gate linear" },
  { "mlp without biases", { arch = "mlp", hidden = { 9 }, dropout = 0, bias = false }, { 6 }, GREY, "gate linear" },
  { "cnn", { arch = "cnn", channels = { 3, 5 }, hidden = { 6 } }, { 3, 8, 8 }, RGB,
    "channels_last conv flatten gate linear max_pool" },
  { "resnet", { arch = "resnet", depth = 18, width = 2 }, { 3, 9, 9 }, RGB,
    "add channels_last conv gate global_pool linear" },
  { "groups, strides, uneven padding, average pooling, fixed activations", function(nn, x, info)
    x = nn:channels_last(x)
    local uneven = { top = 2, left = 0, bottom = 1, right = 1 }
    x = nn:conv2d(x, 6, { kernel = { 3, 2 }, stride = { 2, 1 }, padding = uneven })
    x = nn:activation(nn:batch_norm(nn:bias(x)), "silu")
    x = nn:conv2d(x, 8, { groups = 2, padding = 1 })
    x = nn:avg_pool(nn:gate(x), 3, { stride = 2, padding = 1 })
    return nn:linear(nn:flatten(nn:activation(x, "gelu_tanh")), info.classes)
  end, { 3, 7, 6 }, RGB, "avg_pool channels_last conv flatten gate linear" },
  { "normalizations that have no layer before them, or share it", function(nn, x, info)
    local y = nn:conv2d(nn:channels_last(x), 4, { kernel = 1 })
    local z = nn:batch_norm(nn:gate(nn:add(nn:batch_norm(y), y)))
    z = nn:batch_norm(nn:flatten(z))
    return nn:bias(nn:batch_norm(nn:dropout(nn:linear(z, info.classes), 0.5)))
  end, { 3, 3, 2 }, RGB, "add channels_last conv flatten gate linear" },
  { "reshapes, linear layers on rows and on pixels, a node read twice", function(nn, x, info)
    x = nn:reshape(nn:gate(nn:linear(nn:flatten(x), 24)), { 2, 3, 4 })
    x = nn:gate(nn:linear(x, 6)) + nn:gate(nn:conv2d(x, 6, { kernel = 1 }))
    x = nn:linear(nn:reshape(x, { 6, 6 }), 5)
    return nn:linear(nn:flatten(nn:activation(x, "gelu_sigmoid")), info.classes)
  end, { 5 }, GREY, "add conv flatten gate linear reshape" },
  { "a gate as the first thing", function(nn, x, info)
    return nn:linear(nn:flatten(nn:gate(x)), info.classes)
  end, { 3, 2, 2 }, RGB, "flatten gate linear" },
  { "vit", { arch = "vit", patch = 2, width = 6, depth = 2, heads = 2, expansion = 2, dropout = 0.1 }, { 3, 4, 6 }, RGB,
    "add attention channels_last class_token conv flatten gate layer_norm linear positions reshape slice" },
  { "gpt", { arch = "gpt", width = 8, depth = 2, heads = 2, expansion = 1.5, dropout = 0, tie = true }, { 5 }, WORDS,
    "add attention embedding gate layer_norm linear positions", { entries = 4, label_shape = { 5 } } },
  { "sines and cosines for places", { arch = "gpt", width = 8, depth = 1, heads = 2, expansion = 2, dropout = 0,
    tie = false, positions = "sinusoidal" }, { 5 }, WORDS,
    "add attention embedding gate layer_norm linear positions", { entries = 4, label_shape = { 5 } } },
  { "gated feed-forward, root mean squares, products of matrices, mean over tokens", function(nn, x, info)
    x = nn:rms_norm((nn:embedding(x, 7, 6)))
    x = x + nn:attention(x, { heads = 3, bias = false })
    x = nn:linear(nn:mul(nn:gate(nn:linear(x, 9)), nn:linear(x, 9)), 6)
    local a, b = nn:slice(x, 2, 0, 2), nn:slice(x, 2, 1, 2)
    local products = nn:batch_matmul(a, b, { transpose_b = true })
    x = nn:concat({ x, nn:batch_matmul(products, b, { transpose_a = true }), products }, 2)
    x = nn:global_pool(nn:reshape(nn:concat({ x, nn:slice(x, 1, 1, 3) }, 1), { 8, 1, 13 }))
    return nn:linear(x, info.classes)
  end, { 5 }, WORDS,
    "add attention batch_matmul concat embedding gate global_pool linear product reshape rms_norm slice",
    { entries = 7 } },
  { "sentences of several lengths", function(nn, x, info)
    local lengths = nn:token_lengths(x)
    x = nn:positions((nn:embedding(x, 7, 6)))
    x = x + nn:attention(x, { heads = 2, lengths = lengths })
    x = x + nn:attention(nn:gate(x), { heads = 3, lengths = lengths, causal = true })
    return nn:linear(nn:token_mean(x, lengths), info.classes)
  end, { 6 }, WORDS, "add attention embedding gate linear positions token_lengths token_mean",
    { entries = 7, shorter = 3 } },
  { "ids as zeros and ones", function(nn, x, info)
    x = nn:layer_norm(nn:linear(nn:op("one_hot", { x }, { classes = 5 }, "ones"), 3))
    return nn:linear(nn:gate(nn:flatten(x)), info.classes)
  end, { 4 }, WORDS, "embedding flatten gate layer_norm linear", { entries = 5 } },
  { "images between tokens", function(nn, x, info)
    x = nn:conv2d(nn:channels_last(x), 4, { kernel = 3, padding = 1 })
    x = nn:mul(nn:gate(nn:layer_norm(x)), nn:op("bias", { x, nn:param("grid", { 4, 4, 4 },
      { kind = "normal", a = 0, b = 1 }) }, nil, "places"))
    return nn:linear(nn:flatten(nn:concat({ x, nn:slice(x, 3, 1, 2) }, 3)), info.classes)
  end, { 3, 4, 4 }, RGB, "channels_last concat conv flatten gate layer_norm linear positions product slice" },
}

models.batch, models.rgb = BATCH, RGB

return models
