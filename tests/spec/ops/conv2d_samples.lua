--- Samples of op conv2d: odd shapes, strides, groups, asymmetric padding, 1×1, a kernel larger than the image, rows and
-- weights beyond one block, and sizes that reach every way to compute it.
local function at(attrs, name, default) return attrs[name] or default end

local function convolution(v, shapes, attrs)
  local n, h, w, ci = unpack(shapes[1])
  local co, kh, kw, cig = unpack(shapes[2])
  local sh, sw, groups = at(attrs, "stride_h", 1), at(attrs, "stride_w", 1), at(attrs, "groups", 1)
  local top, left = at(attrs, "pad_top", 0), at(attrs, "pad_left", 0)
  local oh = math.floor((h + top + at(attrs, "pad_bottom", 0) - kh) / sh) + 1
  local ow = math.floor((w + left + at(attrs, "pad_right", 0) - kw) / sw) + 1
  local out = {}
  for b = 0, n - 1 do
    for oy = 0, oh - 1 do
      for ox = 0, ow - 1 do
        for o = 0, co - 1 do
          local sum, first = v[3] and v[3][o + 1] or 0, math.floor(o / (co / groups)) * cig
          for ky = 0, kh - 1 do
            for kx = 0, kw - 1 do
              local y, x = oy * sh - top + ky, ox * sw - left + kx
              if y >= 0 and y < h and x >= 0 and x < w then
                local from, by = ((b * h + y) * w + x) * ci + first, ((o * kh + ky) * kw + kx) * cig
                for i = 1, cig do
                  sum = sum + v[1][from + i] * v[2][by + i]
                end
              end
            end
          end
          out[#out + 1] = sum
        end
      end
    end
  end
  return out
end

local function sample(name, x, w, attrs, bias)
  local inputs = { { shape = x }, { shape = w } }
  if bias then inputs[3] = { shape = { w[1] } } end
  return { name = name, inputs = inputs, attrs = attrs, reference = convolution, f32 = 5e-6 }
end
local function pad(n, more)
  local attrs = { pad_top = n, pad_left = n, pad_bottom = n, pad_right = n }
  for k, value in pairs(more or {}) do
    attrs[k] = value
  end
  return attrs
end

return {
  sample("3x3", { 2, 5, 7, 3 }, { 4, 3, 3, 3 }, pad(1)),
  sample("3x3 with bias", { 2, 4, 4, 2 }, { 3, 3, 3, 2 }, pad(1), true),
  sample("3x3 without padding", { 1, 5, 3, 2 }, { 2, 3, 3, 2 }),
  sample("3x3 of stride 2", { 2, 7, 6, 3 }, { 4, 3, 3, 3 }, pad(1, { stride_h = 2, stride_w = 2 })),
  sample("two strides", { 1, 7, 9, 2 }, { 3, 3, 2, 2 }, { stride_h = 3, stride_w = 2 }),
  sample("stride beyond the kernel", { 2, 5, 5, 2 }, { 2, 1, 2, 2 }, { stride_h = 3, stride_w = 4 }),
  sample("asymmetric padding", { 2, 4, 5, 2 }, { 3, 3, 3, 2 }, { pad_top = 2, pad_left = 0, pad_bottom = 1,
    pad_right = 3 }, true),
  sample("two groups", { 2, 4, 3, 4 }, { 6, 3, 3, 2 }, pad(1, { groups = 2 }), true),
  sample("a group a channel", { 1, 5, 5, 3 }, { 6, 3, 3, 1 }, pad(1, { groups = 3, stride_h = 2 })),
  sample("1x1", { 2, 3, 5, 4 }, { 3, 1, 1, 4 }, nil, true),
  sample("1x1 in groups", { 2, 3, 2, 6 }, { 4, 1, 1, 3 }, { groups = 2 }),
  sample("1x1 of stride 2", { 2, 5, 4, 3 }, { 2, 1, 1, 3 }, { stride_h = 2, stride_w = 2 }),
  sample("1x1 with padding", { 1, 3, 3, 2 }, { 2, 1, 1, 2 }, pad(1)),
  sample("kernel larger than the image", { 2, 3, 2, 2 }, { 3, 5, 6, 2 }, pad(2)),
  sample("kernel as large as the image", { 3, 4, 3, 2 }, { 5, 4, 3, 2 }),
  sample("even kernel", { 1, 6, 5, 1 }, { 2, 2, 4, 1 }, { pad_left = 2, pad_right = 1 }),
  sample("one pixel", { 4, 1, 1, 3 }, { 2, 3, 3, 3 }, pad(1)),
  sample("more than a block of rows", { 2, 40, 30, 1 }, { 2, 3, 3, 1 }, pad(1)),
  sample("1x1, more than a block of rows", { 1, 40, 30, 1 }, { 2, 1, 1, 1 }),
  sample("more than a block of units", { 1, 3, 3, 2 }, { 131, 3, 3, 2 }, pad(1)),
  sample("more than a block of taps", { 1, 3, 3, 100 }, { 2, 3, 3, 100 }, pad(1)),
}
