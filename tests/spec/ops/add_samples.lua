--- Samples of op add: equal shapes of several ranks.
local function sum(v)
  local out = {}
  for i, a in ipairs(v[1]) do
    out[i] = a + v[2][i]
  end
  return out
end
return {
  { name = "matrices", inputs = { { shape = { 3, 5 } }, { shape = { 3, 5 } } }, reference = sum },
  { name = "rank 4", inputs = { { shape = { 2, 3, 1, 4 } }, { shape = { 2, 3, 1, 4 } } }, reference = sum },
  { name = "one element", inputs = { { shape = { 1 } }, { shape = { 1 } } }, reference = sum },
}
