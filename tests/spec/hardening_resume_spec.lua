--- Hardened runs that are stopped or killed at a step of the hardening and resumed: the bits of an undisturbed run, and
-- the exact target. What hardening computes: hardening_spec.lua.
local ffi = require("ffi")
local folders = require("tests.spec.support.folders")
local progress = require("lgelu.progress")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")

ffi.cdef("int raise(int signal);")
local SIGINT = 2
local base = folders.temporary()

-- Four epochs of 6 steps; λ rises from step 9 on, in the middle of epoch 2.
local RECIPE = [[
return {
  name = "h", data = { source = "moons", n = 120, validation = 0.25 }, model = lg.models.mlp{ hidden = { 6, 5 } },
  gate = { t = 0.1, c = 3 }, train = { epochs = 4, batch = 16, eval_batch = 64 }, optimizer = { lr = 0.01 },
  hardening = { from = 0.375, learn = %q, order = %q, schedule = %s },
}]]

local function recipe_file(name, learn, order, schedule)
  local path = ("%s/%s.lua"):format(base, name)
  folders.write(path, RECIPE:format(learn, order, schedule or '"cosine"'))
  return path
end

-- Trains; Ctrl-C after step `at`, when given.
local function go(path, dir, resume, at)
  local step = progress.new({}).step
  local class = getmetatable(progress.new({}))
  class.step = function(self, now)
    if now.step == at then ffi.C.raise(SIGINT) end
    return step(self, now)
  end
  local ok, e = pcall(train.run, recipe.load(path, {}), { out = dir, quiet = true, resume = resume })
  class.step = step
  return ok, e
end

-- All that must not differ, as exact numbers.
local function content(dir)
  local run, out = store.open(dir), {}
  local function put(value)
    if type(value) ~= "table" then
      out[#out + 1] = type(value) == "number" and ("%.17g"):format(value) or tostring(value)
      return
    end
    for _, v in ipairs(value) do put(v) end
  end
  local epochs, gates = run:epochs(), run:gates()
  for _, name in ipairs({ "train_loss", "val_loss", "val_score" }) do put(epochs[name]) end
  for _, name in ipairs({ "lambda", "s", "grad_lambda_rms" }) do put(gates[name]) end
  for _, scores in ipairs({ run:best(), run:result() }) do
    put({ scores.epoch, scores.val_score, scores.test_score })
  end
  local tensors, names = store.load_checkpoint(dir .. "/last.ckpt.h5").tensors, {}
  for name in pairs(tensors) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    put(name)
    put(tensors[name]:reshape{ -1 }:totable())
  end
  return table.concat(out, " ")
end

describe("a hardened run", function()
  teardown(function() os.execute("rm -rf " .. base) end)

  it("has the same bits when it is stopped before, at and after the switch and in its last steps", function()
    for i, kind in ipairs({ { "frozen", "all" }, { "floor", "all" }, { "frozen", "backward" } }) do
      local path = recipe_file("stop" .. i, unpack(kind))
      local whole = ("%s/whole%d"):format(base, i)
      assert.is_true(go(path, whole))
      local lambda = store.open(whole):gates().lambda[5]
      assert.same({ require("lgelu.gate").target(0.005), require("lgelu.gate").target(0.005) }, lambda)
      local want = content(whole)
      local dir = ("%s/stop%d"):format(base, i)
      for n, at in ipairs({ 8, 9, 14, 23, 24 }) do
        local ok, e = go(path, dir, n > 1, at)
        assert.is_false(ok)
        assert.equal(130, e.status)
        assert.equal("stopped", store.open(dir).attrs.status)
      end
      assert.is_true(go(path, dir, true))
      assert.equal(want, content(dir))
    end
  end)

  it("has the same bits when it is killed in the middle of the hardening", function()
    local path = recipe_file("killed", "frozen", "all", "function(p) return p ^ 2 end")
    assert.is_true(go(path, base .. "/undisturbed"))
    folders.write(base .. "/killed_run.lua", ([[
      local ffi, progress = require("ffi"), require("lgelu.progress")
      ffi.cdef("int raise(int signal);")
      getmetatable(progress.new({})).step = function(_, now) if now.step == 15 then ffi.C.raise(9) end end
      require("lgelu.train").run(require("lgelu.recipe").load(%q, {}), { out = %q, quiet = true })]]):format(path,
        base .. "/dead"))
    os.execute(("%s repl < %s/killed_run.lua > %s/killed.txt 2>&1"):format(os.getenv("LGELU_PROGRAM")
      or "build/lgelu", base, base))
    assert.equal("killed", store.open(base .. "/dead"):status())
    assert.equal(2, #store.open(base .. "/dead"):epochs().epoch)
    assert.is_true(go(path, base .. "/dead", true))
    assert.equal(content(base .. "/undisturbed"), content(base .. "/dead"))
  end)
end)
