--- Specification of the figures of sweeps (lgelu.plot.fig1 to fig4): numbers against scipy, gaps, refusals, pictures.

local errors = require("lgelu.errors")
local gnuplot = require("lgelu.plot.gnuplot")
local made_up = dofile("tests/spec/support/sweeps.lua")
local plot = require("lgelu.plot")
local reference = dofile("tests/ref/stats_ref.lua").cell
local sweeps = require("lgelu.plot.sweeps")

local place = os.tmpname()
os.remove(place)
assert(os.execute(("mkdir '%s'"):format(place)) == 0)

local MODES = { "ascending", "descending", "gelu" }

local function at(name) return place .. "/" .. name end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function sweep_of(records, name)
  return sweeps.from("runs/sweeps/" .. (name or "made_up"), records, { name = name or "made_up", budget = "desk" })
end

-- Rows of a built figure as column → value; "NA" for what is unknown.
local function rows_of(built)
  local rows = {}
  for r, row in ipairs(built.rows) do
    rows[r] = {}
    for c, column in ipairs(built.columns) do
      rows[r][column] = tostring(row[c]) == "NA" and "NA" or row[c]
    end
  end
  return rows
end

local function figure(name) return require("lgelu.plot." .. name) end

local function build(name, ...)
  local built = figure(name).build({ ... })
  return rows_of(built), built
end

local function find(rows, wanted)
  for _, row in ipairs(rows) do
    local same = true
    for key, value in pairs(wanted) do same = same and row[key] == value end
    if same then return row end
  end
  error("no such row")
end

local function close(expected, got, tolerance)
  assert.is_true(math.abs(got - expected) <= (tolerance or 1e-9) * math.abs(expected), ("%.17g for %.17g"):format(got,
    expected))
end

local function fails(kind, words, f, ...)
  local ok, e = pcall(f, ...)
  assert.is_false(ok)
  assert.is_true(errors.is(e, kind), tostring(e))
  assert.truthy(tostring(e):find(words, 1, true), ("'%s' is not in: %s"):format(words, tostring(e)))
end

local function has(text, words) assert.truthy(text:find(words, 1, true), ("'%s' is not in: %s"):format(words, text)) end

-- Draws; pngs by hand too, as the caption says: gnuplot must have nothing to say.
local function draws(name, inputs, file)
  local made = plot.figure(name, inputs, at(file))
  gnuplot.check_picture(made.picture)
  if not file:find("png$") then return made end
  local command = read(made.caption):match("(gnuplot [^\n]*)")
  os.remove(made.picture)
  local pipe = io.popen(command .. " 2>&1; echo status $?")
  assert.equal("status 0\n", pipe:read("*a"))
  pipe:close()
  gnuplot.check_picture(made.picture)
  return made
end

-- Share of white among the pixels of a picture (each 16th row and column), and the number of other colours.
local function ink(path)
  local command = "set table \\$T; plot '%s' binary filetype=png every 16:16 with rgbimage; unset table; print \\$T"
  local pipe = io.popen(("gnuplot -e \"%s\" 2>&1"):format(command:format(path)))
  local white, all, others, count = 0, 0, {}, 0
  for r, g, b in pipe:read("*a"):gmatch("\n +%d+ +%d+ +(%d+) +(%d+) +(%d+)") do
    all = all + 1
    local key = r .. "," .. g .. "," .. b
    if key == "255,255,255" then
      white = white + 1
    elseif not others[key] then
      others[key], count = true, count + 1
    end
  end
  pipe:close()
  return white / all, count
end

-- One cell, four seeds, three modes: the numbers that tests/ref/stats_ref.py computed with numpy and scipy.
local function reference_records()
  local records = {}
  for seed, score in ipairs(reference.baseline) do
    records[#records + 1] = made_up.record({ kind = "gelu", role = "baseline", seed = seed,
      val_score = { 0.1, 0.1, 0.1, 0.1, score } })
    for i, init in ipairs(MODES) do
      records[#records + 1] = made_up.record({ kind = "lambda_gelu", t = 0.1, c = 3, init = init, seed = seed,
        val_score = { 0.1, 0.1, 0.1, 0.1, reference.bvs[i][seed] }, lambda = reference.lambda[i][seed] })
    end
  end
  return records
