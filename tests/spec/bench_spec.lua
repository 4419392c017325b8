--- Specification of lgelu.bench and lgelu bench: the fields of a record, the arithmetic of the case gate, options.
local cjson = require("cjson")

-- What the machine would have measured, so that the arithmetic has a right answer and takes no time.
local fake = { peak_mb = function() return 123 end }
local calls

package.loaded["lgelu.machine"] = fake
package.loaded["lgelu.bench"], package.loaded["lgelu.bench.gate"], package.loaded["lgelu.bench.gemm"] = nil, nil, nil
local bench = require("lgelu.bench")
local cli = require("lgelu.cli")
local C = require("lgelu.C")
require("lgelu.bench.gate")
require("lgelu.bench.gemm")
package.loaded["lgelu.machine"] = nil

--- Runs main(argv) in this process; returns status and what it wrote, or raises.
local function main(...)
  local written, write = {}, io.write
  io.write = function(...) -- luacheck: ignore 122
    for _, text in ipairs({ ... }) do written[#written + 1] = text end
    return io.stdout
  end
  package.loaded["lgelu.terminal"] = { isatty = function() return false end }
  local ok, result = pcall(cli.main, { ... })
  package.loaded["lgelu.terminal"] = nil
  io.write = write -- luacheck: ignore 122
  if not ok then error(result, 0) end
  return result, table.concat(written)
end

describe("lgelu bench", function()
  before_each(function()
    calls = 0
    fake.copy = function(_, _, floats)
      calls = calls + 1
      return 8 * floats / (calls == 2 and 0.05 or 0.08) -- the second round is the undisturbed one
    end
    fake.gate = function() return calls == 3 and 0.0625 or 0.1, calls == 1 and 0.1 or 0.3 end
    fake.fma = function() return 200 end
    fake.gemm = function() return 150 end
  end)

  it("gives the gate's best passes as fractions of the best copy, 8 and 12 bytes an element", function()
    local record = bench.run("gate")[1]
    assert.equal("gate", record.case)
    assert.equal("lambda_gelu", record.gate)
    assert.equal(2 ^ 26, record.batch)
    assert.near(0.8, record.forward_fraction, 1e-12)
    assert.near(0.75, record.backward_fraction, 1e-12)
    assert.near(162.5, record.step_ms, 1e-9)
    assert.near(2 ^ 26 / 0.1625, record.samples_per_s, 1e-3)
    assert.equal(123, record.peak_mb)
  end)

  it("prints one line of JSON a record, with the fields that scripts rely on", function()
    for _, case in ipairs({ "gate", "gemm" }) do
      local status, text = main("bench", case, "--json")
      assert.equal(0, status)
      local lines = 0
      for line in text:gmatch("[^\n]+") do
        lines = lines + 1
        local record = cjson.decode(line)
        for _, field in ipairs({ "case", "gate", "batch", "threads", "step_ms", "samples_per_s", "peak_mb" }) do
          assert.not_nil(record[field], field)
        end
      end
      assert.equal(#bench.run(case), lines)
    end
  end)

  it("prints a table whose columns are aligned", function()
    local _, text = main("bench", "gate", "--gate", "relu")
    local head, row = text:match("^(.-)\n.-\n(.-)\n$")
    assert.truthy(head:find("forward/copy", 1, true))
    assert.truthy(row:find("relu", 1, true))
    assert.equal(#head, #row)
  end)

  it("measures with the threads asked for and leaves the team as it was", function()
    C.check(C.lib.lg_init(2))
    assert.equal(1, bench.run("gate", { threads = 1 })[1].threads)
    assert.equal(2, C.lib.lg_threads())
    fake.gate = function() error("stopped", 0) end
    assert.has_error(function() bench.run("gate", { threads = 1 }) end, "stopped")
    assert.equal(2, C.lib.lg_threads())
  end)

  it("refuses unknown cases, unknown gates, and gates where there are none", function()
    local function message(...)
      local ok, e = pcall(main, ...)
      assert.is_false(ok)
      assert.equal("usage", e.kind)
      return e.message
    end
    assert.truthy(message("bench", "gaet"):find("no bench case 'gaet', did you mean 'gate'?", 1, true))
    assert.truthy(message("bench", "gate", "--gate", "rleu"):find("no gate 'rleu', did you mean 'relu'?", 1, true))
    assert.truthy(message("bench", "gemm", "--gate", "relu"):find("bench case gemm has no gate", 1, true))
    assert.truthy(message("bench", "gate", "--threads", "0"):find("--threads: found '0'", 1, true))
  end)

  it("stops at Ctrl-C between two rounds", function()
    C.ffi.cdef("int raise(int signal_number);")
    for _, case in ipairs({ "gate", "gemm" }) do
      local rounds = 0
      C.lib.lg_interrupt_install()
      local ok, e = pcall(bench.run, case, { threads = 1, say = function()
        rounds = rounds + 1
        C.ffi.C.raise(2)
      end })
      C.lib.lg_interrupt_clear()
      assert.is_false(ok)
      assert.are.equal(130, e.status)
      assert.are.equal("bench " .. case .. ": stopped by Ctrl-C", e.message)
      assert.are.equal(1, rounds)
    end
  end)
end)

describe("lgelu.machine", function()
  local machine = require("lgelu.machine")

  it("measures", function()
    local forward, backward = machine.gate("silu", 1, 1, 0.02, 1e5)
    assert.is_true(forward > 0 and forward < 10 and backward > 0 and backward < 10)
    assert.is_true(machine.gemm(1, 0.02, { 32, 32, 32, trans_a = true }) > 0)
    assert.is_true(machine.copy(1, 0.02, 1e5) > 0)
    assert.is_true(machine.fma(1, 0.02) > 0)
    assert.is_true(machine.peak_mb() > 1)
  end)

  it("says what is wrong with a request", function()
    local ok, e = pcall(machine.gemm, 1, 0.02, { 0, 1, 1 })
    assert.is_false(ok)
    assert.truthy(e.message:find("m, n, k = 0, 1, 1", 1, true))
  end)
end)
