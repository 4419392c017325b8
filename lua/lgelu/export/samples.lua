--- export/samples: stored samples in the units that an exported network takes (a stored value times the set's scale:
-- pixels in [0, 1]; ids as they are), and the engine's logits of them. Used by export's VNN-LIB, calibration and the
-- comparison with onnxruntime.
local base = require("lgelu.tensor.base")
local tensor = require("lgelu.tensor")

local samples = {}

--- The range of the network's input: 0 and 1 for pixels; nil, nil for numbers that may be anything, and for ids.
function samples.range(set)
  if set.train.x.dtype ~= "u8" then return nil, nil end
  return 0, 255 * set.scale
end

--- Rows of a part as f32, or i32 of ids, [#rows, …] in the network's units, and their labels i32 [#rows, …].
-- @param part  { x, y }: set.train or set.test
-- @param rows  list of 1-based row numbers
function samples.gather(set, part, rows)
  local shape = set.input_shape
  local x = tensor.zeros({ #rows, unpack(shape) }, set.input_dtype or "f32")
  local y = tensor.zeros({ #rows, unpack(set.label_shape or {}) }, "i32")
  local n, m = x.size / #rows, y.size / #rows
  local from, labels, to, found = base.data(part.x), base.data(part.y), base.data(x), base.data(y)
  for i, row in ipairs(rows) do
    for k = 0, n - 1 do
      to[(i - 1) * n + k] = from[(row - 1) * n + k] * set.scale
    end
    for k = 0, m - 1 do
      found[(i - 1) * m + k] = labels[(row - 1) * m + k]
    end
  end
  return x, y
end

--- Runs fn with every gate of the network as ReLU (relu = true) or as it is, and leaves the gates as they were.
-- @return what fn returns (one value)
function samples.with_gates(net, relu, fn)
  local kinds = {}
  for i in ipairs(relu and net.gates or {}) do
    kinds[i] = net:gate_state(i).kind
    net:set_gate(i, { kind = "relu" })
  end
  local ok, result = pcall(fn)
  for i, kind in ipairs(kinds) do
    net:set_gate(i, { kind = kind })
  end
  if not ok then error(result, 0) end
  return result
end

--- The engine's logits of a part's first rows, in order: a flat list, of each row its classes, or those of each token.
-- @param part   "test", "val" or "train", as lgelu.trained's loader has them
-- @param limit  number of rows, or nil: all
function samples.logits(t, part, relu, limit)
  return samples.with_gates(t.net, relu, function()
    local loader, list = t:loader(part), {}
    loader:start(0)
    local seen = 0
    for x, y, rows in loader:each() do
      t.net:bind(x, y)
      t.net:forward("eval")
      local values = t.net:tensor_values(t.net.logits)
      local wanted = math.min(rows, (limit or math.huge) - seen)
      for i = 1, wanted * #values / rows do
        list[#list + 1] = values[i]
      end
      seen = seen + wanted
      if limit and seen >= limit then break end
    end
    loader:free()
    return list
  end)
end

--- The index (0-based) of the first largest of the classes' numbers behind offset.
function samples.argmax(list, offset, classes)
  local best = 0
  for k = 1, classes - 1 do
    if list[offset + k + 1] > list[offset + best + 1] then best = k end
  end
  return best
end

return samples
