--- Samples of op flatten: from each axis.
local function same(v) return v[1] end
return {
  { name = "images", inputs = { { shape = { 2, 3, 2, 2 } } }, reference = same },
  { name = "from axis 0", inputs = { { shape = { 2, 3 } } }, attrs = { axis = 0 }, reference = same },
  { name = "a matrix stays", inputs = { { shape = { 3, 4 } } }, reference = same },
}
