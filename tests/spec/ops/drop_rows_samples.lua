--- Samples of op drop_rows: each row of axis 0 is 0 or x/(1-p) as a whole, and about p of them are 0; gradcheck replays
-- the same draws, since they are a function of seed, step and row.
local function rows(v, shapes, attrs, got)
  local out, zeros, n = {}, 0, shapes[1][1]
  local size = #v[1] / n
  for row = 0, n - 1 do
    local gone = got[row * size + 1] == 0
    zeros = zeros + (gone and 1 or 0)
    for k = row * size + 1, (row + 1) * size do out[k] = gone and 0 or v[1][k] * (1 / (1 - attrs.p)) end
  end
  local p = attrs.p
  assert(math.abs(zeros - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1e-9, ("%d of %d rows are 0"):format(zeros, n))
  return out
end
return {
  { name = "a third", inputs = { { shape = { 60, 2, 3 } } }, attrs = { p = 0.3 }, reference = rows },
  { name = "half, rank 1", inputs = { { shape = { 50 } } }, attrs = { p = 0.5 }, reference = rows },
  { name = "none", inputs = { { shape = { 3, 3 } } }, attrs = { p = 0 }, reference = rows },
}
