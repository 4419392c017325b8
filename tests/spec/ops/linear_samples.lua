--- Samples of op linear: odd sizes, one row, one unit, no bias, more leading dimensions, and sizes beyond one tile.
local function product(v, shapes)
  local units, k = shapes[2][1], shapes[2][2]
  local rows, out = #v[1] / k, {}
  for i = 0, rows - 1 do
    for j = 0, units - 1 do
      local sum = v[3] and v[3][j + 1] or 0
      for l = 1, k do
        sum = sum + v[1][i * k + l] * v[2][j * k + l]
      end
      out[i * units + j + 1] = sum
    end
  end
  return out
end
local function sample(name, x, units, k, bias)
  local inputs = { { shape = x }, { shape = { units, k } } }
  if bias then inputs[3] = { shape = { units } } end
  return { name = name, inputs = inputs, reference = product, f32 = 5e-6 }
end
return {
  sample("with bias", { 4, 3 }, 5, 3, true),
  sample("without bias", { 5, 7 }, 2, 7, false),
  sample("one row", { 1, 6 }, 4, 6, true),
  sample("one unit", { 3, 4 }, 1, 4, true),
  sample("one input", { 3, 1 }, 3, 1, true),
  sample("rank 3", { 2, 3, 4 }, 5, 4, true),
  sample("more than a tile of units", { 2, 3 }, 300, 3, true),
  sample("more than a tile of rows", { 140, 2 }, 3, 2, true),
  sample("more than a tile of inputs", { 2, 270 }, 2, 270, true),
}
