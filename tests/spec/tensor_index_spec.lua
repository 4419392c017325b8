-- Reading, slicing and assigning: t[i], t[{…}].
local lg = require("lgelu")

local function fails(pattern, fn, ...)
  local ok, e = pcall(fn, ...)
  assert.is_false(ok)
  assert.matches(pattern, tostring(e))
end

local function get(t, key)
  return t[key]
end

local function set(t, key, value)
  t[key] = value
end

describe("indexing", function()
  local t
  before_each(function()
    t = lg.tensor({ { 1, 2, 3 }, { 4, 5, 6 } })
  end)

  it("reads elements and rows, from either end", function()
    assert.equal(6, t[{ 2, 3 }])
    assert.equal(6, t[{ -1, -1 }])
    assert.equal(2, t[1][2])
    assert.equal(5, t[-1][-2])
    assert.same({ 4, 5, 6 }, t[2]:totable())
    assert.equal(2, #t)
    assert.equal(3, #t[1])
    assert.equal(0, #lg.tensor(1))
  end)

  it("takes ranges with both ends, steps, and whole dimensions", function()
    assert.same({ { 2, 3 }, { 5, 6 } }, t[{ {}, { 2, 3 } }]:totable())
    assert.same({ 2, 5 }, t[{ {}, 2 }]:totable())
    assert.same({ { 1, 2, 3 } }, t[{ { 1, 1 } }]:totable())
    assert.same({ { 3, 2, 1 }, { 6, 5, 4 } }, t[{ {}, { -1, 1, -1 } }]:totable())
    assert.same({ { 1, 3 }, { 4, 6 } }, t[{ {}, { 1, 3, 2 } }]:totable())
    assert.same({ { 1, 3 }, { 4, 6 } }, t[{ { 1, -1 }, { 1, -1, 2 } }]:totable())
    assert.same({ 0, 3 }, t[{ { 1, 0 } }].shape)
    assert.same({ 2, 0 }, t[{ {}, { 4, 3 } }].shape)
    assert.same({ 10, 8, 6 }, lg.arange(1, 11)[{ { 10, 5, -2 } }]:totable())
  end)

  it("gives views, not copies", function()
    local row, column = t[1], t[{ {}, 3 }]
    row[1] = 10
    column:fill(0)
    assert.same({ { 10, 2, 0 }, { 4, 5, 0 } }, t:totable())
  end)

  it("assigns numbers, tensors and tables, broadcast", function()
    t[{ 1, 1 }] = 7
    t[2] = 0
    assert.same({ { 7, 2, 3 }, { 0, 0, 0 } }, t:totable())
    t[{ {}, { 1, 2 } }] = lg.tensor({ 8, 9 })
    assert.same({ { 8, 9, 3 }, { 8, 9, 0 } }, t:totable())
    t[2] = { 1, 2, 3 }
    assert.same({ { 8, 9, 3 }, { 1, 2, 3 } }, t:totable())
    t[{ { 2, 1, -1 } }] = t
    assert.same({ { 1, 2, 3 }, { 8, 9, 3 } }, t:totable())
    t[{}] = 4
    assert.equal(24, t:sum())
    t[{ 1, 2 }] = lg.tensor(5)
    assert.equal(5, t[{ 1, 2 }])
  end)

  it("names what was found and the valid range", function()
    fails("index 3 of dimension 1 of f32%[2, 3%]: expected 1..2, or %-1..%-2 from the end", get, t, 3)
    fails("index 0 of dimension 1", get, t, 0)
    fails("index %-3 of dimension 1", get, t, -3)
    fails("index 1.5 of dimension 2", get, t, { 1, 1.5 })
    fails("index 4 of dimension 2", get, t, { 1, 4 })
    fails("index x of dimension 1", get, t, { "x" })
    fails("index nan of dimension 1", get, t, 0 / 0)
    fails("3 indices for f32%[2, 3%], which has 2 dimensions", get, t, { 1, 1, 1 })
    fails("1 indices for f32%[%]", get, lg.tensor(1), 1)
    fails("index 4 of dimension 2", get, t, { {}, { 1, 4 } })
    fails("{3, 1, 1} of dimension 2 of f32%[2, 3%] runs away", get, t, { {}, { 3, 1 } })
    fails("{1, 3, %-1} of dimension 2 of f32%[2, 3%] runs away", get, t, { {}, { 1, 3, -1 } })
    fails("step 0 of dimension 2", get, t, { {}, { 1, 3, 0 } })
    fails("expected {from, to} or {from, to, step}, found 1", get, t, { {}, { 1 } })
    fails("expected a number or a table of numbers and ranges, found a boolean", get, t, true)
    fails("has no 'shap', did you mean 'shape'", get, t, "shap")
    fails("f32%[3%] and f32%[2%] do not broadcast", function() t[1] = lg.zeros(2) end)
    fails("t.shape cannot be set", set, t, "shape", {})
    fails("expected a tensor, found a string", set, t, 1, "x")
    fails("index 1 of dimension 1", get, lg.zeros(0), 1)
  end)

  it("stores in an integer tensor only what fits", function()
    local u = lg.zeros(2, "u8")
    fails("256 does not fit u8", set, u, 1, 256)
    fails("0.5 does not fit u8", set, u, 1, 0.5)
    fails("%-1 does not fit u8", set, u, { { 1, 2 } }, -1)
    fails("300 %(f32%) does not fit u8", set, u, { { 1, 2 } }, lg.tensor({ 1, 300 }))
    u[{ { 1, 2 } }] = lg.tensor({ 1.75, 255.5 }) -- a conversion of floats truncates
    assert.same({ 1, 255 }, u:totable())
  end)
end)
