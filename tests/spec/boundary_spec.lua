--- The boundary of the engine: every function that lgelu.h declares, called with what it must refuse. NULL everywhere;
-- NULL for one argument among good ones; a tensor that was closed; numbers out of every range. Each is a status with a
-- message, never a crash. The functions are read from the header, so a new one is tested as soon as it is declared.
local C = require("lgelu.C")
local network = require("lgelu.network")
local paths = require("lgelu.paths")
local ffi, lib, check = C.ffi, C.lib, C.check

--- Arguments that may be NULL, as lgelu.h says: "function.argument".
local OPTIONAL = {
  ["lg_graph_find_nonfinite.text"] = true, ["lg_graph_input.where"] = true, ["lg_graph_op.where"] = true,
  ["lg_graph_op.inputs"] = true, ["lg_graph_op.attrs"] = true, -- of none
  ["lg_graph_input.shape"] = true, ["lg_graph_param.shape"] = true, ["lg_graph_state.shape"] = true, -- of rank 0
  ["lg_graph_param.where"] = true, ["lg_graph_state.where"] = true, ["lg_optim_group.name"] = true,
  ["lg_optim_step.norm"] = true, ["lg_tensor_gate.lambda"] = true, ["lg_tensor_gate_grad.dfdl"] = true,
  ["lg_tensor_gate_grad.lambda"] = true, ["lg_gate_lambda.dlds"] = true, ["lg_gate_census.histogram"] = true,
  ["lg_loader_new.mean"] = true, ["lg_loader_new.sd"] = true, ["lg_tensor_new.shape"] = true,
  ["lg_tensor_view.shape"] = true, ["lg_tensor_view.strides"] = true, ["lg_sha256.data"] = true,
  ["lg_file_replace.data"] = true, ["lg_rng_permutation.perm"] = true, ["lg_h5_write_texts.text"] = true,
  ["lg_enclose_affine.bias"] = true, ["lg_enclose_margin.weight"] = true, ["lg_enclose_margin.bias"] = true,
}
--- Counts of what the caller's arrays hold: only the caller can know that they are too large.
local COUNTS = { n = true, bytes = true, text_bytes = true, max = true, rank = true, channels = true, n_inputs = true,
  n_attrs = true }
--- Not called with good handles: they end them, or change the whole process, or measure the machine.
local function spared(name)
  return name:find("_free$") or name:find("_close$") or name:find("_discard$") or name:find("^lg_probe")
    or name:find("^lg_interrupt") or name:find("^lg_lock") or name == "lg_init" or name == "lg_mem_fail_at"
end

--- { { name =, result =, args = { { type =, name = }, … } }, … } from the header's text.
local function functions()
  local text = dofile(paths.cdef).text:gsub("/%*.-%*/", " "):gsub("typedef[^;]*;", " "):gsub("%s+", " ")
  local list = {}
  for statement in text:gmatch("[^;]+") do
    local result, name, inside = statement:match("^ *(.-)(lg_[%w_]+)%((.*)%) *$")
    if name then
      local f = { name = name, result = result:gsub(" +$", ""), args = {} }
      for arg in inside:gmatch("[^,]+") do
        local kind, called = arg:match("^ *(.-)([%w_]+) *$")
        kind = kind:gsub("const ", ""):gsub(" ", "")
        if called ~= "void" then f.args[#f.args + 1] = { type = kind, name = called } end
      end
      list[#list + 1] = f
    end
  end
  return list
end

--- How what a call gives is given back, by the argument's type.
local FREE = { ["lg_tensor**"] = lib.lg_tensor_free, ["lg_graph**"] = lib.lg_graph_free, ["char**"] = lib.lg_text_free,
  ["lg_optim**"] = lib.lg_optim_free, ["lg_loader**"] = lib.lg_loader_free, ["lg_h5**"] = lib.lg_h5_discard,
  ["lg_onnx**"] = lib.lg_onnx_free, ["lg_csv**"] = lib.lg_csv_free }
local good, folder = {}, nil

local function tensor(dtype, ...)
  local shape, out = { ... }, ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, ffi.new("int64_t[8]", shape)))
  return ffi.gc(out[0], lib.lg_tensor_free)
end

