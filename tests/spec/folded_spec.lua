--- The folded network against the engine: the logits of random networks of every model and of inline models with every
-- op that can be folded, in float64, by a plain evaluator (support/folded_eval.lua).
local C = require("lgelu.C")
local eval = require("tests.spec.support.folded_eval")
local folded = require("lgelu.folded")
local models = require("tests.spec.support.folded_models")
local tensor = require("lgelu.tensor")
local lib, check = C.lib, C.check
local build, MODELS, RGB, BATCH = models.build, models.list, models.rgb, models.batch

local function size(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

-- Largest difference between the engine's logits and those of the folded network, over a batch of random inputs.
-- set: { scale, mean, sd }: the folded network is then given what the engine's inputs were made of.
local function flat(t, list)
  for _, v in ipairs(t) do
    if type(v) == "table" then flat(v, list) else list[#list + 1] = v end
  end
  return list
end

-- As deviation, of a network that reads ids, and whose labels are one a row or one a token.
local function deviation_of_ids(net, f, ids)
  local x, worst = models.ids(ids, BATCH, net.info.input_shape), 0
  net:bind(x, tensor.zeros({ BATCH, unpack(net.info.label_shape or {}) }, "i32"))
  net:forward("eval")
  local found = net:tensor_values(net.logits)
  for b, row in ipairs(x:totable()) do
    for k, v in ipairs((eval.run(f, flat(row, {})))) do
      worst = math.max(worst, math.abs(v - found[(b - 1) * #found / BATCH + k]))
    end
  end
  return worst, f
end

local function deviation(net, options, set, ids)
  local f = folded.of({ net = net, set = set }, options)
  if ids then return deviation_of_ids(net, f, ids) end
  local shape = net.info.input_shape
  local raw = tensor.rand({ BATCH, unpack(shape) }, "f64", 3):totable()
  local samples, bound = {}, tensor.zeros({ BATCH, unpack(shape) }, "f64")
  local to, n = require("lgelu.tensor.base").data(bound), size(shape)
  for b = 1, BATCH do
    local x = flat(raw[b], {})
    samples[b] = {}
    for i, v in ipairs(x) do
      local c = set and #set.mean > 1 and math.floor((i - 1) / (n / #set.mean)) + 1 or 1
      local normalized = set and (v - set.mean[c]) / set.sd[c] or v
      to[(b - 1) * n + i - 1] = normalized
      samples[b][i] = options.fold_input and v or normalized
    end
  end
  net:bind(bound, tensor.zeros({ BATCH }, "i32"))
  net:forward("eval")
  local found, worst = net:tensor_values(net.logits), 0
  for b = 1, BATCH do
    for k, v in ipairs(eval.run(f, samples[b])) do
      worst = math.max(worst, math.abs(v - found[(b - 1) * 4 + k]))
    end
  end
  return worst, f
end

local function ops_of(f)
  local seen, names = {}, {}
  for _, node in ipairs(f.nodes) do
    if not seen[node.op] then names[#names + 1] = node.op end
    seen[node.op] = true
  end
  table.sort(names)
  return table.concat(names, " ")
end

describe("folded", function()
  for _, case in ipairs(MODELS) do
    local name, model, shape, set, ops, ids = unpack(case)
    local function net_of() return build(model, shape, nil, nil, ids) end
    it(name .. ": has the engine's logits", function()
      local worst, f = deviation(net_of(), {}, nil, ids)
      assert.is_true(worst < 1e-11, worst)
      assert.are.equal(ops, ops_of(f))
    end)

    it(name .. ": takes the data set's own units with fold_input", function()
      local worst, f = deviation(net_of(), { fold_input = true }, set, ids)
      assert.is_true(worst < 1e-11, worst)
      assert.is_nil(f.input.mean)
      assert.is_true(deviation(net_of(), {}, set, ids) < 1e-11)
    end)

    it(name .. ": as ReLU", function()
      local net = net_of()
      local smooth = folded.of({ net = net })
      for _, gate in ipairs(net.gates) do
        check(lib.lg_graph_attr_set(net.graph, gate.id, "kind", lib.lg_list_find("activation", "relu")))
      end
      local worst, f = deviation(net, { relu = true }, nil, ids)
      assert.is_true(worst < 1e-11, worst)
      local gates = 0
      for i, node in ipairs(f.nodes) do
        if node.op == "gate" and node.gate_index then
          gates = gates + 1
          assert.are.equal("relu", node.kind)
          assert.are.equal("lambda_gelu", smooth.nodes[i].kind)
          assert.are.equal(net:lambdas()[node.gate_index], smooth.nodes[i].lambda)
        end
      end
      assert.are.equal(#net.gates, gates)
    end)
  end

  it("has one node for a convolution with its normalization, and keeps v − mean in front where zeros are padded",
    function()
      local f = folded.of({ net = build(MODELS[4][2], { 3, 9, 9 }), set = RGB }, { fold_input = true })
      local count = {}
      for _, node in ipairs(f.nodes) do
        count[node.op] = (count[node.op] or 0) + 1
      end
      assert.are.same({ sub = 1, channels_last = 1, conv = 20, gate = 17, add = 8, global_pool = 1, linear = 1 }, count)
      assert.are.same(RGB.mean, f.nodes[1].value:totable())
      f = folded.of({ net = build(MODELS[6][2], { 3, 3, 2 }), set = RGB }, { fold_input = true })
      assert.are.equal("channels_last", f.nodes[1].op) -- no padding: all of it is in the weights
    end)

  it("follows gates that are fixed, tied, or no λ-GELU at all", function()
    local mlp = { arch = "mlp", hidden = { 5, 5 }, dropout = 0, bias = true }
    local gates = { { kind = "lambda_gelu", reparam = "softplus", t = 0.1, lambda = { 1.5, 30 }, learn = false },
      { kind = "lambda_gelu", reparam = "softplus", t = 0.1, init = "hard", tie = true, learn = true },
      { kind = "gelu" }, { kind = "silu" }, { kind = "relu" }, { kind = "identity" } }
    for _, gate in ipairs(gates) do
      local worst, f = deviation(build(mlp, { 6 }, gate), {})
      assert.is_true(worst < 1e-12, worst)
      assert.are.equal(gate.kind, f.nodes[2].kind)
      assert.are.equal(gate.kind == "lambda_gelu", f.nodes[2].lambda ~= nil)
    end
  end)

  it("leaves the network as it is", function()
    local net = build(MODELS[3][2], { 3, 8, 8 })
    local before = net:tensor("stage1.conv.weight"):totable()
    folded.of({ net = net, set = RGB }, { fold_input = true, relu = true })
    assert.are.same(before, net:tensor("stage1.conv.weight"):totable())
  end)

  it("names node, op and line of what cannot be folded", function()
    local function message(model, shape)
      local ok, e = pcall(function() folded.of({ net = build(model, shape) }) end)
      assert.is_false(ok)
      return tostring(e)
    end
    local e = message(function(nn, x, info)
      return nn:linear(nn:reshape(nn:reshape(x, { 3 }, { name = "thirds" }), { 6 }), info.classes)
    end, { 6 })
    assert.is_truthy(e:find("^[^ ]*folded_spec.lua:%d+: node 'thirds' %(reshape%) cannot be folded: it mixes"), e)
    e = message(function(nn, x, info)
      return nn:linear(nn:reshape(nn:concat({ x, x }, 0, { name = "twice" }), { 12 }), info.classes)
    end, { 6 })
    assert.is_truthy(e:find("node 'twice' (concat) cannot be folded: it mixes the samples of a batch", 1, true), e)
    e = message(function(nn, x)
      return nn:batch_matmul(x, nn:param("w", { 6, 4 }, { kind = "constant", a = 1 }), { name = "rows" })
    end, { 6 })
    assert.is_truthy(e:find("node 'rows' (batch_matmul) cannot be folded: its matrices have the batch as", 1, true), e)
    e = message(function(nn, x, info)
      return nn:op("linear", { x, nn:op("reshape", { nn:param("w", { 24 }, { kind = "constant", a = 1 }) },
        { rank = 2, d0 = info.classes, d1 = 6 }, "square") }, nil, "by_hand")
    end, { 6 })
    assert.is_truthy(e:find("'by_hand' (linear) cannot be folded: 'square' (reshape) stands where", 1, true), e)
  end)
end)
