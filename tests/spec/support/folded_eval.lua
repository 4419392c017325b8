--- folded_eval: the plain meaning of a folded network (lgelu.folded), on flat Lua lists in float64, one sample at a
-- time, written from the definitions and not from the engine. Used by specs of folded, onnx and whatever else reads it.
local base = require("lgelu.tensor.base")

local eval = {}

local function erfc_gate(x, lambda) -- x·Φ(λx), by the engine's float64 scalar, which gate_spec.lua tests
  return require("lgelu.C").lib.lg_gate_value_f64(x, lambda)
end

local ACTIVATION = {
  relu = function(x) return math.max(x, 0) end,
  identity = function(x) return x end,
  gelu = function(x) return erfc_gate(x, 1) end,
  gelu_tanh = function(x) return 0.5 * x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ^ 3))) end,
  gelu_sigmoid = function(x) return x / (1 + math.exp(-1.702 * x)) end,
  silu = function(x) return x / (1 + math.exp(-x)) end,
}

local function size(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

-- Calls visit(output offset, input offset or nil for padding, kernel row, kernel column) for every pair of an output
-- pixel and a place of the window; offsets are those of the pixel's first channel.
local function windows(node, from, visit)
  local kh, kw
  if node.op == "conv" then kh, kw = node.weight.shape[2], node.weight.shape[3] else kh, kw = unpack(node.kernel) end
  local h, w, c, oh, ow, oc = from[1], from[2], from[3], unpack(node.shape)
  for y = 0, oh - 1 do
    for x = 0, ow - 1 do
      for i = 0, kh - 1 do
        for j = 0, kw - 1 do
          local row, column = y * node.stride[1] + i - node.padding[1], x * node.stride[2] + j - node.padding[2]
          local inside = row >= 0 and row < h and column >= 0 and column < w
          visit((y * ow + x) * oc, inside and (row * w + column) * c or nil, i, j)
        end
      end
    end
  end
end

local ops = {}

function ops.conv(node, x, from)
  local weight, bias, y, co, c = base.data(node.weight), base.data(node.bias), {}, node.weight.shape[1], from[3]
  local kh, kw, inner = node.weight.shape[2], node.weight.shape[3], node.weight.shape[4]
  assert(inner * node.groups == c)
  for i = 0, size(node.shape) - 1 do y[i + 1] = bias[i % co] end
  windows(node, from, function(to, at, i, j)
    if not at then return end
    for o = 0, co - 1 do
      local first, sum = math.floor(o / (co / node.groups)) * inner, 0
      for k = 0, inner - 1 do
        sum = sum + weight[((o * kh + i) * kw + j) * inner + k] * x[at + first + k + 1]
      end
      y[to + o + 1] = y[to + o + 1] + sum
    end
  end)
  return y
end

function ops.linear(node, x)
  local n, k = unpack(node.weight.shape)
  local weight, bias, y = base.data(node.weight), base.data(node.bias), {}
  for r = 0, #x / k - 1 do
    for o = 0, n - 1 do
      local sum = bias[o]
      for i = 0, k - 1 do sum = sum + weight[o * k + i] * x[r * k + i + 1] end
      y[r * n + o + 1] = sum
    end
  end
  return y
end

function ops.gate(node, x)
  local f, y = ACTIVATION[node.kind] or function(v) return erfc_gate(v, node.lambda) end, {}
  for i, v in ipairs(x) do y[i] = f(v) end
  return y
end

function ops.add(_, a, _, b)
  local y = {}
  for i, v in ipairs(a) do y[i] = v + b[i] end
  return y
end

function ops.product(_, a, _, b)
  local y = {}
  for i, v in ipairs(a) do y[i] = v * b[i] end
  return y
end

-- Calls fn(numbers) for each row (last dimension) of x, and joins what it gives.
local function by_row(x, n, fn)
  local y = {}
  for at = 0, #x - n, n do
    for i, v in ipairs(fn({ unpack(x, at + 1, at + n) })) do y[at + i] = v end
  end
  return y
end

local function mean(list)
  local sum = 0
  for _, v in ipairs(list) do sum = sum + v end
  return sum / #list
end

local function normalize(node, row, middle)
  local squares, gamma, y = {}, base.data(node.gamma), {}
  for i, v in ipairs(row) do squares[i] = (v - middle) ^ 2 end
  local deviation = math.sqrt(mean(squares) + node.eps)
  for i, v in ipairs(row) do
    y[i] = (v - middle) / deviation * gamma[i - 1] + (node.beta and base.data(node.beta)[i - 1] or 0)
  end
  return y
end

function ops.layer_norm(node, x, from)
  return by_row(x, from[#from], function(row) return normalize(node, row, mean(row)) end)
end

function ops.rms_norm(node, x, from)
  return by_row(x, from[#from], function(row) return normalize(node, row, 0) end)
end

function ops.embedding(node, ids)
  local n, table_, y = node.weight.shape[2], base.data(node.weight), {}
  for i, id in ipairs(ids) do
    for k = 0, n - 1 do y[(i - 1) * n + k + 1] = table_[id * n + k] end
  end
  return y
end

function ops.class_token(node, x)
  local y = node.weight:totable()
  for _, v in ipairs(x) do y[#y + 1] = v end
  return y
end

function ops.positions(node, x)
  local values, y = base.data(node.weight), {}
  for i, v in ipairs(x) do y[i] = v + values[(i - 1) % node.weight.size] end
  return y
end

-- Elements behind an axis (from 0), it included, and without it.
local function behind(shape, axis)
  local inner = size({ unpack(shape, axis + 2) })
  return inner * shape[axis + 1], inner
end

function ops.slice(node, x, from)
  local whole, inner = behind(from, node.axis)
  local y = {}
  for at = 0, #x - 1, whole do
    for i = 1, node.length * inner do y[#y + 1] = x[at + node.start * inner + i] end
  end
  return y
end

function ops.concat(node, ...)
  local given, y = { ... }, {}
  for outer = 0, size({ unpack(node.shape, 1, node.axis) }) - 1 do
    for k = 1, #given, 2 do
      local whole = behind(given[k + 1], node.axis)
      for i = 1, whole do y[#y + 1] = given[k][outer * whole + i] end
    end
  end
  return y
end

function ops.batch_matmul(node, a, from_a, b, from_b)
  local rank, y = #node.shape, {}
  local m, n = node.shape[rank - 1], node.shape[rank]
  local inner = node.transpose_a and from_a[rank - 1] or from_a[rank]
  assert(inner == (node.transpose_b and from_b[rank] or from_b[rank - 1]))
  for at = 0, size(node.shape) / (m * n) - 1 do
    for i = 0, m - 1 do
      for j = 0, n - 1 do
        local sum = 0
        for k = 0, inner - 1 do
          local left = at * m * inner + (node.transpose_a and k * m + i or i * inner + k)
          local right = at * n * inner + (node.transpose_b and j * inner + k or k * n + j)
          sum = sum + a[left + 1] * b[right + 1]
        end
        y[at * m * n + i * n + j + 1] = sum
      end
    end
  end
  return y
end

function ops.token_lengths(node, ids)
  local n = #ids
  while n > 1 and ids[n] == node.pad do n = n - 1 end
  return { n }
end

function ops.token_mean(_, x, from, lengths)
  local n, y = from[2], {}
  for i = 1, lengths[1] * n do
    local k = (i - 1) % n + 1
    y[k] = (y[k] or 0) + x[i] / lengths[1]
  end
  return y
end

function ops.attention(node, x, from, lengths)
  local t, d, y = from[1], from[2] / 3, {}
  local dh, seen = d / node.heads, lengths and lengths[1] or t
  for head = 0, node.heads - 1 do
    local function at(token, part, k) return x[token * 3 * d + part * d + head * dh + k + 1] end
    for i = 0, t - 1 do
      local weights, total = {}, 0
      for j = 0, math.min(seen, node.causal and i + 1 or t) - 1 do
        local score = 0
        for k = 0, dh - 1 do score = score + at(i, 0, k) * at(j, 1, k) end
        weights[j] = math.exp(score / math.sqrt(dh))
        total = total + weights[j]
      end
      for k = 0, dh - 1 do
        local sum = 0
        for j, weight in pairs(weights) do sum = sum + weight / total * at(j, 2, k) end
        y[i * d + head * dh + k + 1] = sum
      end
    end
  end
  return y
end

function ops.channels_last(_, x, from)
  local c, area, y = from[1], from[2] * from[3], {}
  for i = 0, c - 1 do
    for p = 0, area - 1 do y[p * c + i + 1] = x[i * area + p + 1] end
  end
  return y
end

local function pool(node, x, from, start, step)
  local y, c = {}, from[3]
  for i = 1, size(node.shape) do y[i] = start end
  windows(node, from, function(to, at)
    for k = 1, at and c or 0 do y[to + k] = step(y[to + k], x[at + k]) end
  end)
  return y
end

function ops.max_pool(node, x, from) return pool(node, x, from, -math.huge, math.max) end
function ops.avg_pool(node, x, from)
  local area = node.kernel[1] * node.kernel[2]
  return pool(node, x, from, 0, function(sum, v) return sum + v / area end)
end

function ops.global_pool(_, x, from)
  local c, y = from[3], {}
  for i, v in ipairs(x) do
    local k = (i - 1) % c + 1
    y[k] = (y[k] or 0) + v / (from[1] * from[2])
  end
  return y
end

function ops.flatten(_, x) return x end
ops.reshape = ops.flatten

local function by_channel(node, x, step)
  local y, values = {}, node.value:totable()
  local area = #x / #values
  for i, v in ipairs(x) do y[i] = step(v, values[math.floor((i - 1) / area) + 1]) end
  return y
end
function ops.sub(node, x) return by_channel(node, x, function(v, w) return v - w end) end
function ops.mul(node, x) return by_channel(node, x, function(v, w) return v * w end) end

--- The logits of one sample: x is a flat list in the input's layout, in the units of node 0.
-- @return logits, values of all nodes
function eval.run(f, x)
  local values, shapes = { [0] = x }, { [0] = f.input.shape }
  for i, node in ipairs(f.nodes) do
    local given = {} -- values and shape of each input
    for k, input in ipairs(node.inputs) do
      given[2 * k - 1], given[2 * k] = values[input], shapes[input]
    end
    values[i] = ops[node.op](node, unpack(given))
    assert(#values[i] == size(node.shape), node.name .. ": shape")
    shapes[i] = node.shape
  end
  return values[f.output], values
end

return eval
