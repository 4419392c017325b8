--- Samples of op channels_last: odd sizes, one channel, one pixel, more than a block of pixels and of channels.
local function transposed(v, shapes)
  local n, c, h, w = unpack(shapes[1])
  local out = {}
  for b = 0, n - 1 do
    for i = 0, c - 1 do
      for p = 0, h * w - 1 do
        out[(b * h * w + p) * c + i + 1] = v[1][(b * c + i) * h * w + p + 1]
      end
    end
  end
  return out
end
local function sample(name, shape) return { name = name, inputs = { { shape = shape } }, reference = transposed } end
return {
  sample("three channels", { 2, 3, 4, 5 }),
  sample("one channel", { 2, 1, 3, 3 }),
  sample("one pixel", { 3, 5, 1, 1 }),
  sample("more than a block", { 1, 19, 5, 7 }),
}
