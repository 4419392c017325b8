--- lgelu doctor: is everything here that lgelu needs, and is it as fast as this machine can be? A table of facts and
-- figures, then warnings, each with what to do. Exit status 0 when lgelu works, warnings or not; 1 when it does not.
-- What it is not: the measuring itself (lgelu.machine).
local errors = require("lgelu.errors")

local verb = {}

verb.summary = "Check this machine: versions, BLAS kernel and speed, memory, data sets."

function verb.setup(parser)
  parser:flag("--json", "One JSON object instead of the table.")
  parser:epilog("Variables of the environment that change what it shows:\n"
    .. "  OPENBLAS_CORETYPE   OpenBLAS's kernel (Haswell, SkylakeX, …); by default the best that the CPU has\n"
    .. "  LGELU_ISA           base, avx2 or avx512: lowers the instruction set of lgelu's own kernels\n"
    .. "  LGELU_THREADS       threads; else OMP_NUM_THREADS; by default as many as the process may use\n"
    .. "  LGELU_DATA          folders with data sets, separated by colons")
end

-- Short: all figures together take less than two seconds, and the fastest pass of each counts.
local SECONDS, COPY_FLOATS = 0.15, 2 ^ 25
-- Large enough for the kernel's full speed; a product takes a few milliseconds, so that some pass is undisturbed.
local SHAPE = { 512, 512, 512 }

-- What OpenBLAS would do had the user not named a kernel, measured in a process of its own, as a kernel is chosen when
-- the library is loaded. Returns the kernel and GFLOP/s on one thread; nil where this is not the program lgelu.
local function measure_default_kernel()
  local has_program, program = pcall(require, "lgelu.program")
  if not has_program then return nil end
  local code = ("local m = require('lgelu.machine') "
    .. "print(('kernel %%s %%.17g'):format(m.facts().blas.core, m.gemm(1, %g, {%d, %d, %d})))")
    :format(SECONDS, unpack(SHAPE))
  local exe = "'" .. program.exe:gsub("'", "'\\''") .. "'"
  local pipe = io.popen(("env -u OPENBLAS_CORETYPE %s repl -e \"%s\" 2>/dev/null"):format(exe, code))
  if not pipe then return nil end
  local text = pipe:read("*a")
  pipe:close()
  local core, gflops = text:match("kernel (%S+) (%S+)")
  return core, tonumber(gflops)
end

-- Everything that is shown, as one table: the facts of lgelu.machine, data and figures.
local function examine()
  local machine = require("lgelu.machine")
  local found = machine.facts()
  found.data = machine.data_sets()
  found.load = machine.load()
  local speed = {
    fma_1 = machine.fma(1, SECONDS),
    gemm_1 = machine.gemm(1, SECONDS, SHAPE),
    gemm_all = machine.gemm(0, SECONDS, SHAPE),
    copy_all = machine.copy(0, SECONDS, COPY_FLOATS),
  }
  if found.blas.origin == "environment" then
    speed.default_core, speed.default_gemm_1 = measure_default_kernel()
  end
  speed.gemm_1 = math.max(speed.gemm_1, machine.gemm(1, SECONDS, SHAPE))
  speed.fma_1 = math.max(speed.fma_1, machine.fma(1, SECONDS / 3))
  found.speed = speed
  return found
end

-- -- warnings: each gets the examination and returns a sentence, or nil ----------------------------------------------

local warnings = {}

-- A difference below this is noise.
local CLEARLY_FASTER = 1.15

function warnings.kernel(f)
  local ratio = (f.speed.default_gemm_1 or 0) / f.speed.gemm_1
  if ratio < CLEARLY_FASTER then return nil end
  return ("OPENBLAS_CORETYPE in the environment chooses the kernel %s; %s does %.0f GFLOP/s on one thread here, %.1f "
    .. "times as many: unset OPENBLAS_CORETYPE, or set it to %s"):format(f.blas.core, f.speed.default_core,
    f.speed.default_gemm_1, ratio, f.speed.default_core)
end

function warnings.selftest(f)
  if not f.blas.origin:find("^fallback") then return nil end
  return ("the kernel that OpenBLAS should use here computes wrong values; lgelu uses %s instead: install another "
    .. "version of OpenBLAS (Debian: libopenblas0-pthread)"):format(f.blas.core)
end

function warnings.unknown_kernel(f)
  local named = os.getenv("OPENBLAS_CORETYPE")
  if f.blas.origin ~= "OpenBLAS's own choice" or not named or named == "" then return nil end
  return ("OPENBLAS_CORETYPE = '%s' is no kernel of this OpenBLAS, which took %s: unset it"):format(named, f.blas.core)
end

function warnings.slow_blas(f)
  local fraction = f.speed.gemm_1 / f.speed.fma_1
  if fraction >= 0.4 or warnings.kernel(f) then return nil end
  return ("OpenBLAS reaches only %.0f %% of the processor's multiply-add peak: try OPENBLAS_CORETYPE=Haswell or "
    .. "SkylakeX, or another version of OpenBLAS"):format(100 * fraction)
end

function warnings.isa(f)
  local wish = os.getenv("LGELU_ISA")
  if not wish or wish == "" then return nil end
  if wish ~= f.isa then
    return ("LGELU_ISA = '%s' is unknown or more than this CPU has; in use is %s: unset it, or set base, avx2 or "
      .. "avx512"):format(wish, f.isa)
  end
  return ("LGELU_ISA = '%s' decides the instruction set: unset it for the CPU's best"):format(wish)