setup(function()
  folder = os.tmpname()
  os.remove(folder)
  check(lib.lg_dir_make(folder))
  local net = network.new({ model = { arch = "mlp", hidden = { 4 }, dropout = 0, bias = true },
    gate = { kind = "lambda_gelu", reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true }, batch = 2,
    seed = 1, info = { classes = 3, input_shape = { 3 } } })
  local x, y = tensor("f32", 2, 3), tensor("i32", 2)
  net:bind(x, y)
  net:forward("train", 1)
  local optim, loader, h5 = ffi.new("lg_optim *[1]"), ffi.new("lg_loader *[1]"), ffi.new("lg_h5 *[1]")
  check(lib.lg_optim_new(optim, net.graph, 0))
  check(lib.lg_loader_new(loader, x, y, ffi.new("int64_t[2]", { 0, 1 }), 2, 1, 0, 1, nil, nil, 0))
  check(lib.lg_h5_open(h5, folder .. "/a.h5", "w"))
  check(lib.lg_h5_write(h5[0], "/x", x))
  local onnx = ffi.new("lg_onnx *[1]")
  check(lib.lg_onnx_new(onnx, "graph", 7, 13))
  check(lib.lg_onnx_node(onnx[0], "Relu", "node", "out"))
  local csv = ffi.new("lg_csv *[1]")
  local file = assert(io.open(folder .. "/table.csv", "w"))
  file:write("1,a\n2,b\n")
  file:close()
  check(lib.lg_csv_read(csv, folder .. "/table.csv", 44, 1, 0, 0, ""))
  good = { ["lg_csv*"] = ffi.gc(csv[0], lib.lg_csv_free), ["lg_onnx*"] = ffi.gc(onnx[0], lib.lg_onnx_free),
    ["lg_tensor*"] = x,
    ["lg_graph*"] = net.graph, ["lg_optim*"] = ffi.gc(optim[0], lib.lg_optim_free),
    ["lg_loader*"] = ffi.gc(loader[0], lib.lg_loader_free), ["lg_h5*"] = h5[0], labels = y, network = net }
end)
teardown(function()
  lib.lg_h5_discard(good["lg_h5*"])
  os.execute("rm -rf '" .. folder .. "'")
  good = {}
end)

--- A good argument of a type; pointers to numbers are made by call().
local function argument(arg)
  local kind = arg.type
  if good[kind] then return good[kind] end
  if kind == "char*" then
    if arg.name == "hex" or arg.name == "text" then return ffi.new("char[4096]") end
    return arg.name == "object" and "/x" or arg.name == "mode" and "r" or folder .. "/" .. arg.name
  end
  if FREE[kind] then return ffi.new("void *[1]") end
  if kind == "double" or kind == "float" then return 1 end
  return 0
end

--- Where 0 or the planned graph is no good argument: "function.argument" → value.
local function special(f, arg)
  local build = { lg_graph_input = true, lg_graph_param = true, lg_graph_state = true, lg_graph_op = true,
    lg_graph_output = true, lg_graph_plan = true }
  if arg.type == "lg_graph*" and build[f.name] then
    local g = ffi.new("lg_graph *[1]")
    check(lib.lg_graph_new(g, 0))
    return ffi.gc(g[0], lib.lg_graph_free)
  end
  if arg.name == "param_node" or (arg.name == "node" and (f.name == "lg_graph_grad" or f.name == "lg_graph_fill")) then
    return lib.lg_graph_node_find(good["lg_graph*"], "fc1.weight")
  end
  return ({ ["lg_loader_new.n"] = 2, ["lg_loader_new.batch"] = 1, ["lg_csv_read.delimiter"] = 44,
    ["lg_channel_stats.n"] = 2, ["lg_schedule.total"] = 2,
    ["lg_channel_stats.channels"] = 1, ["lg_optim_step.step"] = 1, ["lg_graph_plan.max_batch"] = 2,
    ["lg_gate_s.lambda"] = 2 })[f.name .. "." .. arg.name]
end

