--- folded_models: small random networks of every model and of inline models with every op that can be folded, for specs
-- of what reads lgelu.folded.
local C = require("lgelu.C")
local network = require("lgelu.network")
local lib, check = C.lib, C.check

local models = {}

local BATCH = 3 -- of the plan
local GATE = { kind = "lambda_gelu", reparam = "softplus", t = 0.3, c = 1, init = "random", learn = true }

--- A network whose parameters and running statistics are random, all of them.
-- @param gate  gate section, or nil: learned λ, random    @param dtype  "f64" when nil
function models.build(model, shape, gate, dtype)
  local net = network.new({ model = model, gate = gate or GATE, batch = BATCH, seed = 5, dtype = dtype or "f64",
    training = false, info = { classes = 4, input_shape = shape }, where = "model.lua:7" })
  for _, list in ipairs({ net.params, net.states }) do
    for _, leaf in ipairs(list) do
      local name = leaf.name
      if name:find("running_var$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, 0.2, 2, 9)) end
      if name:find("running_mean$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1, 1, 9)) end
      if name:find("bn[%d]*%.weight$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -1.5, 1.5, 9)) end
      if name:find("bias$") then check(lib.lg_graph_fill(net.graph, leaf.id, 1, -0.5, 0.5, 9)) end
    end
  end
  return net
end

local RGB = { scale = 1 / 255, mean = { 0.4, 0.5, 0.6 }, sd = { 0.2, 0.25, 0.5 } }
local GREY = { scale = 1, mean = { 0.3 }, sd = { 0.4 } }

--- { name, model, input shape, set (what a data set says of its numbers), ops of its folded form }
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
}

models.batch, models.rgb = BATCH, RGB

return models
