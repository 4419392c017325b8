--- Sweeps: files and their errors, runs in processes of their own, kills, Ctrl-C, failures, records, condensed files.
-- All on moons with a handful of rows.
local C = require("lgelu.C")
local file = require("lgelu.sweep.file")
local folders = require("tests.spec.support.folders")
local runs = require("tests.spec.support.runs")
local store = require("lgelu.store")
local sweep = require("lgelu.sweep")

local base = folders.temporary()
teardown(function() os.execute(("rm -r '%s'"):format(base)) end)

local HEAD = 'return { name = "tiny", recipe = "moons", set = { train = { epochs = 3, batch = 16 }, '
  .. '["data.n"] = 120, model = { hidden = { 6 } } },\n'

local function write(name, body)
  folders.write(("%s/%s.lua"):format(base, name), HEAD .. body .. "\n}")
  return ("%s/%s.lua"):format(base, name)
end

local function plan_of(body, opts) return file.plan(HEAD .. body .. "\n}", "s.lua", opts or {}) end

local function refusal(body, opts)
  local ok, e = pcall(plan_of, body, opts)
  assert.is_false(ok)
  assert.are.equal("usage", e.kind, tostring(e))
  return e.message
end

local function read(path)
  local f = assert(io.open(path, "rb"))
  local bytes = f:read("*a")
  f:close()
  return bytes
end

local function lgelu(...)
  return runs.program("sweep", ...)
end

-- The condensed file's bytes of a sweep's folder.
local function condensed(dir)
  local status, text = lgelu("--condense", dir, "-o", dir .. ".h5")
  assert.are.equal(0, status, text)
  return read(dir .. ".h5"), text
end

