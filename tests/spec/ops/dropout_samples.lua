--- Samples of op dropout. The mask is random, so the plain formula is: every element is 0 or x/(1-p), and about p are
-- 0;
-- gradcheck replays the same mask, since it is a function of seed, step and element.
local function masked(v, _, attrs, got)
  local out, zeros = {}, 0
  for i, x in ipairs(v[1]) do
    local kept = x * (1 / (1 - attrs.p))
    out[i] = got[i] == 0 and 0 or kept
    if got[i] == 0 then zeros = zeros + 1 end
  end
  local n, p = #v[1], attrs.p
  assert(math.abs(zeros - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1e-9,
    ("%d of %d zeros for p = %g"):format(zeros, n, p))
  return out
end
return {
  { name = "half", inputs = { { shape = { 20, 13 } } }, attrs = { p = 0.5 }, reference = masked },
  { name = "a tenth, rank 3", inputs = { { shape = { 5, 4, 7 } } }, attrs = { p = 0.1 }, reference = masked },
  { name = "none", inputs = { { shape = { 3, 3 } } }, attrs = { p = 0 }, reference = masked },
}
