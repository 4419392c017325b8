--- lgelu certify: a proved bound on what replacing all gates by ReLU does to each logit, beside what is observed. The
-- numbers are lgelu.certificate's, the layout lgelu.table's.

local args = require("lgelu.cli.args")
local errors = require("lgelu.errors")

local verb = {}

verb.summary = "Certify a run's swap to ReLU: proved bounds on each logit's change, samples that keep their class."

function verb.setup(parser)
  parser:argument("run", "A finished run, by folder or name.")
  parser:option("--samples", "Only the first N test samples; a ResNet-18 of width 16 takes about 0.1 s of a core each.")
    :argname("N"):convert(args.integer("--samples", 1))
  parser:option("--eps", "Bounds for all inputs within E of a sample, where pixels lie in 0..1."):argname("E")
    :convert(args.number("--eps", 0)):default("0")
  parser:option("--box", "The box of inputs of the last columns, as LOW,HIGH before normalization; default: what the "
    .. "samples span."):argname("LOW,HIGH")
  parser:option("--format", "text, markdown, csv (all digits, the table of logits) or latex."):argname("NAME")
    :default("text")
  parser:epilog("The certificate is stored under /swap/certificate of run.h5; docs/CERTIFICATE.md says what is proved. "
    .. "value: each gate at its own value on the sample; constant: each gate by 0 ≤ ReLU − f ≤ 0.16998/λ alone. "
    .. "Certified: samples whose class provably stays. Tightness: observed/bound over samples and logits. Violations: "
    .. "samples outside their bounds; more than 0 would be a fault. Through attention and normalization of rows "
    .. "intervals grow too wide: there each gate's own bound is given, and what is observed ('lgelu swap').")
end

local function box_of(text)
  if not text then return nil end
  local low, high = text:match("^%s*([^,]+),([^,]+)$")
  low, high = tonumber(low), tonumber(high)
  if not low or not high then errors.usage("--box '%s': expected LOW,HIGH, two numbers", text) end
  return { low, high }
end

local function logit_table(report)
  local columns = {
    { title = "logit", format = "%d" }, { title = "observed", format = "%.4g" },
    { title = "bound (value)", format = "%.4g" }, { title = "bound (constant)", format = "%.4g" },
    { title = "box, least", format = "%.4g" }, { title = "box, greatest", format = "%.4g" },
  }
  local rows = {}
  for j = 1, report.classes do
    rows[j] = { j - 1, report.observed[j], report.value.bound[j], report.constant.bound[j], report.box.lo[j],
      report.box.hi[j] }
  end
  return columns, rows
end

local function rule_table(report)
  local columns = {
    { title = "rule", align = "left" }, { title = "samples", format = "%d" }, { title = "certified", format = "%d" },
    { title = "violations", format = "%d" }, { title = "tightness 5 %", format = "%.3g" },
    { title = "median", format = "%.3g" }, { title = "95 %", format = "%.3g" }, { title = "greatest", format = "%.6g" },
  }
  local rows = {}
  for i, name in ipairs({ "value", "constant" }) do
    local rule = report[name]
    local q = rule.tightness
    rows[i] = { name, report.samples, rule.certified, rule.violations, q.q05, q.median, q.q95, q.max }
  end
  return columns, rows
end

