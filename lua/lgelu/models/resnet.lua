--- resnet: residual networks of basic blocks (He et al. 2016, arXiv:1512.03385) with the stem for small images: one 3×3
-- convolution, no pooling. Four stages, each but the first halves the image and doubles the channels; where a block
-- changes the shape, a 1×1 convolution does so on its shortcut. Gates: after the stem's normalization, after each
-- block's first one, and after each residual sum: 17 at depth 18, 33 at depth 34.
-- Convolutions have no bias and start normal with deviation √(2/k), k inputs each (He et al. 2015), which is our
-- choice: the normalization behind each makes the scale a matter of the learning rate only. PyTorch's default is
-- uniform in ±1/√k.
local BLOCKS = { [18] = { 2, 2, 2, 2 }, [34] = { 3, 4, 6, 3 } } -- of each stage

local function conv_norm(nn, x, channels, kernel, stride, number)
  x = nn:conv2d(x, channels, { kernel = kernel, stride = stride, padding = (kernel - 1) / 2, bias = false,
    init = "he_normal", name = "conv" .. number })
  return nn:batch_norm(x, { name = "bn" .. number })
end

local function block(nn, x, channels, stride)
  local y = nn:gate(conv_norm(nn, x, channels, 3, stride, "1"), { name = "gate1" })
  y = conv_norm(nn, y, channels, 3, 1, "2")
  if stride ~= 1 or x.shape[4] ~= channels then
    x = nn:scope("shortcut", function() return conv_norm(nn, x, channels, 1, stride, "") end)
  end
  return nn:gate(nn:add(y, x, { name = "sum" }), { name = "gate2" })
end

return {
  doc = "ResNet of basic blocks for small images: a gate after the stem, in each block and after each sum.",
  schema = {
    { key = "depth", type = "integer", default = 18, choices = { 18, 34 }, example = "model.depth=34",
      doc = "Layers with weights: 18 or 34." },
    { key = "width", type = "integer", default = 64, min = 1, max = 4096, example = "model.width=16",
      doc = "Channels of the first stage; each next stage has twice as many." },
  },
  build = function(nn, x, options, info)
    x = nn:channels_last(x)
    x = nn:scope("stem", function()
      return nn:gate(conv_norm(nn, x, options.width, 3, 1, ""), { name = "gate" })
    end)
    for stage, blocks in ipairs(BLOCKS[options.depth]) do
      for i = 1, blocks do
        x = nn:scope(("stage%d.block%d"):format(stage, i), function()
          return block(nn, x, options.width * 2 ^ (stage - 1), i == 1 and stage > 1 and 2 or 1)
        end)
      end
    end
    return nn:linear(nn:global_pool(x, { name = "pool" }), info.classes, { name = "fc" })
  end,
}
