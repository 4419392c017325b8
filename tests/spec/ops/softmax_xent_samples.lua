--- Samples of op softmax_xent: smoothing, large logits, sequences, one class, more rows than a tile.
local function cross_entropy(v, shapes, attrs)
  local shape = shapes[1]
  local k, eps, total = shape[#shape], attrs.label_smoothing or 0, 0
  local rows = #v[1] / k
  for i = 0, rows - 1 do
    local max, sum, mean = -math.huge, 0, 0
    for j = 1, k do
      max = math.max(max, v[1][i * k + j])
    end
    for j = 1, k do
      sum = sum + math.exp(v[1][i * k + j] - max)
      mean = mean + v[1][i * k + j] / k
    end
    local log_sum = max + math.log(sum)
    total = total + log_sum - (1 - eps) * v[1][i * k + v[2][i + 1] + 1] - eps * mean
  end
  return total / rows
end
return {
  { name = "classes", inputs = { { shape = { 6, 4 } }, { shape = { 6 }, labels = 4 } }, reference = cross_entropy },
  { name = "smoothing", inputs = { { shape = { 5, 3 } }, { shape = { 5 }, labels = 3 } },
    attrs = { label_smoothing = 0.2 }, reference = cross_entropy },
  { name = "large logits", inputs = { { shape = { 4, 3 }, low = -700, high = 700 }, { shape = { 4 }, labels = 3 } },
    reference = cross_entropy, step = 1e-2 },
  { name = "sequences", inputs = { { shape = { 2, 3, 5 } }, { shape = { 2, 3 }, labels = 5 } },
    reference = cross_entropy },
  { name = "one class", inputs = { { shape = { 3, 1 } }, { shape = { 3 }, labels = 1 } }, reference = cross_entropy },
  { name = "more rows than a tile", inputs = { { shape = { 70, 2 } }, { shape = { 70 }, labels = 2 } },
    reference = cross_entropy },
}
