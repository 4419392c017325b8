--- Samples of op batch_matmul: plain and transposed operands, one product and several, a product of one element.
local function products(v, shapes, attrs)
  local r = #shapes[1]
  local ta, tb = attrs.transpose_a == 1, attrs.transpose_b == 1
  local ra, ca, rb, cb = shapes[1][r - 1], shapes[1][r], shapes[2][r - 1], shapes[2][r]
  local m, k, n, out = ta and ca or ra, ta and ra or ca, tb and rb or cb, {}
  for i = 0, #v[1] / (ra * ca) - 1 do
    for row = 0, m - 1 do
      for col = 0, n - 1 do
        local sum = 0
        for j = 0, k - 1 do
          local a = v[1][i * ra * ca + (ta and j * ca + row or row * ca + j) + 1]
          local b = v[2][i * rb * cb + (tb and col * cb + j or j * cb + col) + 1]
          sum = sum + a * b
        end
        out[#out + 1] = sum
      end
    end
  end
  return out
end
return {
  { name = "plain", inputs = { { shape = { 3, 2, 4 } }, { shape = { 3, 4, 5 } } }, reference = products },
  { name = "b transposed", inputs = { { shape = { 2, 3, 4 } }, { shape = { 2, 5, 4 } } }, attrs = { transpose_b = 1 },
    reference = products },
  { name = "a transposed", inputs = { { shape = { 2, 4, 3 } }, { shape = { 2, 4, 5 } } }, attrs = { transpose_a = 1 },
    reference = products },
  { name = "both transposed", inputs = { { shape = { 2, 4, 3 } }, { shape = { 2, 5, 4 } } },
    attrs = { transpose_a = 1, transpose_b = 1 }, reference = products },
  { name = "squares", inputs = { { shape = { 2, 2, 3, 3 } }, { shape = { 2, 2, 3, 3 } } }, reference = products },
  { name = "matrices alone", inputs = { { shape = { 3, 2 } }, { shape = { 2, 1 } } }, reference = products },
  { name = "one element", inputs = { { shape = { 1, 1 } }, { shape = { 1, 1 } } }, reference = products },
}
