--- Runs that are killed, stopped, or given another number of threads write the same bits: /epochs (less seconds) and
-- /gates of an undisturbed run. After each kill the run file opens in h5py with all finished epochs.
local C = require("lgelu.C")
local store = require("lgelu.store")

local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"
local base = os.tmpname()
os.remove(base)

-- Long enough that kills fall inside epochs, between them, and into the writing of files.
local RECIPE = [[
return {
  name = "resume",
  data = { source = "synthetic", n = 1500, n_test = 200, shape = {1, 8, 8}, validation = 0.2, crop = 2, flip = true,
    cutout = 3 },
  model = lg.models.mlp{ hidden = { 48, 24 }, dropout = 0.1 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 3, init = "ascending" },
  optimizer = { name = "adamw", lr = 0.003, clip = 1 }, schedule = { name = "cosine", warmup = 0.1 },
  train = { epochs = 12, batch = 32 },
}]]

local function shell(command)
  local pipe = io.popen(("(%s) 2>&1; echo status=$?"):format(command))
  local text = pipe:read("*a")
  pipe:close()
  local output, status = text:match("^(.*)status=(%d+)\n$")
  return tonumber(status), output
end

local function train(dir, words, before)
  return shell(("%s %s run %s/recipe.lua --quiet --out %s/%s %s"):format(before or "", program, base, base, dir, words))
end

-- Everything that must not differ, as one text of exact numbers.
local function content(dir)
  local run, lines = store.open(base .. "/" .. dir), {}
  local function put(name, value)
    if type(value) == "table" then
      for i, v in ipairs(value) do
        put(name .. "." .. i, v)
      end
    elseif type(value) == "cdata" then
      put(name, value:totable())
    else
      lines[#lines + 1] = name .. " " .. (type(value) == "number" and ("%.17g"):format(value) or tostring(value))
    end
  end
  local epochs = run:epochs()
  for name, column in pairs(epochs) do
    if name ~= "seconds" then put("epochs." .. name, column) end
  end
  for name, matrix in pairs(run:gates()) do
    put("gates." .. name, matrix)
  end
  put("best", { run:best().epoch, run:best().val_score, run:best().test_score })
  table.sort(lines)
  return table.concat(lines, "\n"), #epochs.epoch
end

-- Rows of /epochs as h5py sees them.
local function rows_in_h5py(dir)
  local status,
    text = shell(([[/usr/bin/python3 -c "import h5py; f = h5py.File('%s/%s/run.h5', 'r'); n = len(f['epochs/epoch']);
assert list(f['epochs/epoch'][:]) == list(range(1, n + 1)); assert f['gates/lambda'].shape == (n + 1, 2); print(n)"]])
    :format(base, dir))
  assert.are.equal(0, status, text)
  return tonumber(text)
end

describe("a run", function()
  local want, seconds
  setup(function()
    assert(os.execute(("mkdir -p '%s'"):format(base)) == 0)
    local file = assert(io.open(base .. "/recipe.lua", "w"))
    file:write(RECIPE)
    file:close()
    local start = C.lib.lg_clock()
    local status, text = train("whole", "--threads 2")
    assert.are.equal(0, status, text)
    seconds = C.lib.lg_clock() - start
    want = content("whole")
  end)
  teardown(function() os.execute(("rm -r '%s'"):format(base)) end)

  it("has the same bits on one thread", function()
    local status, text = train("single", "--threads 1")
    assert.are.equal(0, status, text)
    assert.are.equal(want, (content("single")))
  end)

  it("has the same bits when it is killed five times at random instants and resumed", function()
    local kills, done = 0, 0
    for attempt = 1, 40 do
      -- An eighth of the whole run, about: five stretches end before the run does.
      local limit = seconds / 8 * (0.4 + 1.2 * C.lib.lg_rng_uniform(17, 5, attempt))
      local status = train("killed", "--threads 2 --resume", kills < 5 and ("timeout -s KILL %.3f"):format(limit) or "")
      if store.exists(base .. "/killed") then
        local rows = rows_in_h5py("killed")
        assert.is_true(rows >= done, ("%d finished epochs became %d"):format(done, rows))
        done = rows
      end
      if status == 0 then break end
      kills = kills + 1
    end
    assert.is_true(kills >= 5, ("only %d kills"):format(kills))
    assert.are.equal(want, (content("killed")))
  end)

  it("stops on Ctrl-C with a checkpoint, says how to go on, and has the same bits afterwards", function()
    local status, text = train("stopped", "--threads 2",
      ("timeout --foreground -s INT --preserve-status %.3f"):format(seconds * 0.6)) -- in the foreground: sent once
    if status == 0 then
      assert.are.equal(want, (content("stopped"))) -- a quick machine was done before
      return
    end
    assert.are.equal(130, status, text)
    assert.is_truthy(text:find("go on with the same command and --resume", 1, true), text)
    assert.are.equal("stopped", store.open(base .. "/stopped").attrs.status)
    status, text = train("stopped", "--threads 1 --resume")
    assert.are.equal(0, status, text)
    assert.are.equal(want, (content("stopped")))
  end)

  it("is not begun twice in one folder, nor resumed with another recipe", function()
    local status, text = train("whole", "")
    assert.are.equal(2, status)
    assert.is_truthy(text:find("--resume", 1, true) and text:find("--out DIR", 1, true), text)
    status, text = train("whole", "--resume gate.c=2")
    assert.are.equal(2, status)
    assert.is_truthy(text:find("resume with the recipe it was started with", 1, true), text)
    status, text = train("whole", "--resume")
    assert.are.equal(0, status, text)
  end)

  it("names a checkpoint that was cut short", function()
    assert(os.execute(("cp -r '%s/whole' '%s/cut'"):format(base, base)) == 0)
    shell(("truncate -s 3000 '%s/cut/last.ckpt.h5'"):format(base))
    local run = store.reopen(base .. "/cut")
    run:update(function(file) file:set_attr("/", "status", "stopped") end)
    run:release()
    local status, text = train("cut", "--resume")
    assert.are.equal(1, status)
    assert.is_truthy(text:find("last.ckpt.h5", 1, true), text)
  end)

  it("with gradients that are not finite stops, names the node, and is marked as failed", function()
    local status, text = train("nan", "optimizer.name=sgd optimizer.lr=1e30 optimizer.clip=0 schedule.warmup=0")
    assert.are.equal(1, status, text)
    assert.is_truthy(text:find("at step %d+") and text:find("smaller optimizer.lr", 1, true), text)
    assert.are.equal("failed", store.open(base .. "/nan").attrs.status)
  end)
end)
