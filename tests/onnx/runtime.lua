--- runtime: onnxruntime for tests, as Node's package onnxruntime-node, which holds the CPU library. It is installed
-- once into build/onnxruntime, without install scripts (they would fetch GPU libraries). Where there is no node, no npm
-- or no network, runtime.missing() says why, and tests that need it are skipped. Node and npm are not in packages.txt:
-- Debian's npm brings hundreds of packages, and no other of lgelu's parts needs them.
-- Used by export_spec.lua and tests/onnx/compare.lua, both from the top of the checkout.
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")

local runtime = {}

local FOLDER, QUIET = "build/onnxruntime", "--ignore-scripts --no-audit --no-fund --loglevel=error --fetch-retries=1"

-- Exit status and output of a shell command; sanitizers' preloads are for lgelu alone.
local function shell(command)
  local pipe = io.popen(("(unset LD_PRELOAD; %s) 2>&1; echo status=$?"):format(command))
  local output, status = pipe:read("*a"):match("^(.*)status=(%d+)\n$")
  pipe:close()
  return tonumber(status), output
end

local function installed() return shell("test -d " .. FOLDER .. "/node_modules/onnxruntime-node") == 0 end

-- Installed beside its place, then moved there: two tests may be at it.
local function install()
  return shell(([[
    command -v node >/dev/null && command -v npm >/dev/null || { echo "there is no node or no npm"; exit 1; }
    new=$(mktemp -d build/onnxruntime.XXXXXX) && cp tests/onnx/package.json "$new" && cd "$new" &&
    timeout 300 npm install %s >npm.log 2>&1 || { tail -n 3 npm.log; cd ../..; rm -rf "$new"; exit 1; }
    cd ../.. && { mv -T "$new" %s 2>/dev/null || rm -rf "$new"; }]]):format(QUIET, FOLDER))
end

--- nil, or why onnxruntime cannot be used here. The first call may take a minute: it installs.
function runtime.missing()
  if installed() then return nil end
  local status, output = install()
  if status == 0 and installed() then return nil end
  return "SKIPPED: onnxruntime-node is not to be had here: " .. output:gsub("%s+$", "")
end

local function write(path, bytes)
  local file = assert(io.open(path, "wb"))
  file:write(bytes)
  file:close()
end

-- A file's float32 numbers as a list; the file is removed.
local function take_floats(path)
  local file = assert(io.open(path, "rb"))
  local bytes, list = file:read("*a"), {}
  file:close()
  os.remove(path)
  local numbers = C.ffi.cast("const float *", bytes)
  for i = 1, #bytes / 4 do
    list[i] = numbers[i - 1]
  end
  return list
end

--- Runs ONNX files.
-- @param jobs  list of { model = file, x = tensor f32, or i32 of ids, [rows, …], batch = rows a run }
-- @return a list of logits (a flat list of numbers) for each job
function runtime.run(jobs)
  local root, list, plan = require("lfs").currentdir(), {}, os.tmpname()
  for i, job in ipairs(jobs) do
    local x = job.x:contiguous()
    list[i] = { model = job.model:sub(1, 1) == "/" and job.model or root .. "/" .. job.model, input = os.tmpname(),
      output = os.tmpname(), rows = x.shape[1], batch = job.batch, dims = { select(2, unpack(x.shape)) },
      ids = x.dtype == "i32" }
    write(list[i].input, C.ffi.string(base.data(x), x.size * 4))
  end
  write(plan, require("cjson").encode(list))
  local status, message = shell(("cd %s && node '%s/tests/onnx/run.js' '%s'"):format(FOLDER, root, plan))
  os.remove(plan)
  local results = {}
  for i, job in ipairs(list) do
    os.remove(job.input)
    results[i] = take_floats(job.output)
  end
  if status ~= 0 then error("onnxruntime: " .. message, 0) end
  return results
end

return runtime