end

function warnings.threads(f)
  if f.threads >= f.cpus then return nil end
  return ("lgelu uses %d of %d CPUs: LGELU_THREADS, OMP_NUM_THREADS, the process's CPU set or its control group "
    .. "says so"):format(f.threads, f.cpus)
end

function warnings.load(f)
  if f.load < 0.3 * f.cpus then return nil end
  return ("other programs use the processor (load %.1f on %d CPUs): the figures above are lower than the machine's")
    :format(f.load, f.cpus)
end

function warnings.memory(f)
  if f.memory.available and f.memory.available < 1e9 then
    return ("only %.1f GB of memory are free: large models will not fit"):format(f.memory.available / 1e9)
  end
end

function warnings.jit(f)
  if not f.luajit.jit then return "LuaJIT's compiler is off: recipes and data sources in Lua will be slow" end
end

function warnings.gnuplot(f)
  if not f.gnuplot then return "gnuplot is missing, so lgelu figure cannot draw: apt-get install gnuplot-nox" end
end

-- Sets that come as packages are expected; the others are fetched by those who want them.
function warnings.data(f)
  local missing = {}
  for _, set in ipairs(f.data) do
    if not set.folder and set.package then missing[#missing + 1] = set.name end
  end
  if #missing == 0 then return nil end
  return ("data sets that are not here: %s; 'lgelu data get NAME' fetches one"):format(table.concat(missing, ", "))
end

-- In the order of the table.
local ORDER = {
  "kernel", "selftest", "unknown_kernel", "slow_blas", "isa", "threads", "memory", "jit", "gnuplot", "data", "load",
}

local function advice(found)
  local list = {}
  for _, name in ipairs(ORDER) do list[#list + 1] = warnings[name](found) end
  return list
end

-- -- output ----------------------------------------------------------------------------------------------------------

local function rows(f)
  local s, list = f.speed, {}
  local function row(title, format, ...) list[#list + 1] = { title, format:format(...) } end
  row("version", "%s", f.version)
  row("commit", "%s", (f.commit:gsub("^(%x+) dirty", "%1, with changes")))
  row("CPU", "%s", f.cpu)
  row("instruction set", "%s", f.isa)
  row("threads", "%d of %d CPUs", f.threads, f.cpus)
  row("memory", "%.1f GB, of which %.1f GB are free", (f.memory.total or 0) / 1e9, (f.memory.available or 0) / 1e9)
  row("BLAS", "%s", f.blas.name)
  row("BLAS kernel", "%s (%s)", f.blas.core,
    ({ environment = "by OPENBLAS_CORETYPE", cpuid = "by CPUID" })[f.blas.origin] or f.blas.origin)
  row("multiply-add peak", "%.0f GFLOP/s on 1 thread", s.fma_1)
  row("sgemm, 1 thread", "%.0f GFLOP/s, %.0f %% of the peak", s.gemm_1, 100 * s.gemm_1 / s.fma_1)
  row(("sgemm, %d thread%s"):format(f.threads, f.threads == 1 and "" or "s"), "%.0f GFLOP/s", s.gemm_all)
  row("copy bandwidth", "%.1f GB/s, read and write counted", s.copy_all / 1e9)
  row("HDF5", "%s", f.hdf5)
  row("LuaJIT", "%s, %s, compiler %s", f.luajit.version, f.luajit.gc64 and "GC64" or "without GC64",
    f.luajit.jit and "on" or "off")
  row("gnuplot", "%s", f.gnuplot or "missing")
  for _, set in ipairs(f.data) do
    row("data " .. set.name, "%s", set.folder or "not here: lgelu data get " .. set.name)
  end
  return list
end

-- Lines of at most 100 characters, as far as the words allow.
local function wrapped(text)
  local lines = { "" }
  for word in text:gmatch("%S+") do
    if #lines[#lines] + 1 + #word > 100 then lines[#lines + 1] = " " end
    lines[#lines] = lines[#lines] .. (lines[#lines] == "" and "" or " ") .. word
  end
  return table.concat(lines, "\n")
end

local function print_table(found, list)
  local width, lines = 0, rows(found)
  for _, row in ipairs(lines) do width = math.max(width, #row[1]) end
  for _, row in ipairs(lines) do io.write(row[1], (" "):rep(width - #row[1] + 2), row[2], "\n") end
  for _, text in ipairs(list) do io.write("\n", wrapped("warning: " .. text), "\n") end
  io.write(#list == 0 and "\nAll is well.\n" or "\nlgelu works; see the warnings.\n")
end

function verb.run(given)
  local json = require("lgelu.recipe.json")
  local ok, found = pcall(examine)
  if not ok then
    if not errors.is(found) then error(found, 0) end
    if given.json then
      io.write(json.encode({ status = "failed", error = found.message }), "\n")
    else
      io.write("lgelu does not work here: ", found.message, "\n")
    end
    return 1
  end
  local list = advice(found)
  if given.json then
    found.status, found.warnings = "ok", list
    io.write(json.encode(found), "\n")
  else
    print_table(found, list)
  end
  return 0
end

return verb
