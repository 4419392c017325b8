--- Values that are not kept for backward but computed again in it: the same bits as when they are kept, running
-- statistics that move once a step, fewer planned bytes. A node that is an output is kept, which gives the pairs.
local C = require("lgelu.C")
local network = require("lgelu.network")
local tensor = require("lgelu.tensor")
local ffi, lib, check = C.ffi, C.lib, C.check

local SIDE, CHANNELS, BATCH, CLASSES = 8, 16, 6, 5
local VALUE = 4 * BATCH * SIDE * SIDE * CHANNELS -- bytes of an array before the image is halved

-- A network of residual blocks, the last of which halves the image. options: blocks before that; keep = true: what
-- could be computed again is an output; view = true: the first block's output is also seen in another shape.
local function build(options)
  local function model(b, x)
    local function keep(node)
      if options.keep then check(lib.lg_graph_output(b.graph, node.id)) end
      return node
    end
    local function norm(y, channels, kernel, stride)
      return b:batch_norm(b:conv2d(y, channels, { kernel = kernel, stride = stride, padding = (kernel - 1) / 2,
        bias = false }))
    end
    local function block(y, channels, stride)
      local z = norm(keep(b:gate(norm(y, channels, 3, stride))), channels, 3, 1)
      return keep(b:gate(b:add(z, stride > 1 and keep(norm(y, channels, 1, stride)) or y)))
    end
    x = keep(b:gate(norm(b:channels_last(x), CHANNELS, 3, 1)))
    for i = 1, options.blocks do
      x = block(x, CHANNELS, 1)
      if i == 1 and options.view then b:flatten(x) end
    end
    return b:linear(b:global_pool(block(x, 2 * CHANNELS, 2)), CLASSES)
  end
  return network.new({ model = model, batch = BATCH, seed = 3,
    gate = { kind = options.kind or "lambda_gelu", reparam = "softplus", t = 0.1, c = 1, init = "gelu", learn = true },
    info = { classes = CLASSES, input_shape = { 3, SIDE, SIDE } } })
end

local function work(net) return (select(3, net:memory())) end

-- All bytes that steps with batches of those sizes leave: losses, gradients, parameters, running statistics.
local function bytes_of(net, sizes)
  local all, out = {}, ffi.new("lg_tensor *[1]")
  local function add(view, id)
    check(view(out, net.graph, id))
    local wide = lib.lg_tensor_dtype(out[0]) == lib.lg_list_find("dtype", "f64")
    all[#all + 1] = ffi.string(lib.lg_tensor_data(out[0]), (wide and 8 or 4) * lib.lg_tensor_size(out[0]))
    lib.lg_tensor_free(out[0])
  end
  for step, size in ipairs(sizes) do
    local labels = {}
    for i = 1, size do
      labels[i] = i % CLASSES
    end
    local x = tensor.randn({ size, 3, SIDE, SIDE }, "f32", step)
    net:bind(x, tensor.tensor(labels, "i32"))
    net:forward("eval", step)
    add(lib.lg_graph_value, net.logits)
    net:forward("train", step)
    net:backward()
    add(lib.lg_graph_value, net.loss)
    for _, p in ipairs(net.params) do
      add(lib.lg_graph_grad, p.id)
    end
    for _, s in ipairs(net.states) do
      add(lib.lg_graph_value, s.id)
    end
  end
  return table.concat(all)
end

describe("values that are computed again in backward", function()
  for _, kind in ipairs({ "relu", "lambda_gelu" }) do
    it("have the bits of kept ones, for batches of any size: " .. kind, function()
      for blocks = 0, 3 do
        local again = build({ blocks = blocks, kind = kind })
        local kept = build({ blocks = blocks, kind = kind, keep = true })
        assert.is_true(work(again) < work(kept))
        assert.is_true(bytes_of(again, { BATCH, 3, BATCH }) == bytes_of(kept, { BATCH, 3, BATCH }))
      end
    end)
  end

  it("have the same bits for 1 and 2 threads", function()
    local before, bytes = lib.lg_threads(), {}
    for threads = 1, 2 do
      check(lib.lg_init(threads))
      bytes[threads] = bytes_of(build({ blocks = 2 }), { BATCH, BATCH })
    end
    check(lib.lg_init(before))
    assert.is_true(bytes[1] == bytes[2])
  end)

  it("take no memory in forward: an array less for each block", function()
    local function growth(keep)
      return work(build({ blocks = 12, keep = keep })) - work(build({ blocks = 8, keep = keep }))
    end
    assert.is_true(growth(false) >= 12 * VALUE) -- a block's two convolutions' outputs and, in backward, the block's own
    assert.is_true(growth(false) <= growth(true) - 3.5 * VALUE)
  end)

  it("bring the plan of a ResNet-18 of width 16, batch 128, from 191 MB down to 117", function()
    local net = network.new({ model = { arch = "resnet", depth = 18, width = 16 }, gate = { kind = "relu" },
      batch = 128, info = { classes = 100, input_shape = { 3, 32, 32 } } })
    assert.is_true(work(net) < 117e6)
  end)

  it("are kept where they are seen in another shape", function()
    local again, kept = build({ blocks = 3, view = true }), build({ blocks = 3, view = true, keep = true })
    assert.is_true(work(again) < work(kept))
    assert.is_true(bytes_of(again, { BATCH }) == bytes_of(kept, { BATCH }))
  end)

  it("are found when they are not finite", function()
    local net = build({ blocks = 2 })
    bytes_of(net, { BATCH })
    assert.are.equal("all values and gradients of the last batch are finite", net:explain_nonfinite())
  end)
end)
