--- Samples of op bias: one b for each entry of the last dimension, below and above one tile of columns; positions.
local function biased(v)
  local out, n = {}, #v[2]
  for i, x in ipairs(v[1]) do
    out[i] = x + v[2][(i - 1) % n + 1]
  end
  return out
end
return {
  { name = "matrix", inputs = { { shape = { 4, 3 } }, { shape = { 3 } } }, reference = biased },
  { name = "rank 3", inputs = { { shape = { 2, 3, 5 } }, { shape = { 5 } } }, reference = biased },
  { name = "70 columns", inputs = { { shape = { 2, 70 } }, { shape = { 70 } } }, reference = biased },
  { name = "positions", inputs = { { shape = { 3, 4, 5 } }, { shape = { 4, 5 } } }, reference = biased },
  { name = "equal shapes", inputs = { { shape = { 2, 3 } }, { shape = { 2, 3 } } }, reference = biased },
  { name = "vector", inputs = { { shape = { 6 } }, { shape = { 6 } } }, reference = biased },
}
