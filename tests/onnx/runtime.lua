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

--- The logits of x in an ONNX file: a flat list of numbers.
-- @param x  tensor f32 [rows, …]    @param batch  rows a run
function runtime.logits(model, x, batch)
  local input, output, shape = os.tmpname(), os.tmpname(), x.shape
  x = x:contiguous()
  local file = assert(io.open(input, "wb"))
  file:write(C.ffi.string(base.data(x), x.size * 4))
  file:close()
  local root, top = io.popen("pwd"):read("*l"), model:sub(1, 1) == "/" and "" or "../../"
  local status, message = shell(("cd %s && node '%s/tests/onnx/run.js' '%s%s' '%s' '%s' %d %d %s"):format(FOLDER, root,
    top, model, input, output, shape[1], batch, table.concat(shape, " ", 2)))
  file = assert(io.open(output, "rb"))
  local bytes, list = file:read("*a"), {}
  file:close()
  os.remove(input)
  os.remove(output)
  if status ~= 0 then error("onnxruntime: " .. message, 0) end
  local numbers = C.ffi.cast("const float *", bytes)
  for i = 1, #bytes / 4 do
    list[i] = numbers[i - 1]
  end
  return list
end

return runtime