end

-- The palettes of a script: lists of { r, g, b } in [0, 1], linear.
local function palettes(script)
  local list = {}
  local text = read(script):gsub("\\\n", " ")
  for inside in text:gmatch("set palette defined (%b())") do
    local palette = {}
    for r, g, b in inside:gmatch("#(%x%x)(%x%x)(%x%x)") do
      local colour = { tonumber(r, 16), tonumber(g, 16), tonumber(b, 16) }
      for i = 1, 3 do
        local x = colour[i] / 255
        colour[i] = x <= 0.04045 and x / 12.92 or ((x + 0.055) / 1.055) ^ 2.4
      end
      palette[#palette + 1] = colour
    end
    list[#list + 1] = palette
  end
  return list
end

-- What eyes without one kind of cones see (Machado, Oliveira and Fernandes 2009, severity 1), and grey for print: the
-- weights of linear red, green and blue in the luminance.
local LUMINANCE = { 0.2126, 0.7152, 0.0722 }
local EYES = {
  all = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
  no_red = { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 }, { -0.003882, -0.048116, 1.051998 } },
  no_green = { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 }, { -0.011820, 0.042940, 0.968881 } },
  no_blue = { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 }, { 0.004733, 0.691367, 0.303900 } },
}

local function luminance(colour, eyes)
  local sum = 0
  for i = 1, 3 do
    for j = 1, 3 do sum = sum + LUMINANCE[i] * eyes[i][j] * colour[j] end
  end
  return sum
end

describe("colours", function()
  it("keep their order in print and for every kind of colour vision", function()
    local sequential = palettes("plots/style.gp")[1]
    for _, eyes in pairs(EYES) do
      for i = 2, #sequential do
        assert.is_true(luminance(sequential[i], eyes) > luminance(sequential[i - 1], eyes) + 0.004)
      end
    end
    local of_fig3 = palettes("plots/fig3.gp")
    assert.are.same({ sequential }, { of_fig3[1] })
    local low, below, middle, above, high = unpack(of_fig3[2])
    for name, eyes in pairs(EYES) do
      local function l(colour) return luminance(colour, eyes) end
      assert.is_true(l(low) < l(below) and l(below) < l(middle) and l(middle) > l(above) and l(above) > l(high), name)
      assert.is_true(l(high) > l(low) + 0.2, name)
    end
  end)
end)

