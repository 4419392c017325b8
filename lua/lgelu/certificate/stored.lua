--- certificate.stored: a certificate in run.h5, the group /swap/certificate; a new one replaces it. Not the making of
-- one: lgelu.certificate, whose reports these are.
local errors = require("lgelu.errors")
local store = require("lgelu.store")
local text = require("lgelu.store.text")

local stored = {}

local GROUP = "/swap/certificate"
local RULES = {
  value = "each gate at its own value on the sample",
  constant = "each gate by 0 <= ReLU - f <= 0.16998/lambda alone",
}
local NUMBERS = { "samples", "classes", "eps", "rounding", "flipped" }
local RULE_NUMBERS = { "certified", "violations", "contradicted" }
local QUANTILES = { "q05", "median", "q95", "max" }

-- Data sets: name, description. Those of a rule lie in its group.
local COLUMNS = {
  { "lambdas", "hardness of each gate" },
  { "observed", "greatest |change| of each logit over the samples, float64 networks" },
  { "observed_f32", "greatest |change| of each logit over the samples, float32 networks" },
  { "sample_observed", "greatest |change| of a logit of each sample, float64 networks" },
}
local RULE_COLUMNS = {
  { "bound", "greatest certified |change| of each logit over the samples" },
  { "sample_bound", "greatest certified |change| of a logit of each sample" },
  { "margin", "least certified lead of each sample's class before and after the swap; above 0: it stays" },
}
local BOX_COLUMNS = {
  { "lo", "least certified change of each logit over the box" },
  { "hi", "greatest certified change of each logit over the box" },
}

local function write_columns(file, group, report, columns)
  file:group(group)
  for _, column in ipairs(columns) do
    local name = group .. "/" .. column[1]
    file:write_numbers(name, report[column[1]], "f64")
    file:set_attr(name, "units", "1")
    file:set_attr(name, "description", column[2])
  end
end

local function write_report(file, report)
  write_columns(file, GROUP, report, COLUMNS)
  for _, name in ipairs(NUMBERS) do file:set_attr(GROUP, name, report[name]) end
  for _, name in ipairs({ "part", "checkpoint" }) do file:set_attr(GROUP, name, report[name]) end
  file:set_attr(GROUP, "measured", text.now())
  for rule, meaning in pairs(RULES) do
    local group = GROUP .. "/" .. rule
    write_columns(file, group, report[rule], RULE_COLUMNS)
    file:set_attr(group, "description", meaning)
    for _, name in ipairs(RULE_NUMBERS) do file:set_attr(group, name, report[rule][name]) end
    for _, name in ipairs(QUANTILES) do
      file:set_attr(group, "tightness_" .. name, report[rule].tightness[name], "f64")
    end
  end
  write_columns(file, GROUP .. "/box", report.box, BOX_COLUMNS)
  file:set_attr(GROUP .. "/box", "description", report.box.what)
end

--- Writes a report into a run's file, at one instant, in place of an earlier one.
-- @param dir     the run's folder
-- @param report  of certificate.of
-- @raise as store.change
function stored.write(dir, report)
  store.change(dir, function(file) write_report(file, report) end)
end

local function read_columns(file, group, columns)
  local values = {}
  for _, column in ipairs(columns) do values[column[1]] = (file:read_numbers(group .. "/" .. column[1])) end
  return values
end

local function read_report(file)
  local report, attrs = read_columns(file, GROUP, COLUMNS), file:attrs(GROUP)
  for _, name in ipairs({ "part", "checkpoint", "measured", unpack(NUMBERS) }) do
    if attrs[name] == nil then errors.fail("attribute '%s' is missing", name) end
    report[name] = attrs[name]
  end
  for rule in pairs(RULES) do
    local group = GROUP .. "/" .. rule
    local own, own_attrs = read_columns(file, group, RULE_COLUMNS), file:attrs(group)
    for _, name in ipairs(RULE_NUMBERS) do own[name] = own_attrs[name] end
    own.tightness = {}
    for _, name in ipairs(QUANTILES) do own.tightness[name] = own_attrs["tightness_" .. name] end
    report[rule] = own
  end
  report.box = read_columns(file, GROUP .. "/box", BOX_COLUMNS)
  report.box.what = file:attr(GROUP .. "/box", "description")
  return report
end

--- The certificate that a run holds, as certificate.of gave it; nil when there is none.
-- @param run  a reader (store.open)
-- @raise fails for a group that is damaged, saying how to make it again
function stored.read(run)
  return run:read(function(file)
    if not file:exists(GROUP) then return nil end
    local ok, result = pcall(read_report, file)
    if ok then return result end
    if not errors.is(result, "fail") then error(result, 0) end
    return errors.fail("%s: the stored certificate is damaged (%s): make it again with 'lgelu certify %s'", file.path,
      result.message, run.dir)
  end)
end

return stored
