--- ONNX files of random networks (support/folded_models.lua): the ops that they are made of, what ONNX's own checker
-- says, and their logits in onnxruntime beside the engine's, where onnxruntime can be had (tests/onnx/runtime.lua).
local C = require("lgelu.C")
local folded = require("lgelu.folded")
local folders = require("tests.spec.support.folders")
local models = require("tests.spec.support.folded_models")
local onnx = require("lgelu.export.onnx")
local runtime = require("tests.onnx.runtime")
local tensor = require("lgelu.tensor")
local ffi, lib, check = C.ffi, C.lib, C.check

-- The ops of each model of models.list as a ReLU network: all common ones, but for the pooling by maxima, fixed smooth
-- activations, and orders of elements that no weight can hide.
local OPS = {
  mlp = "Flatten Gemm Relu",
  ["mlp without biases"] = "Gemm Relu",
  cnn = "Conv Flatten Gemm MaxPool Relu Sub",
  resnet = "Add Conv Flatten Gemm Relu Sub",
  ["groups, strides, uneven padding, average pooling, fixed activations"] =
    "Add Conv Flatten Gemm Mul Relu Sigmoid Sub Tanh",
  ["normalizations that have no layer before them, or share it"] = "Add Conv Flatten Gemm Relu",
  ["reshapes, linear layers on rows and on pixels, a node read twice"] =
    "Add Conv Flatten Gemm MatMul Mul Relu Reshape Sigmoid Transpose",
  ["a gate as the first thing"] = "Flatten Gemm Mul Relu Sub",
  vit = "Add Concat Conv Div Flatten Gemm MatMul Mul Pow ReduceMean Relu Reshape Slice Softmax Sqrt Sub Transpose",
  gpt = "Add Div Gather MatMul Mul Pow ReduceMean Relu Reshape Slice Softmax Sqrt Sub Transpose",
  ["sines and cosines for places"] =
    "Add Div Gather MatMul Mul Pow ReduceMean Relu Reshape Slice Softmax Sqrt Sub Transpose",
  ["gated feed-forward, root mean squares, products of matrices, mean over tokens"] =
    "Add Concat Div Gather Gemm MatMul Mul Pow ReduceMean Relu Reshape Slice Softmax Sqrt Transpose",
  ["sentences of several lengths"] = "Add Cast Div Equal Flatten Gather Gemm Less MatMul Mul ReduceMax Relu Reshape "
    .. "Slice Softmax Transpose Where",
  ["ids as zeros and ones"] = "Add Div Flatten Gather Gemm MatMul Mul Pow ReduceMean Relu Sqrt Sub",
  ["images between tokens"] = "Add Concat Conv Div Flatten Gemm Mul Pow ReduceMean Relu Slice Sqrt Sub Transpose",
}

local ROWS = 3
local folder, cases = folders.temporary(), {}

