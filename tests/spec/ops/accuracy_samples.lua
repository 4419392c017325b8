--- Samples of op accuracy: no gradient; ties go to the first entry.
local function fraction(v, shapes)
  local shape = shapes[1]
  local k, right = shape[#shape], 0
  local rows = #v[1] / k
  for i = 0, rows - 1 do
    local best = 1
    for j = 2, k do
      if v[1][i * k + j] > v[1][i * k + best] then best = j end
    end
    if best - 1 == v[2][i + 1] then right = right + 1 end
  end
  return right / rows
end
return {
  { name = "classes", inputs = { { shape = { 40, 3 } }, { shape = { 40 }, labels = 3 } }, reference = fraction },
  { name = "sequences", inputs = { { shape = { 4, 6, 2 } }, { shape = { 4, 6 }, labels = 2 } }, reference = fraction },
  { name = "ties", inputs = { { shape = { 10, 4 }, low = 1, high = 1 }, { shape = { 10 }, labels = 4 } },
    reference = fraction },
}