-- stored: whether run.h5 has it.
local function write(run, report, format, stored)
  local render = require("lgelu.table").render
  if format == "csv" then
    local columns, rows = logit_table(report)
    io.write(render(columns, rows, format))
    return
  end
  local note = format == "latex" and "%% %s\n" or "%s\n"
  local near = report.eps > 0 and (", inputs within %g of them"):format(report.eps) or ""
  local parts = { note:format(("%s: every gate replaced by ReLU (%s checkpoint); %d %s samples%s"):format(run.dir,
    report.checkpoint, report.samples, report.part, near)) }
  local columns, rows = rule_table(report)
  parts[#parts + 1] = render(columns, rows, format)
  columns, rows = logit_table(report)
  parts[#parts + 1] = render(columns, rows, format)
  parts[#parts + 1] = note:format("Box: " .. report.box.what .. ".")
  parts[#parts + 1] = note:format(("In float32 %d of %d samples change their class, %d certified ones among them; "
    .. "float32 logits are within %.3g of the float64 ones."):format(report.flipped, report.samples,
    report.value.contradicted + report.constant.contradicted, report.rounding))
  if stored then parts[#parts + 1] = note:format(("Stored in %s under /swap/certificate."):format(run.path)) end
  io.write(table.concat(parts, "\n"))
end

local function gate_table(report)
  local columns = {
    { title = "gate", align = "left" }, { title = "λ", format = "%.4g" }, { title = "bound", format = "%.6f" },
    { title = "deviation", format = "%.6f" }, { title = "least x", format = "%.3f" },
    { title = "greatest x", format = "%.3f" },
  }
  local rows = {}
  for i, g in ipairs(report.gates) do
    rows[i] = { g.name, g.lambda or 0 / 0, g.bound or 0 / 0, g.max_deviation, g.min, g.max }
  end
  return columns, rows
end

-- What is left to say where intervals do not get through: the gates' own bounds, and what is observed.
local function write_gates(t, reason, report, where, format)
  local render, columns, rows = require("lgelu.table").render, gate_table(report)
  if format == "csv" then
    io.write(render(columns, rows, format))
    return
  end
  local note = format == "latex" and "%% %s\n" or "%s\n"
  local first = ("%s: no bound on its logits: %s. Each gate's own |f − ReLU| is bounded; the rest is observed, not "
    .. "proved (%s checkpoint)."):format(t.dir, reason, report.checkpoint)
  local parts = { note:format(first), render(columns, rows, format) }
  for _, part in ipairs({ "validation", "test" }) do
    local own = report[part == "test" and part or "val"]
    parts[#parts + 1] = own and note:format(("Observed on %d %s samples: greatest |change| of a logit %.4g; %d of %d "
      .. "predictions change."):format(own.samples, part, own.max_logit_change, own.flipped, own.predictions))
  end
  parts[#parts + 1] = where and note:format(("Stored in %s under %s."):format(t.run.path, where))
  io.write(table.concat(parts, "\n"))
end

-- A live line on standard error, and its end; nothing where that is no terminal.
local function live()
  local ok, terminal = pcall(require, "lgelu.terminal") -- only inside the program
  if not ok or not terminal.isatty(2) then return nil, function() end end
  return function(done, samples) io.stderr:write(("\r\27[K%d of %d samples"):format(done, samples)) end,
    function() io.stderr:write("\r\27[K") end
end

local function certify_gates(t, reason, given)
  if given.samples or given.box or given.eps ~= 0 then
    errors.usage("--samples, --eps and --box are about bounds on logits, and %s: leave them out for each gate's own "
      .. "bound", reason)
  end
  local progress, clear = live()
  local ok, report, where, wrong = pcall(require("lgelu.certificate.gates").of, t, progress
    and function(_, done, samples) progress(done, samples) end)
  clear()
  if not ok then error(report, 0) end
  write_gates(t, reason, report, where, given.format)
  if wrong then error(wrong, 0) end
  return 0
end

function verb.run(given)
  local certificate, tables = require("lgelu.certificate"), require("lgelu.table")
  tables.check(given.format)
  local box = box_of(given.box)
  local t = require("lgelu.trained").open(given.run)
  local reason = require("lgelu.certificate.gates").reason(t)
  if reason then return certify_gates(t, reason, given) end
  local progress, clear = live()
  local ok, report = pcall(certificate.of, t, { samples = given.samples, eps = given.eps, box = box,
    progress = progress })
  clear()
  if not ok then error(report, 0) end
  report.checkpoint = t.checkpoint
  local stored, wrong = pcall(certificate.write, t.dir, report)
  write(t.run, report, given.format, stored)
  if not stored then error(wrong, 0) end
  return 0
end

return verb