describe("figures of sweeps", function()
  teardown(function() os.execute(("rm -r '%s'"):format(place)) end)

  it("fig1 and fig2 hold what scipy computes: ΔBVS, drift and their intervals", function()
    for _, name in ipairs({ "fig1", "fig2" }) do
      local rows, built = build(name, sweep_of(reference_records()))
      assert.equal(1, #rows)
      local row = rows[1]
      close(100 * reference.delta, row.delta)
      close(100 * reference.delta_ci95, row.delta_ci95, 1e-8)
      close(100 * reference.pairs_ci95, row.pairs_ci95, 1e-8)
      close(reference.drift, row.drift)
      close(reference.drift_ci95, row.drift_ci95, 1e-8)
      assert.are.same({ 4, 12, 12, 12, "complete" }, { row.seeds, row.pairs, row.runs, row.runs_expected, row.state })
      assert.equal(("%+.2f"):format(100 * reference.delta):gsub("^%-", "−"), row.text)
      assert.are.same({}, built.gaps)
    end
  end)

  it("fig3 holds what scipy computes: ρ over seeds", function()
    local rows = build("fig3", sweep_of(reference_records()))
    for i = 1, 3 do
      for j = 1, 3 do
        local row = find(rows, { part = "rho", series = i, series_b = j })
        assert.is_true(math.abs(reference.rho[i][j] - row.rho) < 1e-12)
        assert.equal(4, row.runs)
      end
    end
    local row = find(rows, { name = "baseline gelu", epoch = 5 })
    close(100 * (reference.baseline[1] + reference.baseline[2] + reference.baseline[3] + reference.baseline[4]) / 4,
      row.score)
    assert.are.same({ 5, row.score, 4, 1 }, { row.bvs_epoch, row.bvs_score, row.runs, row.baseline })
  end)

  it("fig1 is drawn as png, svg and pdf, the same each time, with what a reader needs in its caption", function()
    local sweep = sweep_of(made_up.grid({ t = { 0.3, 0.1 }, c = { 1, 3, 27 }, init = MODES, seeds = { 1, 2 } }), "fig1")
    for _, extension in ipairs(gnuplot.EXTENSIONS) do draws("fig1", { sweep }, "fig1." .. extension) end
    draws("fig1", { sweep }, "again.png")
    assert.equal(read(at("fig1.png")), read(at("again.png")))
    local rows = build("fig1", sweep)
    assert.equal(6, #rows)
    local row = find(rows, { t = 0.3, c = 27 })
    assert.are.same({ 3, 2, "+2.67" }, { row.x, row.y, row.text })
    close(2.67, row.delta)
    local caption = read(at("fig1.txt"))
    for _, words in ipairs({ "lambda_gelu-0.1-27-gelu seed 2", "gelu-nil-nil-nil seed 1 baseline", "n = 38 runs",
      "budget desk, 3 epochs", "lgelu figure fig1 runs/sweeps/fig1", "ascending, descending, gelu" }) do
      has(caption, words)
    end
    assert.falsy(caption:find("Missing", 1, true))
    local svg = read(at("fig1.svg"))
    for _, words in ipairs({ "+2.67", "−0.20", "0.3", "27", "temperature", "drift" }) do
      if words ~= "−0.20" then has(svg, words) end
    end
  end)

  it("the pictures are not blank", function()
    local records = made_up.grid({ t = { 0.1 }, c = { 1, 3, 27 }, init = MODES, seeds = { 1 } })
    local one = made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1 } })
    for _, name in ipairs({ "fig1", "fig2", "fig3" }) do
      plot.figure(name, { sweep_of(name == "fig3" and one or records) }, at(name .. "ink.png"))
      local white, colours = ink(at(name .. "ink.png"))
      assert.is_true(white > 0.3 and white < 0.95, ("%s: %g white"):format(name, white))
      assert.is_true(colours >= 20, ("%s: %d colours"):format(name, colours))
    end
  end)

  it("marks gaps in fig1: failed cells, thin cells, cells without baseline", function()
    local records = made_up.grid({ t = { 0.1, 1 }, c = { 1, 3 }, init = MODES, seeds = { 1 },
      status = function(t, c, init)
        if t == 1 and c == 3 then return "failed" end
        if t == 1 and c == 1 and init == "gelu" then return "missing" end
      end })
    local sweep = sweep_of(records)
    local rows, built = build("fig1", sweep)
    local failed, thin = find(rows, { t = 1, c = 3 }), find(rows, { t = 1, c = 1 })
    assert.are.same({ "missing", "–", "NA", "NA", 0, 3 }, { failed.state, failed.text, failed.delta, failed.drift,
      failed.runs, failed.runs_expected })
    assert.are.same({ "partial", "0.00*", 2, 3 }, { thin.state, thin.text, thin.runs, thin.runs_expected })
    local gaps = table.concat(built.gaps, "\n")
    has(gaps, "t=1, c=3, init=gelu, seed 1: failed: the loss is NaN in step 12")
    has(gaps, "t=1, c=1, init=gelu, seed 1: missing")
    has(gaps, "cell t = 1, c = 3: no run of it is done")
    has(gaps, "cell t = 1, c = 1: 2 of 3 runs are done")
    local made = draws("fig1", { sweep }, "gaps.png")
    assert.are.same(built.gaps, made.gaps)
    has(read(made.caption), "Missing:")

    sweep = sweep_of(made_up.grid({ t = { 0.1 }, c = { 1, 3 }, init = MODES, seeds = { 1 }, baseline = false }))
    rows, built = build("fig1", sweep)
    assert.are.same({ "no baseline", "–" }, { rows[1].state, rows[1].text })
    assert.is_number(rows[1].drift)
    has(table.concat(built.gaps, "\n"), "no baseline of its seed is done")
    draws("fig1", { sweep }, "bare.png")
    draws("fig2", { sweep }, "bare2.svg")
    has(read(at("bare.txt")), "no baseline run is done")
  end)

  it("draws one cell, gates that stand still, and scores that are no fractions", function()
    local still = made_up.grid({ t = { 0.1 }, c = { 3 }, init = { "gelu" }, seeds = { 1 } })
    draws("fig1", { sweep_of(still) }, "still.png")
    for _, record in ipairs(still) do
      for e in ipairs(record.epochs.val_score) do record.epochs.val_score[e] = -record.epochs.val_score[e] * 3 end
      record.best.val_score = -1.5
      record.best.epoch = 1
    end
    local rows = build("fig1", sweep_of(still))
    assert.are.same({ -1.5, "0.000" }, { rows[1].bvs, rows[1].text })
    draws("fig1", { sweep_of(still) }, "negative.png")
    draws("fig3", { sweep_of(still) }, "still3.svg")
  end)

  it("fig3 says undefined where a profile is constant, and names it", function()
    local records = made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1, 2 } })
    local rows, built = build("fig3", sweep_of(records))
    local cell = find(rows, { part = "rho", series = 1, series_b = 2 })
    assert.are.same({ -1, "−1.00", 2 }, { cell.rho, cell.text, cell.runs })
    for j = 1, 3 do
      assert.are.same({ "NA", "undefined" }, { find(rows, { part = "rho", series = 3, series_b = j }).rho,
        find(rows, { part = "rho", series = 3, series_b = j }).text })
    end
    has(table.concat(built.gaps, "\n"), "ρ of init ascending and init gelu: undefined for 2 of 2 seeds")
    local trajectory = find(rows, { part = "trajectory", name = "init gelu", epoch = 2 })
    close(90.29, trajectory.score)
    assert.are.same({ 2, trajectory.score, 0 }, { trajectory.bvs_epoch, trajectory.bvs_score, trajectory.baseline })
    assert.equal("NA", find(rows, { part = "trajectory", name = "init gelu", epoch = 1 }).bvs_score)
    local made = draws("fig3", { sweep_of(records, "one"), sweep_of(records, "two") }, "fig3.svg")
    has(read(made.picture), "undefined")
    has(read(made.caption), "With 3 gates")
    has(read(made.caption), "Runs of two, by recipe hash")
    draws("fig3", { sweep_of(records) }, "fig3.png")
    draws("fig3", { sweep_of(records) }, "fig3.pdf")
  end)

  it("fig3 puts a BVS epoch between epochs onto the curve, and tells modes that are functions apart", function()
    local records = made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1, 2 } })
    for _, record in ipairs(records) do
      local gate = record.config.gate
      if gate.init == "ascending" and record.seed == 2 then
        record.epochs.val_score = { 0.6, 0.7, 0.95 }
        record.best = { epoch = 3, val_score = 0.95 }
      elseif gate.init ~= "ascending" and gate.init then
        gate.init, gate.lambda, record.label, record.cell["gate.init"] = nil, { #gate.init, 2 }, gate.init, "function"
      end
    end
    local rows = build("fig3", sweep_of(records))
    local row = find(rows, { part = "trajectory", name = "init ascending", epoch = 2 })
    assert.equal(2.5, row.bvs_epoch)
    close(100 * (0.9029 + 0.7 + 0.8 + 0.95) / 4, row.bvs_score)
    assert.equal("NA", find(rows, { part = "trajectory", name = "init ascending", epoch = 3 }).bvs_score)
    assert.equal(2, find(rows, { part = "trajectory", name = "init descending", epoch = 1 }).runs)
    assert.equal(2, find(rows, { part = "trajectory", name = "init gelu", epoch = 1 }).runs)
    draws("fig3", { sweep_of(records) }, "between3.png")
  end)

  it("fig3 gives each recipe of a sweep its own panels; fig1 refuses several", function()
    local records = made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1 } })
    for _, record in ipairs(made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1 } })) do
      record.config.name, record.cell.recipe = "another", "another"
      records[#records + 1] = record
    end
    local rows = build("fig3", sweep_of(records))
    assert.equal("made_up (t = 0.1, c = 3)", find(rows, { panel = 1, part = "rho", series = 1, series_b = 2 }).title)
    assert.equal("another (t = 0.1, c = 3)", find(rows, { panel = 2, part = "rho", series = 1, series_b = 2 }).title)
    fails("fail", "runs of several recipes (made_up, another, …); fig1 shows one", build, "fig1", sweep_of(records))
  end)

  it("fig3 marks a failed mode and a missing baseline", function()
    local records = made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1, 2 }, baseline = false,
      status = function(_, _, init, seed) return (init == "ascending") == (seed == 1) and "failed" or nil end })
    local rows, built = build("fig3", sweep_of(records))
    local modes = {}
    for _, row in ipairs(rows) do modes[row.name] = row.series end
    local cell = find(rows, { part = "rho", series = modes["init ascending"], series_b = modes["init descending"] })
    assert.are.same({ "–", 0 }, { cell.text, cell.runs })
    local gaps = table.concat(built.gaps, "\n")
    has(gaps, "no baseline run is done")
    has(gaps, "no seed of which both are done")
    draws("fig3", { sweep_of(records) }, "thin3.png")
  end)

  local function ways(o)
    local records = {}
    for seed = 1, o.seeds do
      local function add(r)
        r.seed, r.val_score, r.lambda = seed, { 0.5, 0.8, 0.9, 0.88 }, r.lambda or made_up.walk(4, 3, 0.2)
        r.t, r.c, r.init = 0.1, 3, "gelu"
        records[#records + 1] = made_up.record(r)
      end
      add({ kind = "gelu", drop = 0.03 + 0.001 * seed })
      add({ kind = "lambda_gelu", drop = 0.01 })
      for _, schedule in ipairs(o.hardened or {}) do
        add({ kind = "lambda_gelu", hardening = { schedule = schedule }, drop = 0.0001 * seed,
          lambda = { { 1.1, 1.1 }, { 1.5, 1.5 }, { 8, 18 }, { 40, 90 }, { 160, 160 } } })
      end
      add({ kind = "relu", drop = not (o.no_swap and seed == 1) and 0 or nil })
    end
    return sweep_of(records, "relu")
  end

  it("fig4 holds the drops of the four ways and the paths of hardening", function()
    local sweep = ways({ seeds = 3, hardened = { "geometric" } })
    local rows, built = build("fig4", sweep)
    local abrupt = find(rows, { part = "way", series = 1 })
    close(3.2, abrupt.drop)
    close(100 * 4.302652729911275 * 0.001 / math.sqrt(3), abrupt.drop_ci95)
    close(abrupt.drop - abrupt.drop_ci95, abrupt.drop_low)
    assert.equal(3, abrupt.runs)
    assert.are.same({ 0, "90.00 ± 0.00" }, { find(rows, { part = "way", series = 4 }).drop,
      find(rows, { part = "way", series = 4 }).text })
    has(find(rows, { part = "way", series = 3 }).name, "hardened")
    local point = find(rows, { part = "path", series = 2, epoch = 2 })
    assert.are.same({ 8, 18, 80 }, { point.lambda_min, point.lambda_max, point.score })
    close(12, point.lambda_mid)
    assert.are.same({}, built.gaps)
    has(built.caption[2], "on the test set, with the weights of the best epoch: GELU, swapped abruptly; ReLU from the "
      .. "start; λ-GELU learned, swapped. Of the last epoch: λ-GELU hardened, swapped. Right: 3 hardened runs.")
    for _, extension in ipairs(gnuplot.EXTENSIONS) do draws("fig4", { sweep, sweep }, "fig4." .. extension) end
  end)

  it("fig4 tells several schedules apart, in names and colours", function()
    local rows = build("fig4", ways({ seeds = 2, hardened = { "geometric", "linear" } }))
    has(find(rows, { part = "way", series = 4 }).name, "hardened, swapped, schedule linear")
    local colours = {}
    for series = 1, 4 do
      local row = find(rows, { part = "path", series = series, epoch = 1 })
      colours[series] = { row.colour, row.name }
    end
    local first, second = { 1, "schedule geometric" }, { 2, "schedule linear" }
    assert.are.same({ first, first, second, second }, colours)
    draws("fig4", { ways({ seeds = 2, hardened = { "geometric", "linear", "cosine" } }) }, "many4.png")
  end)

  it("fig4 marks ways that are missing and runs without a swap", function()
    local rows, built = build("fig4", ways({ seeds = 2, no_swap = true }))
    local hardened = find(rows, { part = "way", series = 3 })
    assert.are.same({ "NA", "–", 0 }, { hardened.drop, hardened.text, hardened.runs })
    assert.equal("NA", find(rows, { part = "way", series = 4 }).drop_ci95)
    local gaps = table.concat(built.gaps, "\n")
    has(gaps, "kind=relu, seed 1: no swap of it is stored")
    has(gaps, "no run is done of the way: λ-GELU hardened")
    draws("fig4", { ways({ seeds = 1, no_swap = false }) }, "thin4.png")
    fails("fail", "no run of this sweep has a stored swap", build, "fig4",
      sweep_of(made_up.grid({ t = { 0.1 }, c = { 3 }, init = MODES, seeds = { 1 } })))
  end)

  it("refuses sweeps that a figure cannot show", function()
    local grid = made_up.grid({ t = { 0.1, 1 }, c = { 1 }, init = MODES, seeds = { 1 } })
    fails("fail", "this sweep has 2 values of gate.t; fig2 shows one", build, "fig2", sweep_of(grid))
    fails("fail", "gate.t differs between the cells of this sweep (0.1, 1, …); fig3 shows one", build, "fig3",
      sweep_of(grid))
    grid[2].cell["train.batch"], grid[3].cell["train.batch"] = 32, 64
    fails("fail", "train.batch differs between the cells", build, "fig1", sweep_of(grid))
    grid[2].cell["train.batch"], grid[3].cell["train.batch"] = nil, nil
    grid[2].cell["hardening.schedule"] = "linear" -- the others are not hardened
    fails("fail", "hardening.schedule differs between the cells of this sweep (linear, none, …)", build, "fig1",
      sweep_of(grid))
    fails("fail", "this sweep has no runs", sweep_of, {})
    local failed = made_up.grid({ t = { 0.1 }, c = { 1 }, init = { "gelu" }, seeds = { 1 }, baseline = false,
      status = function() return "failed" end })
    fails("fail", "none of its 1 runs can be drawn; the first: t=0.1, c=1, init=gelu, seed 1: failed: the "
      .. "loss is NaN", sweep_of, failed)
    local baselines = sweep_of({ made_up.grid({ t = { 0.1 }, c = { 1 }, init = MODES, seeds = { 1 } })[1] })
    fails("fail", "no λ-GELU run of this sweep is done", build, "fig1", baselines)
    fails("fail", "no λ-GELU run of this sweep is done", build, "fig3", baselines)
    fails("usage", "figure fig1 takes 1 sweep; 2 given", plot.check, "fig1", 2)
    fails("usage", "figure fig3 takes 1 to 8 sweeps; 0 given", plot.check, "fig3", 0)
  end)

  it("puts a picture beside a condensed file and into a sweep's folder", function()
    assert.equal("docs/results/fig1.png", sweeps.default_out({ { dir = "docs/results/fig1.h5" } }, "fig1"))
    assert.equal("fig2.png", sweeps.default_out({ { dir = "x.h5" } }, "fig2"))
    assert.equal("runs/sweeps/a/fig/fig3.png", sweeps.default_out({ { dir = "runs/sweeps/a/" } }, "fig3"))
  end)
end)
