--- positions_spec.lua: vectors for the places of tokens, learned and sinusoidal, as a layer and in the models.
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local recipe = require("lgelu.recipe")
local tensor = require("lgelu.tensor")

-- A network whose logits are x + its positions, x f32 or f64 [batch, tokens, width].
local function bare(options, tokens, width)
  return network.new({
    model = function(nn, x) return nn:positions(x, options) end, gate = { kind = "gelu" }, batch = 2, dtype = "f64",
    info = { classes = width, input_shape = { tokens, width }, label_shape = { tokens } }, seed = 4, training = false,
  })
end

local function near(expected, found)
  for i, value in ipairs(expected) do assert.is_true(math.abs(value - found[i]) < 1e-12, tostring(found[i])) end
end

local function model(arch, positions)
  local declaration = { arch = arch, width = 8, depth = 2, heads = 2, expansion = 2, dropout = 0, patch = 2, tie = true,
    positions = positions }
  local info = arch == "vit" and { classes = 5, input_shape = { 1, 4, 4 } }
    or arch == "gpt" and { classes = 5, input_shape = { 6 }, input_dtype = "i32", label_shape = { 6 } }
    or { classes = 5, input_shape = { 6 }, input_dtype = "i32", entries = 5 }
  return network.new({ model = declaration, gate = { kind = "gelu" }, batch = 2, info = info, seed = 4 }), info
end

describe("positions", function()
  it("are sines and cosines of i/10000^(2k/width), added to every sequence", function()
    local net = bare({ kind = "sinusoidal" }, 3, 4)
    net:bind(tensor.zeros({ 2, 3, 4 }, "f64"), tensor.zeros({ 2, 3 }, "i32"))
    net:forward("eval")
    local one = { 0, 1, 0, 1, -- sin and cos of 0, of 1 and 1/100, of 2 and 2/100
      0.8414709848078965, 0.5403023058681398, 0.009999833334166664, 0.9999500004166653,
      0.9092974268256817, -0.4161468365471424, 0.01999866669333308, 0.9998000066665778 }
    local found = net:tensor_values(net.logits)
    near(one, found)
    near(one, { unpack(found, 13) })
    assert.are.equal(0, net:parameter_count())
  end)

  it("may have an odd width, and a scale", function()
    local net = bare({ kind = "sinusoidal", scale = 2, name = "places" }, 2, 3)
    near({ 2 * 0.8414709848078965, 2 * 0.5403023058681398, 2 * math.sin(10000 ^ (-2 / 3)) },
      net:tensor("places.weight"):totable()[2])
  end)

  it("are of a kind that there is", function()
    local ok, e = pcall(bare, { kind = "fourier" }, 2, 4)
    assert.is_false(ok)
    assert.matches("positions: there is no kind 'fourier', expected learned or sinusoidal", tostring(e), 1, true)
  end)

  it("in the models stay as they are where they are sinusoidal, and are learned where they are not", function()
    for _, arch in ipairs({ "gpt", "encoder", "vit" }) do
      local counts = {}
      for _, kind in ipairs({ "learned", "sinusoidal" }) do
        local net, info = model(arch, kind)
        counts[kind] = net:parameter_count()
        local before = net:tensor("positions.weight"):clone()
        if kind == "sinusoidal" then
          assert.is_true(math.abs(math.sqrt((before * before):mean()) - 0.02) < 1e-6)
          assert.are.equal(counts.learned, counts.sinusoidal + before.size)
        end
        local shape = { 2, unpack(info.input_shape) }
        net:bind(arch == "vit" and tensor.randn(shape, "f32", 1) or tensor.full(shape, 3, "i32"),
          tensor.zeros({ 2, unpack(info.label_shape or {}) }, "i32"))
        net:forward("train", 1)
        net:backward()
        optim.new(net, { name = "adamw", lr = 0.1, weight_decay = 0.5 }, { c = 1 }):step(1, 0.1)
        assert.are.equal(kind == "sinusoidal", tostring(before) == tostring(net:tensor("positions.weight")))
      end
    end
  end)

  it("do not change the hash of a recipe that does not name them", function()
    local text = [[return { data = { source = "synthetic_text" }, model = lg.models.gpt{ width = 8%s } }]]
    local plain = recipe.from_text(text:format(""), "a.lua")
    assert.is_nil(plain.config.model.positions)
    local other = recipe.from_text(text:format(", positions = 'sinusoidal'"), "a.lua")
    assert.are_not.equal(plain.hash, other.hash)
  end)
end)
