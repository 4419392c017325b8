-- Gates of tensors: λ that broadcasts, strides, dtypes, outputs that share memory.
-- Accuracy: the gate kernels' own tests.
local lg = require("lgelu")
local C = require("lgelu.C")
local lib, ffi = C.lib, C.ffi

local GATE, RELU = lib.lg_list_find("activation", "lambda_gelu"), lib.lg_list_find("activation", "relu")

local function engine_fails(pattern, status)
  assert.is_true(status ~= 0)
  assert.matches(pattern, ffi.string(lib.lg_last_error()))
end

describe("gates of tensors", function()
  it("take λ as a number, a vector or a tensor of x's shape, and any strides", function()
    local dfdx, dfdl = ffi.new("double[1]"), ffi.new("double[1]")
    local x = lg.randn({ 7, 40 }, "f64", 1)
    local views = { x, x[{ { 7, 1, -2 }, { 1, 39, 2 } }], x.T:contiguous().T }
    for _, v in ipairs(views) do
      local rows, columns = unpack(v.shape)
      local lambdas = { lg.tensor(2.5), lg.rand({ columns }, "f64", 2) * 9 + 1, lg.rand({ rows, 1 }, "f32", 3) * 9 + 1,
        lg.rand({ rows, columns }, "f64", 4) * 9 + 1 }
      for _, lambda in ipairs(lambdas) do
        local f, dx, dl = lg.zeros(v.shape, "f64"), lg.zeros(v.shape, "f64"), lg.zeros(v.shape, "f64")
        C.check(lib.lg_tensor_gate(f, GATE, v, lambda))
        C.check(lib.lg_tensor_gate_grad(dx, dl, GATE, v, lambda))
        local each = lambda:expand(v.shape)
        for i = 1, rows do
          for j = 1, columns do
            local at = { i, j }
            lib.lg_gate_grad_f64(dfdx, dfdl, v[at], each[at])
            assert.equal(lib.lg_gate_value_f64(v[at], each[at]), f[at])
            assert.equal(dfdx[0], dx[at])
            assert.equal(dfdl[0], dl[at])
          end
        end
      end
    end
  end)

  it("use the float32 kernels for f32, and write over their input", function()
    local x = lg.randn({ 1000 }, "f32", 1)
    local expected = {}
    for i = 1, 1000 do expected[i] = lib.lg_gate_value_f32(x[i], 3) end
    local y = x:clone()
    C.check(lib.lg_tensor_gate(y, GATE, y, lg.tensor(3)))
    assert.same(expected, y:totable())
    local z = x:clone()
    C.check(lib.lg_tensor_gate(z[{ { 1000, 1, -1 } }], GATE, z, lg.tensor(3)))
    assert.is_true(z[{ { 1000, 1, -1 } }]:eq(y):all())
    local dx, over = lg.zeros(1000), x:clone()
    C.check(lib.lg_tensor_gate_grad(dx, nil, GATE, x, lg.tensor(3)))
    C.check(lib.lg_tensor_gate_grad(over, nil, GATE, over, lg.tensor(3)))
    assert.is_true(over:eq(dx):all())
  end)

  it("need no λ for an activation without one", function()
    local x, y = lg.tensor({ -1, 0, 2 }), lg.zeros(3)
    C.check(lib.lg_tensor_gate(y, RELU, x, nil))
    assert.same({ 0, 0, 2 }, y:totable())
  end)

  it("refuse what they cannot take, with both shapes", function()
    local x, y = lg.zeros(2, 3), lg.zeros(2, 3)
    engine_fails("activation 99", lib.lg_tensor_gate(y, 99, x, nil))
    engine_fails("x is i32%[2%]", lib.lg_tensor_gate(y, GATE, lg.zeros(2, "i32"), nil))
    engine_fails("f32%[2, 3%] and f32%[2%] do not", lib.lg_tensor_gate(y, GATE, x, lg.ones(2)))
    engine_fails("lambda f32%[4, 2, 3%] does not broadcast to x f32%[2, 3%]",
      lib.lg_tensor_gate(y, GATE, x, lg.ones(4, 2, 3)))
    engine_fails("lambda = %-1: expected", lib.lg_tensor_gate(y, GATE, x, lg.tensor(-1)))
    engine_fails("lambda = %-?nan", lib.lg_tensor_gate(y, GATE, x, lg.tensor({ 1, 0 / 0, 1 })))
    engine_fails("lambda = inf", lib.lg_tensor_gate(y, GATE, x, lg.tensor(math.huge)))
    engine_fails("out is f64, but x is f32", lib.lg_tensor_gate(lg.zeros({ 2, 3 }, "f64"), GATE, x, nil))
    engine_fails("dfdl is f32%[3%], but the result is f32%[2, 3%]",
      lib.lg_tensor_gate_grad(y, lg.zeros(3), GATE, x, nil))
  end)
end)
