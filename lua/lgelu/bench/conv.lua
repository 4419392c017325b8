--- Bench case conv: each distinct convolution of ResNet-18 for 32×32 images at batch 128: forward, and backward, which
-- is the gradient to the weights and, but for the first, to the input. GFLOP/s count the direct computation, so that
-- Winograd's algorithm can exceed the multiply-add peak of which they are given as a fraction.
local C = require("lgelu.C")
local machine = require("lgelu.machine")
local nn = require("lgelu.nn")

local ffi, lib, check = C.ffi, C.lib, C.check
local LEAST = 3 -- steps

local case = {
  summary = "the convolutions of ResNet-18, forward and both gradients, as fractions of the multiply-add peak",
  columns = {
    { key = "shape", title = "convolution" },
    { key = "count", title = "of them", format = "%d" },
    { key = "forward_ms", title = "forward ms", format = "%.2f" },
    { key = "backward_ms", title = "backward ms", format = "%.2f" },
    { key = "forward_gflops", title = "GFLOP/s", format = "%.0f" },
    { key = "backward_gflops", title = "backward", format = "%.0f" },
    { key = "forward_fraction", title = "of peak", format = "%.2f" },
    { key = "backward_fraction", title = "backward", format = "%.2f" },
  },
  batch = 128,
  seconds = 1, -- for each convolution
}

-- Channels in and out, rows of the image, kernel, stride, and how many of them the network has.
local SHAPES = {
  { 3, 64, 32, 3, 1, 1, first = true },
  { 64, 64, 32, 3, 1, 4 },
  { 64, 128, 32, 3, 2, 1 },
  { 64, 128, 32, 1, 2, 1 },
  { 128, 128, 16, 3, 1, 3 },
  { 128, 256, 16, 3, 2, 1 },
  { 128, 256, 16, 1, 2, 1 },
  { 256, 256, 8, 3, 1, 3 },
  { 256, 512, 8, 3, 2, 1 },
  { 256, 512, 8, 1, 2, 1 },
  { 512, 512, 4, 3, 1, 3 },
}

local function new_tensor(shape)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", "f32"), #shape, ffi.new("int64_t[8]", shape)))
  return ffi.gc(out[0], lib.lg_tensor_free)
end

-- Values from -1 to 1: no zeros or subnormal numbers, which some processors multiply at another speed.
local function fill(tensor)
  local p = ffi.cast("float *", lib.lg_tensor_data(tensor))
  for i = 0, tonumber(lib.lg_tensor_size(tensor)) - 1 do
    p[i] = i * 7919 % 1001 / 500 - 0.9995
  end
end

-- A graph of one convolution and a loss behind it; only the convolution is timed.
local function build(shape)
  local b, feed = nn.builder({}), {}
  local ci, co, rows, kernel, stride = unpack(shape)
  local zero = { kind = "constant", a = 0 }
  local x
  if shape.first then
    x = b:input("x", "f32", { rows, rows, ci })
    feed[x.id] = { case.batch, rows, rows, ci }
  else
    x = b:param("x", { case.batch, rows, rows, ci }, zero)
  end
  local y = b:conv2d(x, co, { kernel = kernel, stride = stride, padding = (kernel - 1) / 2, bias = false })
  local target
  if shape.first then
    target = b:input("target", "f32", { y.shape[2], y.shape[3], co })
    feed[target.id] = { case.batch, y.shape[2], y.shape[3], co }
  else
    target = b:param("target", y.shape, zero)
  end
  local loss = b:op("mse", { y, target }, nil, "loss")
  check(lib.lg_graph_output(b.graph, loss.id))
  check(lib.lg_graph_plan(b.graph, case.batch, 1, loss.id))
  local bound, view = {}, ffi.new("lg_tensor *[1]")
  for id, dims in pairs(feed) do
    bound[#bound + 1] = new_tensor(dims)
    fill(bound[#bound])
    check(lib.lg_graph_bind(b.graph, id, bound[#bound]))
  end
  for _, param in ipairs(b.params) do
    check(lib.lg_graph_value(view, b.graph, param.id))
    fill(view[0])
    lib.lg_tensor_free(view[0])
  end
  return { builder = b, conv = y.id, bound = bound }
end

-- The fastest forward and backward of a few steps in seconds, and their FLOPs.
local function measure(graph)
  local g, cost = graph.builder.graph, ffi.new("double[5]")
  local forward, backward, steps, until_time = math.huge, math.huge, 0, lib.lg_clock() + case.seconds
  repeat
    check(lib.lg_graph_profile(g, 1))
    check(lib.lg_graph_forward(g, 1, 1, steps))
    check(lib.lg_graph_backward(g))
    check(lib.lg_graph_node_cost(cost, cost + 1, cost + 2, cost + 3, cost + 4, g, graph.conv))
    forward, backward, steps = math.min(forward, cost[0]), math.min(backward, cost[1]), steps + 1
  until steps >= LEAST and lib.lg_clock() > until_time
  return forward, backward, cost[2], cost[3]
end

function case.run(options)
  local peak, records = machine.fma(options.threads, 0.2), {}
  for i, shape in ipairs(SHAPES) do
    options.say(("convolution %d of %d"):format(i, #SHAPES))
    local ci, co, rows, kernel, stride, count = unpack(shape)
    local forward, backward, forward_flops, backward_flops = measure(build(shape))
    collectgarbage() -- frees the graph
    peak = math.max(peak, machine.fma(options.threads, 0.05))
    records[i] = {
      gate = "none", batch = case.batch, threads = options.threads, step_ms = (forward + backward) * 1e3,
      samples_per_s = case.batch / (forward + backward), count = count,
      shape = ("%dx%d, %d to %d, %dx%d%s"):format(kernel, kernel, ci, co, rows, rows,
        stride > 1 and ", stride " .. stride or ""),
      forward_ms = forward * 1e3, backward_ms = backward * 1e3,
      forward_gflops = forward_flops / forward * 1e-9, backward_gflops = backward_flops / backward * 1e-9,
    }
  end
  for _, record in ipairs(records) do
    record.forward_fraction, record.backward_fraction = record.forward_gflops / peak, record.backward_gflops / peak
  end
  return records
end

return case
