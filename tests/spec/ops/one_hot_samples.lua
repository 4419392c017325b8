--- Samples of op one_hot: no gradient.
local function one_hot(v, _, attrs)
  local out = {}
  for i, y in ipairs(v[1]) do
    for j = 0, attrs.classes - 1 do
      out[(i - 1) * attrs.classes + j + 1] = j == y and 1 or 0
    end
  end
  return out
end
return {
  { name = "labels", inputs = { { shape = { 7 }, labels = 4 } }, attrs = { classes = 4 }, reference = one_hot },
  { name = "sequences", inputs = { { shape = { 2, 3 }, labels = 5 } }, attrs = { classes = 5 }, reference = one_hot },
}
