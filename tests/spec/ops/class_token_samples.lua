--- Samples of op class_token: the token stands first in every sequence.
local function with_token(v, shapes)
  local b, t, n, out = shapes[1][1], shapes[1][2], shapes[1][3], {}
  for row = 0, b - 1 do
    for k = 1, n do out[#out + 1] = v[2][k] end
    for k = 1, t * n do out[#out + 1] = v[1][row * t * n + k] end
  end
  return out
end
return {
  { name = "sequences", inputs = { { shape = { 3, 4, 5 } }, { shape = { 5 } } }, reference = with_token },
  { name = "one token", inputs = { { shape = { 2, 1, 3 } }, { shape = { 3 } } }, reference = with_token },
  { name = "one sequence", inputs = { { shape = { 1, 2, 2 } }, { shape = { 2 } } }, reference = with_token },
}
