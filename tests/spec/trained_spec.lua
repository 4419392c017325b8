--- trained.open: a stored run's network, with the score it had, its gates readable and changeable; runs that cannot be
-- used say why.
local folders = require("tests.spec.support.folders")
local h5 = require("lgelu.h5")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")
local trained = require("lgelu.trained")

local base = folders.temporary()

local MODELS = {
  mlp = "lg.models.mlp{ hidden = { 12, 8 } }",
  resnet = "lg.models.resnet{ width = 4 }",
  inline = "function(nn, x, info) return nn:linear(nn:gate(nn:linear(nn:flatten(x), 9)), info.classes) end",
}

local function run_of(name, model, gate, options)
  local path = ("%s/%s.lua"):format(base, name)
  folders.write(path, ([[
return {
  name = "t", data = { source = "synthetic", n = 120, n_test = 40, shape = {1, 8, 8}, validation = 0.25 },
  model = %s, gate = %s, train = { epochs = 1, batch = 16, eval_batch = 32 },
}]]):format(MODELS[model], gate))
  local resolved = recipe.load(path, {})
  local dir = base .. "/" .. name
  train.run(resolved, { out = dir, quiet = true, resume = options })
  return dir
end

local function text_of(t)
  return table.concat(t:reshape{ -1 }:totable(), " ")
end

describe("a stored run, opened", function()
  local dirs = {}
  setup(function()
    dirs.mlp = run_of("mlp", "mlp", '{ init = "ascending", t = 0.1 }')
    dirs.resnet = run_of("resnet", "resnet", '{ init = "gelu" }')
    dirs.inline = run_of("inline", "inline", '{ kind = "gelu" }')
    dirs.fixed = run_of("fixed", "mlp", '{ lambda = 3, learn = false }')
  end)
  teardown(function() os.execute("rm -rf " .. base) end)

  it("has the scores it was stored with, probed or not", function()
    for _, dir in pairs(dirs) do
      local best = store.open(dir):best()
      for _, probe in ipairs({ false, true }) do
        local t = trained.open(dir, { probe = probe })
        assert.equal(best.val_score, select(2, train.evaluate(t.net, t:loader("val"))))
        assert.equal(best.test_score, select(2, train.evaluate(t.net, t:loader("test"))))
      end
    end
  end)

  it("shows what goes into and comes out of each gate", function()
    local lg = require("lgelu")
    for _, dir in pairs(dirs) do
      local t = trained.open(dir, { probe = true })
      train.evaluate(t.net, t:loader("val"))
      for i = 1, #t.net.gates do
        local state = t.net:gate_state(i)
        if state.kind == "lambda_gelu" then
          local lambda = tonumber(require("ffi").new("float", state.lambda))
          assert.equal(text_of(lg.gate.value(t.net:gate_input(i), lambda)), text_of(t.net:gate_output(i)))
        end
      end
    end
    assert.has_error(function() trained.open(dirs.mlp).net:gate_input(1) end)
  end)

  it("takes changes of its gates, and takes them back to the bit", function()
    for _, name in ipairs({ "mlp", "resnet", "fixed" }) do
      local t = trained.open(dirs[name], { probe = true })
      local function logits()
        train.evaluate(t.net, t:loader("val"))
        return table.concat(t.net:tensor_values(t.net.logits), " ")
      end
      local before, state = logits(), t.net:gate_state(1)
      t.net:set_gate(1, { lambda = 7.5 })
      assert.is_true(math.abs(t.net:gate_state(1).lambda - 7.5) < 1e-12)
      local hard = logits()
      assert.not_equal(before, hard)
      t.net:set_gate(1, { kind = "relu" })
      assert.not_equal(hard, logits())
      for _, v in ipairs(t.net:gate_output(1):reshape{ -1 }:totable()) do assert.is_true(v >= 0) end
      t.net:set_gate(1, state)
      assert.equal(before, logits())
    end
    local gelu = trained.open(dirs.inline).net
    assert.same({ kind = "gelu" }, gelu:gate_state(1))
    assert.error_matches(function() gelu:set_gate(1, { lambda = 2 }) end, "is a gelu and has no λ")
    assert.error_matches(function() gelu:set_gate(1, { kind = "rely" }) end, "no activation 'rely'")
    assert.error_matches(function() gelu:gate_index("gaet1") end, "there is no gate 'gaet1'.*did you mean")
    assert.error_matches(function() gelu:gate_index(2) end, "the network has gates 1 to 1")
  end)

  it("says why a run cannot be used", function()
    local function stored_as(status)
      local dir = base .. "/" .. status
      os.execute(("cp -r %s %s"):format(dirs.mlp, dir))
      local run = store.reopen(dir)
      run:finish(status, status == "failed" and { error = "the loss is nan at step 3" } or {})
      return dir
    end
    assert.error_matches(function() trained.open(stored_as("failed")) end, "the run failed %(the loss is nan")
    assert.error_matches(function() trained.open(stored_as("stopped")) end, "the run is stopped, not done: finish it")
    assert.error_matches(function() trained.open(dirs.mlp, { checkpoint = "first" }) end, "expected best or last")
    for name, value in pairs({ ["fc1.weight"] = 0 / 0, ["fc2.bias"] = -1 / 0, ["gate1.s"] = 0 / 0 }) do
      local dir = base .. "/" .. name
      os.execute(("cp -r %s %s"):format(dirs.mlp, dir))
      h5.with(dir .. "/best.ckpt.h5", "a", function(file)
        local values, shape, dtype = file:read_numbers("/params/" .. name)
        values[#values] = value
        file:write_numbers("/params/" .. name, values, dtype, shape)
      end)
      assert.error_matches(function() trained.open(dir) end,
        "best%.ckpt%.h5: '" .. name:gsub("%.", "%%.") .. "' holds NaN or infinite numbers: the network in it is broken")
    end
    os.remove(dirs.fixed .. "/best.ckpt.h5")
    assert.error_matches(function() trained.open(dirs.fixed) end, "best checkpoint %(best.ckpt.h5%) is missing")
  end)
end)
