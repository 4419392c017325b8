--- resume_transformer_spec.lua: a GPT on random windows and a ViT with mixup, erasing and stochastic depth write the
-- same bits with one and two threads, and when Ctrl-C stops them inside epochs and they go on. MLPs, kills at any time
-- and h5py's view of such runs are in resume_spec.lua.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local progress = require("lgelu.progress")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local train = require("lgelu.train")

C.ffi.cdef("int raise(int signal);")
local SIGINT = 2
local base = os.tmpname()
os.remove(base)

local RECIPES = {
  gpt = [[return { data = { source = "synthetic_text", n = 4000, context = 16, windows = "random" },
    model = lg.models.gpt{ width = 16, depth = 2, heads = 2, dropout = 0.1 }, gate = { c = 3 },
    train = { epochs = 3, batch = 8, eval_batch = 16 }, optimizer = { lr = 0.003, clip = 1 } }]],
  vit = [[return { data = { source = "synthetic", n = 200, n_test = 50, shape = { 3, 8, 8 }, classes = 4, crop = 2,
      flip = true, erase = 0.5, mixup = 0.5 },
    model = lg.models.vit{ patch = 4, width = 16, depth = 3, heads = 2, drop_path = 0.3 }, gate = { c = 3 },
    train = { epochs = 3, batch = 8 }, optimizer = { lr = 0.003 } }]],
}

-- Every number of the run that must not differ.
local function content(dir)
  local run, lines = store.open(dir), {}
  for name, column in pairs(run:epochs()) do
    for e, value in ipairs(name ~= "seconds" and column or {}) do
      lines[#lines + 1] = ("%s.%d %.17g"):format(name, e, value)
    end
  end
  for e, row in ipairs(run:gates().lambda) do
    for i, value in ipairs(row) do lines[#lines + 1] = ("lambda.%d.%d %.17g"):format(e, i, value) end
  end
  lines[#lines + 1] = ("test %.17g"):format(run:best().test_score)
  table.sort(lines)
  return table.concat(lines, "\n")
end

-- Trains into dir; Ctrl-C comes after step `stop` (nil: never). Returns the step that the run says it stopped at.
local function run(text, dir, threads, stop, resume)
  local made, new = nil, progress.new
  progress.new = function(o)
    made = new(o)
    made.step = function(_, now)
      if now.step == stop then C.ffi.C.raise(SIGINT) end
    end
    return made
  end
  local ok, e = pcall(train.run, recipe.from_text(text, "tiny.lua"), { out = dir, quiet = true, threads = threads,
    resume = resume })
  progress.new = new
  if ok then return nil end
  assert(errors.is(e, "interrupted"), tostring(e))
  return tonumber(e.message:match("stopped at step (%d+)"))
end

for name, text in pairs(RECIPES) do
  describe("a run of " .. name, function()
    local whole, threads = base .. "/" .. name, C.lib.lg_threads()
    setup(function() assert.is_nil(run(text, whole, 2)) end)
    teardown(function()
      os.execute(("rm -rf '%s'"):format(base))
      C.check(C.lib.lg_init(threads))
    end)

    it("has the same bits with one thread", function()
      assert.is_nil(run(text, whole .. "-one", 1))
      assert.are.equal(content(whole), content(whole .. "-one"))
    end)

    it("has the same bits when it stops inside epochs and goes on", function()
      local dir, per_epoch = whole .. "-stopped", store.open(whole):epochs().step[1]
      local stops = { 3, per_epoch - 1, per_epoch + 5, 2 * per_epoch + 1 }
      for i, stop in ipairs(stops) do
        assert.are.equal(stop, run(text, dir, i % 2 + 1, stop, i > 1))
        assert.are.equal("stopped", store.open(dir).attrs.status)
      end
      assert.is_nil(run(text, dir, 2, nil, true))
      assert.are.equal(content(whole), content(dir))
    end)
  end)
end
