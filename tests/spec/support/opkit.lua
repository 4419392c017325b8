--- opkit: checks one op on one sample: values against the sample's own plain formula, gradients against a four-point
-- difference in float64 on the shipping code, float32 against float64, shared inputs, batch of one.
-- Used by ops_spec.lua; a sample file (tests/spec/ops/<op>_samples.lua) returns a list of
--   { name =, inputs = { { shape = {…}, labels = k or nil (first … first + k - 1, first = 0), low =, high =, s = true
--     for a float64 gate parameter, state = true for a state, which has no gradient }, … },
--     attrs = {…}, reference = function(values, shapes, attrs, got) → flat list (or number), kinks = function(x) → true
--     when the derivative jumps near x (such elements are moved away), f32 = tolerance of float32 (default 2e-6),
--     step = }
local C = require("lgelu.C")
local ffi, lib, check = C.ffi, C.lib, C.check

local opkit = {}

local function size_of(shape)
  local n = 1
  for _, d in ipairs(shape) do
    n = n * d
  end
  return n
end

local function new_tensor(dtype, shape)
  local dims, out = ffi.new("int64_t[8]"), ffi.new("lg_tensor *[1]")
  for i, d in ipairs(shape) do
    dims[i - 1] = d
  end
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, dims))
  return ffi.gc(out[0], lib.lg_tensor_free)
end

local POINTER = { f32 = "float *", f64 = "double *", i32 = "int32_t *" }
local function data(t, dtype) return ffi.cast(POINTER[dtype], lib.lg_tensor_data(t)) end

--- The attributes of an op with their defaults, as the array that lg_graph_op takes.
local function attributes(op, given)
  local values, n, range = ffi.new("double[16]"), 0, ffi.new("double[3]")
  while lib.lg_op_attr_name(op, n) ~= nil do
    check(lib.lg_op_attr_range(range, range + 1, range + 2, op, n))
    local v = given and given[ffi.string(lib.lg_op_attr_name(op, n))]
    values[n] = v ~= nil and v or range[0]
    n = n + 1
  end
  return values, n
end

--- Seeded values of a sample's inputs, as flat lists; the same for every dtype.
function opkit.values(sample, seed)
  local all = {}
  for i, input in ipairs(sample.inputs) do
    local list = {}
    for k = 1, size_of(input.shape) do
      local u = lib.lg_rng_uniform(seed, 100 + i, k)
      if input.labels then
        list[k] = math.floor(u * input.labels) + (input.first or 0)
      else
        local low, high = input.low or -2, input.high or 2
        local v = low + (high - low) * u
        if sample.kinks and sample.kinks(v) then v = v + 0.1 end
        list[k] = tonumber(ffi.new("float", v)) -- a float32, so that both dtypes start from one value
      end
    end
    all[i] = list
  end
  return all
end

