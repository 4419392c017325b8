--- Samples of op reshape: with and without a dimension that is left open.
local function same(v) return v[1] end
return {
  { name = "to a matrix", inputs = { { shape = { 2, 3, 4 } } }, attrs = { rank = 2, d0 = 6, d1 = 4 },
    reference = same },
  { name = "open dimension", inputs = { { shape = { 6, 4 } } }, attrs = { rank = 3, d0 = -1, d1 = 3, d2 = 2 },
    reference = same },
  { name = "to a vector", inputs = { { shape = { 2, 2 } } }, attrs = { rank = 1, d0 = -1 }, reference = same },
}
