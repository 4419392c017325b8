-- Random shapes, strides, dtypes and functions against plain Lua loops over nested tables. Seeded: every run the same.
local lg = require("lgelu")

-- A small generator of its own, so that the cases depend on no library's random numbers.
local state = 20240517
local function below(n)
  state = (state * 1103515245 + 12345) % 2 ^ 31
  return math.floor(state / 2 ^ 31 * n)
end

local function pick(list)
  return list[below(#list) + 1]
end

-- A tensor of small whole numbers, as some view: permuted, sliced, reversed.
local function random_tensor(shape, dtype)
  local order, big, key, inverse = {}, {}, {}, {}
  for i = 1, #shape do
    order[i] = i
  end
  for i = #shape, 2, -1 do
    local j = below(i) + 1
    order[i], order[j] = order[j], order[i]
  end
  for i, d in ipairs(order) do
    local n, kind = shape[d], below(3)
    inverse[d] = i
    if kind == 1 and n > 0 then
      big[i], key[i] = 2 * n + 1, { 2, 2 * n, 2 }
    elseif kind == 2 and n > 0 then
      big[i], key[i] = n + 1, { n, 1, -1 }
    else
      big[i], key[i] = n, {}
    end
  end
  local t = lg.zeros(big, dtype)
  local low = dtype == "u8" and 0 or -4
  for i = 1, t.size do
    t:view(-1)[i] = below(9) + low
  end
  if #shape == 0 then return t end
  return t[key]:permute(inverse)
end

-- Nested tables read by 1-based multi-indices.
local function read(nested, at)
  for _, i in ipairs(at) do
    nested = nested[i]
  end
  return nested
end

-- Calls fn(multi-index) for every element of a shape.
local function each(shape, fn, at, depth)
  at, depth = at or {}, depth or 1
  if depth > #shape then return fn(at) end
  for i = 1, shape[depth] do
    at[depth] = i
    each(shape, fn, at, depth + 1)
  end
  at[depth] = nil
end

-- The index into a tensor of `shape` that broadcasting reads for `at`.
local function project(at, shape)
  local out, lead = {}, #at - #shape
  for i = 1, #shape do
    out[i] = shape[i] == 1 and 1 or at[i + lead]
  end
  return out
end

local function random_shape(rank)
  local shape = {}
  for i = 1, rank do
    shape[i] = pick({ 1, 2, 3, 5, below(40) == 0 and 0 or 4 })
  end
  return shape
end

local function truth(v)
  return v and 1 or 0
end

local BINARY = {
  add = function(a, b) return a + b end,
  sub = function(a, b) return a - b end,
  mul = function(a, b) return a * b end,
  div = function(a, b) return a / b end,
  minimum = math.min,
  maximum = math.max,
  eq = function(a, b) return truth(a == b) end,
  ne = function(a, b) return truth(a ~= b) end,
  lt = function(a, b) return truth(a < b) end,
  le = function(a, b) return truth(a <= b) end,
  gt = function(a, b) return truth(a > b) end,
  ge = function(a, b) return truth(a >= b) end,
}
local DTYPES = { "f32", "f64", "i32", "u8" }
local NAMES = {}
for name in pairs(BINARY) do
  NAMES[#NAMES + 1] = name
end
table.sort(NAMES)

local function close(a, b)
  return a == b or a ~= a and b ~= b or math.abs(a - b) <= 1e-6 * math.abs(b)
end

-- As what = ipairs text for messages.
local function text(shape)
  return "[" .. table.concat(shape, ", ") .. "]"
end

describe("random tensors agree with plain loops:", function()
  it("elementwise functions of two, broadcast", function()
    for _ = 1, 400 do
      local shape = random_shape(below(5))
      local function part()
        local s = {}
        for i = 1 + below(#shape + 1), #shape do
          s[#s + 1] = below(4) == 0 and 1 or shape[i]
        end
        return s
      end
      local sa, sb = below(2) == 0 and shape or part(), part()
      local a, b, name = random_tensor(sa, pick(DTYPES)), random_tensor(sb, pick(DTYPES)), pick(NAMES)
      local out = a[name](a, b)
      local ta, tb, got = a:totable(), b:totable(), out:totable()
      each(out.shape, function(at)
        local expected = BINARY[name](read(ta, project(at, sa)), read(tb, project(at, sb)))
        if not close(read(got, at), expected) then
          error(("%s of %s%s and %s%s at %s: %s, expected %s"):format(name, a.dtype, text(sa), b.dtype, text(sb),
            text(at), read(got, at), expected))
        end
      end)
    end
  end)

  it("reductions over every axis and over all", function()
    local fold = {
      sum = function(list) local s = 0 for _, v in ipairs(list) do s = s + v end return s end,
      prod = function(list) local p = 1 for _, v in ipairs(list) do p = p * v end return p end,
      min = function(list) return math.min(unpack(list)) end,
      max = function(list) return math.max(unpack(list)) end,
      any = function(list) for _, v in ipairs(list) do if v ~= 0 then return 1 end end return 0 end,
      all = function(list) for _, v in ipairs(list) do if v == 0 then return 0 end end return 1 end,
    }
    fold.mean = function(list) return fold.sum(list) / #list end
    fold.argmin = function(list)
      local best = 1
      for i, v in ipairs(list) do if v < list[best] then best = i end end
      return best
    end
    fold.argmax = function(list)
      local best = 1
      for i, v in ipairs(list) do if v > list[best] then best = i end end
      return best
    end
    local names = {}
    for name in pairs(fold) do names[#names + 1] = name end
    table.sort(names)
    for _ = 1, 300 do
      local shape = random_shape(1 + below(4))
      local t, name = random_tensor(shape, pick(DTYPES)), pick(names)
      if t.size > 0 then
        local nested, axis, keepdim = t:totable(), 1 + below(#shape), below(2) == 0
        local got, kept = t[name](t, axis, keepdim), { unpack(shape) }
        kept[axis] = 1
        local where = ("%s of %s%s over axis %d"):format(name, t.dtype, text(shape), axis)
        if keepdim then assert.same(kept, got.shape, where) end
        got = got:view(kept):totable()
        each(kept, function(at)
          local list, from = {}, { unpack(at) }
          for i = 1, shape[axis] do
            from[axis] = i
            list[i] = read(nested, from)
          end
          if not close(read(got, at), fold[name](list)) then
            error(("%s at %s: %s, expected %s"):format(where, text(at), read(got, at), fold[name](list)))
          end
        end)
        local list = {}
        each(shape, function(at) list[#list + 1] = read(nested, at) end)
        local all = t[name](t)
        if type(all) == "boolean" then all = truth(all) end
        assert.is_true(close(all, fold[name](list)), where .. " (all)")
      end
    end
  end)

  it("matrix products, batched, transposed and sliced", function()
    for _ = 1, 150 do
      local m, k, n = below(5) + 1, below(6), below(5) + 1
      local lead = random_shape(below(3))
      local sa, sb = {}, {}
      for i = 1 + below(#lead + 1), #lead do sa[#sa + 1] = below(3) == 0 and 1 or lead[i] end
      for i = 1 + below(#lead + 1), #lead do sb[#sb + 1] = below(3) == 0 and 1 or lead[i] end
      for _, v in ipairs({ m, k }) do sa[#sa + 1] = v end
      for _, v in ipairs({ k, n }) do sb[#sb + 1] = v end
      local a, b = random_tensor(sa, pick({ "f32", "f64" })), random_tensor(sb, pick({ "f32", "f64" }))
      local out = a:matmul(b)
      local ta, tb, got = a:totable(), b:totable(), out:totable()
      each(out.shape, function(at)
        local batch, sum = { unpack(at, 1, #at - 2) }, 0
        local function entry(nested, shape, i, j)
          local from = project(batch, { unpack(shape, 1, #shape - 2) })
          from[#from + 1], from[#from + 2] = i, j
          return read(nested, from)
        end
        for p = 1, k do
          sum = sum + entry(ta, sa, at[#at - 1], p) * entry(tb, sb, p, at[#at])
        end
        if read(got, at) ~= sum then
          error(("%s%s · %s%s at %s: %s, expected %s"):format(a.dtype, text(sa), b.dtype, text(sb), text(at),
            read(got, at), sum))
        end
      end)
    end
  end)

  it("assignment into slices, from overlapping slices too", function()
    for _ = 1, 200 do
      local n = 2 + below(8)
      local t = random_tensor({ n, 3 }, pick(DTYPES))
      local before = t:totable()
      local count = 1 + below(n)
      local to, from, reverse = 1 + below(n - count + 1), 1 + below(n - count + 1), below(2) == 0
      local source = reverse and { from + count - 1, from, -1 } or { from, from + count - 1 }
      if count == 1 then source = { from, from } end
      t[{ { to, to + count - 1 } }] = t[{ source }]
      local after = t:totable()
      for i = 1, n do
        local k = i - to
        local row = i
        if k >= 0 and k < count then row = (reverse and count > 1) and from + count - 1 - k or from + k end
        assert.same(before[row], after[i])
      end
    end
  end)

  it("copies through nested tables, clones and dtypes", function()
    for _ = 1, 200 do
      local t = random_tensor(random_shape(1 + below(4)), pick(DTYPES))
      local nested = t:totable()
      assert.same(nested, t:clone():totable())
      assert.same(nested, t:contiguous():totable())
      assert.same(nested, t.T.T:totable())
      if t.dtype ~= "u8" then assert.same(nested, t:to("f64"):to("i32"):to(t.dtype):totable()) end
      local flat = {}
      each(t.shape, function(at) flat[#flat + 1] = read(nested, at) end)
      assert.same(flat, t:reshape(-1):totable())
    end
  end)
end)
