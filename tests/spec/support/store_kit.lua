--- What the specs of the store share: a temporary folder, h5py, an example run, child processes.
local ffi = require("ffi")
local lfs = require("lfs")
local store = require("lgelu.store")

local kit = {}

-- A program that a spec starts and that loads the engine needs the sanitizer's runtime again: tests/run_spec.lua
-- takes it from its environment.
local preload = os.getenv("LGELU_PRELOAD")
kit.luajit = (preload and "LD_PRELOAD=" .. preload .. " " or "") .. "luajit"

function kit.shell(command)
  local pipe = assert(io.popen(command .. " 2>&1; echo $?"))
  local output = pipe:read("*a")
  pipe:close()
  local text, status = output:match("^(.-)(%d+)\n$")
  return text, tonumber(status)
end

function kit.folder()
  return (kit.shell("mktemp -d"):gsub("\n", ""))
end

function kit.remove(folder)
  kit.shell("rm -rf '" .. folder .. "'")
end

function kit.slurp(path)
  local file = assert(io.open(path, "rb"))
  local data = file:read("*a")
  file:close()
  return data
end

function kit.spit(path, data)
  local file = assert(io.open(path, "wb"))
  file:write(data)
  assert(file:close())
end

--- Runs Python with h5py (as h5py) and sys; fails with what it printed when it fails.
function kit.python(code)
  local script = os.tmpname()
  kit.spit(script, "import h5py, sys\nimport numpy as np\n" .. code)
  local text, status = kit.shell("/usr/bin/python3 " .. script)
  os.remove(script)
  assert(status == 0, text)
  return text
end

--- The error object that fn(…) raises.
function kit.failure(fn, ...)
  local ok, e = pcall(fn, ...)
  assert(not ok, "no error was raised")
  assert(type(e) == "table" and e.message, tostring(e))
  return e
end

function kit.info(changes)
  local info = {
    attrs = {
      name = "größer", recipe = "return {} -- λ\n", config = '{"epochs":3,"gate":{"t":1}}', hash = "abcdef0123456789",
      seed = 7, lgelu_version = "0.1.0", git_commit = "none", git_dirty = 0, cpu = "a CPU", blas = "OpenBLAS",
      blas_core = "Haswell", threads = 2, data_sha256 = "00",
    },
    gates = {
      names = { "gate1", "gate2", "gate3" }, lambda = { 1.1, 1.2, 1.3 }, s = { -2.25, -1.5, -1 }, t = 1, c = 3,
      init = "ascending", kind = "lambda_gelu",
    },
  }
  for key, value in pairs(changes or {}) do
    info.attrs[key] = value
  end
  return info
end

function kit.row(epoch, gates)
  local row = {
    epoch = epoch, step = 100 * epoch, lr = 1e-3 / epoch, train_loss = 1 / epoch, train_score = 0.5 + epoch / 1000,
    val_loss = 1.5 / epoch, val_score = 0.4 + epoch / 1000, seconds = 0.25, lambda = {}, s = {}, grad_lambda_rms = {},
  }
  for l = 1, gates or 3 do
    row.lambda[l], row.s[l], row.grad_lambda_rms[l] = 1 + l / 10 + epoch, -l + epoch, l / epoch
  end
  return row
end

--- A run of that many epochs, still running; the caller finishes or releases it.
function kit.run(dir, epochs, changes)
  local run = store.create(dir, kit.info(changes))
  for epoch = 1, epochs do
    run:append(kit.row(epoch))
  end
  return run
end

function kit.sleep(seconds)
  os.execute(("sleep %.3f"):format(seconds))
end

function kit.clock()
  return require("lgelu.C").lib.lg_clock()
end

--- Waits, a minute at most, until a child has written something to a file.
function kit.wait_for(path)
  local start = kit.clock()
  while (lfs.attributes(path, "size") or 0) == 0 do
    assert(kit.clock() - start < 60, path .. " stays empty")
    kit.sleep(0.02)
  end
end

kit.ffi = ffi
return kit
