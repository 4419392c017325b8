--- Samples of op token_mean: some tokens count, all do, one does; more columns than are summed at a time.
local function mean(v, shapes)
  local b, t, n, out = shapes[1][1], shapes[1][2], shapes[1][3], {}
  for row = 0, b - 1 do
    local length = v[2][row + 1]
    for k = 1, n do
      local sum = 0
      for i = 0, length - 1 do sum = sum + v[1][(row * t + i) * n + k] end
      out[#out + 1] = sum / length
    end
  end
  return out
end
local function sample(name, x, labels, first)
  return { name = name, inputs = { { shape = x }, { shape = { x[1] }, labels = labels, first = first } },
    reference = mean }
end
return {
  sample("some tokens", { 6, 5, 3 }, 5, 1),
  sample("all tokens", { 3, 4, 5 }, 1, 4),
  sample("one token", { 3, 4, 5 }, 1, 1),
  sample("130 columns", { 2, 3, 130 }, 3, 1),
}