local buffers = {} -- alive while the call runs
local function cast(arg, value)
  buffers[#buffers + 1] = value
  if type(value) == "cdata" and arg.type:find("%*%*$") then return ffi.cast(arg.type, value) end
  return value
end

--- Calls f with good arguments, some replaced; returns the status, or nil when it gives none.
local function call(f, replace)
  buffers = {}
  local values = {}
  for i, arg in ipairs(f.args) do
    local value = special(f, arg) or argument(arg)
    if arg.type:find("%*$") and not arg.type:find("%*%*$") and not good[arg.type] and arg.type ~= "char*" then
      local room = ffi.new("char[4096]") -- 512 numbers, all 0
      buffers[#buffers + 1] = room
      value = ffi.cast(arg.type, room)
    end
    values[i] = cast(arg, value)
    if replace[i] then values[i] = replace[i].value end
  end
  local result = lib[f.name](unpack(values, 1, #f.args))
  for i, arg in ipairs(f.args) do
    if FREE[arg.type] and values[i] ~= nil then FREE[arg.type](values[i][0]) end
  end
  return f.result == "lg_status" and tonumber(result) or nil
end

local function refuses(f, status, what)
  if not status then return end
  assert.is_true(status ~= 0, ("%s did not refuse %s"):format(f.name, what))
  assert.is_true(#ffi.string(lib.lg_last_error()) > 5, f.name .. " says nothing about " .. what)
end

local list = functions()

describe("the boundary", function()
  it("is read from the header", function()
    assert.is_true(#list > 100)
    local known = {}
    for _, f in ipairs(list) do
      for _, arg in ipairs(f.args) do
        known[f.name .. "." .. arg.name] = true
      end
    end
    for name in pairs(OPTIONAL) do
      assert.is_true(known[name] or false, name .. " is no argument of lgelu.h")
    end
  end)

  it("has no callbacks, no structs by value and no variable arguments", function()
    local text = dofile(paths.cdef).text:gsub("/%*.-%*/", " ")
    assert.is_nil(text:find("%( *%*")) -- LuaJIT's calls from C are slow, few, and break in compiled code
    assert.is_nil(text:find("...", 1, true))
    for _, f in ipairs(list) do
      for _, arg in ipairs(f.args) do
        local known = arg.type:find("%*$") or arg.type:find("^u?int%d+_t$")
          or ({ double = true, float = true, lg_status = true })[arg.type]
        assert.is_truthy(known, f.name .. " takes a " .. arg.type)
      end
    end
  end)

  it("takes NULL everywhere", function()
    for _, f in ipairs(list) do
      local values, pointers = {}, 0
      for i, arg in ipairs(f.args) do
        local pointer = arg.type:find("%*$") and true
        pointers = pointers + (pointer and not OPTIONAL[f.name .. "." .. arg.name] and 1 or 0)
        if not pointer then values[i] = 0 end
      end
      if pointers > 0 or #f.args == 0 then
        if not (#f.args == 0 and spared(f.name)) then
          local status = lib[f.name](unpack(values, 1, #f.args))
          if f.result == "lg_status" and pointers > 0 then refuses(f, tonumber(status), "NULL everywhere") end
        end
      end
    end
  end)

  it("takes NULL for any one argument", function()
    for _, f in ipairs(list) do
      for i, arg in ipairs(f.args) do
        if arg.type:find("%*$") and not spared(f.name) then
          local status = call(f, { [i] = { value = nil } })
          if not OPTIONAL[f.name .. "." .. arg.name] then refuses(f, status, arg.name .. " = NULL") end
        end
      end
    end
  end)

  it("takes a tensor that was closed", function()
    local closed = tensor("f32", 2, 3)
    lib.lg_tensor_close(closed)
    for _, f in ipairs(list) do
      for i, arg in ipairs(f.args) do
        if arg.type == "lg_tensor*" and not spared(f.name) then
          refuses(f, call(f, { [i] = { value = closed } }), "a closed tensor as " .. arg.name)
        end
      end
    end
  end)

  it("takes tensors of every dtype, rank and layout", function()
    local out, odd = ffi.new("lg_tensor *[1]"), {}
    for _, dtype in ipairs({ "f32", "f64", "i32", "u8" }) do
      odd[#odd + 1] = tensor(dtype)
      odd[#odd + 1] = tensor(dtype, 2)
      odd[#odd + 1] = tensor(dtype, 0, 3)
      odd[#odd + 1] = tensor(dtype, 1, 1, 1, 1, 1, 1, 2, 3)
      for _, strides in ipairs({ { 0, 1 }, { 1, 2 }, { -3, 1 } }) do -- repeated, transposed, backwards
        check(lib.lg_tensor_view(out, tensor(dtype, 2, 3), 2, ffi.new("int64_t[2]", { 2, 3 }),
          ffi.new("int64_t[2]", strides), strides[1] < 0 and 3 or 0))
        odd[#odd + 1] = ffi.gc(out[0], lib.lg_tensor_free)
      end
    end
    for _, f in ipairs(list) do
      for i, arg in ipairs(f.args) do
        if arg.type == "lg_tensor*" and not spared(f.name) then
          for _, t in ipairs(odd) do
            call(f, { [i] = { value = t } })
          end
        end
      end
    end
  end)

  it("takes numbers out of every range", function()
    local whole = { ["int32_t"] = { -1, -2147483648, 2147483647 },
      ["int64_t"] = { -1LL, -9223372036854775807LL - 1, 9223372036854775807LL } }
    for _, f in ipairs(list) do
      for i, arg in ipairs(f.args) do
        local real = arg.type == "double" or arg.type == "float"
        local values = whole[arg.type] or real and { 0 / 0, 1 / 0, -1 / 0, 1e300 }
        if values and not spared(f.name) then
          for _, v in ipairs(values) do
            if not (COUNTS[arg.name] and v > 0) then call(f, { [i] = { value = v } }) end
          end
        end
      end
    end
  end)
end)
