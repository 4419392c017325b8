--- Specification of lgelu.plot: tables, pictures and captions of the figures, and every way they can fail.

local errors = require("lgelu.errors")
local gnuplot = require("lgelu.plot.gnuplot")
local plot = require("lgelu.plot")
local runs = dofile("tests/spec/support/runs.lua")
local tsv = require("lgelu.plot.tsv")

local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)) == 0)

local function at(name) return folder .. "/" .. name end

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

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

local function fails(kind, words, f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(e, kind), tostring(e))
  assert.truthy(tostring(e):find(words, 1, true), ("'%s' is not in: %s"):format(words, tostring(e)))
end

local function lines(text)
  local list = {}
  for line in text:gmatch("[^\n]+") do list[#list + 1] = line end
  return list
end

describe("figures", function()
  teardown(function() os.execute(("rm -r '%s'"):format(folder)) end)

  it("draws a profile as png, svg and pdf, with table and caption", function()
    local run = runs.learned(at("a-abcdef12-s1"), 3, 12, 1)
    for _, extension in ipairs(gnuplot.EXTENSIONS) do
      local made = plot.figure("profile", { run }, at("one." .. extension))
      assert.equal(at("one." .. extension), made.picture)
      gnuplot.check_picture(made.picture)
      assert.equal(13, made.rows)
    end
    local rows = lines(read(at("one.tsv")))
    assert.equal("panel\trun\tgate\tgates\tepoch\tval_score\tbest\tlambda:fc1.gate\tlambda:fc2.gate\tlambda:fc3.gate",
      rows[1])
    assert.equal("1\ta-abcdef12-s1\tlambda_gelu\t3\t0\tNA\t0\t1.1\t1.1\t1.1", rows[2])
    assert.equal(14, #rows)
    assert.truthy(rows[13]:find("^1\ta%-abcdef12%-s1\tlambda_gelu\t3\t11\t0%.897[0-9]+\t1\t"), rows[13])
    local caption = read(at("one.txt"))
    local command = "lgelu figure profile " .. at("a-abcdef12-s1")
    for _, words in ipairs({ "abcdef12", "seed 1", "n = 1 run.", command, "epoch 11" }) do
      assert.truthy(caption:find(words, 1, true), words)
    end
    assert.is_false(exists(at("one.tmp.tsv")))
  end)

  it("keeps every digit in its table", function()
    local run = runs.learned(at("b"), 2, 3, 1)
    plot.figure("profile", { run }, at("digits.svg"))
    local last = lines(read(at("digits.tsv")))[5]
    local lambda = tonumber(last:match("[^\t]*$"))
    assert.equal(run:gates().lambda[4][2], lambda)
  end)

  it("draws runs without λ, with one epoch, with many gates, and several runs side by side", function()
    plot.figure("profile", { runs.learned(at("c"), 0, 5, 1) }, at("relu.svg"))
    assert.truthy(read(at("relu.svg")):find("the gates of this run are relu", 1, true))
    plot.figure("profile", { runs.learned(at("c"), 4, 1, 1) }, at("short.png"))
    assert.truthy(read(at("short.txt")):find("; 1 epoch, BVS", 1, true))
    plot.figure("profile", { runs.learned(at("c"), 40, 5, 1) }, at("deep.png"))
    local several = {
      runs.learned(at("s1"), 3, 5, 1), runs.learned(at("s2"), 0, 7, 2), runs.learned(at("s3"), 5, 5, 3),
    }
    plot.figure("profile", several, at("several.svg"))
    local text = read(at("several.svg"))
    for _, words in ipairs({ "s1", "s2", "s3", "fc5.gate" }) do assert.truthy(text:find(words, 1, true), words) end
    local rows = lines(read(at("several.tsv")))
    assert.equal(1 + 6 + 8 + 6, #rows)
    assert.truthy(rows[8]:find("^2\ts2 %(abcdef12%)\trelu\t0\t0\tNA\t0\tNA\tNA\tNA\tNA\tNA$"), rows[8])
  end)

  it("lists every gate of a legend of the greatest length", function()
    plot.figure("profile", { runs.learned(at("c"), 20, 5, 1) }, at("legend.svg"))
    local text = read(at("legend.svg"))
    for l = 1, 20 do assert.truthy(text:find((">fc%d.gate<"):format(l), 1, true), l) end
  end)

  it("is a pure function of its runs", function()
    local run = runs.learned(at("d"), 3, 6, 1)
    plot.figure("profile", { run }, at("same1.png"))
    plot.figure("profile", { run }, at("same2.png"))
    assert.equal(read(at("same1.png")), read(at("same2.png")))
    assert.equal(read(at("same1.tsv")), read(at("same2.tsv")))
  end)

  it("draws into the run's own folder by default", function()
    local made = plot.figure("profile", { runs.learned(at("run"), 2, 4, 1) })
    assert.equal(at("run") .. "/fig/profile.png", made.picture)
    gnuplot.check_picture(made.picture)
  end)

  it("can be drawn again by hand, as the caption says", function()
    plot.figure("profile", { runs.learned(at("it's here"), 2, 4, 1) }, at("it's <odd> name.png"))
    local command = read(at("it's <odd> name.txt")):match("(gnuplot [^\n]*)")
    os.remove(at("it's <odd> name.png"))
    assert.equal(0, os.execute(command .. " 2>/dev/null"))
    gnuplot.check_picture(at("it's <odd> name.png"))
  end)

  it("refuses a run without a finished epoch, NaN and ragged histories, and leaves nothing behind", function()
    local run = runs.learned(at("e"), 2, 0, 1)
    fails("fail", "has no finished epoch yet", plot.figure, "profile", { run }, at("none.png"))
    run = runs.learned(at("f"), 2, 4, 1)
    run:epochs().val_score[2] = 0 / 0
    fails("fail", "column 'val_score', row 3 is NaN", plot.figure, "profile", { run }, at("none.png"))
    run = runs.learned(at("g"), 2, 4, 1)
    run:gates().lambda[3][2] = math.huge
    fails("fail", "column 'lambda:fc2.gate', row 3 is inf", plot.figure, "profile", { run }, at("none.png"))
    table.remove(run:gates().lambda)
    fails("fail", "λ has 4 rows and there are 4 epochs", plot.figure, "profile", { run }, at("none.png"))
    for _, name in ipairs({ "none.png", "none.tsv", "none.txt", "none.tmp.tsv", "none.tmp.png" }) do
      assert.is_false(exists(at(name)), name)
    end
  end)

  it("refuses unknown figures and extensions, and a wrong number of runs", function()
    local run = runs.learned(at("h"), 2, 4, 1)
    fails("usage", "'profil' is no figure, did you mean 'profile'?", plot.figure, "profil", { run })
    fails("usage", "ends in .png, .svg or .pdf", plot.figure, "profile", { run }, at("x.jpg"))
    fails("usage", "ends in .png, .svg or .pdf", plot.figure, "profile", { run }, at("png"))
    fails("usage", "takes 1 to 6 runs; 0 given", plot.figure, "profile", {})
    fails("usage", "takes no runs; 1 given", plot.figure, "activation", { run })
  end)

  it("names a file that cannot be written", function()
    local run = runs.learned(at("h"), 2, 4, 1)
    fails("fail", at("missing/x.tmp.tsv"), plot.figure, "profile", { run }, at("missing/x.png"))
  end)

  it("leaves files alone that are not its own", function()
    write(at("notes.txt"), "my notes\n")
    fails("fail", "notes.txt is there", plot.figure, "profile", { runs.learned(at("h"), 2, 4, 1) }, at("notes.png"))
    assert.equal("my notes\n", read(at("notes.txt")))
    assert.is_false(exists(at("notes.png")))
  end)

  it("draws the activation family from the kernels", function()
    local gate = require("lgelu.gate")
    local made = plot.figure("activation", {}, at("activation.png"))
    gnuplot.check_picture(made.picture)
    local rows = lines(read(made.table))
    assert.equal("x\tf:1\tf:2\tf:5\tf:20\tf:160\tf:relu\tdf:1\tdf:2\tdf:5\tdf:20\tdf:160\tdf:relu", rows[1])
    local seen = {}
    for r = 2, #rows do
      local cells = {}
      for cell in rows[r]:gmatch("[^\t]+") do cells[#cells + 1] = tonumber(cell) end
      seen[cells[1]] = cells
    end
    assert.equal(gate.value(-0.5, 1), seen[-0.5][2])
    assert.equal(gate.value(0.5, 160), seen[0.5][6])
    assert.equal((gate.grad(-0.01, 20)), seen[-0.01][11])
    assert.is_true(math.abs(seen[-0.5][2] + 0.5 * 0.3085375387259869) < 1e-7)
    assert.equal(0.5, seen[0][8])
  end)
end)

describe("lgelu figure", function()
  local place = os.tmpname()
  os.remove(place)
  assert(os.execute(("mkdir '%s'"):format(place)) == 0)
  runs.store({ dir = place .. "/made_up-s1", kind = "lambda_gelu", seed = 1, epochs = 8, score = 0.9 })
  runs.store({ dir = place .. "/plain-s1", kind = "relu", seed = 1, epochs = 8, score = 0.9 })

  teardown(function() os.execute(("rm -r '%s'"):format(place)) end)

  it("draws from a run's file and prints where", function()
    local made = place .. "/made_up-s1/fig/profile.png"
    assert.are.same({ 0, made .. "\n" }, { runs.program("figure", "profile", place .. "/made_up-s1") })
    gnuplot.check_picture(made)
    local rows = lines(read(place .. "/made_up-s1/fig/profile.tsv"))
    assert.equal(1 + 9, #rows)
    local expected = "^1\tmade_up%-s1 %(lambda_g%)\tlambda_gelu\t3\t8\t0%.887[0-9]+\t1\t1%.898[0-9]+\t"
    assert.truthy(rows[10]:find(expected), rows[10])
    local two = place .. "/two.pdf"
    assert.are.same({ 0, two .. "\n" },
      { runs.program("figure", "profile", place .. "/made_up-s1/", place .. "/plain-s1", "-o", two) })
    gnuplot.check_picture(two)
  end)

  it("lists the figures, and ends with 2 for what is misspelt and 1 for what is damaged", function()
    local status, text = runs.program("figure", "list")
    assert.equal(0, status)
    for _, figure in ipairs(plot.figures()) do assert.truthy(text:find(figure.summary, 1, true), text) end
    assert.equal(2, (runs.program("figure", "profle", place .. "/plain-s1")))
    assert.equal(2, (runs.program("figure", "profile", place .. "/nothing")))
    assert.equal(2, (runs.program("figure", "profile", place .. "/plain-s1", "-o", "x.gif")))
    assert.equal(2, (runs.program("figure", "profile")))
    assert.equal(0, os.execute(("mkdir '%s/cut' && head -c 3000 '%s/plain-s1/run.h5' >'%s/cut/run.h5'"):format(place,
      place, place)))
    status, text = runs.program("figure", "profile", place .. "/cut")
    assert.equal(1, status)
    assert.truthy(text:find("cut/run.h5", 1, true), text)
  end)
end)

describe("pictures", function()
  it("are found out when empty, cut short or of another kind", function()
    local path = os.tmpname()
    os.remove(path)
    fails("fail", "gnuplot wrote no picture", gnuplot.check_picture, path .. ".png")
    local cases = {
      { "png", "", "0 bytes; it is empty" },
      { "png", ("x"):rep(2000), "no PNG header" },
      { "png", "\137PNG\r\n\26\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0" .. ("x"):rep(2000), "cut short" },
      { "png", "\137PNG\r\n\26\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1" .. ("x"):rep(2000) .. "IEND\174B`\130", "only 1 × 1" },
      { "svg", "<svg>" .. (" "):rep(2000), "cut short" },
      { "svg", "<svg>" .. (" "):rep(2000) .. "</svg>", "holds no line" },
      { "pdf", "%PDF-1.5" .. (" "):rep(2000), "cut short" },
    }
    for _, case in ipairs(cases) do
      local file = path .. "." .. case[1]
      write(file, case[2])
      fails("fail", case[3], gnuplot.check_picture, file)
      os.remove(file)
    end
  end)

  it("are not made by a script that fails: its message is shown", function()
    local script = os.tmpname()
    write(script, "plot 'nothing' using (\n")
    fails("fail", "gnuplot failed", gnuplot.draw, script, "x.tsv", script .. ".png")
    os.remove(script)
  end)
end)

describe("tables of figures", function()
  it("hold numbers in their shortest exact form, text and NA", function()
    local text = tsv.format({ "a", "b", "c" }, { { 0.1, "x y", tsv.NA }, { 1 / 3, "z", 2 } }, "test")
    assert.equal("a\tb\tc\n0.1\tx y\tNA\n0.3333333333333333\tz\t2\n", text)
  end)

  it("refuse what cannot be drawn", function()
    fails("fail", "no rows", tsv.format, { "a" }, {}, "test")
    fails("fail", "column 'b', row 1 has no value", tsv.format, { "a", "b" }, { { 1 } }, "test")
    fails("fail", "column 'a' has no values", tsv.format, { "a" }, { { tsv.NA } }, "test")
    fails("fail", "control character", tsv.format, { "a" }, { { "x\ty" } }, "test")
    fails("fail", "row 2 is -inf", tsv.format, { "a" }, { { 1 }, { -math.huge } }, "test")
  end)
end)
