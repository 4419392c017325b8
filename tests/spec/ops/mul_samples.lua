--- Samples of op mul: equal shapes, one element, more elements than a tile.
local function product(v)
  local out = {}
  for i, a in ipairs(v[1]) do out[i] = a * v[2][i] end
  return out
end
return {
  { name = "matrices", inputs = { { shape = { 3, 5 } }, { shape = { 3, 5 } } }, reference = product },
  { name = "one element", inputs = { { shape = { 1 } }, { shape = { 1 } } }, reference = product },
  { name = "rank 4", inputs = { { shape = { 2, 3, 1, 2 } }, { shape = { 2, 3, 1, 2 } } }, reference = product },
  { name = "large values", inputs = { { shape = { 6 }, low = -1000, high = 1000 },
    { shape = { 6 }, low = -1000, high = 1000 } }, reference = product, step = 1e-1 },
}
