--- Samples of op global_pool: several images, one pixel, one channel, more channels than are summed at a time.
local function pooled(v, shapes)
  local b, h, w, n = unpack(shapes[1])
  local out = {}
  for image = 0, b - 1 do
    for c = 0, n - 1 do
      local sum = 0
      for i = 0, h * w - 1 do
        sum = sum + v[1][(image * h * w + i) * n + c + 1]
      end
      out[#out + 1] = sum / (h * w)
    end
  end
  return out
end
local function sample(name, x) return { name = name, inputs = { { shape = x } }, reference = pooled } end
return {
  sample("images", { 3, 4, 5, 6 }),
  sample("one pixel", { 2, 1, 1, 3 }),
  sample("one channel", { 1, 3, 3, 1 }),
  sample("130 channels", { 2, 2, 3, 130 }),
}
