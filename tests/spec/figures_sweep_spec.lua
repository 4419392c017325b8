--- Specification of `lgelu figure` and `lgelu compare` on a sweep that was really trained: from its folder, from its
-- condensed file, and with a run that is damaged.

local gnuplot = require("lgelu.plot.gnuplot")
local runs = dofile("tests/spec/support/runs.lua")

local place = os.tmpname()
os.remove(place)
assert(os.execute(("mkdir '%s'"):format(place)) == 0)
local DIR, FILE = place .. "/tiny", place .. "/tiny.h5"

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function has(text, words) assert.truthy(text:find(words, 1, true), ("'%s' is not in: %s"):format(words, text)) end

local function succeeds(...)
  local status, text = runs.program(...)
  assert.equal(0, status, text)
  return text
end

describe("figures of a trained sweep", function()
  setup(function()
    write(place .. "/tiny.lua", [[
return {
  name = "tiny", recipe = "moons", after = "swap",
  grid = { ["gate.c"] = { 1, 9 }, ["gate.init"] = { "ascending" } },
  baseline = { ["gate.kind"] = "gelu" },
}
]])
    succeeds("sweep", place .. "/tiny.lua", "--budget", "smoke", "--jobs", "1", "--threads", "1", "--out", DIR,
      "--quiet")
  end)

  teardown(function() os.execute(("rm -r '%s'"):format(place)) end)

  it("come out of its folder and of its condensed file alike", function()
    assert.equal(DIR .. "/fig/fig2.png\n", succeeds("figure", "fig2", DIR))
    succeeds("sweep", "--condense", DIR, "-o", FILE)
    assert.equal(place .. "/fig2.png\n", succeeds("figure", "fig2", FILE))
    gnuplot.check_picture(place .. "/fig2.png")
    assert.equal(read(DIR .. "/fig/fig2.tsv"), read(place .. "/fig2.tsv"))
    assert.equal(read(DIR .. "/fig/fig2.png"), read(place .. "/fig2.png"))
    local caption = read(place .. "/fig2.txt")
    has(caption, "\nmoons: data n=")
    has(caption, "; model arch=mlp")
    has(caption, "epochs=2")
    has(caption, "n = 3 runs, of them 1 baseline; seed 1; budget smoke, 2 epochs")
    local listing = succeeds("sweep", place .. "/tiny.lua", "--budget", "smoke", "--out", DIR, "--dry-run")
    local count = 0
    for hash in listing:gmatch("  (%x%x%x%x%x%x%x%x)  ") do
      count = count + 1
      has(caption, "\n  " .. hash)
    end
    assert.equal(3, count)
  end)

  it("agree with lgelu compare, which takes both too", function()
    local text = succeeds("compare", "--format", "csv", DIR)
    assert.equal(text, succeeds("compare", "--format", "csv", FILE))
    local csv, shown = {}, {}
    for value in text:gmatch("\n[^\n]-lambda_gelu[^\n]*,([%d.e+-]+),[^,\n]*") do csv[#csv + 1] = tonumber(value) end
    for line in read(place .. "/fig2.tsv"):gmatch("\n([^\n]+)") do
      local fields = {}
      for field in line:gmatch("[^\t]+") do fields[#fields + 1] = field end
      shown[#shown + 1] = tonumber(fields[13])
    end
    assert.equal(2, #shown)
    assert.are.same(shown, csv)
    for _, format in ipairs({ "text", "markdown", "latex" }) do
      has(succeeds("compare", "--format", format, FILE), format == "latex" and "lambda\\_gelu" or "lambda_gelu")
    end
  end)

  it("draw fig4 with the ways that the sweep lacks marked", function()
    local text = succeeds("figure", "fig4", FILE, "-o", place .. "/ways.svg")
    has(text, "no run is done of the way: λ-GELU hardened, swapped")
    has(text, "no run is done of the way: ReLU from the start")
    has(read(place .. "/ways.svg"), "no run is done")
  end)

  it("leave a gap for a run whose file is damaged, and name it", function()
    local broken = succeeds("sweep", place .. "/tiny.lua", "--budget", "smoke", "--out", DIR, "--dry-run")
      :match("c=9[^\n]-  (%x%x%x%x%x%x%x%x)  ")
    write(("%s/moons-%s-s1/run.h5"):format(DIR, broken), "no longer HDF5")
    local text = succeeds("figure", "fig2", DIR)
    has(text, "c=9, init=ascending, seed 1: damaged")
    has(text, "cell t = 0.1, c = 9: no run of it is done")
    has(read(DIR .. "/fig/fig2.txt"), "Missing:")
    has(succeeds("compare", DIR), "is left out: it is damaged")
  end)

  it("end with 2 where there is no such sweep, and with 1 for a figure that it cannot be", function()
    assert.equal(2, (runs.program("figure", "fig1", place .. "/nothing")))
    assert.equal(2, (runs.program("figure", "fig1", place)))
    local status, text = runs.program("figure", "fig3", FILE)
    assert.equal(1, status)
    has(text, "gate.c differs between the cells of this sweep (1, 9, …)")
  end)
end)
