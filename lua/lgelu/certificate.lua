--- certificate: a proved bound on every logit's change when all gates of a trained network become ReLU, for each sample
-- and for a whole box of inputs, beside the change that is observed. docs/CERTIFICATE.md says what is proved.
--
-- What it is: the bookkeeping over samples. What it is not: the intervals (src/kernels/enclose.c), their way through
-- the network (certificate/walk.lua), the network they are compared with (certificate/twin.lua), the place in run.h5
-- (certificate/stored.lua) or layout (cli/certify.lua).
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folded = require("lgelu.folded")
local stored = require("lgelu.certificate.stored")
local twin = require("lgelu.certificate.twin")
local walk = require("lgelu.certificate.walk")

local ffi, lib = C.ffi, C.lib
local certificate = { write = stored.write, read = stored.read }

local F64 = base.dtype_codes.f64
local RULES = { "value", "constant" }
local NUMBERS = 2 ^ 20    -- of a batch's largest layer, four of each
local MOST_ROWS = 256
local WIDER = 1 + 2 ^ -40 -- outward, over the roundings of a few operations in Lua
local TOLERANCE = 1e-9    -- of the twin's float64 rounding, relative to the logits
local LOADER = 2 ^ -20    -- the loader's float32 normalization, relative

-- Inputs ------------------------------------------------------------------------------------------------------------

-- Numbers a channel: { count of elements a channel, mean and deviation by channel }.
local function channels(f)
  local n = 1
  for _, dim in ipairs(f.input.shape) do n = n * dim end
  return n, n / #f.input.mean
end

--- An enclosure of inputs x ± radius; what the swap changes is 0 there.
-- @param x       f32 or f64 [rows, …]
-- @param radius  function (element, from 0) → ≥ 0
local function enclose_input(x, radius, shape)
  local rows, wide = x.shape[1], x:to("f64"):contiguous()
  local out = base.new({ 4, rows, unpack(shape) }, F64)
  local n, from, to = wide.size / rows, base.data(wide), base.data(out)
  for i = 0, rows * n - 1 do
    to[i], to[rows * n + i] = from[i], radius(i % n)
  end
  return out
end

-- ε is given where pixels lie in 0..1: before the normalization.
local function radius_of(f, eps)
  local _, each = channels(f)
  local sd = f.input.sd
  return function(i) return eps == 0 and 0 or eps / sd[math.floor(i / each) + 1] * WIDER end
end

-- The box as one enclosure of a single row.
local function enclose_box(f, lo, hi)
  local n = channels(f)
  local centre = base.new({ 1, n }, F64)
  local at, radius = base.data(centre), ffi.new("double[?]", n)
  for i = 0, n - 1 do
    at[i] = lo[i] / 2 + hi[i] / 2
    radius[i] = math.max(hi[i] - at[i], at[i] - lo[i]) * WIDER
  end
  return enclose_input(centre, function(i) return radius[i] end, f.input.shape)
end

-- A box [low, high] of unnormalized inputs, as the network sees them.
local function given_box(f, low, high)
  local n, each = channels(f)
  local lo, hi = ffi.new("double[?]", n), ffi.new("double[?]", n)
  for i = 0, n - 1 do
    local c = math.floor(i / each) + 1
    local a, b = (low - f.input.mean[c]) / f.input.sd[c], (high - f.input.mean[c]) / f.input.sd[c]
    local slack = LOADER * (math.abs(a) + math.abs(b))
    lo[i], hi[i] = a - slack, b + slack
  end
  return lo, hi
end

-- Samples ------------------------------------------------------------------------------------------------------------

-- Centre and radius; where either is not finite, anything is possible.
local function interval(centre, radius)
  if math.abs(centre) < math.huge and radius < math.huge then return centre, radius end
  return 0, math.huge
end

-- What is gathered over samples under one rule.
local function fresh_rule(n, classes)
  return {
    bound = ffi.new("double[?]", classes), sample_bound = ffi.new("double[?]", n), margin = ffi.new("double[?]", n),
    tightness = {}, certified = 0, violations = 0,
  }
end

