--- lgelu export on small trained runs: the files that it writes, read by others: onnxruntime, ONNX's checker, NumPy,
-- h5py, a small parser of VNN-LIB; and what it refuses.
local C = require("lgelu.C")
local compare = require("tests.onnx.compare")
local errors = require("lgelu.errors")
local export = require("lgelu.export")
local folders = require("tests.spec.support.folders")
local recipe = require("lgelu.recipe")
local runs = dofile("tests/spec/support/runs.lua")
local runtime = require("tests.onnx.runtime")
local safetensors = require("lgelu.safetensors")
local samples = require("lgelu.export.samples")
local swap = require("lgelu.swap")
local train = require("lgelu.train")
local trained = require("lgelu.trained")
local vnnlib = require("tests.spec.support.vnnlib_read")

local base = folders.temporary()
local dirs = {}

local function run_of(name, model, more, data, gate)
  local path = ("%s/%s.lua"):format(base, name)
  folders.write(path, ([[
return { name = %q, data = { %s }, model = %s, gate = { %s, t = 0.1 }, optimizer = { lr = 0.02 },
  train = { epochs = 1, batch = 16, eval_batch = 32 }, %s }]]):format(name, data
    or 'source = "synthetic", n = 240, n_test = 70, shape = { 2, 6, 6 }, classes = 4, validation = 0.25', model,
    gate or 'init = "ascending"', more or ""))
  dirs[name] = base .. "/" .. name
  train.run(recipe.load(path), { out = dirs[name], quiet = true })
end

setup(function()
  run_of("mlp", "lg.models.mlp{ hidden = { 12, 8 } }")
  run_of("cnn", "lg.models.cnn{ channels = { 4, 6 }, hidden = { 8 } }")
  run_of("resnet", "lg.models.resnet{ width = 2 }", "hardening = { from = 0.5 },")
  run_of("fixed", "lg.models.mlp{ hidden = { 6, 5 } }", "hardening = { from = 0.5 },", nil, "learn = false, lambda = 2")
  run_of("moons", "lg.models.mlp{ hidden = { 8 } }", "", 'source = "moons", n = 100')
  run_of("table", "lg.models.mlp{ hidden = { 8 } }", "", 'source = "synthetic_table", n = 120, n_test = 70')
  run_of("vit", "lg.models.vit{ patch = 3, width = 16, depth = 2, heads = 2, expansion = 2, dropout = 0.1 }")
  run_of("gpt", "lg.models.gpt{ width = 16, depth = 2, heads = 4, expansion = 1.5 }", "",
    'source = "synthetic_text", n = 3000, words = 12, context = 12, test = 0.1')
  run_of("ffn", "lg.models.ffn{ width = 12, gated = true, dropout = 0.1 }")
  run_of("encoder", "lg.models.encoder{ width = 16, depth = 2, heads = 2 }", "",
    'source = "synthetic_sentences", n = 120, n_test = 70, words = 16, length = 12')
end)
teardown(function() os.execute("rm -rf '" .. base .. "'") end)

local function python(code)
  folders.write(base .. "/s.py", code)
  local pipe = io.popen(("unset LD_PRELOAD; cd '%s'; PYTHONIOENCODING=utf8 /usr/bin/python3 s.py 2>&1"):format(base))
  local text = pipe:read("*a")
  pipe:close()
  return text
end

