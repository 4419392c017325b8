--- Samples of op rms_norm: rows, sequences, more rows than a tile, one element, a large eps.
local function normalized(v, shapes, attrs)
  local n, out = shapes[2][1], {}
  for row = 0, #v[1] / n - 1 do
    local square = 0
    for k = 1, n do square = square + v[1][row * n + k] ^ 2 / n end
    for k = 1, n do
      out[row * n + k] = v[1][row * n + k] / math.sqrt(square + (attrs.eps or 1e-5)) * v[2][k]
    end
  end
  return out
end
return {
  { name = "rows", inputs = { { shape = { 4, 7 } }, { shape = { 7 } } }, reference = normalized },
  { name = "sequences", inputs = { { shape = { 2, 3, 33 } }, { shape = { 33 } } }, reference = normalized },
  { name = "more rows than a tile", inputs = { { shape = { 70, 3 } }, { shape = { 3 } } }, reference = normalized,
    f32 = 1e-5 },
  { name = "one element", inputs = { { shape = { 3, 1 } }, { shape = { 1 } } }, attrs = { eps = 1 },
    reference = normalized },
  { name = "large eps", inputs = { { shape = { 3, 5 } }, { shape = { 5 } } }, attrs = { eps = 0.5 },
    reference = normalized },
  { name = "vector", inputs = { { shape = { 6 } }, { shape = { 6 } } }, reference = normalized },
}
