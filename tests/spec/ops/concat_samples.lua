--- Samples of op concat: two and three arrays, along the first, a middle and the last axis, of different widths.
local function joined(v, shapes, attrs)
  local axis, out = (attrs.axis or 1) + 1, {}
  local outer, inner = 1, 1
  for i, d in ipairs(shapes[1]) do
    if i < axis then outer = outer * d elseif i > axis then inner = inner * d end
  end
  for row = 0, outer - 1 do
    for i, list in ipairs(v) do
      local n = shapes[i][axis] * inner
      for k = 1, n do out[#out + 1] = list[row * n + k] end
    end
  end
  return out
end
return {
  { name = "columns", inputs = { { shape = { 3, 2 } }, { shape = { 3, 4 } } }, reference = joined },
  { name = "rows", inputs = { { shape = { 1, 3 } }, { shape = { 2, 3 } } }, attrs = { axis = 0 }, reference = joined },
  { name = "three", inputs = { { shape = { 2, 1, 3 } }, { shape = { 2, 2, 3 } }, { shape = { 2, 1, 3 } } },
    reference = joined },
  { name = "last of three", inputs = { { shape = { 2, 2, 3 } }, { shape = { 2, 2, 1 } } }, attrs = { axis = 2 },
    reference = joined },
  { name = "equal shapes", inputs = { { shape = { 2, 3 } }, { shape = { 2, 3 } } }, reference = joined },
}
