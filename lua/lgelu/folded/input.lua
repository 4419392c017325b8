--- folded/input: puts a network's input normalization, (v − mean)/sd per channel, into its first layers, so that it
-- takes v. A convolution that pads does so with zeros behind the normalization, which are v = mean: there v − mean is
-- a node of its own (sub), and only 1/sd goes into the weights. Called by lgelu.folded.
local base = require("lgelu.tensor.base")
local tensor = require("lgelu.tensor")

-- Where the input's elements go: the layers that read it, each with channel(i), the channel of entry i (0-based) of its
-- last dimension. nil when something else reads it.
local function first_layers(f)
  local shape, layers = f.input.shape, {}
  local area = 1
  for i = 2, #shape do
    area = area * shape[i]
  end
  local channels = #shape >= 2 and shape[1] or #f.input.mean -- a row of numbers has one mean, or one for each
  -- How each view of the input lies in memory: "first" [c, …], "last" [h, w, c].
  local view = { [0] = "first" }
  for i, node in ipairs(f.nodes) do
    for _, input in ipairs(node.inputs) do
      local order = view[input]
      local flat = #shape == 1 or #node.inputs == 1 and input > 0 and f.nodes[input].op == "flatten"
      if order and node.op == "channels_last" then
        view[i] = "last"
      elseif order and node.op == "flatten" then
        view[i] = order
      elseif order and (node.op == "conv" or node.op == "linear") and (flat or order == "last") then
        layers[#layers + 1] = { node = node, channel = function(k)
          if channels == 1 then return 0 end
          return order == "last" and k % channels or math.floor(k / area)
        end }
      elseif order then
        return nil
      end
    end
  end
  return layers
end

local function any(list, what)
  for _, value in ipairs(list) do
    if value ~= what then return true end
  end
  return false
end

-- A node in front of all others, which then reads the input in their place.
local function put_in_front(f, op, name, values)
  for _, node in ipairs(f.nodes) do
    for k, input in ipairs(node.inputs) do
      node.inputs[k] = input + 1
    end
  end
  table.insert(f.nodes, 1, { op = op, name = name, where = "", inputs = { 0 }, shape = f.input.shape,
    value = tensor.tensor(values, "f64") })
  f.output = f.output + 1
end

-- Weights over sd; with shift, the bias takes what the mean gives.
local function fold(layer, mean, sd, shift)
  local node = layer.node
  local weight, bias, shape = base.data(node.weight), base.data(node.bias), node.weight.shape
  local rows, inner, positions = shape[1], shape[#shape], node.op == "conv" and shape[2] * shape[3] or 1
  for o = 0, rows - 1 do
    local first = node.op == "conv" and math.floor(o / (rows / node.groups)) * inner or 0 -- of the group
    for p = 0, positions - 1 do
      for k = 0, inner - 1 do
        local at, c = (o * positions + p) * inner + k, layer.channel(first + k) + 1
        weight[at] = weight[at] / (sd[c] or sd[1])
        if shift then bias[o] = bias[o] - weight[at] * (mean[c] or mean[1]) end
      end
    end
  end
end

return function(f)
  local mean, sd, layers = f.input.mean, f.input.sd, first_layers(f)
  f.input.mean, f.input.sd = nil, nil
  if not layers then
    if any(sd, 1) then
      local inverse = {}
      for i, value in ipairs(sd) do
        inverse[i] = 1 / value
      end
      put_in_front(f, "mul", "input.scale", inverse)
    end
    if any(mean, 0) then put_in_front(f, "sub", "input.mean", mean) end
    return
  end
  local padded = false
  for _, layer in ipairs(layers) do
    padded = padded or layer.node.padding and any(layer.node.padding, 0)
  end
  for _, layer in ipairs(layers) do
    fold(layer, mean, sd, not padded)
  end
  if padded and any(mean, 0) then put_in_front(f, "sub", "input.mean", mean) end
end