-- Random numbers in the data set's units, and the same as the engine takes them.
local function inputs(shape, set, ids)
  local given = ids and models.ids(ids, ROWS, shape)
  if ids then return given, given end
  local raw = tensor.rand({ ROWS, unpack(shape) }, "f32", 3)
  local per_channel = { 1, #set.mean }
  for i = 3, #shape + 1 do
    per_channel[i] = 1
  end
  if #shape == 1 then per_channel = { 1 } end
  local mean = tensor.tensor(set.mean, "f64"):reshape(per_channel)
  local sd = tensor.tensor(set.sd, "f64"):reshape(per_channel)
  return raw, ((raw - mean) / sd):to("f32"):contiguous()
end

local function logits(net, x)
  net:bind(x, tensor.zeros({ ROWS, unpack(net.info.label_shape or {}) }, "i32"))
  net:forward("eval")
  return net:tensor_values(net.logits)
end

-- Each model smooth and as ReLU, with a batch of 1 and one that is left open.
setup(function()
  for i, item in ipairs(models.list) do
    local name, model, shape, set, _, ids = unpack(item)
    for _, relu in ipairs({ false, true }) do
      local net = models.build(model, shape, nil, "f32", ids)
      local f = folded.of({ net = net, set = set }, { relu = relu, fold_input = true })
      local raw, x = inputs(shape, set, ids)
      for gate = 1, relu and #net.gates or 0 do
        net:set_gate(gate, { kind = "relu" })
      end
      for _, batch in ipairs({ 1, false }) do
        local file = ("%s/%d%s%s.onnx"):format(folder, i, relu and "relu" or "smooth", batch and "1" or "n")
        local case = { name = name, relu = relu, model = file, x = raw, batch = batch or 2, expected = logits(net, x) }
        case.graph = onnx.graph(f, batch or nil)
        onnx.write(case.graph, case.model, "g", { { "key", "a value: λ" } })
        cases[#cases + 1] = case
      end
    end
  end
end)
teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

describe("onnx", function()
  it("has the ops that verifiers share, and others only where a model asks for them", function()
    for _, case in ipairs(cases) do
      local ops = table.concat(case.graph.ops, " ")
      if case.relu then -- where the batch is open, a class token is repeated for each row
        local expanded, more = ops:gsub(" Expand", ""):gsub(" Shape", "")
        assert.are.equal(case.name == "vit" and case.batch > 1 and 1 or 0, more)
        assert.are.equal(OPS[case.name], expanded)
      else
        assert.is_truthy(ops:find("Erf", 1, true), ops)
      end
    end
    local common = {}
    for i = 1, 4 do
      for _, case in ipairs(cases) do
        if case.relu and case.name == models.list[i][1] then
          common[i] = table.concat(onnx.uncommon(case.graph), " ")
        end
      end
    end
    assert.are.same({ "", "", "MaxPool", "" }, common)
  end)

  it("passes ONNX's checker, shapes included, with the metadata, opset and batch that were asked for", function()
    local script = folder .. "/check.py"
    folders.write(script, [[
import onnx, sys
for path in sys.argv[1:]:
    m = onnx.load(path)
    onnx.checker.check_model(m, full_check=True)
    dim = m.graph.input[0].type.tensor_type.shape.dim[0]
    assert (dim.dim_value == 1) if path.endswith("1.onnx") else dim.dim_param == "batch", path
    assert m.graph.output[0].type.tensor_type.shape.dim[-1].dim_value == 4
    ids = any(n.op_type == "Gather" for n in m.graph.node)
    assert m.graph.input[0].type.tensor_type.elem_type == (onnx.TensorProto.INT64 if ids else onnx.TensorProto.FLOAT)
    assert [(p.key, p.value) for p in m.metadata_props] == [("key", "a value: λ")]
    assert m.opset_import[0].version == 13 and m.producer_name == "lgelu" and m.graph.name == "g"
    for node in m.graph.node:
        assert node.domain == ""
        if node.op_type == "Conv":
            assert {a.name for a in node.attribute} == {"dilations", "group", "kernel_shape", "pads", "strides"}
print("checked", len(sys.argv) - 1)
]])
    local files = {}
    for i, case in ipairs(cases) do
      files[i] = "'" .. case.model .. "'"
    end
    local pipe = io.popen(("unset LD_PRELOAD; PYTHONIOENCODING=utf8 /usr/bin/python3 '%s' %s 2>&1"):format(script,
      table.concat(files, " ")))
    local text = pipe:read("*a")
    pipe:close()
    assert.are.equal(("checked %d\n"):format(#cases), text)
  end)

  it("gives onnxruntime the engine's logits", function()
    local reason = runtime.missing()
    if reason then return pending(reason) end
    for i, found in ipairs(runtime.run(cases)) do
      local case = cases[i]
      assert.are.equal(#case.expected, #found)
      for k, v in ipairs(found) do
        local off = math.abs(v - case.expected[k]) / math.max(1, math.abs(case.expected[k]))
        assert.is_true(off < 2e-5, ("%s %s: logit %d is %g, expected %g"):format(case.name, case.model, k, v,
          case.expected[k]))
      end
    end
  end)

  it("keeps one causal mask for all blocks", function()
    local count = 0
    for _, case in ipairs(cases) do
      for _, constant in ipairs(case.name == "gpt" and case.batch == 1 and case.relu and case.graph.tensors or {}) do
        if constant.name:find("mask", 1, true) then count = count + 1 end
      end
    end
    assert.are.equal(1, count)
  end)

  it("writes every activation of the family", function()
    local list = {}
    for _, kind in ipairs({ "relu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "identity" }) do
      local mlp = { arch = "mlp", hidden = { 6 }, dropout = 0, bias = true }
      local net = models.build(mlp, { 5 }, { kind = kind }, "f32")
      local path = folder .. "/" .. kind .. ".onnx"
      onnx.write(onnx.graph(folded.of({ net = net }), 1), path, kind, {})
      local x = tensor.randn({ ROWS, 5 }, "f32", 2) * 4
      list[#list + 1] = { model = path, x = x, batch = 1, expected = logits(net, x) }
    end
    local reason = runtime.missing()
    if reason then return pending(reason) end
    for i, found in ipairs(runtime.run(list)) do
      for k, v in ipairs(found) do
        assert.is_true(math.abs(v - list[i].expected[k]) < 1e-5, list[i].model)
      end
    end
  end)

  it("names the gate that has no form in ONNX", function()
    local f = folded.of({ net = models.build(models.list[1][2], { 2, 3, 3 }) })
    f.nodes[3].kind = "unheard_of"
    local ok, e = pcall(onnx.graph, f, 1)
    assert.is_false(ok)
    assert.are.equal("gate 'gate1' cannot be exported: there is no form of unheard_of in ONNX",
      (tostring(e):gsub("^.-: ", "", 1)))
  end)

  it("gives its memory back, wherever the model runs out of it", function()
    local out, t = ffi.new("lg_onnx *[1]"), tensor.zeros({ 3, 4 }, "f32")
    local three, f32 = ffi.new("int64_t[2]", { 3, 4 }), lib.lg_list_find("dtype", "f32")
    local function whole()
      check(lib.lg_onnx_new(out, "g", 7, 13))
      local m, status = out[0], 0
      for _, call in ipairs({ { lib.lg_onnx_value, "x", 0, f32, 2, three }, { lib.lg_onnx_tensor, "w", t },
        { lib.lg_onnx_node, "Op", "n", "y" }, { lib.lg_onnx_node_input, "x" }, { lib.lg_onnx_attr_int, "a", 1 },
        { lib.lg_onnx_attr_ints, "b", three, 2 }, { lib.lg_onnx_meta, "k", "v" },
        { lib.lg_onnx_save, folder .. "/memory.onnx" } }) do
        status = status ~= 0 and status or call[1](m, unpack(call, 2))
      end
      lib.lg_onnx_free(m)
      check(status)
    end
    whole()
    local live, failures = tonumber(lib.lg_mem_live()), 0
    for n = 1, 60 do
      lib.lg_mem_fail_at(n)
      local ok, e = pcall(whole)
      lib.lg_mem_fail_at(0)
      if not ok then
        failures = failures + 1
        assert.are.equal("memory", e.engine)
      end
      assert.are.equal(live, tonumber(lib.lg_mem_live()))
    end
    assert.is_true(failures > 20 and failures < 60, failures)
  end)
end)
