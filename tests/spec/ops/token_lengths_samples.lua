--- Samples of op token_lengths: no gradient. With few different ids, some sequences end in padding or are all of it.
local function lengths(v, shapes, attrs)
  local b, t, out = shapes[1][1], shapes[1][2], {}
  for row = 0, b - 1 do
    out[row + 1] = 1
    for i = 1, t do
      if v[1][row * t + i] ~= (attrs.pad or 0) then out[row + 1] = i end
    end
  end
  return out
end
local function sample(name, x, labels, pad)
  return { name = name, inputs = { { shape = x, labels = labels } }, attrs = pad and { pad = pad },
    reference = lengths }
end
return {
  sample("two ids", { 40, 4 }, 2),
  sample("padding of id 1", { 40, 3 }, 2, 1),
  sample("nothing but padding", { 3, 4 }, 1),
  sample("one token", { 5, 1 }, 3),
}
