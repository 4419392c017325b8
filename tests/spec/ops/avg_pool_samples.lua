--- Samples of op avg_pool: overlapping windows, gaps, unequal padding (which counts as zeros), one channel,
-- whole images.
local function pooled(v, shapes, a)
  local b, h, w, n = unpack(shapes[1])
  local kh, kw, sh, sw = a.kernel_h or 2, a.kernel_w or 2, a.stride_h or 2, a.stride_w or 2
  local top, left = a.pad_top or 0, a.pad_left or 0
  local oh = math.floor((h + top + (a.pad_bottom or 0) - kh) / sh) + 1
  local ow = math.floor((w + left + (a.pad_right or 0) - kw) / sw) + 1
  local out = {}
  for image = 0, b - 1 do
    for i = 0, oh - 1 do
      for j = 0, ow - 1 do
        for c = 0, n - 1 do
          local sum = 0
          for y = math.max(i * sh - top, 0), math.min(i * sh - top + kh, h) - 1 do
            for x = math.max(j * sw - left, 0), math.min(j * sw - left + kw, w) - 1 do
              sum = sum + v[1][((image * h + y) * w + x) * n + c + 1]
            end
          end
          out[#out + 1] = sum / (kh * kw)
        end
      end
    end
  end
  return out
end
local function sample(name, x, attrs) return { name = name, inputs = { { shape = x } }, attrs = attrs,
  reference = pooled } end
return {
  sample("2 × 2", { 2, 4, 6, 3 }),
  sample("odd sizes leave a rest", { 2, 5, 7, 2 }),
  sample("overlapping, padded", { 2, 5, 6, 4 },
    { kernel_h = 3, kernel_w = 3, pad_top = 1, pad_left = 1, pad_bottom = 1, pad_right = 1 }),
  sample("unequal padding and window", { 1, 4, 5, 17 },
    { kernel_h = 2, kernel_w = 3, stride_h = 1, stride_w = 2, pad_bottom = 1, pad_left = 2 }),
  sample("gaps", { 2, 7, 7, 1 }, { stride_h = 3, stride_w = 4 }),
  sample("the whole image", { 3, 3, 4, 2 }, { kernel_h = 3, kernel_w = 4 }),
}