local function read(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

local function exists(path)
  local file = io.open(path, "rb")
  if file then file:close() end
  return file ~= nil
end

-- The program on a run, with words in which % is the folder.
local function program(run, words)
  local list = {}
  for word in words:gmatch("%S+") do
    list[#list + 1] = (word:gsub("%%", base))
  end
  return runs.program("export", dirs[run] or run, unpack(list))
end

-- Ops beyond those that verifiers share, of each ReLU network.
local UNCOMMON = {
  mlp = "", resnet = "", moons = "", table = "", cnn = "MaxPool",
  vit = "Concat Div Expand Mul Pow ReduceMean Shape Slice Softmax Sqrt Transpose", -- with an open batch
  ffn = "Div Mul Pow ReduceMean Sqrt",
  gpt = "Div Gather Mul Pow ReduceMean Slice Softmax Sqrt Transpose",
  encoder = "Cast Div Equal Gather Less Mul Pow ReduceMax ReduceMean Slice Softmax Sqrt Transpose Where",
}

describe("lgelu export", function()
  it("writes networks that onnxruntime evaluates as the engine does", function()
    local reason, list = runtime.missing(), {}
    for name in pairs(UNCOMMON) do
      local t = trained.open(dirs[name])
      for _, relu in ipairs({ false, true }) do
        local path = ("%s/%s%s.onnx"):format(base, name, relu and "_relu" or "")
        local batch = relu and "dynamic" or 1
        local said = export.onnx(t, path, { relu = relu, batch = batch })
        if relu then assert.are.equal(UNCOMMON[name], table.concat(said.uncommon, " ")) end
        if t.set.test then
          list[#list + 1] = { name = name, t = t, file = path, count = 70, relu = relu, batch = relu and 32 or 1 }
        end
      end
    end
    if reason then return pending(reason) end
    for i, result in ipairs(compare.run(list)) do
      assert.is_true(result.worst < 1e-4, list[i].name .. ": " .. result.worst)
      assert.are.equal(list[i].name == "gpt" and 12 * result.samples or result.samples, result.same)
      assert.are.equal(result.right_engine, result.right_onnx)
    end
  end)

  it("says in the file where the network comes from, what the swap changed and what is proved", function()
    local _, output = program("mlp", "--relu -o %/meta.onnx")
    assert.matches("\nnote: how far the swap moves logits is not in the file; it is when 'lgelu swap .*mlp'", output)
    local _, report = swap.of(dirs.mlp)
    _, output = program("mlp", "--relu -o %/meta.onnx")
    assert.matches("\nnote: what is proved of the swap is not in the file; it is when 'lgelu certify .*mlp'", output)
    assert.are.equal(0, (runs.program("certify", dirs.mlp)))
    local proved = require("lgelu.certificate").read(trained.open(dirs.mlp).run)
    local status
    status, output = program("mlp", "--relu -o %/meta.onnx")
    assert.are.equal(0, status, output)
    assert.are.equal(base .. "/meta.onnx: the network with ReLU gates, opset 13, batch 1: Flatten, Gemm, Relu\n"
      .. "input: pixels / 255, from 0 to 1, [channels, height, width]\n", output)
    local t = trained.open(dirs.mlp)
    local expected = { lgelu_version = require("lgelu").version, run = "mlp", run_hash = t.run.attrs.hash, seed = "1",
      data = "synthetic", data_sha256 = t.set.sha256, checkpoint = "best", gate_kind = "lambda_gelu", relu = "true",
      gates = '["gate1","gate2"]' }
    local found = python([[
import onnx
m = onnx.load("meta.onnx")
onnx.checker.check_model(m, full_check=True)
for p in m.metadata_props: print(p.key + "=" + p.value)
print("ir=%d" % m.ir_version)
]])
    local list = {}
    for key, value in found:gmatch("([^\n=]+)=([^\n]*)") do
      list[key] = value
    end
    for key, value in pairs(expected) do
      assert.are.equal(value, list[key])
    end
    assert.are.equal(report.test.max_logit_change, tonumber(list.swap_test_max_logit_change))
    assert.are.equal(report.val.score_after, tonumber(list.swap_val_score_after))
    assert.are.equal(math.max(unpack(proved.value.bound)), tonumber(list.certificate_max_logit_change))
    assert.are.equal(proved.value.certified, tonumber(list.certificate_keep_class))
    assert.is_true(tonumber(list.certificate_max_logit_change) >= tonumber(list.swap_test_max_logit_change))
    local lambdas = require("cjson").decode(list.lambda)
    assert.are.same(t.net:lambdas(), lambdas)
    local deviations = require("cjson").decode(list.swap_max_deviation)
    for i, gate in ipairs(report.gates) do
      assert.are.equal(gate.max_deviation, deviations[i])
    end
    _, output = program("mlp", "-o %/smooth.onnx")
    assert.is_nil(output:find("comes first", 1, true))
    assert.matches("swap_test_max_logit_change.*certificate_max_logit_change", read(base .. "/smooth.onnx"))
    require("lgelu.h5").with(dirs.mlp .. "/run.h5", "a", function(file)
      file:write_numbers("/swap/certificate/value/bound", { 1, 1 / 0, 2, 3 }, "f64")
    end)
    assert.are.equal(0, (program("mlp", "--relu -o %/meta.onnx")))
    assert.matches("certificate_max_logit_change..inf", read(base .. "/meta.onnx"))
  end)

  it("says of a table what its features are, and which mean stands for a missing number", function()
    local status, output = program("table", "-o %/table.onnx")
    assert.are.equal(0, status, output)
    assert.is_truthy(output:find("numbers as the table has them, for a missing one the mean that the file gives\n", 1,
      true), output)
    local set, found = trained.open(dirs.table).set, python([[
import json, onnx
meta = {p.key: p.value for p in onnx.load("table.onnx").metadata_props}
print(len(json.loads(meta["features"])))
for name, mean in sorted(json.loads(meta["missing_numbers"]).items()): print(name, repr(mean))
]])
    local lines = { ("%d\n"):format(#set.columns.features) }
    for i, name in ipairs(set.columns.features) do
      if name:find("^n%d$") then
        lines[#lines + 1] = name .. " " .. found:match("\n" .. name .. " ([^\n]*)") .. "\n"
        assert.are.equal(set.mean[i], tonumber(lines[#lines]:match(" (.*)\n")))
      end
    end
    assert.are.equal(5, #lines)
    assert.are.equal(table.concat(lines), found)
  end)

  it("writes Transformers that ONNX's checker takes, with ids as int64 and their vocabulary", function()
    for _, name in ipairs({ "vit", "gpt", "encoder" }) do
      for form, words in pairs({ whole = "", open = "--relu --batch dynamic " }) do
        words = ("%s-o %%/%s_%s.onnx"):format(words, form, name)
        local status, output = program(name, words)
        assert.are.equal(0, status, output)
        assert.is_truthy(output:find("note: not every verifier takes [CD][^\n]*, Softmax, Sqrt, Transpose"), output)
        assert.are.equal(name ~= "vit", output:find("input: ids of tokens, int64, 12 a row\n", 1, true) ~= nil)
      end
    end
    local vocabulary = trained.open(dirs.gpt).set.tokens.vocabulary
    local expected = ("encoder INT64 1 2\nencoder INT64 batch 2\nvit FLOAT 1 4\nvit FLOAT batch 4\ngpt INT64 1 %d\n"
      .. "gpt INT64 batch %d\nchar %s\n"):format(#vocabulary, #vocabulary, table.concat(vocabulary))
    assert.are.equal(expected, python([[
import json, onnx
for name in "encoder", "vit", "gpt":
    for form in "whole", "open":
        m = onnx.load("%s_%s.onnx" % (form, name))
        onnx.checker.check_model(m, full_check=True)
        x, y = m.graph.input[0].type.tensor_type, m.graph.output[0].type.tensor_type
        print(name, onnx.TensorProto.DataType.Name(x.elem_type), x.shape.dim[0].dim_value or x.shape.dim[0].dim_param,
              y.shape.dim[-1].dim_value)
meta = {p.key: p.value for p in m.metadata_props}
print(meta["tokens"], "".join(json.loads(meta["vocabulary"])))
]]))
  end)

  it("exports a hardened run as it ended", function()
    local status, output = program("resnet", "--weights %/hard.safetensors -o %/hard.onnx")
    assert.are.equal(0, status, output)
    local _, metadata = safetensors.read(base .. "/hard.safetensors")
    assert.are.equal("last", metadata.checkpoint)
    for _, lambda in ipairs(require("cjson").decode(metadata.lambda)) do
      assert.is_true(math.abs(lambda - 159.577) < 0.001, lambda)
    end
    assert.is_truthy(output:find("note: not every verifier takes Erf, Mul; --relu writes the ReLU network", 1, true))
  end)

  it("writes weights that give another network the same scores", function()
    local t = trained.open(dirs.cnn)
    assert.is_true(export.weights(t, base .. "/w.safetensors") > 10)
    local other = trained.open(dirs.cnn)
    other.net:set_gate(1, { lambda = 7 })
    C.check(C.lib.lg_graph_fill(other.net.graph, other.net.params[1].id, 0, 0.5, 0, 1))
    assert.are_not.same(samples.logits(t, "test", false), samples.logits(other, "test", false))
    other.net:load_weights(base .. "/w.safetensors")
    assert.are.same(samples.logits(t, "test", false), samples.logits(other, "test", false))
  end)

  it("writes the λ at which hardening ended, for networks that take it, or give theirs up for another", function()
    local hard, soft = trained.open(dirs.resnet), trained.untrained(trained.open(dirs.resnet).resolved)
    local at_start = soft.net:lambdas()
    export.weights(hard, base .. "/h.safetensors")
    local tensors = {}
    for _, list in ipairs({ soft.net.params, soft.net.states }) do
      for _, leaf in ipairs(list) do tensors[leaf.name] = soft.net:tensor(leaf.name):clone() end
    end
    safetensors.write(base .. "/soft.safetensors", tensors)
    soft.net:load_weights(base .. "/h.safetensors")
    for i, lambda in ipairs(soft.net:lambdas()) do
      assert.is_true(math.abs(lambda / hard.net:lambdas()[i] - 1) < 1e-14, lambda)
    end
    local taken = samples.logits(soft, "test", false)
    for i, logit in ipairs(samples.logits(hard, "test", false)) do
      assert.is_true(math.abs(logit - taken[i]) < 1e-5)
    end
    hard.net:load_weights(base .. "/soft.safetensors")
    assert.are.same(at_start, hard.net:lambdas())
  end)

  it("writes fixed λ as metadata, which is checked when it is read", function()
    local t, file = trained.open(dirs.fixed), base .. "/f.safetensors"
    assert.are.same({ 159.57691216057307, 159.57691216057307 }, t.net:lambdas())
    export.weights(t, file)
    local fresh = trained.untrained(t.resolved).net
    assert.are.same({ 2, 2 }, fresh:lambdas())
    fresh:load_weights(file)
    assert.are.same(t.net:lambdas(), fresh:lambdas())
    local tensors = safetensors.read(file)
    for _, text in ipairs({ "[3]", "[3,-1]", '["a",3]', "7", "[" }) do
      safetensors.write(file, tensors, { lambda = text })
      local ok, e = pcall(fresh.load_weights, fresh, file)
      assert.is_false(ok)
      assert.is_truthy(e.message:find("f.safetensors: metadata 'lambda': ", 1, true), e.message)
    end
    assert.are.same(t.net:lambdas(), fresh:lambdas())
  end)

  it("writes calibration samples that NumPy and h5py read, in the network's units", function()
    for _, name in ipairs({ "c.npz", "c.h5" }) do
      local status, output = program("mlp", "--calibration %/" .. name .. " --samples 7")
      assert.are.equal(0, status, output)
    end
    local t = trained.open(dirs.mlp)
    local index, pixels = t.index.train:totable(), t.set.train.x
    local rows, first = {}, {}
    for i = 0, 6 do
      rows[i + 1] = index[math.floor(i * 180 / 7) + 1]
      first[i + 1] = ("%d"):format(pixels[rows[i + 1]]:totable()[2][3][4])
    end
    assert.are.equal(("(7, 2, 6, 6) float32 [%s]\nTrue True 0.0 1.0\n"):format(table.concat(first, " ")), python([[
import h5py, numpy as np, zipfile
z, h = np.load("c.npz"), h5py.File("c.h5")
x = z["input"]
print(x.shape, x.dtype, str(np.rint(x[:, 1, 2, 3] * 255).astype(int)).replace("  ", " ").replace("[ ", "["))
assert zipfile.ZipFile("c.npz").testzip() is None and z["labels"].shape == (7,)
print((h["input"][...] == x).all(), (h["labels"][...] == z["labels"]).all(), x.min().round(1), x.max().round(1))
]]):gsub("  +", " "))
  end)
end)

describe("calibration samples of ids", function()
  it("are int64 in .npz, as the network takes them", function()
    for _, name in ipairs({ "ids.npz", "ids.h5" }) do
      local status, output = program("gpt", "--calibration %/" .. name .. " --samples 3")
      assert.are.equal(0, status, output)
    end
    local t = trained.open(dirs.gpt)
    local first = t.set.train.x[t.index.train:totable()[1]]:totable()
    assert.are.equal(("(3, 12) int64 (3, 12) int32 [%s] True True True\n"):format(table.concat(first, " ")), (python([[
import h5py, numpy as np
z, h = np.load("ids.npz"), h5py.File("ids.h5")
x, y = z["input"], z["labels"]
print(x.shape, x.dtype, y.shape, y.dtype, str(x[0]), (x[:, 1:] == y[:, :-1]).all(), (h["input"][...] == x).all(),
      (h["labels"][...] == y).all())
]]):gsub("  +", " "):gsub("%[ ", "[")))
  end)
end)

describe("--vnnlib", function()
  it("states the box, its cut and the counterexample of samples that the ReLU network gets right", function()
    assert(os.execute("mkdir " .. base .. "/p") == 0)
    local status, output = program("mlp", "--relu -o %/p/net.onnx --vnnlib %/p/props --eps 0.03125 --samples 4")
    assert.are.equal(0, status, output)
    local t = trained.open(dirs.mlp)
    local logits, labels = samples.logits(t, "test", true), t.set.test.y:totable()
    local cut, row, points, names = 0, 0, {}, {}
    for line in read(base .. "/p/props/instances.csv"):gmatch("[^\n]+") do
      local network, property, seconds = line:match("^([^,]+),([^,]+),(%d+)$")
      assert.are.equal("../net.onnx", network)
      assert.is_true(tonumber(seconds) > 0)
      repeat
        row = row + 1
      until samples.argmax(logits, (row - 1) * 4, 4) == labels[row] -- the next one that is right
      assert.are.equal(("test%d_eps0.03125.vnnlib"):format(row - 1), property)
      local p = vnnlib.read(read(base .. "/p/props/" .. property))
      assert.are.equal(72, p.inputs)
      assert.are.equal(4, p.outputs)
      local x = samples.gather(t.set, t.set.test, { row }):reshape({ 72 }):totable()
      for i, v in ipairs(x) do
        local low, high = math.max(v - 0.03125, 0), math.min(v + 0.03125, 1)
        assert.is_true(math.abs(p.low[i] - low) < 1e-9 and math.abs(p.high[i] - high) < 1e-9)
        if p.low[i] == 0 or p.high[i] == 1 then cut = cut + 1 end
      end
      -- The sample itself is no counterexample; logits with another class in front are one.
      local own = {}
      for k = 1, 4 do
        own[k] = logits[(row - 1) * 4 + k]
      end
      assert.is_false(p.counterexample(own))
      for k = 0, 3 do
        local other = { 0, 0, 0, 0 }
        other[labels[row] + 1] = 1
        assert.is_false(p.counterexample(other))
        if k ~= labels[row] then
          other[k + 1] = 1 -- equal is enough
          assert.is_true(p.counterexample(other))
        end
      end
      points[#points + 1], names[#names + 1] = row, property
    end
    assert.are.equal(4, #names)
    assert.is_true(cut > 0)
    -- In the network's own units: the ONNX network is right about the middle of the box.
    if runtime.missing() then return pending(runtime.missing()) end
    local found = runtime.run({ { model = base .. "/p/net.onnx", batch = 1,
      x = samples.gather(t.set, t.set.test, points) } })[1]
    for i, point in ipairs(points) do
      assert.are.equal(labels[point], samples.argmax(found, (i - 1) * 4, 4))
    end
  end)

  it("writes decimals that SMT-LIB has, for numbers of any size", function()
    local text = require("lgelu.export.vnnlib").text({ 1e-7, -2.5, 12345678 }, 1, 1e-9, 2, nil, nil, { "a\nb" })
    local p = vnnlib.read(text)
    assert.are.same({ 3, 2, 1 }, { p.inputs, p.outputs, select(2, text:gsub("; a b\n", "")) })
    assert.is_nil(text:find("%d[eE][-+]?%d"))
    assert.is_true(math.abs(p.low[1] - 9.9e-8) < 1e-15 and math.abs(p.high[1] - 1.01e-7) < 1e-15)
    assert.is_true(p.high[2] == -2.5 + 1e-9 and p.low[3] == 12345678 - 1e-9)
    local third = 1 / 3 -- and a radius that fewer digits would lose
    p = vnnlib.read(require("lgelu.export.vnnlib").text({ third }, 1, 1e-15, 2, nil, nil, {}))
    assert.are.same({ { third - 1e-15 }, { third + 1e-15 } }, { p.low, p.high })
  end)
end)

describe("export refuses", function()
  local CASES = {
    { "mlp", "", "export: nothing to write: expected -o FILE.onnx, --weights FILE.safetensors or --calibration FILE" },
    { "mlp", "-o %/x.pb", "-o: '%/x.pb' does not end in .onnx" },
    { "mlp", "--weights %/x.pt", "--weights: '%/x.pt' does not end in .safetensors" },
    { "mlp", "--calibration %/x.csv", "--calibration: '%/x.csv' ends in neither .npz nor .h5 nor .hdf5" },
    { "mlp", "-o %/x.onnx --batch 8", "--batch: found '8', expected 1 or dynamic" },
    { "mlp", "-o %/x.onnx --vnnlib %/v --eps 0.1", "--vnnlib: properties are about a ReLU network and a box" },
    { "mlp", "-o %/x.onnx --relu --vnnlib %/v", "--vnnlib: properties are about a ReLU network and a box" },
    { "mlp", "-o %/x.onnx --eps 0.1", "--eps is the box of --vnnlib DIR, which is missing" },
    { "mlp", "-o %/x.onnx --samples 3", "--samples belongs to --vnnlib or --calibration" },
    { "mlp", "-o %/e.onnx --relu --vnnlib %/v --eps 0", "--eps: found '0', expected a number > 0" },
    { "mlp", "-o %/e.onnx --relu --vnnlib %/v --eps=-1", "--eps: found '-1', expected a number > 0" },
    { "mlp", "-o %/e.onnx --relu --vnnlib %/v --eps nan", "--eps: found 'nan', expected a number > 0" },
    { "mlp", "-o %/e.onnx --relu --vnnlib %/v --eps x", "--eps: found 'x', expected a number > 0" },
    { "mlp", "-o %/x.onnx --relu --vnnlib %/v --eps 0.1 --samples 71", "--samples: found 71, but the ReLU network is "
      .. "right about" },
    { "mlp", "--calibration %/x.npz --samples 181", "--samples: found 181, but there are 180 training samples only" },
    { "mlp", "--weights %/x.safetensors --relu", "--relu is about the ONNX network: it needs -o FILE.onnx" },
    { "nowhere", "-o %/x.onnx", "nowhere" },
    { "gpt", "-o %/ids.onnx --relu --vnnlib %/v --eps 0.1", "--vnnlib: the network of gpt reads ids of tokens" },
  }
  for _, case in ipairs(CASES) do
    it(("%s %s"):format(case[1], case[2]), function()
      local status, output = program(case[1], case[2])
      assert.are.equal(2, status, output)
      assert.is_truthy(output:find((case[3]:gsub("%%", base)), 1, true), output)
      assert.is_false(exists(base .. "/v/instances.csv") or exists(base .. "/ids.onnx") or exists(base .. "/e.onnx"))
    end)
  end

  it("a run that failed", function()
    runs.store({ dir = base .. "/failed", kind = "lambda_gelu", seed = 1, epochs = 1, score = 0.5, status = "failed" })
    local status, output = program(base .. "/failed", "-o %/x.onnx")
    assert.are.equal(1, status)
    assert.is_truthy(output:find("/failed: the run failed: there is no trained network in it", 1, true), output)
  end)

  it("files that cannot be written, and leaves nothing behind", function()
    for _, words in ipairs({ "-o %/no/x.onnx", "--weights %/no/x.safetensors", "--calibration %/no/x.npz",
      "--calibration %/no/x.h5" }) do
      local status, output = program("mlp", words)
      assert.are.equal(1, status, output)
      assert.is_truthy(output:find(base .. "/no/x.", 1, true), output)
    end
    folders.write(base .. "/afile", "")
    local status, output = program("mlp", "-o %/y.onnx --relu --vnnlib %/afile/v --eps 0.1")
    assert.are.equal(1, status)
    assert.is_truthy(output:find(base .. "/afile", 1, true), output)
  end)

  it("an op that has no folded form, by node and line", function()
    run_of("odd", [[function(nn, x, info)
      return nn:linear(nn:reshape(nn:reshape(x, { 36 }, { name = "halves" }), { 72 }), info.classes) end]])
    local status, output = program("odd", "-o %/odd.onnx")
    assert.are.equal(1, status)
    assert.is_truthy(output:find("odd/run.h5:2: node 'halves' (reshape) cannot be folded: it mixes the sam", 1, true),
      output)
    assert.is_false(exists(base .. "/odd.onnx"))
  end)

  it("leaves the gates as they were, also after an error", function()
    local t = trained.open(dirs.mlp)
    local ok, e = pcall(samples.with_gates, t.net, true, function() errors.fail("no") end)
    assert.is_false(ok)
    assert.are.equal("no", e.message)
    assert.are.equal("lambda_gelu", t.net:gate_state(1).kind)
  end)
end)