--- A graph around one op. Floats become parameters, so that every one has a gradient; labels become an input.
-- @param shared  the op twice on the same inputs, summed: gradients must add up
-- @param same    { i, j }: input j is the node of input i
function opkit.build(name, sample, dtype, values, shared, mode, same)
  local out, op = ffi.new("lg_graph *[1]"), lib.lg_list_find("op", name)
  check(lib.lg_graph_new(out, lib.lg_list_find("dtype", dtype)))
  local g = {
    graph = ffi.gc(out[0], lib.lg_graph_free), dtype = dtype, params = {}, states = {}, bound = {}, mode = mode or 1,
  }
  local id, ids, dims = ffi.new("int32_t[1]"), ffi.new("int32_t[8]"), ffi.new("int64_t[8]")
  for i, input in ipairs(sample.inputs) do
    for k, d in ipairs(input.shape) do
      dims[k - 1] = d
    end
    local kind = input.labels and "i32" or input.s and "f64" or dtype
    local index = lib.lg_list_find("dtype", kind)
    if same and i == same[2] then
      id[0] = ids[same[1] - 1]
    elseif input.labels then
      check(lib.lg_graph_input(id, g.graph, index, #input.shape, dims, "x" .. i, ""))
      g.bound[#g.bound + 1] = { id = id[0], values = values[i], shape = input.shape, dtype = kind }
    elseif input.state then
      check(lib.lg_graph_state(id, g.graph, index, #input.shape, dims, "x" .. i, ""))
      g.states[#g.states + 1] = { id = id[0], values = values[i], dtype = kind }
    else
      check(lib.lg_graph_param(id, g.graph, index, #input.shape, dims, "x" .. i, ""))
      g.params[#g.params + 1] = { id = id[0], input = i, n = size_of(input.shape), dtype = kind }
    end
    ids[i - 1] = id[0]
  end
  local attrs, n_attrs = attributes(op, sample.attrs)
  check(lib.lg_graph_op(id, g.graph, op, #sample.inputs, ids, n_attrs, attrs, "op", ""))
  g.op, g.out = id[0], id[0]
  local rank = ffi.new("int32_t[1]")
  check(lib.lg_graph_node_shape(rank, dims, g.graph, g.op))
  g.rank, g.n_out = rank[0], 1
  for i = 0, rank[0] - 1 do
    g.n_out = g.n_out * tonumber(dims[i])
  end
  g.shape_out = {}
  for i = 0, rank[0] - 1 do
    g.shape_out[i + 1] = tonumber(dims[i])
  end
  g.differentiable = lib.lg_op_no_grad(op) == nil
  if shared then
    check(lib.lg_graph_op(id, g.graph, op, #sample.inputs, ids, n_attrs, attrs, "op2", ""))
    ids[0], ids[1] = g.op, id[0]
    check(lib.lg_graph_op(id, g.graph, lib.lg_list_find("op", "add"), 2, ids, 0, attrs, "sum", ""))
    g.out = id[0]
  end
  check(lib.lg_graph_output(g.graph, g.op))
  if g.out ~= g.op then check(lib.lg_graph_output(g.graph, g.out)) end
  g.loss = g.out
  if g.differentiable and g.rank > 0 then
    check(lib.lg_graph_input(id, g.graph, lib.lg_list_find("dtype", dtype), g.rank, dims, "target", ""))
    local target = {}
    for k = 1, g.n_out do
      target[k] = 2 * lib.lg_rng_uniform(9, 99, k) - 1
    end
    g.bound[#g.bound + 1] = { id = id[0], values = target, shape = g.shape_out, dtype = dtype }
    ids[0], ids[1] = g.out, id[0]
    check(lib.lg_graph_op(id, g.graph, lib.lg_list_find("op", "mse"), 2, ids, 0, attrs, "loss", ""))
    g.loss = id[0]
    check(lib.lg_graph_output(g.graph, g.loss))
  end
  check(lib.lg_graph_plan(g.graph, 1, g.differentiable and 1 or 0, g.differentiable and g.loss or -1))
  for _, b in ipairs(g.bound) do
    b.tensor = new_tensor(b.dtype, b.shape)
    local p = data(b.tensor, b.dtype)
    for k, v in ipairs(b.values) do
      p[k - 1] = v
    end
    check(lib.lg_graph_bind(g.graph, b.id, b.tensor))
  end
  local view = ffi.new("lg_tensor *[1]")
  for _, s in ipairs(g.states) do
    check(lib.lg_graph_value(view, g.graph, s.id))
    s.value = data(view[0], s.dtype)
    lib.lg_tensor_free(view[0])
    for k, v in ipairs(s.values) do
      s.value[k - 1] = v
    end
  end
  for _, p in ipairs(g.params) do
    check(lib.lg_graph_value(view, g.graph, p.id))
    p.value = data(view[0], p.dtype)
    lib.lg_tensor_free(view[0])
    for k, v in ipairs(values[p.input]) do
      p.value[k - 1] = v
    end
    if g.differentiable then
      check(lib.lg_graph_grad(view, g.graph, p.id))
      p.grad = data(view[0], p.dtype)
      lib.lg_tensor_free(view[0])
    end
  end
  return g
end

--- Runs forward; returns the op's values as a flat list.
function opkit.forward(g, step)
  check(lib.lg_graph_forward(g.graph, g.differentiable and g.mode or 0, 11, step or 3))
  local view, list = ffi.new("lg_tensor *[1]"), {}
  check(lib.lg_graph_value(view, g.graph, g.op))
  local dtype = ffi.string(lib.lg_list_name("dtype", lib.lg_tensor_dtype(view[0])))
  local p = data(view[0], dtype)
  for k = 1, g.n_out do
    list[k] = tonumber(p[k - 1])
  end
  lib.lg_tensor_free(view[0])
  return list
end

--- The loss (mean square of the op against a fixed target).
function opkit.loss(g)
  check(lib.lg_graph_forward(g.graph, g.mode, 11, 3))
  local view = ffi.new("lg_tensor *[1]")
  check(lib.lg_graph_value(view, g.graph, g.loss))
  local v = data(view[0], "f64")[0]
  lib.lg_tensor_free(view[0])
  return v
end

--- Gradients of the loss with respect to every parameter: list of flat lists.
function opkit.gradients(g)
  opkit.loss(g)
  check(lib.lg_graph_backward(g.graph))
  local all = {}
  for i, p in ipairs(g.params) do
    all[i] = {}
    for k = 1, p.n do
      all[i][k] = tonumber(p.grad[k - 1])
    end
  end
  return all
end

local EACH = 48 -- elements of an input that are checked one by one; of larger inputs, as many drawn evenly

--- Largest error of the analytic gradients against a four-point difference, relative to the largest gradient.
-- @return error, and where it is, in words
function opkit.gradcheck(g, step)
  local analytic, worst, place = opkit.gradients(g), 0, "nowhere"
  local h = step or 2e-3
  for i, p in ipairs(g.params) do
    local scale = 1e-3
    for k = 1, p.n do
      scale = math.max(scale, math.abs(analytic[i][k]))
    end
    for j = 1, math.min(p.n, EACH) do
      local k = p.n <= EACH and j or math.floor((j - 1) * (p.n - 1) / (EACH - 1)) + 1
      local x = p.value[k - 1]
      local f = {}
      for n, d in ipairs({ -2, -1, 1, 2 }) do
        p.value[k - 1] = x + d * h
        f[n] = opkit.loss(g)
      end
      p.value[k - 1] = x
      local numeric = (f[1] - 8 * f[2] + 8 * f[3] - f[4]) / (12 * h)
      local e = math.abs(numeric - analytic[i][k]) / scale
      if e > worst or e ~= e then
        worst = e
        place = ("input %d, element %d: %.12g, by differences %.12g"):format(p.input, k, analytic[i][k], numeric)
      end
    end
  end
  return worst, place
end

return opkit
