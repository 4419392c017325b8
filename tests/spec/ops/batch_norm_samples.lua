--- Samples of op batch_norm in training: images and rows, one channel, two rows, other ε, several tiles of rows, more
-- channels than one piece. Evaluation, running statistics and absorbed gates: batch_norm_spec.lua.
local function normalized(v, shapes, attrs)
  local n, out = shapes[2][1], {}
  local rows = #v[1] / n
  for k = 1, n do
    local mean, var = 0, 0
    for i = k, #v[1], n do
      mean = mean + v[1][i] / rows
    end
    for i = k, #v[1], n do
      var = var + (v[1][i] - mean) ^ 2 / rows
    end
    for i = k, #v[1], n do
      out[i] = (v[1][i] - mean) / math.sqrt(var + (attrs.eps or 1e-5)) * v[2][k] + v[3][k]
    end
  end
  return out
end
local function sample(name, x, attrs)
  local n = x[#x]
  return {
    name = name, attrs = attrs, reference = normalized, f32 = 5e-6,
    inputs = {
      { shape = x }, { shape = { n }, low = 0.5, high = 1.5 }, { shape = { n } }, { shape = { n }, state = true },
      { shape = { n }, state = true, low = 0.1 },
    },
  }
end
return {
  sample("images", { 3, 2, 4, 5 }),
  sample("rows", { 7, 3 }),
  sample("one channel", { 9, 1 }),
  sample("two rows, large ε", { 2, 6 }, { eps = 0.5 }),
  sample("sequences of 17 channels", { 3, 5, 17 }, { momentum = 0.3 }),
  sample("more than a tile of rows", { 2100, 16 }),
  sample("more channels than a piece", { 5, 4101 }),
}
