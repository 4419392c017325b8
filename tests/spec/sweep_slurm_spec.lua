--- A sweep as a job array of Slurm: a real munged, slurmctld and slurmd, started here (support/slurm.sh).
local C = require("lgelu.C")
local folders = require("tests.spec.support.folders")
local runs = require("tests.spec.support.runs")
local sweep = require("lgelu.sweep")

local SWEEP = [[
return { name = "tiny", recipe = "moons", set = { ["train.epochs"] = 2, ["data.n"] = 120 }, after = "swap",
  grid = { { label = "good" }, { label = "wild", optimizer = { name = "sgd", lr = 1e30 } } },
  baseline = { label = "GELU", ["gate.kind"] = "gelu" } }]]

local base = folders.temporary()
local path, dir = base .. "/it's tiny.lua", base .. "/it's tiny"
folders.write(path, SWEEP)
teardown(function() os.execute(('rm -r "%s"'):format(base)) end)

local function missing()
  for _, program in ipairs({ "sbatch", "slurmctld", "slurmd", "munged" }) do
    if os.execute(("PATH=$PATH:/usr/sbin command -v %s >/dev/null"):format(program)) ~= 0 then
      return program .. " is not installed (Debian's slurm-wlm and munge)"
    end
  end
end

local function lgelu(...)
  return runs.program("sweep", path, "--engine", "slurm", "--out", dir, ...)
end

describe("a job array", function()
  it("is shown by --dry-run: a task for each run that is to be done", function()
    local status, text = lgelu("--dry-run", "--jobs", "2", "--threads", "3")
    assert.are.equal(0, status, text)
    local script = text:match("#!/bin/sh.*$")
    assert.is_truthy(script:find("#SBATCH --array=0-2%2\n", 1, true), script)
    assert.is_truthy(script:find("#SBATCH --cpus-per-task=3\n", 1, true), script)
    assert.is_truthy(script:find("#SBATCH --signal=B:INT@120\n", 1, true), script)
    for _, run in ipairs(sweep.load(path, {}).runs) do
      assert.is_truthy(script:find("  " .. run.run, 1, true), script)
    end
  end)

  it("is refused with sbatch's words where there is no Slurm", function()
    local status, text = runs.program("sweep", path, "--engine", "slurm", "--out", base .. "/none")
    assert.are.equal(1, status, text)
    assert.is_truthy(text:find("sbatch is not there", 1, true) or text:find("sbatch refused", 1, true), text)
  end)

  it("trains on a node of a real Slurm, names what failed, and is submitted again for that alone", function()
    if missing() then return pending(missing()) end
    local slurm, here = base .. "/slurm", "tests/spec/support/slurm.sh"
    assert(os.execute(("mkdir '%s' && sh %s start '%s'"):format(slurm, here, slurm)) == 0)
    local ok, e = pcall(function()
      local function submit(...)
        local words = { ("SLURM_CONF='%s/slurm.conf'"):format(slurm), os.getenv("LGELU_PROGRAM") or "build/lgelu",
          ('sweep "%s" --engine slurm --out "%s"'):format(path, dir), ... }
        local pipe = io.popen(table.concat(words, " ") .. " 2>&1; echo status=$?")
        local text = pipe:read("*a")
        pipe:close()
        return tonumber(text:match("status=(%d+)")), text
      end
      local function wait(count) -- until so many runs ended
        local limit = C.lib.lg_clock() + 30
        repeat
          require("lgelu.process").sleep(0.1)
          local ended = 0
          for _, record in ipairs(sweep.records(dir)) do
            ended = ended + ((record.status == "done" or record.status == "failed") and 1 or 0)
          end
        until ended == count or C.lib.lg_clock() > limit
      end
      local status, text = submit()
      assert.are.equal(0, status, text)
      assert.is_truthy(text:find("submitted batch job %d+: 3 runs;"), text)
      wait(3)
      local records = sweep.records(dir)
      assert.are.same({ "done", "done", "failed" }, { records[1].status, records[2].status, records[3].status })
      assert.are.equal("all", records[2].swap.what)
      assert.is_truthy(records[3].error:find("at step", 1, true), records[3].error)
      status, text = submit()
      assert.are.equal(1, status, text)
      assert.is_truthy(text:find("1 of 3 runs failed; --retry", 1, true) or text:find("still queued", 1, true), text)
      local limit = C.lib.lg_clock() + 20
      repeat
        status, text = submit("--retry") -- refused while the first array is still in the queue
      until status == 0 or not text:find("still queued or running", 1, true) or C.lib.lg_clock() > limit
      assert.are.equal(0, status, text)
      assert.is_truthy(text:find("submitted batch job %d+: 1 run;"), text)
    end)
    os.execute(("sh %s stop '%s'"):format(here, slurm))
    if not ok then error(e, 0) end
  end)
end)