describe("a sweep file", function()
  it("is a product in the order of the file, each seed after the other, baselines first", function()
    local plan = plan_of([[
      grid = { ["gate.t"] = { 0.1, 3 }, ["gate.c"] = { 1, 9 } },
      baseline = { label = "GELU", ["gate.kind"] = "gelu" }, seeds = { 1, 7 } ]])
    local labels = {}
    for i, run in ipairs(plan.runs) do labels[i] = run.label .. " " .. run.seed end
    assert.are.same({ "GELU 1", "t=0.1, c=1 1", "t=0.1, c=9 1", "t=3, c=1 1", "t=3, c=9 1",
      "GELU 7", "t=0.1, c=1 7", "t=0.1, c=9 7", "t=3, c=1 7", "t=3, c=9 7" }, labels)
    assert.are.same({ "gate.t", "gate.c" }, plan.axes)
    assert.are.equal("baseline", plan.runs[1].role)
    assert.are.same({ ["gate.t"] = 3, ["gate.c"] = 9 }, plan.runs[5].cell)
    assert.are.equal(plan.runs[5].hash, plan.runs[10].hash)
  end)

  it("gives the hash that lgelu run gives", function()
    local recipe = require("lgelu.recipe")
    local resolved = recipe.load("moons", { seed = 4, overrides = { "train.epochs=3", "train.batch=16", "data.n=120",
      "model.hidden={6}", "gate.t=0.25", "optimizer.lr=0.5" } })
    local plan = plan_of('grid = { { gate = { t = 0.25 } } }', { seed = 4, overrides = { "optimizer.lr=0.5" } })
    assert.are.equal(resolved.hash, plan.runs[1].hash)
    assert.are.equal(resolved.run_name, plan.runs[1].run)
    assert.are.equal(resolved.json, plan.runs[1].config)
  end)

  it("takes lists, functions, several recipes, and budgets over all of it", function()
    local plan = file.plan([[ return { recipe = "moons", name = "many", grid = function(budget)
        if budget == "smoke" then return { { ["gate.kind"] = "relu", label = "ReLU" } } end
        return { recipe = { "moons", "mlp_fmnist" }, ["optimizer.lr"] = { 0.1 } }
      end, baseline = { ["gate.kind"] = "gelu" },
      budgets = { desk = { seeds = { 3 }, ["train.epochs"] = 2 } } } ]], "s.lua", { budget = "desk" })
    assert.are.equal(4, #plan.runs)
    assert.are.same({ "moons", "mlp_fmnist", "moons", "mlp_fmnist" },
      { plan.runs[1].recipe, plan.runs[2].recipe, plan.runs[3].recipe, plan.runs[4].recipe })
    assert.are.equal("mlp_fmnist, kind=gelu", plan.runs[2].label)
    assert.are.equal("mlp_fmnist, lr=0.1", plan.runs[4].label)
    for _, run in ipairs(plan.runs) do
      assert.are.equal(2, require("cjson").decode(run.config).train.epochs)
      assert.are.equal(3, run.seed)
    end
  end)

  it("takes keys from the command line that a baseline does not have", function()
    local plan = plan_of('grid = { ["gate.t"] = { 1 } }, baseline = { ["gate.kind"] = "gelu" }',
      { overrides = { "gate.c=7" } })
    assert.is_nil(require("cjson").decode(plan.runs[1].config).gate.c)
    assert.are.equal(7, require("cjson").decode(plan.runs[2].config).gate.c)
  end)

  it("of lgelu's own is right at every budget", function()
    for _, name in ipairs(require("lgelu.recipe").list(require("lgelu.paths").recipes .. "/sweeps")) do
      local seen = 0
      for _, budget in ipairs(require("lgelu.recipe.schema").budgets) do
        seen = seen + #sweep.load(name, { budget = budget }).runs
      end
      assert.is_true(seen > 16, name)
    end
  end)

  it("tells cells with functions apart by the λ that they give", function()
    local plan = plan_of([[ seeds = { 1, 2 }, grid = {
      { label = "a", ["gate.init"] = function(layer) return 1 + layer end },
      { label = "b", ["gate.init"] = function(layer) return 2 + layer end } } ]])
    assert.are.equal(4, #plan.runs)
    assert.are.equal("function", plan.runs[1].cell["gate.init"])
    assert.are.same({ 3 }, require("cjson").decode(plan.runs[2].config).gate.lambda)
    assert.are_not.equal(plan.runs[1].hash, plan.runs[2].hash)
    assert.are.equal(plan.runs[1].hash, plan.runs[3].hash)
  end)

  local BAD = {
    { 'grid = {\n["gate.tt"] = { 1 } }', "s.lua:3: gate.tt: unknown key, did you mean 'gate.t'?" },
    { 'grid = {}', "s.lua:2: grid: found an empty table: it has no cells" },
    { 'grid = {\n["gate.t"] = {} }', "s.lua:3: grid: gate.t: found an empty list" },
    { 'grid = { ["gate.t"] = 1 }', "s.lua:2: grid: gate.t: found 1, expected a list of values" },
    { 'grid = { ["gate.t"] = { 1, 1 } }',
      "s.lua:2: two runs are the same (hash %x+, seed 1): cell 't=1' and cell 't=1'" },
    { 'baseline = { ["gate.t"] = 1 }, grid = { ["gate.t"] = { 1 } }', "baseline 't=1' and cell 't=1'" },
    { 'seeds = { 2, 3, 2 }, grid = { ["gate.t"] = { 1 } }', "s.lua:2: seeds: 2 is given twice" },
    { 'grid = { { label = "a\\nb" } }', "s.lua:2: grid[1]: label: found 'a\nb', expected a line of text in UTF-8" },
    { 'grid = { { label = "\\255" } }', "label: found '\255', expected a line of text in UTF-8" },
    { 'grid = { { label = "" } }', "label: found '', expected a line of text in UTF-8" },
    { 'grid = function() local n = {} for i = 1, 200 do n[i] = i end return { ["gate.t"] = n, ["gate.c"] = n } end',
      "s.lua:2: grid: found 40000 cells, expected 10000 at most" },
    { 'seeds = {}, grid = { ["gate.t"] = { 1 } }', "s.lua:2: seeds: found an empty list" },
    { 'seeds = 3, grid = { ["gate.t"] = { 1 } }', "s.lua:2: seeds: found 3, expected a list of integers" },
    { 'gird = { ["gate.t"] = { 1 } }', "s.lua:2: gird: a sweep has no such key, did you mean 'grid'?" },
    { 'gate = { t = 1 }', "s.lua:2: gate: a sweep has no such key; keys of the recipe for all runs stand in set" },
    { 'grid = { ["gate.t"] = { -1 } }', "s.lua:2: gate.t: found -1, expected a number > 0" },
    { 'after = "swop", grid = { ["gate.t"] = { 1 } }', "after: found 'swop', expected one of swap, none" },
    { 'budgets = { huge = {} }, grid = { ["gate.t"] = { 1 } }', "budgets: found 'huge', expected one of smoke" },
    { 'grid = function() return 3 end', "grid: found 3, expected lists of values by key" },
    { 'grid = function() return nil + 1 end', "s.lua:2: attempt to perform arithmetic" },
    { 'grid = { { label = 3 } }', "s.lua:2: grid[1]: label: found 3, expected a string" },
    { '', "grid is missing" },
  }
  for _, case in ipairs(BAD) do
    it("is refused with a place: " .. case[2], function()
      local message = refusal(case[1])
      local pattern = case[2]:find("%%x") and case[2]:gsub("[().]", "%%%0") or nil
      assert.is_truthy(message:find(pattern or case[2], 1, not pattern), message)
    end)
  end

  it("is refused for a key of the sweep that a command line cannot give, a name of no recipe, no budget", function()
    local body = 'grid = { ["gate.t"] = { 1 } }'
    assert.is_truthy(refusal(body, { overrides = { "grid=1" } }):find("stands in the sweep's file", 1, true))
    assert.is_truthy(refusal(body, { overrides = { "recipe=moon" } }):find("did you mean 'moons'?", 1, true))
    assert.is_truthy(refusal(body, { overrides = { "gate.c=1", "gate.kin=1" } }):find("gate.kind", 1, true))
    assert.is_truthy(refusal(body, { overrides = { "name=../up" } }):find("name: found '../up', expected", 1, true))
    assert.are.equal("command line: gate.t: what the sweep varies, at s.lua:2",
      refusal(body, { overrides = { "gate.t=2" } }))
    assert.is_truthy(refusal(body, { budget = "huge" }):find("budget 'huge'", 1, true))
  end)
end)

describe("lgelu sweep", function()
  local WAYS = [[ after = "swap", seeds = { 1, 2 }, baseline = { label = "GELU", ["gate.kind"] = "gelu" },
    grid = { { ["gate.t"] = 0.1 }, { ["gate.t"] = 1 }, { label = "hardened", hardening = { schedule = "linear" } } } ]]
  local PROGRAM = os.getenv("LGELU_PROGRAM") or "build/lgelu"
  local whole, want, seconds = base .. "/whole", nil, nil
  setup(function()
    local start = C.lib.lg_clock()
    local status, text = lgelu(write("ways", WAYS), "--out", whole, "--jobs", "2")
    seconds = C.lib.lg_clock() - start
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("8 runs, 0 done, 0 failed, 8 to do; 2 at a time with", 1, true), text)
    assert.is_truthy(text:find("8 of 8 runs done", 1, true), text)
    want = condensed(whole)
  end)

  it("leaves runs, each with its swap, and keeps them", function()
    local first = sweep.records(whole)[2]
    assert.are.equal("done", first.status)
    assert.are.equal("all", first.swap.what)
    assert.are.equal(3, #first.epochs.epoch)
    assert.is_nil(first.epochs.seconds)
    assert.are.equal(store.open(whole .. "/" .. first.run):best().val_score, first.best.val_score)
    local status, text = lgelu(base .. "/ways.lua", "--out", whole)
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("8 runs, 8 done, 0 failed, 0 to do", 1, true), text)
    assert.is_nil(text:find("start", 1, true))
  end)

  it("has the same records in its folder and in the condensed file, which is small", function()
    assert.are.same(sweep.records(whole), sweep.records(whole .. ".h5"))
    assert.are.same(sweep.describe(whole), sweep.describe(whole .. ".h5"))
    assert.are.same({}, sweep.describe(whole).gaps)
    assert.is_true(#want < 400000, #want .. " bytes")
  end)

  it("has its swaps side by side, from the folder and from the condensed file", function()
    local _, of_folder = runs.program("swap", whole)
    local status, of_file = runs.program("swap", whole .. ".h5")
    assert.are.equal(0, status, of_file)
    assert.is_truthy(of_file:find("hardened, swapped", 1, true), of_file)
    assert.are.equal(of_folder, of_file)
    local wrong, text = runs.program("swap", whole .. ".h5", "--again")
    assert.are.equal(2, wrong)
    assert.is_truthy(text:find("a condensed file has no networks to measure", 1, true), text)
  end)

  it("may lie beside runs: runs/* has the folder of sweeps too, which is left out and named", function()
    local many = base .. "/many/sweeps"
    assert(os.execute(("mkdir -p '%s'; cp -r '%s' '%s/one'"):format(many, whole, many)) == 0)
    local one = whole .. "/" .. sweep.records(whole)[1].run
    for _, verb in ipairs({ "compare", "show", "swap" }) do
      local status, text = runs.program(verb, one, many .. "/")
      assert.are.equal(0, status, text)
      local said = ("%s/ is left out: it holds sweeps, such as %s/one\n"):format(many, many)
      assert.is_truthy(text:find(said, 1, true), text)
      assert.are.equal(2, (runs.program(verb, many)))
    end
    assert.is_nil(sweep.first_inside(whole))
    assert.is_nil(sweep.first_inside(one))
    assert.is_nil(sweep.first_inside(base .. "/nothing"))
    assert(os.execute(("cp -r '%s' '%s/run'"):format(one, many)) == 0)
    assert.is_nil(sweep.first_inside(many)) -- runs are for swap
  end)

  it("gives the same condensed file when it is killed at random five times", function()
    local dir, kills = base .. "/apart/killed", 0 -- with no sweep beside it from which runs could be taken over
    assert(os.execute(("mkdir '%s/apart'"):format(base)) == 0)
    local function start(before)
      return os.execute(("%s %s sweep %s/ways.lua --out %s --jobs 2 >%s/out 2>&1"):format(before, PROGRAM, base, dir,
        base)) / 256
    end
    for attempt = 1, 60 do -- kills within what the whole sweep took, however slow the machine
      local limit = seconds * (0.05 + 0.25 * C.lib.lg_rng_uniform(23, 7, attempt))
      if start(kills < 5 and ("timeout -s KILL %.3f"):format(limit) or "") == 0 then break end
      kills = kills + 1
    end
    assert.is_true(kills >= 5, ("only %d kills"):format(kills))
    assert.is_true(want == condensed(dir), "the condensed files differ")
  end)

  local function wait_for(condition)
    local limit = C.lib.lg_clock() + 60
    while not condition() do
      assert(C.lib.lg_clock() < limit, "waited in vain")
      require("lgelu.process").sleep(0.02)
    end
  end

  local outputs = {} -- process id of a sweep that takes hours → its output; ended even where a test fails
  after_each(function()
    for pid, pipe in pairs(outputs) do
      os.execute(("kill -KILL %d"):format(pid))
      pipe:close()
    end
    outputs = {}
  end)

  -- Starts a sweep that takes hours and waits until both of its runs train; its process id.
  local function start_long(dir)
    local long = write("long", 'grid = { ["gate.t"] = { 0.1, 1 } }, budgets = { full = { ["train.epochs"] = 100000 } }')
    local pipe = io.popen(("exec 2>&1; sh -c 'echo $$; exec %s sweep %s --budget full --out %s --jobs 2'\n"
      .. "echo status=$?"):format(PROGRAM, long, dir))
    local pid, plan = pipe:read("*n"), sweep.load(long, { budget = "full" })
    outputs[pid] = pipe
    wait_for(function()
      return store.exists(dir .. "/" .. plan.runs[1].run) and store.exists(dir .. "/" .. plan.runs[2].run)
    end)
    return pid
  end

  -- Waits for its end; what it printed, at the end of which stands status=….
  local function finish(pid)
    local text = outputs[pid]:read("*a")
    outputs[pid]:close()
    outputs[pid] = nil
    return text
  end

  it("leaves no process behind when it is killed", function()
    local dir = base .. "/orphans"
    local pid = start_long(dir)
    os.execute(("kill -KILL %d"):format(pid))
    wait_for(function()
      local pipe = io.popen(("ps -eo args | grep -c '[s]weep %s'"):format(dir))
      local n = pipe:read("*n")
      pipe:close()
      return n == 0
    end)
    finish(pid)
    for _, record in ipairs(sweep.records(dir)) do assert.are.equal("unfinished", record.status) end
  end)

  it("stops on Ctrl-C with checkpoints of its runs, and is refused a folder that another one has", function()
    local dir = base .. "/stopped"
    local pid = start_long(dir)
    local status, text = lgelu(base .. "/long.lua", "--budget", "full", "--out", dir)
    os.execute(("kill -INT %d"):format(pid))
    assert.are.equal(1, status)
    assert.is_truthy(text:find(("in use by process %d"):format(pid), 1, true), text)
    text = finish(pid)
    assert.is_truthy(text:find("status=130", 1, true), text)
    assert.is_truthy(text:find("stopped with 0 of 2 runs done; the same command goes on", 1, true), text)
    for _, record in ipairs(sweep.records(dir)) do
      assert.are.equal("stopped", store.open(dir .. "/" .. record.run).attrs.status)
      assert.is_true(store.file_exists(dir .. "/" .. record.run .. "/last.ckpt.h5"))
    end
    local state = require("cjson").decode(read(dir .. "/state.json"))
    assert.are.equal(0, state.done)
    for _, run in pairs(state.runs) do assert.are.equal("stopped", run.status) end
  end)

  it("ends runs at once on a second Ctrl-C, which have not failed", function()
    local dir = base .. "/forced"
    local pid = start_long(dir)
    local function both(line) -- of the children's /proc/PID/status
      local status = io.popen(("cat $(pgrep -P %d | sed 's|.*|/proc/&/status|')"):format(pid))
      local _, count = status:read("*a"):gsub(line, "")
      status:close()
      return count == 2
    end
    os.execute(("pkill -STOP -P %d"):format(pid)) -- so that they cannot mind the first one
    wait_for(function() return both("\nState:\tT") end)
    os.execute(("kill -INT %d"):format(pid))
    wait_for(function() return both("\nShdPnd:\t%x+2\n") end)
    os.execute(("kill -INT %d"):format(pid))
    local text = finish(pid)
    assert.is_truthy(text:find("status=130", 1, true), text)
    assert.is_nil(text:find("failed  ", 1, true), text)
    for _, record in ipairs(sweep.records(dir)) do assert.are.equal("unfinished", record.status) end
  end)

  it("says so when a single run was stopped", function()
    local dir = base .. "/single"
    local pid = start_long(dir)
    os.execute(("pkill -INT -P %d"):format(pid))
    local text = finish(pid)
    assert.is_truthy(text:find("2 of 2 runs were stopped; the same command goes on with them", 1, true), text)
    assert.is_truthy(text:find("status=130", 1, true), text)
  end)

  it("names failed runs with their message, leaves them alone, and tries them again with --retry", function()
    local path, dir = base .. "/failing.lua", base .. "/failing"
    folders.write(path, [[return { recipe = "moons", grid = {
      { label = "good", data = { n = 120 }, ["train.epochs"] = 2 },
      { label = "wild", data = { n = 120 }, optimizer = { name = "sgd", lr = 1e30 } },
      { label = "lost", recipe = "mlp_fmnist", ["data.path"] = "/nowhere" } } }]])
    local status, text = lgelu(path, "--out", dir, 'data.n=120')
    assert.are.equal(2, status, text) -- mlp_fmnist has no data.n: nothing was started
    assert.is_false(store.file_exists(dir .. "/plan.json"))
    status, text = lgelu(path, "--out", dir)
    assert.are.equal(1, status, text)
    assert.is_truthy(text:find("2 of 3 runs failed; --retry tries them again", 1, true), text)
    assert.is_truthy(text:find("wild, seed 1 %(moons%-%x+%-s1%): .*at step %d+"), text)
    assert.is_truthy(text:find("lost, seed 1 %(mlp_fmnist%-%x+%-s1%): .*/nowhere"), text)
    status, text = lgelu(path, "--out", dir)
    assert.are.equal(1, status)
    assert.is_truthy(text:find("3 runs, 1 done, 2 failed, 0 to do", 1, true), text)
    status, text = lgelu(path, "--out", dir, "--retry")
    assert.are.equal(1, status)
    assert.is_truthy(text:find("3 runs, 1 done, 0 failed, 2 to do", 1, true), text)
    local records = sweep.records(dir)
    assert.are.same({ "done", "failed", "failed" }, { records[1].status, records[2].status, records[3].status })
    assert.is_truthy(records[2].error:find("at step", 1, true))
    assert.are.equal("mlp_fmnist", records[3].config.name)
    local bytes, said = condensed(dir)
    assert.is_true(#bytes > 0)
    assert.is_truthy(said:find("without wild, seed 1", 1, true), said)
    assert.are.same(records, sweep.records(dir .. ".h5"))
  end)

  it("skips a damaged run and a missing one, naming them", function()
    local dir = base .. "/damaged"
    os.execute(("cp -r '%s' '%s'"):format(whole, dir))
    local all = sweep.records(dir)
    os.execute(("cd '%s' && truncate -s 900 %s/run.h5 && rm -r %s && cp %s/run.h5 %s && rm %s/run.h5"):format(dir,
      all[3].run, all[4].run, all[1].run, all[5].run, all[6].run))
    local records = sweep.records(dir)
    assert.are.equal(8, #records)
    local states = {}
    for i, record in ipairs(records) do states[i] = record.status end
    assert.are.same({ "done", "done", "damaged", "missing", "damaged", "damaged", "done", "done" }, states)
    assert.is_truthy(records[3].error:find(all[3].run .. "/run.h5", 1, true), records[3].error)
    local gaps = sweep.describe(dir).gaps
    assert.are.same({ all[3].run, all[4].run, all[5].run, all[6].run, n = 4 }, { gaps[1].run, gaps[2].run, gaps[3].run,
      gaps[4].run, n = #gaps })
    assert.is_truthy(records[5].error:find("holds the run %x+ with seed 1$"), records[5].error)
    assert.is_truthy(records[6].error:find("holds files, but no run.h5", 1, true), records[6].error)
    local _, said = condensed(dir)
    assert.is_truthy(said:find("t=1, seed 1 (" .. all[3].run .. "): damaged", 1, true), said)
    local status, text = lgelu(base .. "/ways.lua", "--out", dir)
    assert.are.equal(1, status)
    assert.is_truthy(text:find("3 of 8 runs failed", 1, true), text)
    assert.are.equal("done", sweep.records(dir)[4].status)
    status, text = lgelu(base .. "/ways.lua", "--out", whole .. "/" .. all[1].run)
    assert.are.equal(2, status)
    assert.is_truthy(text:find("is the folder of a run, expected one for a sweep", 1, true), text)
  end)

  it("names a plan that is cut short or none", function()
    local dir = base .. "/no_plan"
    assert(os.execute(("mkdir '%s'"):format(dir)) == 0)
    for text, words in pairs({ ['{"format":'] = "plan.json: not JSON", ["[]"] = "not the plan of a sweep",
      ['{"format":"lgelu-sweep-plan","format_version":1}'] = "not the plan of a sweep",
      ['{"format":"lgelu-sweep-plan","format_version":9,"runs":[]}'] = "written by a newer lgelu" }) do
      folders.write(dir .. "/plan.json", text)
      local ok, e = pcall(sweep.records, dir)
      assert.is_false(ok)
      assert.is_truthy(tostring(e):find(words, 1, true), tostring(e))
    end
  end)

  it("takes over runs that a sweep beside it has done", function()
    assert(os.execute(("mkdir '%s/two'; cp -r '%s' '%s/two/first'"):format(base, whole, base)) == 0)
    -- One of its own runs was killed before there was a run.h5: it goes on here.
    local began = ("%s/two/second/%s"):format(base, sweep.records(whole)[8].run)
    assert(os.execute(("mkdir -p '%s'; echo >'%s/log.txt'"):format(began, began)) == 0)
    local status, text = lgelu(base .. "/ways.lua", "--out", base .. "/two/second", "--seed", "2")
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("4 runs, 3 done, 0 failed, 1 to do", 1, true), text)
    assert.is_truthy(text:find("3 runs taken over from " .. base .. "/two/first\n", 1, true), text)
  end)

  it("shows one live board at a terminal, where Ctrl-C stops it", function()
    local pipe = io.popen(("/usr/bin/python3 tests/spec/support/at_terminal.py 'epoch =\\x03' -- %s sweep "
      .. "%s/long.lua --budget full --out %s/board --jobs 2; echo status=$?"):format(PROGRAM, base, base))
    local text = pipe:read("*a")
    pipe:close()
    assert.is_truthy(text:find("tiny  0 done  2 running  0 failed  0 queued  [%d.:]+ %a+ left"), text)
    assert.is_truthy(text:find("\27[1A", 1, true), text)
    assert.is_truthy(text:find("stopped t=0.1, seed 1", 1, true), text)
    assert.is_truthy(text:find("status=130", 1, true), text)
  end)

  it("says how long it may take, from finished runs or from steps measured now", function()
    local status, text = lgelu(base .. "/ways.lua", "--out", base .. "/new/new", "--dry-run")
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("expected: about [%d.:]+ %a+ for 8 runs, %d+ at a time %(8 from a few steps"), text)
    status, text = lgelu(base .. "/ways.lua", "--out", whole, "--dry-run", "seeds={1,5}")
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find("for 4 runs, %d+ at a time %(4 from runs of this sweep that are done%)"), text)
  end)

  it("keeps runs of another recipe apart from its own", function()
    local dir = base .. "/changed"
    local path = write("changed", 'grid = { ["gate.t"] = { 0.1 } }')
    assert.are.equal(0, (lgelu(path, "--out", dir)))
    assert.are.equal(0, (lgelu(path, "--out", dir, "gate.c=2")))
    local records = sweep.records(dir)
    assert.are.equal(1, #records)
    assert.are.equal(2, records[1].config.gate.c)
    local stays = "1 run in " .. dir .. " is none of this sweep's and stays there unread; name=… or --out gives another"
    for _, option in ipairs({ "--dry-run", "gate.c=2" }) do -- before and when it is started
      local status, text = lgelu(path, "--out", dir, "gate.c=2", option)
      assert.are.equal(0, status, text)
      assert.is_truthy(text:find(stays, 1, true), text)
    end
    local status, text = runs.program("swap", dir, base .. "/ways.lua.none")
    assert.are.equal(2, status, text)
    status, text = runs.program("swap", dir) -- as compare and figures: of what the sweep declares
    assert.are.equal(0, status, text)
    assert.is_truthy(text:find(dir .. "/" .. records[1].run .. ": 1 of 1", 1, true), text)
  end)

  it("prints its runs without training them, and refuses options that do not go together", function()
    local status, text = lgelu(base .. "/ways.lua", "--dry-run", "--out", base .. "/none")
    assert.are.equal(0, status)
    assert.is_truthy(text:find("baseline GELU +seed 1  %x+  missing"), text)
    local moons = select(2, lgelu("moons", "--dry-run", "--budget", "smoke", "--out", base .. "/none"))
    assert.is_truthy(moons:find("  baseline GELU  seed 1 .*\n  λ%-GELU         seed 1 "), moons) -- λ is two bytes
    assert.is_false(store.file_exists(base .. "/none/plan.json"))
    assert.are.equal(2, (lgelu(whole, "--condense")))
    assert.are.equal(2, (lgelu(whole, "--condense", "-o", base .. "/x.h5", "--budget", "smoke")))
    assert.are.equal(2, (lgelu(whole, "--only", "nobody")))
    assert.are.equal(2, (lgelu(base .. "/nothing", "--condense", "-o", base .. "/x.h5")))
  end)
end)
