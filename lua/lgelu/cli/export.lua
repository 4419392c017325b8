--- lgelu export: a run as files for other tools. The files are lgelu.export's; here are the words of the command line.

local args = require("lgelu.cli.args")
local errors = require("lgelu.errors")

local verb = {}

verb.summary = "Write a run's network as ONNX or safetensors, with VNN-LIB properties, calibration samples."

local PROPERTIES, CALIBRATION = 10, 512 -- samples, when nobody says how many

function verb.setup(parser)
  parser:argument("run", "Finished run, by folder or name.")
  parser:option("-o --output", "ONNX file to write."):argname("FILE.onnx"):convert(args.text("-o"))
  parser:flag("--relu", "ReLU in every gate's place, as after 'lgelu swap'.")
  parser:option("--batch", "Rows of the ONNX network's batch: 1 or dynamic."):argname("N"):default("1")
  parser:option("--vnnlib", "Folder for robustness properties of test samples (needs -o, --relu and --eps).")
    :argname("DIR"):convert(args.text("--vnnlib"))
  parser:option("--eps", "Radius of their box, in the network's units."):argname("E")
    :convert(args.number("--eps", 0, true))
  parser:option("--calibration", "File for training samples in the network's units: .npz or .h5."):argname("FILE")
    :convert(args.text("--calibration"))
  parser:option("--samples", ("Number of samples: of --vnnlib (default %d), of --calibration (%d)."):format(PROPERTIES,
    CALIBRATION)):argname("N"):convert(args.integer("--samples", 1))
  parser:option("--weights", "File for parameters and running statistics."):argname("FILE.safetensors")
    :convert(args.text("--weights"))
  parser:epilog("ONNX (opset 13): input 'input' [batch, …], output 'logits'. Its units are the stored numbers times "
    .. "the data set's scale, so pixels in [0, 1], channels first; mean and deviation are in the first layer, batch "
    .. "norms in the layers before them, global pooling in the layer behind it. A ReLU network of mlp and resnet is "
    .. "made of Conv, Gemm, Relu, Add, Sub and Flatten; maximum pooling (cnn) is MaxPool. Without --relu, gates are "
    .. "x·½·(1 + Erf(λx/√2)): verifiers take neither Erf nor Gelu, onnxruntime does. Attention and normalization of "
    .. "rows are plain ops too (MatMul, Softmax, Transpose, Reshape, Slice, ReduceMean, Sub, Pow, Sqrt, Div, …), as "
    .. "LayerNormalization came with opset 17. Ids of tokens are an int64 input, and int64 in a .npz of calibration "
    .. "samples; they have no box, so no VNN-LIB. metadata_props say where it comes "
    .. "from, and what lgelu swap and certify found. A property is unsat when no input in the box changes the class. "
    .. "Weights: read by lg.safetensors.read, and by model:load_weights(FILE) in 'lgelu repl'. A hardened run is "
    .. "exported as it ended, others at their best epoch.")
end

local function check_ending(path, ending, option)
  if not path:lower():find("%." .. ending .. "$") then
    errors.usage("%s: '%s' does not end in .%s", option, path, ending)
  end
end

-- What has to be right before anything is opened.
local function check(given)
  if not (given.output or given.weights or given.calibration) then
    errors.usage("export: nothing to write: expected -o FILE.onnx, --weights FILE.safetensors or --calibration FILE")
  end
  if given.batch ~= "1" and given.batch ~= "dynamic" then
    errors.usage("--batch: found '%s', expected 1 or dynamic", given.batch)
  end
  if given.output then check_ending(given.output, "onnx", "-o") end
  if given.weights then check_ending(given.weights, "safetensors", "--weights") end
  if given.calibration then require("lgelu.export.calibration").check(given.calibration) end
  if given.relu and not given.output then errors.usage("--relu is about the ONNX network: it needs -o FILE.onnx") end
  if given.vnnlib and not (given.output and given.relu and given.eps) then
    errors.usage("--vnnlib: properties are about a ReLU network and a box: it needs -o FILE.onnx, --relu and --eps E")
  end
  if given.eps and not given.vnnlib then errors.usage("--eps is the box of --vnnlib DIR, which is missing") end
  if given.samples and not (given.vnnlib or given.calibration) then
    errors.usage("--samples belongs to --vnnlib or --calibration")
  end
end

local function say(format, ...) io.write(format:format(...), "\n") end

local function write_onnx(t, given)
  local result = require("lgelu.export").onnx(t, given.output, { relu = given.relu, batch = given.batch })
  say("%s: the network %s, opset %d, batch %s: %s", given.output, given.relu and "with ReLU gates" or "as trained",
    result.opset, given.batch, table.concat(result.ops, ", "))
  say("input: %s", result.units)
  if #result.uncommon > 0 then
    say("note: not every verifier takes %s%s", table.concat(result.uncommon, ", "),
      given.relu and "" or "; --relu writes the ReLU network")
  end
  if not given.relu or t.config.gate.kind == "relu" then return end
  if not result.swapped then
    say("note: how far the swap moves logits is not in the file; it is when 'lgelu swap %s' comes first", t.dir)
  elseif not result.certified and not require("lgelu.certificate.gates").reason(t) then
    say("note: what is proved of the swap is not in the file; it is when 'lgelu certify %s' comes first", t.dir)
  end
end

function verb.run(given)
  check(given)
  local export, t = require("lgelu.export"), require("lgelu.trained").open(given.run)
  if given.vnnlib then export.check_box(t) end
  if given.output then write_onnx(t, given) end
  if given.vnnlib then
    local count = export.vnnlib(t, given.vnnlib,
      { onnx = given.output, samples = given.samples or PROPERTIES, eps = given.eps })
    say("%s: %d properties and instances.csv", given.vnnlib, count)
  end
  if given.calibration then
    local count = given.samples or math.min(CALIBRATION, t.index.train.shape[1])
    export.calibration(t, given.calibration, count)
    say("%s: %d training samples", given.calibration, count)
  end
  if given.weights then say("%s: %d tensors", given.weights, export.weights(t, given.weights)) end
  return 0
end

return verb
