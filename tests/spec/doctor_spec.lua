--- Specification of lgelu doctor: exit status, what stands in its table and its JSON, and each warning that can be
-- brought about here.
local cjson = require("cjson")

local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"

-- Runs lgelu doctor with variables of the environment; returns exit status and output.
local function doctor(variables, options)
  local unset = "env -u OPENBLAS_CORETYPE -u LGELU_ISA -u LGELU_THREADS -u OMP_NUM_THREADS"
  local p = io.popen(("%s %s '%s' doctor %s 2>&1; echo status=$?"):format(unset, variables, program, options or ""))
  local text = p:read("*a")
  p:close()
  local output, status = text:match("^(.*)status=(%d+)\n$")
  return tonumber(status), output
end

-- One warning a line, however it was broken.
local function one_line(text)
  return (text:gsub("\n ", ""))
end

describe("lgelu doctor", function()
  local by_itself -- what it finds when nothing is set

  setup(function()
    local status, text = doctor("", "--json")
    assert.equal(0, status, text)
    by_itself = cjson.decode(text)
  end)

  it("shows versions, processor, BLAS kernel and speeds, programs, data, and ends with 0", function()
    local status, text = doctor("OMP_NUM_THREADS=1")
    assert.equal(0, status, text)
    for _, pattern in ipairs({
      "^version +%d+%.%d+%.%d+\n", "\ncommit +%x+", "\nCPU +%S", "\nthreads +1 of %d+ CPUs\n", "\nmemory +[%d.]+ GB",
      "\nBLAS +OpenBLAS %d", "\nBLAS kernel +%S+ %(", "\nsgemm, 1 thread +%d+ GFLOP/s, %d+ %% of the peak\n",
      "\ncopy bandwidth +[%d.]+ GB/s", "\nHDF5 +%d+%.%d+%.%d+\n", "\nLuaJIT +2%S+, GC64, compiler on\n",
      "\ngnuplot +%d", "\ndata fashion_mnist +%S",
    }) do
      assert.truthy(text:find(pattern), pattern .. " in\n" .. text)
    end
    for line in text:gmatch("[^\n]+") do assert.is_true(#line <= 100 or not line:find("^warning")) end
  end)

  it("gives the same as one JSON object", function()
    local found = by_itself
    assert.equal("ok", found.status)
    assert.is_true(found.threads >= 1 and found.threads <= found.cpus)
    assert.truthy(found.blas.name:find("^OpenBLAS"))
    assert.truthy(found.speed.gemm_1 > 0.01)
    -- The sanitizers slow the engine's own loop down, but not the BLAS.
    if not os.getenv("LGELU_PRELOAD") then assert.truthy(found.speed.gemm_1 < 1.2 * found.speed.fma_1) end
    assert.truthy(found.speed.copy_all > 1e8)
    assert.is_true(found.memory.available <= found.memory.total and found.memory.total > 1e8)
    assert.is_table(found.warnings)
  end)

  it("names the kernel that the user chose, and a faster one", function()
    local status, text = doctor("OPENBLAS_CORETYPE=Prescott")
    assert.equal(0, status, text)
    assert.truthy(text:find("BLAS kernel +Prescott %(by OPENBLAS_CORETYPE%)"), text)
    local blas = by_itself.blas
    if blas.origin == "cpuid" then -- the CPU has AVX: twice as fast at least
      local warning = "warning: OPENBLAS_CORETYPE in the environment chooses the kernel Prescott; %s does %%d+ GFLOP/s"
      assert.truthy(one_line(text):find(warning:format(blas.core)), text)
      assert.truthy(one_line(text):find("unset OPENBLAS_CORETYPE, or set it to " .. blas.core, 1, true), text)
    end
  end)

  it("warns of senseless settings", function()
    local status, text = doctor("LGELU_ISA=avx9 OPENBLAS_CORETYPE=Pentium9")
    assert.equal(0, status, text)
    assert.truthy(one_line(text):find("warning: LGELU_ISA = 'avx9' is unknown", 1, true), text)
    assert.truthy(one_line(text):find("warning: OPENBLAS_CORETYPE = 'Pentium9' is no kernel of this OpenBLAS", 1, true))
    text = select(2, doctor("LGELU_ISA=base"))
    assert.truthy(text:find("\ninstruction set +base\n"), text)
    assert.truthy(one_line(text):find("warning: LGELU_ISA = 'base' decides the instruction set", 1, true), text)
  end)

  it("ends with 1 when there is no BLAS kernel that computes right, and says so", function()
    local all = "LGELU_TEST_BLAS_FAIL='SkylakeX Haswell Sandybridge Cooperlake Zen Prescott Nehalem Core2'"
    local status, text = doctor(all)
    assert.equal(1, status, text)
    assert.truthy(text:find("lgelu does not work here: libopenblas.so.0 fails the start-up self-test", 1, true), text)
    status, text = doctor(all, "--json")
    assert.equal(1, status, text)
    assert.equal("failed", cjson.decode(text).status)
  end)

  it("warns when the best kernel computes wrong values and another one is used", function()
    local blas = by_itself.blas
    if blas.core ~= "SkylakeX" and blas.core ~= "Haswell" then return end -- there is none to fall back to
    local status, text = doctor("LGELU_TEST_BLAS_FAIL=" .. blas.core)
    assert.equal(0, status, text)
    assert.truthy(text:find("%(fallback after a failed self%-test%)"), text)
    assert.truthy(one_line(text):find("computes wrong values; lgelu uses %a+ instead"), text)
  end)
end)
