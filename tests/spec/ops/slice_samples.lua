--- Samples of op slice: each axis, from the start, the middle and the end, and the whole of it.
local function cut(v, shapes, attrs)
  local axis, out, outer, inner = (attrs.axis or 1) + 1, {}, 1, 1
  for i, d in ipairs(shapes[1]) do
    if i < axis then outer = outer * d elseif i > axis then inner = inner * d end
  end
  for row = 0, outer - 1 do
    for k = 1, attrs.length * inner do
      out[#out + 1] = v[1][(row * shapes[1][axis] + (attrs.start or 0)) * inner + k]
    end
  end
  return out
end
return {
  { name = "first token", inputs = { { shape = { 3, 4, 2 } } }, attrs = { length = 1 }, reference = cut },
  { name = "middle", inputs = { { shape = { 2, 5 } } }, attrs = { start = 2, length = 2 }, reference = cut },
  { name = "end of the last axis", inputs = { { shape = { 2, 2, 5 } } }, attrs = { axis = 2, start = 3, length = 2 },
    reference = cut },
  { name = "rows", inputs = { { shape = { 4, 3 } } }, attrs = { axis = 0, start = 1, length = 3 }, reference = cut },
  { name = "all", inputs = { { shape = { 2, 3 } } }, attrs = { length = 3 }, reference = cut },
}
