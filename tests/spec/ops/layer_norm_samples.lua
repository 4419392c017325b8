--- Samples of op layer_norm: rows of one element and of many, more rows than a tile, a large mean, a constant row.
local function normalized(v, shapes, attrs)
  local n, out = shapes[2][1], {}
  for row = 0, #v[1] / n - 1 do
    local mean, var = 0, 0
    for k = 1, n do mean = mean + v[1][row * n + k] / n end
    for k = 1, n do var = var + (v[1][row * n + k] - mean) ^ 2 / n end
    for k = 1, n do
      out[row * n + k] = (v[1][row * n + k] - mean) / math.sqrt(var + (attrs.eps or 1e-5)) * v[2][k] + v[3][k]
    end
  end
  return out
end
return {
  { name = "rows", inputs = { { shape = { 4, 7 } }, { shape = { 7 } }, { shape = { 7 } } }, reference = normalized },
  { name = "sequences", inputs = { { shape = { 2, 3, 33 } }, { shape = { 33 } }, { shape = { 33 } } },
    reference = normalized, f32 = 1e-5 },
  { name = "more rows than a tile", inputs = { { shape = { 70, 3 } }, { shape = { 3 } }, { shape = { 3 } } },
    reference = normalized, f32 = 1e-4 },
  { name = "large mean", inputs = { { shape = { 3, 20 }, low = 1000, high = 1004 }, { shape = { 20 } },
    { shape = { 20 } } }, reference = normalized, f32 = 1e-3 },
  { name = "one element", inputs = { { shape = { 3, 1 } }, { shape = { 1 } }, { shape = { 1 } } },
    reference = normalized },
  { name = "large eps", inputs = { { shape = { 3, 5 } }, { shape = { 5 } }, { shape = { 5 } } }, attrs = { eps = 0.5 },
    reference = normalized },
  { name = "vector", inputs = { { shape = { 6 } }, { shape = { 6 } }, { shape = { 6 } } }, reference = normalized,
    f32 = 1e-5 },
}
