-- Printing of tensors against NumPy's own text (tests/ref/tensor_text.py).
local lg = require("lgelu")

local function make(values, shape, dtype)
  if type(values) == "table" and values.arange then
    return (lg.arange(values.arange) / values.divisor):to("f64"):reshape(shape):to(dtype)
  end
  return lg.tensor(values, dtype)
end

describe("text of tensors", function()
  for i, case in ipairs(dofile("tests/ref/tensor_text.lua")) do
    local values, shape, dtype, expected = unpack(case)
    it(("is numpy's, case %d (%s)"):format(i, dtype), function()
      local t = make(values, shape, dtype)
      local tag = t.size > 1000 and (" %s[%s]"):format(dtype, table.concat(shape, ", "))
        or dtype ~= "f32" and " " .. dtype or ""
      if #shape == 0 and dtype:match("^f") then expected = expected:gsub("%.0$", ".") end
      assert.equal(expected .. tag, tostring(t))
    end)
  end

  it("shows the shape of what has no elements", function()
    assert.equal("[] f32[0, 3]", tostring(lg.zeros(0, 3)))
  end)

  it("follows a view's strides", function()
    assert.equal("[[1. 3.]\n [2. 4.]]", tostring(lg.tensor({ { 1, 2 }, { 3, 4 } }).T))
    assert.equal("[3. 2. 1.]", tostring(lg.tensor({ 1, 2, 3 })[{ { -1, 1, -1 } }]))
  end)
end)
