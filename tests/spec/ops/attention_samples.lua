--- Samples of op attention: one and several heads, causal or not, lengths, one token, more tokens than a block.
local function attend(v, shapes, attrs, _, mask)
  local b, t, d = shapes[1][1], shapes[1][2], shapes[1][3] / 3
  local heads, out = attrs.heads or 1, {}
  local dh = d / heads
  local function at(s, i, part, e) return v[1][((s * t + i) * 3 + part) * d + e + 1] end
  for s = 0, b - 1 do
    for h = 0, heads - 1 do
      for i = 0, t - 1 do
        local n = math.min(v[2] and v[2][s + 1] or t, attrs.causal == 1 and i + 1 or t)
        local scores, max, sum = {}, -math.huge, 0
        for j = 0, n - 1 do
          local dot = 0
          for e = h * dh, (h + 1) * dh - 1 do dot = dot + at(s, i, 0, e) * at(s, j, 1, e) end
          scores[j] = dot / math.sqrt(dh)
          max = math.max(max, scores[j])
        end
        for j = 0, n - 1 do
          scores[j] = math.exp(scores[j] - max)
          sum = sum + scores[j]
        end
        for e = h * dh, (h + 1) * dh - 1 do
          local value = 0
          for j = 0, n - 1 do
            local weight = scores[j] / sum * (mask and mask(j) or 1)
            value = value + weight * at(s, j, 2, e)
          end
          out[(s * t + i) * d + e + 1] = value
        end
      end
    end
  end
  return out
end
-- The mask is random: of the 2^t ways to drop the weights of a row, the one that gives what was got.
local function attend_dropped(v, shapes, attrs, got)
  local t, d, nearest, out = shapes[1][2], shapes[1][3] / 3, {}, {}
  for ways = 0, 2 ^ t - 1 do
    local try = attend(v, shapes, attrs, got, function(j)
      return math.floor(ways / 2 ^ j) % 2 == 0 and 1 / (1 - attrs.dropout) or 0
    end)
    for row = 0, #got / d - 1 do
      local distance = 0
      for e = row * d + 1, (row + 1) * d do distance = distance + math.abs(try[e] - got[e]) end
      if distance < (nearest[row] or math.huge) then
        nearest[row] = distance
        for e = row * d + 1, (row + 1) * d do out[e] = try[e] end
      end
    end
  end
  return out
end
return {
  { name = "one head", inputs = { { shape = { 2, 3, 12 } } }, reference = attend },
  { name = "two heads", inputs = { { shape = { 2, 5, 12 } } }, attrs = { heads = 2 }, reference = attend },
  { name = "causal", inputs = { { shape = { 2, 5, 12 } } }, attrs = { heads = 2, causal = 1 }, reference = attend },
  { name = "one token", inputs = { { shape = { 3, 1, 6 } } }, reference = attend },
  { name = "lengths", inputs = { { shape = { 4, 5, 6 } }, { shape = { 4 }, labels = 5, first = 1 } },
    reference = attend },
  { name = "lengths, causal", inputs = { { shape = { 4, 5, 6 } }, { shape = { 4 }, labels = 5, first = 1 } },
    attrs = { causal = 1 }, reference = attend },
  { name = "65 tokens", inputs = { { shape = { 1, 65, 6 } } }, attrs = { heads = 2 }, reference = attend, f32 = 1e-5 },
  { name = "100 tokens, causal", inputs = { { shape = { 1, 100, 3 } } }, attrs = { causal = 1 }, reference = attend,
    f32 = 1e-5 },
  { name = "70 tokens, causal", inputs = { { shape = { 1, 70, 3 } } }, attrs = { causal = 1 }, reference = attend,
    f32 = 1e-5 },
  { name = "more heads than shares", inputs = { { shape = { 3, 2, 18 } } }, attrs = { heads = 6 }, reference = attend },
  { name = "dropout", inputs = { { shape = { 3, 4, 6 } } }, attrs = { dropout = 0.4 }, reference = attend_dropped },
  { name = "large scores", inputs = { { shape = { 2, 3, 6 }, low = -30, high = 30 } }, reference = attend, f32 = 1e-3 },
}