-- Compares one batch's enclosure of logits with what the twin gives. at: the batch's first sample.
local function take(rule, logits, seen, at)
  local rows, classes = logits.shape[2], logits.shape[3]
  local size, z = rows * classes, base.data(logits)
  local smooth, relu = base.data(seen.smooth), base.data(seen.relu)
  for row = 0, rows - 1 do
    local outside, most = false, 0
    for j = 0, classes - 1 do
      local i = row * classes + j
      local change, radius = interval(z[2 * size + i], z[3 * size + i])
      local observed, slack = relu[i] - smooth[i], TOLERANCE * (1 + math.abs(smooth[i]) + math.abs(relu[i]))
      local bound = math.max(math.abs(change - radius), math.abs(change + radius)) * WIDER
      if math.abs(observed - change) > radius + slack then outside = true end
      local value, value_radius = interval(z[i], z[size + i])
      if math.abs(smooth[i] - value) > value_radius + slack then outside = true end
      rule.bound[j], most = math.max(rule.bound[j], bound), math.max(most, bound)
      if bound > slack then rule.tightness[#rule.tightness + 1] = math.abs(observed) / bound end
    end
    rule.sample_bound[at + row] = most
    if outside then rule.violations = rule.violations + 1 end
  end
end

local function argmax(values, at, n)
  local best = 0
  for j = 1, n - 1 do
    if values[at + j] > values[at + best] then best = j end
  end
  return best
end

-- Which samples keep their class for certain; those whose class changes in float32 all the same are counted.
local function take_margins(rule, margins, at, changed)
  local rows, m = margins.shape[2], base.data(margins)
  for row = 0, rows - 1 do
    local least = math.min(m[row], m[rows + row])
    rule.margin[at + row] = least
    if least > 0 then
      rule.certified = rule.certified + 1
      if changed[at + row] then rule.contradicted = (rule.contradicted or 0) + 1 end
    end
  end
end

-- What the float32 network and its twin do on a batch.
local function observe(report, t, reference, x, y, at)
  local seen, native = {}, {}
  seen.smooth, seen.relu = reference:both(x, y)
  native.smooth, native.relu = twin.both(t.net, x, y)
  local classes, rows = report.classes, x.shape[1]
  local a, b, c, d = base.data(seen.smooth), base.data(seen.relu), base.data(native.smooth), base.data(native.relu)
  for i = 0, rows * classes - 1 do
    local j, row = i % classes, at + math.floor(i / classes)
    local change = math.abs(b[i] - a[i])
    report.observed[j] = math.max(report.observed[j], change)
    report.observed_f32[j] = math.max(report.observed_f32[j], math.abs(d[i] - c[i]))
    report.sample_observed[row] = math.max(report.sample_observed[row], change)
    report.rounding = math.max(report.rounding, math.abs(c[i] - a[i]), math.abs(d[i] - b[i]))
  end
  for row = 0, rows - 1 do
    local flips = argmax(c, row * classes, classes) ~= argmax(d, row * classes, classes)
    report.changed[at + row] = flips
    if flips then report.flipped = report.flipped + 1 end
  end
  return seen
end

-- Least and greatest of every input element.
local function stretch(lo, hi, x)
  local n, wide = x.size / x.shape[1], x:to("f64"):contiguous()
  local from = base.data(wide)
  for i = 0, x.size - 1 do
    local k = i % n
    lo[k], hi[k] = math.min(lo[k], from[i]), math.max(hi[k], from[i])
  end
end

-- -- report ------------------------------------------------------------------------------------------------------

local function list_of(values, n)
  local list = {}
  for i = 1, n do list[i] = values[i - 1] end
  return list
end

-- Quantiles of observed/bound over samples and logits whose bound is above the twin's own rounding: the least value
-- that at least a share p is not above.
local function quantiles(values)
  table.sort(values)
  local function at(p) return values[math.max(1, math.ceil(p * #values))] or 0 / 0 end
  return { q05 = at(0.05), median = at(0.5), q95 = at(0.95), max = at(1) }
end

local function finish_rule(rule, n, classes)
  return {
    bound = list_of(rule.bound, classes), sample_bound = list_of(rule.sample_bound, n),
    margin = list_of(rule.margin, n),
    certified = rule.certified, violations = rule.violations, contradicted = rule.contradicted or 0,
    tightness = quantiles(rule.tightness),
  }
end

-- The change over the whole box: between lo and hi for each logit.
local function box_report(w, lo, hi, what)
  local logits = w:run(enclose_box(w.folded, lo, hi), "value")
  local classes, z, report = logits.shape[3], base.data(logits), { what = what, lo = {}, hi = {} }
  for j = 1, classes do
    local change, radius = interval(z[2 * classes + j - 1], z[3 * classes + j - 1])
    report.lo[j] = change - radius - (WIDER - 1) * math.abs(change)
    report.hi[j] = change + radius + (WIDER - 1) * math.abs(change)
  end
  return report
end

local function check_options(o)
  if not (type(o.eps) == "number" and o.eps >= 0 and o.eps < math.huge) then
    errors.usage("eps = %s: expected a number of at least 0", tostring(o.eps))
  end
  local box = o.box
  if box and not (type(box[1]) == "number" and type(box[2]) == "number" and box[1] <= box[2]
      and math.abs(box[1]) + math.abs(box[2]) < math.huge) then
    errors.usage("box = %s, %s: expected two numbers, the lower one first", tostring(box[1]), tostring(box[2]))
  end
end

-- Rows of the part that are looked at: the first `samples` of it.
local function rows_of(t, part, samples)
  if part ~= "test" and part ~= "val" then errors.usage("part '%s': expected test or val", tostring(part)) end
  if part == "test" and not t.set.test then errors.fail("%s: its data have no test part", t.dir or "the set") end
  local index = part == "val" and t.index.val or nil
  local n = index and index.shape[1] or t.set.test.x.shape[1]
  if samples and not (type(samples) == "number" and samples >= 1 and samples % 1 == 0) then
    errors.usage("samples = %s: expected a whole number from 1 on", tostring(samples))
  end
  local list, numbers = {}, index and index:totable()
  for i = 1, math.min(n, samples or n) do list[i] = numbers and numbers[i] or i end
  return list
end

local function fresh(t, n, o)
  local classes = t.net.info.classes
  local report = {
    part = o.part, samples = n, eps = o.eps, classes = classes, rounding = 0, flipped = 0, changed = {},
    observed = ffi.new("double[?]", classes), observed_f32 = ffi.new("double[?]", classes),
    sample_observed = ffi.new("double[?]", n),
  }
  return report
end

local function finish(report, rules, n)
  local classes = report.classes
  report.observed, report.observed_f32 = list_of(report.observed, classes), list_of(report.observed_f32, classes)
  report.sample_observed, report.changed = list_of(report.sample_observed, n), nil
  for _, name in ipairs(RULES) do report[name] = finish_rule(rules[name], n, classes) end
  return report
end

--- Certifies a trained network.
-- @param t        of lgelu.trained.open (or { net, set, config, resolved } with a data set that has been split)
-- @param options  { part = "test" (default) or "val", samples = how many of it (all), eps = 0: the bounds hold for all
--   inputs within ±eps of a sample, where pixels lie in 0..1; box = { low, high } in the same units (default: from the
--   least to the greatest value seen, for each input element) }
-- @return report: samples, part, eps, classes; lambdas; observed, observed_f32: greatest |change| of each logit, in
--   float64 and float32; rounding: greatest distance of a float32 logit from its float64 twin; flipped: classes that
--   change in float32; sample_observed [samples]; for each rule (value, constant): bound [classes] and sample_bound
--   [samples], each a maximum; margin [samples] and certified: samples whose class provably stays; violations: samples
--   outside their enclosure (0, or something is wrong); contradicted: certified, yet flipped in float32; tightness =
--   { q05, median, q95, max } of observed/bound; box = { what, lo [classes], hi [classes] }
-- @raise usage error for wrong options; fails for gates that the certificate does not know
function certificate.of(t, options)
  local o = { part = "test", eps = 0 }
  for key, value in pairs(options or {}) do o[key] = value end
  check_options(o)
  local list = rows_of(t, o.part, o.samples)
  local f = folded.of(t)
  local w, n, classes = walk.new(f), #list, t.net.info.classes
  local rows = math.max(1, math.min(MOST_ROWS, t.config.train.eval_batch, math.floor(NUMBERS / w.largest)))
  local report, reference, rules = fresh(t, n, o), twin.new(t, rows), {}
  for _, name in ipairs(RULES) do rules[name] = fresh_rule(n, classes) end
  local size, radius, at = channels(f), radius_of(f, o.eps), 0
  local lo, hi = ffi.new("double[?]", size), ffi.new("double[?]", size)
  for i = 0, size - 1 do lo[i], hi[i] = math.huge, -math.huge end
  local loader = data.loader(t.set, o.part == "test" and "test" or "train", list, { batch = rows })
  loader:start(0)
  for x, y in loader:each() do
    if lib.lg_interrupted() ~= 0 then errors.interrupted("stopped after %d of %d samples", at, n) end
    local seen = observe(report, t, reference, x, y, at)
    local input = enclose_input(x, radius, f.input.shape)
    for _, name in ipairs(RULES) do
      local logits, before = w:run(input, name)
      take(rules[name], logits, seen, at)
      take_margins(rules[name], (w:margins(before)), at, report.changed)
    end
    stretch(lo, hi, x)
    at = at + x.shape[1]
    if o.progress then o.progress(at, n) end
  end
  loader:free()
  local what = "the least to the greatest value seen of each input element"
  if o.box then
    lo, hi = given_box(f, o.box[1], o.box[2])
    what = ("%g to %g for each input element, before normalization"):format(o.box[1], o.box[2])
  end
  report.lambdas, report.box = w.lambdas, box_report(w, lo, hi, what)
  return finish(report, rules, n)
end

return certificate
