--- encoder: a Transformer that classifies sentences: embedding, positions, pre-norm blocks whose attention sees
-- the tokens that count and not the padding behind them, a last normalization, the mean over those tokens, a linear
-- layer. Token ids are filled up with 0.
local blocks = require("lgelu.models.blocks")
local errors = require("lgelu.errors")

return {
  doc = "Transformer that classifies sentences: attention within their lengths, mean of tokens; one gate a block.",
  schema = blocks.schema_with({ width = 64, depth = 2, heads = 4 }, { blocks.positions }),
  build = function(nn, ids, options, info)
    if info.input_dtype ~= "i32" or #ids.shape ~= 2 or not info.entries then
      errors.usage("%s: model encoder reads sentences as token ids [batch, tokens], these data give [%s]: take sst2 or "
        .. "synthetic_sentences", nn.where, table.concat(ids.shape, ", "))
    end
    local init = { kind = "normal", a = 0, b = 0.02 }
    local lengths = nn:token_lengths(ids, { name = "lengths" })
    local x = nn:embedding(ids, info.entries, options.width, { name = "tokens", init = init })
    x = blocks.add_positions(nn, x, options)
    if options.dropout > 0 then x = nn:dropout(x, options.dropout) end
    for i = 1, options.depth do
      x = nn:scope("block" .. i, function()
        return blocks.block(nn, x, { width = options.width, heads = options.heads, expansion = options.expansion,
          dropout = options.dropout, lengths = lengths, init = init })
      end)
    end
    x = nn:token_mean(nn:layer_norm(x, { name = "norm" }), lengths, { name = "mean" })
    return nn:linear(x, info.classes, { name = "head", init = init })
  end,
}
