--- vit: a vision transformer (Dosovitskiy et al. 2021, arXiv:2010.11929): patches as tokens, a class token in front,
-- learned positions, pre-norm blocks with a gate each. The defaults have DeiT-Tiny's width and depth (Touvron et al.
-- 2021, arXiv:2012.12877) with patches of 4 for small images.
-- Weights start as the original's (Xavier's uniform bounds): at the small widths that a CPU trains, DeiT's deviation of
-- 0.02 learns several times slower (docs/RESULTS.md).
local blocks = require("lgelu.models.blocks")
local errors = require("lgelu.errors")

local INIT = "xavier_uniform"

return {
  doc = "Vision transformer: patches, a class token, pre-norm blocks; one gate in each.",
  schema = blocks.schema_with({ width = 192, depth = 12, heads = 3 }, {
    { key = "patch", type = "integer", default = 4, min = 1, max = 1024, example = "model.patch=2",
      doc = "Height and width of a patch in pixels; they divide those of the image." },
    blocks.positions, blocks.drop_path,
  }),
  build = function(nn, x, options, info)
    local p, h, w = options.patch, x.shape[3], x.shape[4]
    if #x.shape ~= 4 or h % p ~= 0 or w % p ~= 0 then
      errors.usage("%s: model.patch: patches of %d × %d do not divide images of [%s]", nn.where, p, p,
        table.concat(info.input_shape, ", "))
    end
    x = nn:conv2d(nn:channels_last(x), options.width, { kernel = p, stride = p, name = "patches" })
    x = nn:reshape(x, { h / p * (w / p), options.width }, { name = "tokens" })
    x = blocks.add_positions(nn, nn:class_token(x, { name = "class_token" }), options)
    if options.dropout > 0 then x = nn:dropout(x, options.dropout) end
    for i = 1, options.depth do
      x = nn:scope("block" .. i, function()
        return blocks.block(nn, x, { width = options.width, heads = options.heads, expansion = options.expansion,
          dropout = options.dropout, drop_path = blocks.drop_path_of(options, i), init = INIT })
      end)
    end
    x = nn:reshape(nn:slice(x, 1, 0, 1, { name = "class" }), { options.width }, { name = "class_row" })
    return nn:linear(nn:layer_norm(x, { name = "norm" }), info.classes, { name = "head", init = INIT })
  end,
}
