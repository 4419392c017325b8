--- graph_sum_norm_spec.lua: a residual sum computes the normalization of its rows behind it: the same bits as one after
-- the other, in values and gradients, whoever else reads the sum; and when it does not.
local C = require("lgelu.C")
local network = require("lgelu.network")
local tensor = require("lgelu.tensor")

local ffi, lib, check = C.ffi, C.lib, C.check
local BATCH, TOKENS, WIDTH = 13, 5, 7 -- 65 rows: two whole tiles and one row

-- x → its residual sum with a linear layer of it → the normalization `kind` → a linear layer + the sum, if that is read
-- twice. apart: something stands between sum and normalization that changes nothing.
local function build(o)
  return network.new({
    model = function(nn, x)
      local sum = nn:add(x, nn:linear(x, WIDTH, { name = "inner" }), { name = "sum" })
      local y = o.apart and nn:reshape(sum, { TOKENS, WIDTH }, { name = "between" }) or sum
      if o.gamma_of_op then
        local one = { kind = "constant", a = 1 }
        local gamma = nn:add(nn:param("g", { WIDTH }, one), nn:param("h", { WIDTH }, one))
        y = nn:op("rms_norm", { y, gamma }, nil, "norm")
      else
        y = nn[o.kind](nn, y, { name = "norm" })
      end
      local z = nn:linear(nn:gate(y, { name = "gate" }), WIDTH, { name = "outer" })
      return o.twice and nn:layer_norm(nn:add(z, sum, { name = "sum2" }), { name = "norm2" }) or z
    end,
    gate = { kind = "gelu" }, batch = BATCH, dtype = o.dtype, seed = 5,
    info = { classes = WIDTH, input_shape = { TOKENS, WIDTH }, label_shape = { TOKENS } },
  })
end

-- Everything that a step gives, as text with all digits: logits, loss, gradients; in evaluation logits alone.
local function step(net, dtype, mode)
  local x = tensor.randn({ BATCH, TOKENS, WIDTH }, dtype, 3)
  local y = tensor.full({ BATCH, TOKENS }, 2, "i32")
  net:bind(x, y)
  local found = { net:forward(mode, 1) }
  for _, v in ipairs(net:tensor_values(net.logits)) do found[#found + 1] = v end
  if mode == "train" then
    net:backward()
    local out = ffi.new("lg_tensor *[1]")
    for _, p in ipairs(net.params) do
      check(lib.lg_graph_grad(out, net.graph, p.id))
      local from = ffi.cast(dtype == "f64" and "double *" or "float *", lib.lg_tensor_data(out[0]))
      lib.lg_tensor_free(out[0])
      local n = 1
      for _, dim in ipairs(p.shape) do n = n * dim end
      for i = 0, n - 1 do found[#found + 1] = from[i] end
    end
  end
  return found
end

-- Of a network that has been run: is the normalization computed elsewhere in forward? It then moves by itself what its
-- backward does, and no more.
local function is_fused(net, dtype, name)
  local out, inputs = ffi.new("double[5]"), ffi.new("int32_t[8]")
  for id = 0, net.logits do
    if ffi.string(lib.lg_graph_node_name(net.graph, id)) == name then
      check(lib.lg_graph_node_cost(out, out + 1, out + 2, out + 3, out + 4, net.graph, id))
      local element, size = dtype == "f64" and 8 or 4, BATCH * TOKENS * WIDTH
      local vectors = lib.lg_graph_node_inputs(net.graph, id, inputs, 8) - 1 -- gamma, and beta
      local backward = 3 * size + WIDTH + vectors * WIDTH -- dy, x, dx; gamma; gradients of gamma and beta
      local forward = 2 * size + vectors * WIDTH
      if out[4] == element * backward then return true end
      assert.are.equal(element * (backward + forward), out[4])
      return false
    end
  end
  error("no node " .. name)
end

describe("a sum and the normalization of its rows", function()
  for _, kind in ipairs({ "layer_norm", "rms_norm" }) do
    for _, dtype in ipairs({ "f32", "f64" }) do
      for _, twice in ipairs({ false, true }) do
        it(("%s, %s, sum read %s: the same bits as apart"):format(kind, dtype, twice and "twice" or "once"), function()
          local o = { kind = kind, dtype = dtype, twice = twice }
          local fused = build(o)
          o.apart = true
          local apart = build(o)
          for _, p in ipairs(fused.params) do apart:tensor(p.name):copy_from(fused:tensor(p.name)) end
          for _, mode in ipairs({ "eval", "train" }) do
            assert.are.same(step(apart, dtype, mode), step(fused, dtype, mode))
          end
          assert.is_true(is_fused(fused, dtype, "norm"))
          assert.is_false(is_fused(apart, dtype, "norm"))
          if twice then assert.is_true(is_fused(fused, dtype, "norm2")) end
        end)
      end
    end
  end

  it("stay apart where gamma is computed by an op, which may come later", function()
    local net = build({ dtype = "f32", gamma_of_op = true })
    step(net, "f32", "train")
    assert.is_false(is_fused(net, "f32", "norm"))
  end)

  it("give the same bits on one thread and on two", function()
    local net, found = build({ kind = "layer_norm", dtype = "f32", twice = true }), {}
    local before = lib.lg_threads()
    for threads = 1, 2 do
      check(lib.lg_init(threads))
      found[threads] = step(net, "f32", "train")
    end
    check(lib.lg_init(before))
    assert.are.same(found[1], found[2])
  end)
end)
