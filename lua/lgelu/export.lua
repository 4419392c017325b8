--- lg.export: a trained run for the tools that take it from here: ONNX, VNN-LIB, calibration samples, safetensors.
--   t = lg.trained.open("runs/mlp_fmnist-1a2b3c4d-s1")
--   lg.export.onnx(t, "net.onnx", { relu = true })
-- The ONNX network takes the data set's numbers times their scale (pixels in [0, 1]; no mean, no deviation: those are
-- in the first layer) and gives logits. The parts are in lua/lgelu/export/; nothing here changes the run.
local columns = require("lgelu.data.columns")
local errors = require("lgelu.errors")
local folded = require("lgelu.folded")
local gate = require("lgelu.gate")
local json = require("lgelu.recipe.json")
local onnx = require("lgelu.export.onnx")
local samples = require("lgelu.export.samples")
local tensor = require("lgelu.tensor")

local export = {}

-- What an exported file says about its origin: { key, text } in order.
local function origin(t)
  local attrs, names, list = t.run.attrs, {}, {}
  local lambdas = t.net:lambdas()
  for i, g in ipairs(t.net.gates) do
    names[i] = g.name
  end
  local function add(key, value) -- JSON has no word for infinity, as which a bound may come
    local plain = type(value) == "string" or value == math.huge
    list[#list + 1] = { key, plain and tostring(value) or json.encode(value) }
  end
  add("lgelu_version", require("lgelu").version)
  add("run", tostring(attrs.name))
  add("run_hash", attrs.hash)
  add("seed", tostring(attrs.seed))
  add("data", t.set.name)
  add("data_sha256", attrs.data_sha256)
  add("checkpoint", t.checkpoint)
  add("gate_kind", t.config.gate.kind)
  add("gates", names)
  if #lambdas > 0 then add("lambda", lambdas) end
  return list, add
end

-- What a swap changes, as far as the run's folder knows it ('lgelu swap'). Returns whether it does.
local function swap_notes(t, add)
  local report = require("lgelu.swap").read(t.run)
  if not report or report.checkpoint ~= t.checkpoint then return false end
  local deviations = {}
  for i, g in ipairs(report.gates) do
    deviations[i] = g.max_deviation
  end
  add("swap_max_deviation", deviations)
  for _, part in ipairs({ "val", "test" }) do
    local found = report[part]
    if found then
      add("swap_" .. part .. "_score_before", found.score_before)
      add("swap_" .. part .. "_score_after", found.score_after)
      add("swap_" .. part .. "_max_logit_change", found.max_logit_change)
    end
  end
  return true
end

-- What is proved of it ('lgelu certify'): samples that keep their class, and by how much a logit can change at most.
-- Returns whether something is.
local function certificate_notes(t, add)
  local report = require("lgelu.certificate.stored").read(t.run)
  if not report or report.checkpoint ~= t.checkpoint then return false end
  add("certificate_samples", report.samples)
  add("certificate_eps", report.eps)
  add("certificate_keep_class", report.value.certified)
  add("certificate_max_logit_change", math.max(unpack(report.value.bound)))
  return true
end

local function units(set)
  if set.input_dtype then
    return ("ids of tokens, int64, %s a row"):format(table.concat(set.input_shape, " x "))
  end
  if set.columns then
    return "the table's features (named in the file), numbers as the table has them"
      .. (columns.stand_ins(set) and ", for a missing one the mean that the file gives" or "")
  end
  local low, high = samples.range(set)
  if not low then return "the data set's own numbers" .. (set.scale ~= 1 and " x " .. set.scale or "") end
  return ("pixels / 255, from %g to %g, [channels, height, width]"):format(low, high)
end

--- Writes the network as ONNX.
-- @param t  of lgelu.trained.open
-- @param path  the file; replaced at one instant
-- @param options  { relu = false: true for ReLU in every gate's place; batch = 1, or "dynamic" }
-- @return { ops = sorted names, uncommon = those that verifiers do not share, opset, units = the input's, in words,
--   swapped, certified = whether the file says what 'lgelu swap' and 'lgelu certify' found }
-- @raise fails for an op that cannot be exported, with node and line, and for a file that cannot be written
function export.onnx(t, path, options)
  local f = folded.of(t, { relu = options.relu, fold_input = true })
  local g = onnx.graph(f, options.batch ~= "dynamic" and 1 or nil)
  local meta, add = origin(t)
  add("relu", options.relu and "true" or "false")
  add("input_units", units(t.set))
  if t.set.labels then add("classes", t.set.labels) end
  if t.set.columns then
    add("features", t.set.columns.features)
    local means = columns.stand_ins(t.set)
    if means then add("missing_numbers", means) end
  end
  if t.set.tokens then add("tokens", t.set.tokens.level) end
  if t.set.tokens and t.set.tokens.vocabulary then add("vocabulary", t.set.tokens.vocabulary) end
  local swapped, certified = swap_notes(t, add), certificate_notes(t, add)
  onnx.write(g, path, tostring(t.run.attrs.name), meta)
  return { ops = g.ops, uncommon = onnx.uncommon(g), opset = onnx.opset, units = units(t.set), swapped = swapped,
    certified = certified }
end

-- s that give the λ of gates under a floor, which hardening left behind; nil for the others. By the parameter's id.
local function hardened_s(net)
  local list, config, lambdas = {}, net.gate_config, net:lambdas()
  for i, g in ipairs(net.gates) do
    if g.s and lambdas[i] > gate.lambda(g.s_value[0], config.t, config.reparam) then
      list[g.s] = tensor.tensor({ gate.s(lambdas[i], config.t, config.reparam) }, "f64")
    end
  end
  return list
end

--- Writes parameters and states (running statistics) as safetensors, under the names and in the layout that the engine
-- has: convolutions [out, height, width, in/groups], linear layers [out, in]. s is that of the gate's λ, also where
-- hardening raised λ past s. network:load_weights reads it back.
-- @return number of tensors
function export.weights(t, path)
  local tensors, count, metadata, hardened = {}, 0, {}, hardened_s(t.net)
  for _, list in ipairs({ t.net.params, t.net.states }) do
    for _, leaf in ipairs(list) do
      tensors[leaf.name], count = hardened[leaf.id] or t.net:tensor(leaf.name), count + 1
    end
  end
  for _, pair in ipairs((origin(t))) do
    metadata[pair[1]] = pair[2]
  end
  metadata.layout = "convolutions [out, height, width, in/groups], linear [out, in]"
  require("lgelu.safetensors").write(path, tensors, metadata)
  return count
end

--- Fails where inputs are ids: a box around them holds no other sentence.
function export.check_box(t)
  if t.set.input_dtype then
    errors.usage("--vnnlib: the network of %s reads ids of tokens, and a property is a box of numbers around its "
      .. "input: there are none for ids", t.run.attrs.name)
  end
end

--- Writes robustness properties of test samples that the ReLU network gets right: see export/vnnlib.lua.
-- @param options  { onnx = the ReLU network's file, samples = count, eps = radius in the network's units }
-- @return number of properties
-- @raise usage error for ids, which have no box, and for an eps that is none
function export.vnnlib(t, folder, options)
  export.check_box(t)
  if not (options.eps > 0 and options.eps < math.huge) then
    errors.usage("--eps: found %s, expected a number above 0, in the network's units (%s)", tostring(options.eps),
      units(t.set))
  end
  return require("lgelu.export.vnnlib").write(t, folder, options.onnx, options)
end

--- Writes training samples for the calibration of integer quantizers: see export/calibration.lua.
function export.calibration(t, path, count) require("lgelu.export.calibration").write(t, path, count) end

return export
