--- Training through the whole path, recipe to run file, on tiny data: every reparameterization, init mode, optimizer
-- and
-- schedule; tied and fixed gates; inline models; hashes that tell runs apart.
local C = require("lgelu.C")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")

local base = os.tmpname()
os.remove(base)

local function text(model, gate, rest)
  return ([[return { name = "tiny", data = { source = "moons", n = 240, validation = 0.25 }, model = %s, gate = { %s },
    train = { epochs = 3, batch = 32 }, %s }]]):format(model or "lg.models.mlp{ hidden = { 8, 6, 4 } }", gate or "",
      rest or "")
end

local count = 0
local function run(source, words)
  count = count + 1
  local resolved = recipe.from_text(source, "tiny.lua", { overrides = words })
  train.run(resolved, { out = base .. "/" .. count, quiet = true })
  local reader = store.open(base .. "/" .. count)
  local lambda = reader:gates().lambda
  return reader, type(lambda) == "cdata" and lambda:totable() or lambda, resolved
end

describe("a training", function()
  teardown(function() os.execute(("rm -rf '%s'"):format(base)) end)

  for _, reparam in ipairs({ "softplus", "softplus_beta", "exp", "none" }) do
    it("learns λ through " .. reparam .. ", never below 1", function()
      local reader, lambda = run(text(nil, ("reparam = %q, c = 20"):format(reparam)))
      assert.are.equal("done", reader.attrs.status)
      assert.are.equal(4, #lambda)
      for gate = 1, 3 do
        assert.is_true(math.abs(lambda[1][gate] - 1.1) < 1e-12)
        assert.are_not.equal(lambda[1][gate], lambda[4][gate])
        for epoch = 1, 4 do
          assert.is_true(lambda[epoch][gate] >= 1)
        end
      end
    end)
  end

  for _, mode in ipairs({ "gelu", "ascending", "descending", "random", "hard" }) do
    it("starts from init mode " .. mode, function()
      local _, lambda = run(text(nil, ("init = %q"):format(mode)))
      local a, b = lambda[1][1], lambda[1][3]
      if mode == "ascending" then assert.is_true(a < b) end
      if mode == "descending" then assert.is_true(a > b) end
      if mode == "gelu" then assert.is_true(math.abs(a - 1.1) < 1e-12 and math.abs(b - 1.1) < 1e-12) end
      if mode == "hard" then assert.is_true(a > 10) end
    end)
  end

  it("starts from a Lua function of layer and count, whose values name the run", function()
    local reader, lambda = run(text(nil, "init = function(layer, count) return 1 + layer / count end"))
    assert.is_true(math.abs(lambda[1][3] - 2) < 1e-12)
    local other = run(text(nil, "init = function(layer, count) return 1.5 end"))
    assert.are_not.equal(reader.attrs.hash, other.attrs.hash)
    local ok, e = pcall(run, text(nil, "init = function() return 0.5 end"))
    assert.is_false(ok)
    assert.is_truthy(tostring(e):find("gate.init", 1, true), tostring(e))
  end)

  it("keeps fixed gates and those with c = 0 where they started", function()
    local fixed = { "lambda = 2, learn = false", "lambda = 1, learn = false", "lambda = {1.5, 2, 3}, c = 0",
      'init = "hard", tie = true, learn = false' }
    for _, gate in ipairs(fixed) do
      local reader, lambda = run(text(nil, gate))
      assert.are.equal(3, #lambda[1])
      assert.are.same(lambda[1], lambda[4])
      assert.are.equal("done", reader.attrs.status)
    end
    local gelu, one = run(text(nil, 'kind = "gelu"')), run(text(nil, "lambda = 1, learn = false"))
    assert.are.same(gelu:epochs().val_loss, one:epochs().val_loss) -- λ = 1 is GELU, to the bit
  end)

  it("moves tied gates together", function()
    local _, lambda = run(text(nil, "tie = true, c = 5"))
    for epoch = 1, 4 do
      assert.are.equal(lambda[epoch][1], lambda[epoch][2])
      assert.are.equal(lambda[epoch][1], lambda[epoch][3])
    end
    assert.are_not.equal(lambda[1][1], lambda[4][1])
  end)

  for _, kind in ipairs({ "relu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "identity" }) do
    it("works with " .. kind .. ", which has no λ", function()
      local source = text(nil, ("kind = %q"):format(kind), "optimizer = { lr = 0.02 }")
      local reader, lambda = run(source, { "train.epochs=6" })
      assert.are.equal("done", reader.attrs.status)
      assert.are.equal(0, #lambda[1])
      assert.is_true(reader:best().val_score > 0.7)
    end)
  end

  for _, words in ipairs({
    { "optimizer.name=sgd", "optimizer.momentum=0.9", "optimizer.nesterov=true" },
      { "optimizer.name=adam", "optimizer.clip=0.1" },
    { "schedule.name=cosine", "schedule.warmup=0.2" }, { "schedule.name=linear" }, { "schedule.name=step" },
    { "schedule.name=one_cycle" }, { "train.loss=mse" }, { "train.label_smoothing=0.1" }, { "train.last=drop" },
    { "model.dropout=0.2" }, { "model.bias=false" }, { "model.hidden={}" },
  }) do
    it("takes " .. table.concat(words, " "), function()
      local reader = run(text(), words)
      assert.are.equal("done", reader.attrs.status)
      for _, loss in ipairs(reader:epochs().train_loss) do
        assert.is_true(loss > 0 and loss < 2)
      end
    end)
  end

  it("builds an inline model, whose graph names the run", function()
    local model = [[function(nn, x, info) x = nn:gate(nn:linear(x, %d))
      return nn:linear(x + nn:gate(nn:linear(x, %d)), info.classes) end]]
    local a = run(text(model:format(8, 8)))
    local b = run(text(model:format(9, 9)))
    assert.are_not.equal(a.attrs.hash, b.attrs.hash)
    assert.are.same({ "gate1", "gate2" }, a:gates().names)
    local ok, e = pcall(run, text(model:format(8, 9)))
    assert.is_false(ok)
    assert.is_truthy(tostring(e):find("tiny.lua:2: node 'add1' (add)", 1, true), tostring(e))
  end)

  it("stores and logs the table of parameter groups", function()
    local reader = run(text(nil, "c = 7", "optimizer = { weight_decay = 0.01 }"))
    local log = assert(io.open(reader.dir .. "/log.txt")):read("*a")
    for _, group in ipairs({ "weights +%d+ numbers, rate x 1, decay 0.01", "no_decay +%d+ numbers, rate x 1, decay 0\n",
      "gates +3 numbers, rate x 7, decay 0$" }) do
      assert.is_truthy(reader.attrs.groups:find(group), reader.attrs.groups)
      assert.is_truthy(log:find((group:gsub("%$", "\n"))), log)
    end
  end)

  it("refuses a best checkpoint that another run wrote", function()
    local other = run(text(nil, "c = 2"))
    local reader, _, resolved = run(text(nil, "c = 4"))
    assert.are.equal(0, os.execute(("cp '%s/best.ckpt.h5' '%s/best.ckpt.h5'"):format(other.dir, reader.dir)))
    local again = store.reopen(reader.dir)
    again:update(function(file) file:set_attr("/", "status", "stopped") end)
    again:release()
    local ok, e = pcall(train.run, resolved, { out = reader.dir, resume = true, quiet = true })
    assert.is_false(ok)
    assert.is_truthy(tostring(e):find("best.ckpt.h5: belongs to the run " .. other.attrs.hash:sub(1, 8), 1, true))
  end)

  it("says how a layer is called where a dot stands for the colon or no node for a node", function()
    for name in pairs(getmetatable(require("lgelu.nn").builder({})).__index) do
      if name ~= "__index" then
        local ok, e = pcall(run, text(("function(nn, x) local y = nn.%s(x, 4) return y end"):format(name)))
        assert.is_false(ok)
        assert.are.equal(("tiny.lua:1: nn.%s(…): expected a colon, nn:%s(…)"):format(name, name), tostring(e))
      end
    end
    for layer, arguments in pairs({ linear = "16, 4", gate = "16", dropout = "16, 0.5", bias = "16", flatten = "16",
      batch_norm = "16", max_pool = "16, 2" }) do
      local ok, e = pcall(run, text(("function(nn) local y = nn:%s(%s) return y end"):format(layer, arguments)))
      assert.is_false(ok)
      assert.are.equal(("tiny.lua:1: %s: expected a node that another layer returned, found 16"):format(layer),
        tostring(e))
    end
  end)

  it("needs rows to validate by and a whole batch to train on", function()
    for _, case in ipairs({
      { { "data.validation=0.001" }, "command line: data.validation: 0.001 of 240 rows is none, and the best epoch is "
        .. "chosen by them" },
      { { "train.last=drop", "train.batch=181" },
        "command line: train.batch: 180 rows make no whole batch of 181, and train.last = drop" },
    }) do
      local ok, e = pcall(run, text(), case[1])
      assert.is_false(ok)
      assert.are.equal("usage", e.kind)
      assert.are.equal(case[2], e.message)
    end
    run(text(), { "train.last=drop", "train.batch=180" })
  end)

  it("does not depend on what was trained before it in the process", function()
    local a, first = run(text())
    local b, second = run(text())
    assert.are.equal(a.attrs.hash, b.attrs.hash)
    assert.are.same(first, second)
    assert.are.same(a:epochs().val_loss, b:epochs().val_loss)
  end)

  it("leaks nothing", function()
    run(text())
    collectgarbage()
    collectgarbage()
    local before = tonumber(C.lib.lg_mem_live())
    for _ = 1, 3 do
      run(text())
    end
    collectgarbage()
    collectgarbage()
    assert.is_true(tonumber(C.lib.lg_mem_live()) <= before + 4096)
  end)
end)
