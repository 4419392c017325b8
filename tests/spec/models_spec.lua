--- The convolutional models: shapes, gates and parameters by depth and width, errors that name key or layer; a training
-- step has the same bits on one and two threads; checkpoints hold the running statistics, so that a resumed run goes on
-- with the same bits, in training and in evaluation.
local C = require("lgelu.C")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local recipe = require("lgelu.recipe")
local state = require("lgelu.train.state")
local tensor = require("lgelu.tensor")
local train = require("lgelu.train")
local check = C.check

local GATE = { kind = "lambda_gelu", reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }

local function build(model, input_shape, options)
  options = options or {}
  return network.new({ model = model, gate = options.gate or GATE, batch = options.batch or 4, seed = 3,
    info = { classes = 10, input_shape = input_shape } })
end

local function resnet(depth, width) return { arch = "resnet", depth = depth, width = width } end

local function message_of(fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  return tostring(e)
end

describe("model resnet", function()
  it("has the gates and the parameters of its depth and width", function()
    local net = build(resnet(18, 64), { 3, 32, 32 }, { batch = 1 })
    assert.are.equal(17, #net.gates)
    -- 11 173 962 of the usual ResNet-18 for CIFAR-10, and one s for each gate
    assert.are.equal(11173962 + 17, net:parameter_count())
    net = build(resnet(34, 4), { 1, 32, 32 })
    assert.are.equal(33, #net.gates)
    assert.are.equal("stage3.block6.gate2", net.gates[27].name)
  end)

  it("takes images that halve three times to one pixel and less", function()
    for side = 1, 9 do
      local net = build(resnet(18, 2), { 2, side, side })
      net:bind(tensor.randn({ 3, 2, side, side }, "f32", 1), tensor.tensor({ 0, 1, 2 }, "i32"))
      assert.is_true(net:forward("train", 1) < 100)
      net:backward()
    end
  end)

  it("names the layer for what is no image", function()
    local e = message_of(build, resnet(18, 4), { 784 })
    assert.is_truthy(e:find("node 'channels_last1' (channels_last)", 1, true), e)
  end)
end)

describe("model cnn", function()
  it("has a gate for each stage and each hidden layer", function()
    local net = build({ arch = "cnn", channels = { 4, 6, 8 }, hidden = { 12 } }, { 1, 28, 28 })
    assert.are.equal(4, #net.gates)
    assert.are.equal("stage3.gate", net.gates[3].name)
    assert.are.equal(2, #build({ arch = "cnn", channels = { 4, 4 }, hidden = {} }, { 3, 9, 7 }).gates)
  end)
  it("names the layer that would be empty, its windows and the image", function()
    local e = message_of(build, { arch = "cnn", channels = { 4, 4, 4, 4 }, hidden = {} }, { 1, 8, 8 })
    assert.is_truthy(e:find(": node 'stage4.pool' (max_pool): the output would be empty", 1, true), e)
  end)
end)

local RECIPE = [[
return {
  data = { source = "synthetic", n = 120, n_test = 20, shape = {2, 8, 8}, validation = 0.2 },
  model = { arch = "%s" },
  gate = { kind = "lambda_gelu", c = 3 },
  optimizer = { name = "adamw", lr = 0.003 },
  train = { epochs = 2, batch = 32, eval_batch = 24 },
}]]

local base = os.tmpname()
local function resolved(model)
  local file = assert(io.open(base, "w"))
  file:write((RECIPE:gsub('{ arch = "%%s" }', function() return model end)))
  file:close()
  return recipe.load(base, {})
end

describe("a recipe", function()
  it("refuses depths that there are not", function()
    local e = message_of(resolved, '{ arch = "resnet", depth = 20 }')
    assert.is_truthy(e:find(":3: model.depth: found 20, expected one of 18, 34", 1, true), e)
  end)
end)

local function steps(session, from, to)
  for step = from, to do
    session.train:start(step)
    local x, y = session.train:next()
    session.net:bind(x, y)
    session.net:forward("train", step)
    session.net:backward()
    session.opt:step(step, 1e-3)
    x:free()
    y:free()
  end
end

-- Every parameter and state as one list of numbers, and the loss in evaluation.
local function content(session)
  local list = { (train.evaluate(session.net, session.val)) }
  for _, leaves in ipairs({ session.net.params, session.net.states }) do
    for _, leaf in ipairs(leaves) do
      local function add(v)
        if type(v) == "table" then
          for _, item in ipairs(v) do
            add(item)
          end
        else
          list[#list + 1] = v
        end
      end
      add(session.net:tensor(leaf.name):totable())
    end
  end
  return list
end

describe("a checkpoint", function()
  local path = os.tmpname()
  for _, model in ipairs({ '{ arch = "resnet", width = 3 }', '{ arch = "cnn", channels = {3, 4}, hidden = {8} }' }) do
    it("goes on with the same bits: " .. model, function()
      local r = resolved(model)
      local a = train.session(r)
      local fresh = content(a)
      steps(a, 1, 2)
      local now = state.fresh(#a.net:lambdas())
      now.step = 2
      state.save(path, a, now)
      local b = train.session(r)
      assert.are.same(fresh, content(b))
      assert.are.equal(2, state.load(path, b).step)
      assert.are.same(content(a), content(b))
      steps(a, 3, 3)
      assert.are_not.same(content(a), content(b))
      steps(b, 3, 3)
      assert.are.same(content(a), content(b))
      os.remove(path)
    end)
  end
end)

describe("a training step", function()
  it("has the same bits on 1 and 2 threads", function()
    local before, got = C.lib.lg_threads(), {}
    for threads = 1, 2 do
      check(C.lib.lg_init(threads))
      local net = build(resnet(18, 8), { 3, 16, 16 }, { batch = 16 })
      local opt = optim.new(net, { name = "adamw", weight_decay = 0.01 }, GATE)
      local labels = {}
      for i = 1, 16 do
        labels[i] = i % 10
      end
      net:bind(tensor.randn({ 16, 3, 16, 16 }, "f32", 1), tensor.tensor(labels, "i32"))
      local list = {}
      for step = 1, 3 do
        list[#list + 1] = net:forward("train", step)
        net:backward()
        opt:step(step, 1e-3)
      end
      got[threads] = { list, net:lambdas(), net:tensor("stage4.block2.bn2.running_var"):totable(),
        net:tensor("stem.conv.weight"):totable() }
    end
    check(C.lib.lg_init(before))
    assert.are.same(got[1], got[2])
  end)
end)

teardown(function() os.remove(base) end)

describe("nn:linear", function()
  it("gives weights and biases their first values by the name of an init", function()
    local nn = require("lgelu.nn")
    local b = nn.builder({})
    local x = b:input("x", "f32", { 12 })
    b:linear(x, 4, { name = "plain" })
    b:linear(x, 4, { name = "xavier", init = "xavier_uniform" })
    local bound = 1 / math.sqrt(12)
    assert.are.same({ kind = "uniform", a = -bound, b = bound }, b.params[1].init)
    assert.are.same(b.params[1].init, b.params[2].init)
    assert.are.same({ kind = "uniform", a = -math.sqrt(6 / 16), b = math.sqrt(6 / 16) }, b.params[3].init)
    assert.are.same({ kind = "constant", a = 0 }, b.params[4].init)
    assert.matches("linear: there is no init 'xavier_unform', did you mean 'xavier_uniform'",
      message_of(function() b:linear(x, 4, { init = "xavier_unform" }) end))
  end)
end)

describe("first values", function()
  local nn = require("lgelu.nn")
  local LAYERS = {
    linear = function(b, x, init) return b:linear(x, 4, { init = init }) end,
    embedding = function(b, _, init) return (b:embedding(b:input("ids", "i32", { 3 }), 5, 4, { init = init })) end,
    positions = function(b, _, init) return b:positions(b:input("t", "f32", { 3, 4 }), { init = init }) end,
    class_token = function(b, _, init) return b:class_token(b:input("t", "f32", { 3, 4 }), { init = init }) end,
    attention = function(b, _, init) return b:attention(b:input("t", "f32", { 3, 4 }), { init = init }) end,
    param = function(b, _, init) return b:param("w", { 3, 4 }, init or { kind = "constant", a = 0.5 }) end,
    state = function(b, _, init) return b:state("w", { 3, 4 }, init or { kind = "constant", a = 0.5 }) end,
  }

  it("that are none are refused with a place, whatever the layer", function()
    local wrong = { 5, true, "normal", {}, { kind = "nomal", a = 0, b = 1 }, { kind = "normal", a = 0 },
      { kind = "uniform", b = 1 }, { kind = "constant" }, { kind = "values" }, function() end }
    for name, add in pairs(LAYERS) do
      for i, init in ipairs(wrong) do
        local b = nn.builder({})
        local message = message_of(function() add(b, b:input("x", "f32", { 12 }), init) end)
        assert.matches("models_spec.lua:%d+: .*init", message, 1, false, name .. " " .. i)
      end
    end
    local b = nn.builder({})
    assert.matches("w: init: expected .*found nil", message_of(function() b:param("w", { 2 }) end))
  end)

  it("belong to what names a run of a function, where they are not the layer's own", function()
    local function described(add, init)
      local b = nn.builder({})
      add(b, b:input("x", "f32", { 12 }), init)
      return b:describe()
    end
    for name, add in pairs(LAYERS) do
      local seen = {}
      for _, init in ipairs({ false, { kind = "normal", a = 0, b = 0.1 }, { kind = "normal", a = 0, b = 0.2 },
        { kind = "uniform", a = 0, b = 0.1 } }) do
        local text = described(add, init or nil)
        assert.is_nil(seen[text], name)
        seen[text] = true
      end
    end
    assert.is_nil(described(LAYERS.linear):find("uniform", 1, true)) -- names of runs from before stay
    local images = function(b, init) return b:conv2d(b:input("i", "f32", { 4, 4, 1 }), 2, { init = init }) end
    local function of_images(init)
      local b = nn.builder({})
      images(b, init)
      return b:describe()
    end
    assert.are.equal(of_images(), of_images("uniform"))
    assert.are_not.equal(of_images(), of_images("he_normal"))
    local waves = function(b, scale)
      b:positions(b:input("t", "f32", { 3, 4 }), { kind = "sinusoidal", scale = scale })
      return b:describe()
    end
    assert.are.equal(waves(nn.builder({})), waves(nn.builder({}), 1))
    assert.are_not.equal(waves(nn.builder({})), waves(nn.builder({}), 2))
  end)
end)
