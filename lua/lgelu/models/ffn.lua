--- ffn: one feed-forward block of a Transformer by itself: a linear layer to its width, the pre-norm block with one
-- gate and its residual sum, and a linear layer to the classes behind a normalization. gated: the gated form of Shazeer
-- 2020 (arXiv:2002.05202), gate(W·x) · V·x, which is SwiGLU with gate.kind = silu, GEGLU with gelu, and learns its
-- hardness with lambda_gelu; its hidden width is two thirds, so that both forms have as many parameters.
local ffn = {
  doc = "One feed-forward block of a Transformer, plain or gated (SwiGLU, GEGLU, λ-GEGLU); one gate.",
  schema = {
    { key = "width", type = "integer", default = 512, min = 1, max = 65536, example = "model.width=256",
      doc = "Numbers that go into the block and come out." },
    { key = "expansion", type = "number", default = 4, exclusive_min = 0, max = 64, example = "model.expansion=2",
      doc = "Hidden width over the width; of a gated block two thirds of that." },
    { key = "gated", type = "boolean", default = false, example = "model.gated=true",
      doc = "Whether the hidden values are gate(W·x) · V·x (SwiGLU with gate.kind=silu) instead of gate(W·x)." },
    { key = "dropout", type = "number", default = 0, min = 0, exclusive_max = 1, example = "model.dropout=0.1",
      doc = "Share of what the block adds that is zeroed in training." },
  },
}

function ffn.build(nn, x, options, info)
  x = nn:linear(nn:flatten(x), options.width, { name = "in" })
  local y = nn:layer_norm(x, { name = "norm1" })
  local hidden = math.floor(options.width * options.expansion * (options.gated and 2 / 3 or 1) + 0.5)
  local h = nn:gate(nn:linear(y, hidden, { name = "up" }), { name = "gate" })
  if options.gated then h = nn:mul(h, nn:linear(y, hidden, { name = "value" }), { name = "product" }) end
  h = nn:linear(h, options.width, { name = "down" })
  if options.dropout > 0 then h = nn:dropout(h, options.dropout) end
  x = nn:layer_norm(nn:add(x, h, { name = "sum" }), { name = "norm2" })
  return nn:linear(x, info.classes, { name = "head" })
end

return ffn
