--- models_ffn_spec.lua: model ffn in its two forms, and stochastic depth of vit.
local network = require("lgelu.network")
local tensor = require("lgelu.tensor")

local function build(model, shape, options)
  return network.new({ model = model, gate = { kind = options and options.kind or "gelu" }, batch = 6, seed = 2,
    info = { classes = 3, input_shape = shape }, training = true })
end

local function ffn(gated, kind)
  return build({ arch = "ffn", width = 12, expansion = 4, gated = gated, dropout = 0 }, { 5 }, { kind = kind })
end

local function run(net, shape, mode, step)
  local x, y = tensor.randn({ 6, unpack(shape) }, "f32", 1), tensor.zeros({ 6 }, "i32")
  net:bind(x, y)
  net:forward(mode, step)
  return net:tensor_values(net.logits), x
end

describe("ffn", function()
  it("has one gate, and as many parameters plain as gated but for biases", function()
    local plain, gated = ffn(false), ffn(true)
    assert.are.equal(1, #plain.gates)
    assert.are.equal(1, #gated.gates)
    local function of(layers)
      local n = 5 * 12 + 12 + 2 * 24 + 12 * 3 + 3 -- in, two norms, head
      for _, layer in ipairs(layers) do n = n + layer[1] * layer[2] + layer[2] end
      return n
    end
    assert.are.equal(of({ { 12, 48 }, { 48, 12 } }), plain:parameter_count())
    assert.are.equal(of({ { 12, 32 }, { 12, 32 }, { 32, 12 } }), gated:parameter_count())
  end)

  it("is gate(W·x) · V·x where it is gated", function()
    local net = network.new({ model = { arch = "ffn", width = 12, expansion = 4, gated = true, dropout = 0 },
      gate = { kind = "silu" }, batch = 6, seed = 2, info = { classes = 3, input_shape = { 5 } }, training = false,
      probe = true })
    run(net, { 5 }, "eval")
    local before, after = net:gate_input(1):totable(), net:gate_output(1):totable()
    for row = 1, 6 do
      for k = 1, 32 do
        local v = before[row][k]
        assert.is_true(math.abs(v / (1 + math.exp(-v)) - after[row][k]) < 1e-6)
      end
    end
    -- with V = 0 and its bias 1 the product is the gate itself; with both 0 the block adds nothing but down's bias
    local logits = run(net, { 5 }, "eval")
    net:tensor("value.weight"):copy_from(net:tensor("value.weight") * 0)
    net:tensor("value.bias"):copy_from(net:tensor("value.bias") * 0)
    local without = run(net, { 5 }, "eval")
    net:set_gate(1, { kind = "relu" })
    assert.are.same(without, (run(net, { 5 }, "eval")))
    assert.are_not.same(logits, without)
  end)
end)

describe("vit", function()
  local function vit(drop_path)
    return build({ arch = "vit", patch = 4, width = 8, depth = 3, heads = 2, expansion = 2, dropout = 0,
      drop_path = drop_path }, { 1, 8, 8 })
  end

  it("skips blocks in training alone, the first one never, by step", function()
    local plain, deep = vit(nil), vit(0.6)
    assert.are.same((run(plain, { 1, 8, 8 }, "eval")), (run(plain, { 1, 8, 8 }, "train", 1)))
    local expected = run(deep, { 1, 8, 8 }, "eval")
    assert.are.same(expected, (run(deep, { 1, 8, 8 }, "eval", 2)))
    local one, two = run(deep, { 1, 8, 8 }, "train", 1), run(deep, { 1, 8, 8 }, "train", 2)
    assert.are_not.same(expected, one)
    assert.are_not.same(one, two)
    assert.are.same(one, (run(deep, { 1, 8, 8 }, "train", 1)))
    assert.is_nil(deep.description:match("block1[%w.]*drop_rows"))
    local rates = {}
    for rate in deep.description:gmatch("drop_rows%(#%d+ p=([%d.]+)%)") do rates[#rates + 1] = tonumber(rate) end
    assert.are.same({ 0.3, 0.3, 0.6, 0.6 }, rates)
  end)
end)
