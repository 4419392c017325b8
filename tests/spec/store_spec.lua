--- Specification of the run store: the file that others read, resuming, kills, full disks, damage, finding runs.
local kit = dofile("tests/spec/support/store_kit.lua")
local errors = require("lgelu.errors")
local h5 = require("lgelu.h5")
local lfs = require("lfs")
local store = require("lgelu.store")
local tensor = require("lgelu.tensor")

local function has(message, ...)
  for _, part in ipairs({ ... }) do
    assert.truthy(message:find(part, 1, true), ("'%s' is missing in: %s"):format(part, message))
  end
end

local function entries(dir)
  local names = {}
  for name in lfs.dir(dir) do
    if name ~= "." and name ~= ".." then names[#names + 1] = name end
  end
  table.sort(names)
  return names
end

describe("the run store", function()
  local folder
  before_each(function() folder = kit.folder() end)
  after_each(function() kit.remove(folder) end)

  it("writes what h5py reads: layout, str attributes, units", function()
    local run = kit.run(folder .. "/deep/er/r", 3)
    run:set_best({ epoch = 3, val_score = 0.403, test_score = 0.4 })
    run:finish("done", { note = "λ" })
    kit.python(([==[
f = h5py.File(%q, "r")
a = dict(f.attrs)
assert all(type(v) in (str, np.int64) for v in a.values()), a
assert a["format"] == "lgelu-run" and a["format_version"] == 1 and a["name"] == "größer" and a["seed"] == 7
assert a["recipe"] == "return {} -- λ\n" and a["status"] == "done" and a["note"] == "λ" and a["threads"] == 2
import datetime
start, end = (datetime.datetime.fromisoformat(a[k].replace("Z", "+00:00")) for k in ("started", "finished"))
assert abs((datetime.datetime.now(datetime.timezone.utc) - start).total_seconds()) < 600 and end >= start
e = f["epochs"]
assert sorted(e) == sorted("epoch step lr train_loss train_score val_loss val_score seconds".split()), list(e)
assert all(e[k].shape == (3,) and type(e[k].attrs["units"]) is str and e[k].attrs["description"] for k in e)
assert e["epoch"][:].tolist() == [1, 2, 3] and e["step"][:].tolist() == [100, 200, 300]
assert e["lr"][:].tolist() == [1e-3, 1e-3 / 2, 1e-3 / 3] and e["seconds"].attrs["units"] == "s"
g = f["gates"]
assert g["names"].asstr()[:].tolist() == ["gate1", "gate2", "gate3"]
assert g["lambda"].shape == g["s"].shape == (4, 3) and g["grad_lambda_rms"].shape == (3, 3)
assert g["lambda"][:, 0].tolist() == [1.1, 2.1, 3.1, 4.1] and g["s"][0].tolist() == [-2.25, -1.5, -1]
assert g["grad_lambda_rms"][:, 1].tolist() == [2, 1, 2 / 3]
assert dict(g.attrs) == {"t": 1.0, "c": 3.0, "init": "ascending", "kind": "lambda_gelu"}
assert g.attrs["t"].dtype == np.float64
assert dict(f["best"].attrs) == {"epoch": 3, "val_score": 0.403, "test_score": 0.4}
]==]):format(folder .. "/deep/er/r/run.h5"))
    assert.same({ "run.h5" }, entries(folder .. "/deep/er/r"))
  end)

  it("reads it back", function()
    local dir = folder .. "/r"
    local run = kit.run(dir, 2)
    local read = store.open(dir .. "/")
    assert.equal(dir, read.dir)
    assert.equal("running", read:status())
    assert.same({ epoch = 2, val_score = 0.402 }, read:best())
    assert.same({ 1, 2 }, read:epochs().epoch)
    assert.same({ epochs = 3, gate = { t = 1 } }, read:config())
    local gates = read:gates()
    assert.same({ "gate1", "gate2", "gate3" }, gates.names)
    assert.same({ { 1.1, 1.2, 1.3 }, { 2.1, 2.2, 2.3 }, { 3.1, 3.2, 3.3 } }, gates.lambda)
    assert.equal(2, #gates.grad_lambda_rms)
    assert.equal(3, gates.c)
    run:set_best({ epoch = 1, val_score = 0.401 })
    run:finish("failed", { error = "the loss is nan" })
    read = store.open(dir .. "/run.h5")
    assert.equal("failed", read:status())
    assert.equal("the loss is nan", read.attrs.error)
    assert.same({ epoch = 1, val_score = 0.401 }, read:best())
    assert.equal("lgelu-run", read:read(function(f) return f:attr("/", "format") end))
  end)

  it("holds runs whose gates have no λ, and rows with unknown values", function()
    local info = kit.info()
    info.gates = { names = { "relu1" }, lambda = {}, s = {}, kind = "relu" }
    local run = store.create(folder .. "/r", info)
    local row = kit.row(1, 0)
    row.val_loss, row.val_score = nil, nil
    run:append(row)
    run:finish("done")
    local read = store.open(folder .. "/r")
    assert.same({ {}, {} }, read:gates().lambda)
    assert.same({ "relu1" }, read:gates().names)
    assert.is_nil(read:best())
    assert.is_true(read:epochs().val_score[1] ~= read:epochs().val_score[1])
  end)

  it("refuses rows that are wrong, and keeps what it has", function()
    local run = kit.run(folder .. "/r", 1)
    local function bad(change)
      local row = kit.row(2)
      change(row)
      return kit.failure(run.append, run, row).message
    end
    has(bad(function(row) row.epoch = 0 end), "epoch 0", "run.h5")
    has(bad(function(row) row.epoch = 1.5 end), "epoch 1.5")
    has(bad(function(row) row.epoch = 9 end), "row 8", "gap")
    has(bad(function(row) row.step = nil end), "no step")
    has(bad(function(row) row.lr = "x" end), "lr is a string")
    has(bad(function(row) row.s = { 1, 2 } end), "s has 2 values", "3 gates")
    run:append(kit.row(2))
    has(kit.failure(run.finish, run, "ended").message, "'ended'", "done, failed, stopped")
    run:finish("stopped")
    assert.same({ 1, 2 }, store.open(folder .. "/r"):epochs().step and store.open(folder .. "/r"):epochs().epoch)
  end)

  it("never writes over a folder that holds something", function()
    kit.run(folder .. "/r", 1):finish("done")
    local before = kit.slurp(folder .. "/r/run.h5")
    local e = kit.failure(store.create, folder .. "/r", kit.info())
    assert.is_true(errors.is(e, "usage"))
    has(e.message, folder .. "/r exists", "--resume", "--out DIR")
    assert.equal(before, kit.slurp(folder .. "/r/run.h5"))
    lfs.mkdir(folder .. "/other")
    kit.spit(folder .. "/other/letters.txt", "x")
    has(kit.failure(store.create, folder .. "/other", kit.info()).message, "is not empty")
    has(kit.failure(store.create, folder .. "/other/letters.txt", kit.info()).message, "is no folder")
    lfs.mkdir(folder .. "/empty") -- as is one whose run was killed before its first file
    kit.spit(folder .. "/empty/run.h5.123.tmp", "half")
    store.create(folder .. "/empty", kit.info()):release()
    assert.same({ "run.h5" }, entries(folder .. "/empty"))
    local nameless = kit.info()
    nameless.attrs.hash = nil
    has(kit.failure(store.create, folder .. "/x", nameless).message, folder .. "/x", "'hash'")
    assert.is_nil(lfs.attributes(folder .. "/x"))
  end)

  it("goes on with a run: rows are written again, later ones stay, the end is not one any more", function()
    local dir = folder .. "/r"
    kit.run(dir, 3):finish("failed", { error = "x" })
    local before = store.open(dir):epochs()
    local run = store.reopen(dir)
    assert.equal("failed", run.attrs.status)
    run:append(kit.row(2))
    local read = store.open(dir)
    assert.same(before, read:epochs())
    assert.equal("running", read.attrs.status)
    assert.is_nil(read.attrs.error)
    assert.is_nil(read.attrs.finished)
    assert.equal(1, read.attrs.resumed)
    run:append(kit.row(3))
    run:append(kit.row(4))
    run:finish("done")
    read = store.open(dir)
    assert.equal(1, read.attrs.resumed)
    assert.same({ 1, 2, 3, 4 }, read:epochs().epoch)
    assert.equal(5, #read:gates().lambda)
  end)

  it("is written by one process at a time", function()
    local dir = folder .. "/r"
    local run = kit.run(dir, 1)
    local code = ("package.path='lua/?.lua;lua/?/init.lua;'..package.path local ok, e = "
      .. "pcall(require('lgelu.store').reopen, '%s') print(ok, ok or e.message)"):format(dir)
    local message = kit.shell(("%s -e %q"):format(kit.luajit, code))
    has(message, "false", dir .. ": in use by process")
    assert.equal("running", store.open(dir):status())
    run:release()
    has(kit.shell(("%s -e %q"):format(kit.luajit, code)), "true")
    assert.equal("killed", store.open(dir):status())
  end)

  it("that is done takes additions from several processes, one after another", function()
    local dir = folder .. "/r"
    kit.run(dir, 1):finish("done")
    local holder = io.popen(("exec python3 -c \"import fcntl, os, time; fcntl.flock(os.open('%s', 0), fcntl.LOCK_EX); "
      .. "print(1, flush=True); time.sleep(0.6)\""):format(dir))
    assert.equal("1", holder:read("*l"))
    assert.equal("done", store.open(dir):status())
    has(kit.failure(store.reopen, dir).message, dir .. ": in use by process")
    store.change(dir, function(file) file:group("/note") end)
    holder:close()
    assert.is_true(store.open(dir):read(function(file) return file:exists("/note") end))
    local e = kit.failure(store.change, dir, function(file)
      file:group("/other")
      errors.fail("no")
    end)
    assert.equal("no", e.message)
    assert.is_false(store.open(dir):read(function(file) return file:exists("/other") end))
    store.reopen(dir):release()
  end)

  it("goes on when another program holds or changes the file", function()
    local dir = folder .. "/r"
    local run = kit.run(dir, 1)
    local pipe = io.popen(("/usr/bin/python3 -c \"import h5py; f = h5py.File('%s/run.h5', 'r+'); f.attrs['x'] = 1; "
      .. "f.flush(); print(1, flush=True); input(); f.close()\" > %s/ready"):format(dir, folder), "w")
    kit.wait_for(folder .. "/ready")
    run:append(kit.row(2))
    pipe:write("\n")
    pipe:close()
    run:append(kit.row(3))
    run:finish("done")
    assert.same({ 1, 2, 3 }, store.open(dir):epochs().epoch)
  end)

  it("lets h5py read on, unmoved, while rows come in", function()
    local run = kit.run(folder .. "/r", 2)
    local pipe = io.popen(("/usr/bin/python3 -c \"import h5py; f = h5py.File('%s/r/run.h5', 'r'); "
      .. "print(1, flush=True); input(); print(f['epochs/epoch'][:].tolist(), "
      .. "h5py.File('%s/r/run.h5', 'r')['epochs/epoch'].shape, flush=True)\" > %s/seen")
      :format(folder, folder, folder), "w")
    kit.wait_for(folder .. "/seen")
    for epoch = 3, 200 do
      run.file.commit = epoch < 195 and function() end or nil -- the disk need not turn so often
      run:append(kit.row(epoch))
    end
    pipe:write("\n")
    pipe:close()
    assert.equal("1\n[1, 2] (200,)\n", kit.slurp(folder .. "/seen"))
    run:release()
  end)

  it("keeps every finished epoch through kill -9 at any instant", function()
    local dir, progress = folder .. "/r", folder .. "/progress"
    kit.spit(folder .. "/child.lua", ([==[
      package.path = "lua/?.lua;lua/?/init.lua;" .. package.path
      local kit = dofile("tests/spec/support/store_kit.lua")
      local store = require("lgelu.store")
      local dir, first = %q, tonumber(arg[1])
      local run = store.exists(dir) and store.reopen(dir) or store.create(dir, kit.info())
      local out = io.open(%q, "a")
      for epoch = first, math.huge do
        run:append(kit.row(epoch))
        out:write(epoch, "\n")
        out:flush()
      end]==]):format(dir, progress))
    kit.spit(progress, "")
    local finished = {}
    math.randomseed(1)
    for kill = 1, 20 do
      local last = tonumber(kit.slurp(progress):match("(%d+)\n$")) or 0
      local pipe = io.popen(("%s %s/child.lua %d >%s/out 2>&1 & echo $!"):format(kit.luajit, folder, last + 1, folder))
      local pid = pipe:read("*l")
      pipe:close()
      local size, start = lfs.attributes(progress, "size"), kit.clock()
      while lfs.attributes(progress, "size") == size and kit.clock() - start < 30 do -- until it has begun
        kit.sleep(0.005)
      end
      kit.sleep(0.1 * math.random())
      kit.shell("kill -9 " .. pid)
      while lfs.attributes("/proc/" .. pid .. "/fd/0") do
        kit.sleep(0.005)
      end
      finished[kill] = tonumber(kit.slurp(progress):match("(%d+)\n$"))
      kit.shell(("cp %s/run.h5 %s/%d.h5"):format(dir, folder, kill))
      local epochs = store.open(dir):epochs().epoch
      assert.is_true(#epochs >= finished[kill] and #epochs <= finished[kill] + 1, kit.slurp(folder .. "/out"))
    end
    assert.is_true(finished[20] > finished[1])
    kit.python(("n = [%s]\n"):format(table.concat(finished, ",")) .. ([==[
for i, k in enumerate(n):
    f = h5py.File("%s/%%d.h5" %% (i + 1), "r")
    e = f["epochs/epoch"][:]
    assert k <= len(e) <= k + 1 and (e == np.arange(1, len(e) + 1)).all(), (i, k, e)
    assert f["gates/lambda"].shape == (len(e) + 1, 3) and (f["gates/lambda"][1:, 0] == 1.1 + e).all()
    assert len(f["epochs/seconds"]) == len(f["gates/grad_lambda_rms"]) == len(e)
]==]):format(folder))
    store.reopen(dir):release() -- removes what killed writers left
    for _, name in ipairs(entries(dir)) do
      assert.equal("run.h5", name)
    end
  end)

  it("says so when the disk is full or the folder cannot be written, and keeps the old file", function()
    local dir, small = folder .. "/r", folder .. "/small"
    lfs.mkdir(small)
    local _, mounted = kit.shell("mount -t tmpfs -o size=400k none " .. small)
    if mounted == 0 then
      local run = kit.run(small .. "/r", 1)
      local before = kit.slurp(small .. "/r/run.h5")
      kit.shell("head -c 400k /dev/zero > " .. small .. "/filler")
      local e = kit.failure(run.append, run, kit.row(2))
      has(e.message, small .. "/r/run.h5", "No space left")
      assert.equal(before, kit.slurp(small .. "/r/run.h5"))
      assert.same({ "run.h5" }, entries(small .. "/r"))
      kit.shell("rm " .. small .. "/filler")
      run:append(kit.row(3)) -- brings what could not be written too
      run:release()
      assert.same({ 1, 2, 3 }, store.open(small .. "/r"):epochs().epoch)
      kit.shell("umount " .. small)
    else
      print("SKIPPED: no tmpfs can be mounted here")
    end
    local e = kit.failure(store.create, "/proc/lgelu-run", kit.info())
    has(e.message, "/proc/lgelu-run")
    local run = kit.run(dir, 1)
    kit.remove(dir)
    has(kit.failure(run.append, run, kit.row(2)).message, dir .. "/run.h5")
    run:release()
  end)

  it("keeps the log as plain lines", function()
    local run = kit.run(folder .. "/r", 0)
    run:log("first")
    run:log("λ second")
    assert.equal("first\nλ second\n", kit.slurp(folder .. "/r/log.txt"))
    assert.equal(folder .. "/r/fig", run:figures())
    assert.equal("directory", lfs.attributes(run:figures(), "mode"))
    kit.shell(("rm %s/r/log.txt; mkdir %s/r/log.txt"):format(folder, folder))
    has(kit.failure(run.log, run, "x").message, "log.txt")
    run:release()
  end)

  it("replaces what is not UTF-8 in a recipe", function()
    local run = store.create(folder .. "/r", kit.info({ recipe = "-- gr\246\223e \0 \237\160\128 λ \240\159\152\128" }))
    run:finish("done")
    local r = "\239\191\189"
    assert.equal("-- gr" .. r .. r .. "e " .. r .. " " .. r .. r .. r .. " λ \240\159\152\128",
      store.open(folder .. "/r").attrs.recipe)
  end)

  it("refuses what is no run, naming what it found", function()
    has(kit.failure(store.open, folder .. "/none").message, folder .. "/none", "no such run")
    has(kit.failure(store.open, folder).message, folder, "no run.h5")
    lfs.mkdir(folder .. "/r")
    kit.spit(folder .. "/r/run.h5", "garbage")
    has(kit.failure(store.open, folder .. "/r").message, "run.h5", "not an HDF5 file")
    has(kit.failure(store.open, folder .. "/r/other.h5").message, "no such run")
    h5.with(folder .. "/r/run.h5", "w", function(f) f:set_attr("/", "format", "else") end)
    has(kit.failure(store.open, folder .. "/r").message, "not a run of lgelu", "'else'", "'lgelu-run'")
    h5.with(folder .. "/r/run.h5", "w", function() end)
    has(kit.failure(store.open, folder .. "/r").message, "missing")
    h5.with(folder .. "/r/run.h5", "w", function(f)
      f:set_attr("/", "format", "lgelu-run")
      f:set_attr("/", "format_version", 2)
    end)
    has(kit.failure(store.open, folder .. "/r").message, "newer lgelu")
    h5.with(folder .. "/r/run.h5", "a", function(f) f:set_attr("/", "format_version", 1) end)
    has(kit.failure(store.open, folder .. "/r").message, "/epochs/epoch", "no such data set")
  end)

  it("refuses a run that is damaged or cut short, wherever", function()
    kit.run(folder .. "/r", 3):finish("done")
    local path = folder .. "/r/run.h5"
    local good = kit.slurp(path)
    math.randomseed(2)
    for i = 1, 100 do
      local at = math.random(#good - 64)
      kit.spit(path, i % 2 == 0 and good:sub(1, at)
        or good:sub(1, at - 1) .. string.char((good:byte(at) + 1) % 256) .. good:sub(at + 1))
      has(kit.failure(store.open, folder .. "/r").message, path)
      has(kit.failure(store.reopen, folder .. "/r").message, path)
    end
    local runs, damaged = store.list(folder)
    assert.equal(0, #runs)
    has(damaged[1].message, path)
  end)

  it("refuses attributes that say what cannot be", function()
    local path = folder .. "/r/run.h5"
    local function refused(attrs, ...)
      kit.remove(folder .. "/r")
      kit.run(folder .. "/r", 1):finish("done")
      h5.with(path, "a", function(f)
        for name, value in pairs(attrs) do f:set_attr("/", name, value or nil) end
      end)
      has(kit.failure(store.open, folder .. "/r").message, path .. ": attribute", ...)
    end
    refused({ status = "gone" }, "'status' is gone, expected running, done, failed or stopped")
    refused({ status = false }, "'status' is nil")
    refused({ weights = "first" }, "'weights' is first, expected best or last")
    refused({ weights = "last" }, "'weights' is last, but the group /hardened")
  end)

  it("lists runs and finds them by folder, file or the beginning of a name", function()
    for _, name in ipairs({ "mlp-abc-s1", "mlp-abd-s1", "vit-0-s1" }) do
      kit.run(folder .. "/" .. name, 1):finish("done")
    end
    lfs.mkdir(folder .. "/not-a-run")
    local runs, damaged = store.list(folder)
    assert.equal(3, #runs)
    assert.same({}, damaged)
    assert.equal(folder .. "/mlp-abd-s1", runs[2].dir)
    assert.equal(1, #store.list(folder .. "/vit-0-s1"))
    assert.same({}, (store.list(folder .. "/none")))
    local function resolve(name) return store.resolve(name, folder) end
    assert.equal(folder .. "/vit-0-s1", resolve("vit"))
    assert.equal(folder .. "/vit-0-s1", resolve("vit-0-s1"))
    assert.equal(folder .. "/vit-0-s1", resolve(folder .. "/vit-0-s1/"))
    assert.equal(folder .. "/vit-0-s1", resolve(folder .. "/vit-0-s1/run.h5"))
    has(kit.failure(resolve, "mlp-ab").message, "mlp-abc-s1, mlp-abd-s1")
    has(kit.failure(resolve, "mpl-abc-s1").message, "did you mean 'mlp-abc-s1'?")
    has(kit.failure(resolve, folder .. "/not-a-run").message, "no run.h5")
    has(kit.failure(store.resolve, "x", folder .. "/none").message, "it has no runs")
  end)
end)

describe("a checkpoint", function()
  local folder, path
  before_each(function()
    folder = kit.folder()
    path = folder .. "/last.ckpt.h5"
  end)
  after_each(function() kit.remove(folder) end)

  local function state()
    return {
      attrs = { step = 1234, lr = 0.1, best = -math.huge, hash = "abc", name = "größer" },
      tensors = {
        ["/params/fc1.weight"] = tensor.tensor({ { 1, 2 }, { 3, 4.5 } }, "f32"),
        ["/params/block/1/s"] = tensor.tensor({ 0.1, -0.2 }, "f64"),
        ["/order"] = tensor.tensor({ 3, 1, 2 }, "i32"),
      },
    }
  end

  it("comes back as it was saved", function()
    store.save_checkpoint(path, state())
    store.save_checkpoint(path, state())
    local back, want = store.load_checkpoint(path), state()
    assert.same(want.attrs, back.attrs)
    for name, t in pairs(want.tensors) do
      assert.same(t:totable(), back.tensors[name]:totable())
      assert.equal(t.dtype, back.tensors[name].dtype)
      back.tensors[name] = nil
    end
    assert.same({}, back.tensors)
    assert.same({ "last.ckpt.h5" }, entries(folder))
  end)

  it("that is cut short, damaged, changed, missing or something else is refused with what to do", function()
    store.save_checkpoint(path, state())
    local good = kit.slurp(path)
    math.randomseed(3)
    for i = 1, 60 do
      local at = i <= 10 and #good - i or math.random(#good - 1)
      kit.spit(path, i % 2 == 0 and good:sub(1, at)
        or good:sub(1, at - 1) .. string.char((good:byte(at) + 128) % 256) .. good:sub(at + 1))
      has(kit.failure(store.load_checkpoint, path).message, path, "mv " .. folder .. "/best.ckpt.h5 " .. path,
        "delete it")
    end
    kit.spit(path, good)
    kit.python(("f = h5py.File(%q, 'r+'); f.attrs['step'] = 1; f.close()"):format(path))
    has(kit.failure(store.load_checkpoint, path).message, path, "checksum is missing", "another program")
    h5.with(path, "w", function(f) f:set_attr("/", "format", "lgelu-run") end)
    has(kit.failure(store.load_checkpoint, path).message, "not a checkpoint", "'lgelu-run'")
    local e = kit.failure(store.load_checkpoint, folder .. "/none.h5")
    has(e.message, folder .. "/none.h5", "No such file")
    assert.is_nil(e.message:find("delete it", 1, true))
  end)

  it("of 11 million parameters with two moments takes about a second of this process's time", function()
    local big = { attrs = { step = 1 }, tensors = {} }
    for _, group in ipairs({ "params", "m", "v" }) do
      for layer = 1, 11 do
        big.tensors[("/%s/conv%d.weight"):format(group, layer)] = tensor.zeros(512, 512, 4)
      end
    end
    local wall, cpu = kit.clock(), os.clock()
    store.save_checkpoint(path, big)
    wall, cpu = kit.clock() - wall, os.clock() - cpu
    print(("checkpoint of %.0f MB: %.2f s of CPU, %.2f s"):format(lfs.attributes(path, "size") / 1e6, cpu, wall))
    assert.is_true(cpu < (os.getenv("LGELU_PRELOAD") and 20 or 2.5))
  end)
end)
