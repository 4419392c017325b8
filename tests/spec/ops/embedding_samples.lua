--- Samples of op embedding: ids that repeat, entries that nobody asks for, more columns than a tile, one entry.
local function rows(v, shapes)
  local d, out = shapes[1][2], {}
  for i, id in ipairs(v[2]) do
    for k = 1, d do out[(i - 1) * d + k] = v[1][id * d + k] end
  end
  return out
end
return {
  { name = "sequences", inputs = { { shape = { 5, 3 } }, { shape = { 2, 4 }, labels = 5 } }, reference = rows },
  { name = "unused entries", inputs = { { shape = { 40, 2 } }, { shape = { 3 }, labels = 40 } }, reference = rows },
  { name = "40 columns", inputs = { { shape = { 3, 40 } }, { shape = { 5 }, labels = 3 } }, reference = rows },
  { name = "one entry", inputs = { { shape = { 1, 4 } }, { shape = { 3 }, labels = 1 } }, reference = rows },
  { name = "70 ids", inputs = { { shape = { 4, 1 } }, { shape = { 70 }, labels = 4 } }, reference = rows },
}
