--- blocks: what the Transformer models share: a pre-norm block (Xiong et al. 2020, arXiv:2002.04745) of attention and a
-- feed-forward layer with one gate. Not a model.
local blocks = {}

--- The feed-forward part's schema entries, shared by the models.
blocks.schema = {
  { key = "width", type = "integer", min = 1, max = 65536, example = "model.width=192",
    doc = "Numbers that stand for a token." },
  { key = "depth", type = "integer", min = 1, max = 1000, example = "model.depth=6", doc = "Blocks." },
  { key = "heads", type = "integer", min = 1, max = 65536, example = "model.heads=4",
    doc = "Heads of each attention; they divide the width." },
  { key = "expansion", type = "number", default = 4, exclusive_min = 0, max = 64, example = "model.expansion=2",
    doc = "Width of the feed-forward layer over that of a token." },
  { key = "dropout", type = "number", default = 0, min = 0, exclusive_max = 1, example = "model.dropout=0.1",
    doc = "Share of attention weights, and of what each part adds, that is zeroed in training." },
}

--- The shared schema with a model's own defaults for width, depth and heads, and further entries.
function blocks.schema_with(defaults, more)
  local list = {}
  for i, entry in ipairs(blocks.schema) do
    list[i] = {}
    for key, value in pairs(entry) do list[i][key] = value end
    if defaults[entry.key] then list[i].default = defaults[entry.key] end
  end
  for _, entry in ipairs(more or {}) do list[#list + 1] = entry end
  return list
end

--- What is added to tokens for their places. Optional, so that recipes without it keep their hash.
blocks.positions = { key = "positions", type = "string", optional = true, choices = { "learned", "sinusoidal" },
  example = "model.positions=sinusoidal",
  doc = "Vectors added for the tokens' places: learned (also without this key), or fixed sines and cosines." }

--- Adds them. Both kinds begin with deviation 0.02, as the embeddings do.
function blocks.add_positions(nn, x, options)
  return nn:positions(x, { name = "positions", kind = options.positions, scale = 0.02 * math.sqrt(2) })
end

--- Stochastic depth's key, for the models that have it. Optional, so that recipes without it keep their hash.
blocks.drop_path = { key = "drop_path", type = "number", optional = true, min = 0, exclusive_max = 1,
  example = "model.drop_path=0.1",
  doc = "Stochastic depth: probability that a sample skips what a block's parts add in training, rising from 0 in the "
    .. "first block to this in the last." }

--- That probability in block i of depth.
function blocks.drop_path_of(options, i)
  return (options.drop_path or 0) * (i - 1) / math.max(options.depth - 1, 1)
end

local function dropped(nn, x, o)
  if o.dropout > 0 then x = nn:dropout(x, o.dropout) end
  if (o.drop_path or 0) > 0 then x = nn:drop_rows(x, o.drop_path) end
  return x
end

--- One block: x + attention(norm(x)), then x + feed-forward(norm(x)).
-- @param o  { width, heads, expansion, dropout = of the model's options, causal =, lengths = node, drop_path =
--   probability of this block (0), init = of the
--   weights, out_init = of those that write into the residual stream }
function blocks.block(nn, x, o)
  local y = nn:attention(nn:layer_norm(x, { name = "norm1" }), { name = "attention", heads = o.heads,
    causal = o.causal, dropout = o.dropout, lengths = o.lengths, init = o.init, out_init = o.out_init })
  x = nn:add(x, dropped(nn, y, o), { name = "sum1" })
  y = nn:linear(nn:layer_norm(x, { name = "norm2" }), math.floor(o.width * o.expansion + 0.5),
    { name = "up", init = o.init })
  y = nn:linear(nn:gate(y, { name = "gate" }), o.width, { name = "down", init = o.out_init or o.init })
  return nn:add(x, dropped(nn, y, o), { name = "sum2" })
end

return blocks
