--- The machine as lgelu finds it: facts (versions, CPU, memory, programs) and figures (what it can do now).
-- What it is not: advice, which is lgelu doctor's. Called by lgelu doctor and lgelu bench.
local C = require("lgelu.C")
local ffi, lib = C.ffi, C.lib

local machine = {}

-- The whole of a small file; "" when it cannot be read.
local function read(path)
  local file = io.open(path)
  if not file then return "" end
  local text = file:read("*a") or ""
  file:close()
  return text
end

-- The first line that a command prints; nil when it prints none. Its messages are dropped.
local function first_line(command)
  local pipe = io.popen(command .. " 2>/dev/null")
  if not pipe then return nil end
  local line = pipe:read("*l")
  pipe:close()
  return line
end

-- A "Name:  123 kB" entry of a /proc file, in bytes; nil when it is not there.
local function proc_bytes(path, name)
  local kib = read(path):match(name .. ":%s*(%d+) kB")
  return kib and tonumber(kib) * 1024
end

--- The largest resident size that the process has had, in MB (10^6 bytes).
function machine.peak_mb()
  return proc_bytes("/proc/self/status", "VmHWM") / 1e6
end

--- How many programs want a CPU: the load average of the last minute; 0 when it is not known.
function machine.load()
  return tonumber(read("/proc/loadavg"):match("^%S+")) or 0
end

--- CPUs that the system has switched on.
function machine.cpus()
  local n = 0
  for _ in read("/proc/stat"):gmatch("\ncpu%d+") do n = n + 1 end
  return n
end

-- Bytes that the process may use: the machine's, or its control group's when that is less.
local function memory()
  local total, available = proc_bytes("/proc/meminfo", "MemTotal"), proc_bytes("/proc/meminfo", "MemAvailable")
  local limit = tonumber(read("/sys/fs/cgroup/memory.max"):match("^%d+"))
  if limit and total and limit < total then
    local used = tonumber(read("/sys/fs/cgroup/memory.current"):match("^%d+")) or 0
    total, available = limit, math.min(available, math.max(limit - used, 0))
  end
  return total, available
end

--- Facts: version, commit (with "dirty"), cpu, isa, threads, cpus, blas = {name, core, origin}, memory = {total,
-- available} in bytes, hdf5, luajit = {version, gc64, jit}, gnuplot (its version; nil when there is none).
function machine.facts()
  local total, available = memory()
  return {
    version = ffi.string(lib.lg_version()),
    commit = ffi.string(lib.lg_build_info()):match("commit (.*)$") or "unknown",
    cpu = ffi.string(lib.lg_cpu_name()):match("^(.*) %(%w+%)$"),
    isa = ffi.string(lib.lg_isa()),
    threads = lib.lg_threads(),
    cpus = machine.cpus(),
    blas = {
      name = ffi.string(lib.lg_blas_name()),
      core = ffi.string(lib.lg_blas_core()),
      origin = ffi.string(lib.lg_blas_origin()),
    },
    memory = { total = total, available = available },
    hdf5 = ffi.string(lib.lg_h5_version()),
    luajit = { version = jit.version:gsub("^LuaJIT ", ""), gc64 = ffi.abi("gc64"), jit = (jit.status()) },
    gnuplot = (first_line("gnuplot --version") or ""):match("%d+%.%d+"),
  }
end

--- Every data set with files: list of { name =, folder = where it was found, or nil, package = Debian's that brings it,
-- or nil }.
function machine.data_sets()
  local files, entries = require("lgelu.data.files"), require("lgelu.data.manifest").all()
  local sets = {}
  for name, entry in pairs(entries) do
    sets[#sets + 1] = { name = name, folder = (files.locate(entry)), package = entry.debian }
  end
  table.sort(sets, function(a, b) return a.name < b.name end)
  return sets
end

local out = ffi.typeof("double[2]")

--- GFLOP/s of multiply-adds on registers: the most that any kernel could reach.
-- @param threads  how many at once; 0: the team
-- @param seconds  how long to measure; the fastest pass counts, here and below
function machine.fma(threads, seconds)
  local value = out()
  C.check(lib.lg_probe_fma(value, threads, seconds))
  return value[0]
end

--- GFLOP/s of sgemm [m, k]·[k, n]; each thread multiplies by itself.
-- @param shape  { m, n, k, trans_a = false, trans_b = false }; default 1024³
function machine.gemm(threads, seconds, shape)
  local value, s = out(), shape or { 1024, 1024, 1024 }
  C.check(lib.lg_probe_gemm(value, s[1], s[2], s[3], s.trans_a and 1 or 0, s.trans_b and 1 or 0, threads, seconds))
  return value[0]
end

--- Bytes per second of y = x, read and write counted.
function machine.copy(threads, seconds, floats)
  local value = out()
  C.check(lib.lg_probe_copy(value, floats, threads, seconds))
  return value[0]
end

--- Seconds of an activation's forward and backward over floats elements.
-- @param activation  a name of the list "activation"
function machine.gate(activation, lambda, threads, seconds, floats)
  local value = out()
  local index = lib.lg_list_find("activation", activation)
  C.check(lib.lg_probe_gate(value, value + 1, index, lambda, floats, threads, seconds))
  return value[0], value[1]
end

return machine
