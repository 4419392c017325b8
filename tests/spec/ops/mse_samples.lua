--- Samples of op mse: gradients reach both inputs.
local function mean_square(v)
  local sum = 0
  for i, x in ipairs(v[1]) do
    sum = sum + (x - v[2][i]) ^ 2
  end
  return sum / #v[1]
end
return {
  { name = "matrices", inputs = { { shape = { 3, 4 } }, { shape = { 3, 4 } } }, reference = mean_square },
  { name = "one element", inputs = { { shape = { 1, 1 } }, { shape = { 1, 1 } } }, reference = mean_square },
  { name = "rank 3", inputs = { { shape = { 2, 2, 3 } }, { shape = { 2, 2, 3 } } }, reference = mean_square },
}
