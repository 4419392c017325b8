--- gpt: a language model with GPT-2's layout (Radford et al. 2019): learned positions, pre-norm blocks with causal
-- attention and a gate each, a last normalization, and an output layer tied to the embedding unless told otherwise.
-- Weights start normal with deviation 0.02, those that write into the residual stream with 0.02/√(2·depth), as GPT-2's.
local blocks = require("lgelu.models.blocks")
local errors = require("lgelu.errors")

return {
  doc = "Language model of GPT-2's layout: causal attention, pre-norm blocks; one gate in each.",
  schema = blocks.schema_with({ width = 384, depth = 6, heads = 6 }, {
    { key = "tie", type = "boolean", default = true, example = "model.tie=false",
      doc = "Whether the output layer has the embedding's weights." },
    blocks.positions,
  }),
  build = function(nn, ids, options, info)
    if info.input_dtype ~= "i32" or #ids.shape ~= 2 then
      errors.usage("%s: model gpt reads token ids [batch, tokens], these data give [%s]: take a text source", nn.where,
        table.concat(ids.shape, ", "))
    end
    local init = { kind = "normal", a = 0, b = 0.02 }
    local out_init = { kind = "normal", a = 0, b = 0.02 / math.sqrt(2 * options.depth) }
    local x, entries = nn:embedding(ids, info.classes, options.width, { name = "tokens", init = init })
    x = blocks.add_positions(nn, x, options)
    if options.dropout > 0 then x = nn:dropout(x, options.dropout) end
    for i = 1, options.depth do
      x = nn:scope("block" .. i, function()
        return blocks.block(nn, x, { width = options.width, heads = options.heads, expansion = options.expansion,
          dropout = options.dropout, causal = true, init = init, out_init = out_init })
      end)
    end
    return nn:linear(nn:layer_norm(x, { name = "norm" }), info.classes,
      { name = "head", bias = false, init = init, weight = options.tie and entries or nil })
  end,
}
