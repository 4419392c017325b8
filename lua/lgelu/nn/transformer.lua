--- nn/transformer: the layers of Transformers, as further methods of the builder of lgelu.nn (nn:attention(…)): tokens,
-- normalization of rows, attention, feed-forward. Not here: whole blocks, which are models' (models/blocks.lua).
-- Tokens are [batch, tokens, width] throughout.
local errors = require("lgelu.errors")

--- Adds the layers to the builder.
-- @param builder  the class of lgelu.nn
-- @param kit      its own helpers: path(self, kind, name), need_node(self, value, what), place(self)
return function(builder, kit)
  local path, need_node, place = kit.path, kit.need_node, kit.place
  local ONE, ZERO = { kind = "constant", a = 1 }, { kind = "constant", a = 0 }

  -- A parameter, or with options.state a state, under a layer's full name, whatever the scope. Without options, init is
  -- what the layer always takes.
  local function own(self, name, shape, init, options)
    local saved = self.scopes
    self.scopes = {}
    options = options or { usual = true }
    local node = options.state and self:state(name, shape, init, options) or self:param(name, shape, init, options)
    self.scopes = saved
    return node
  end

  local function width(self, x, what)
    need_node(self, x, what)
    local n = x.shape[#x.shape]
    if type(n) ~= "number" then
      errors.usage("%s: %s: the last dimension of [%s] must be known", place(self), what, table.concat(x.shape, ", "))
    end
    return n
  end

  local function tokens(self, x, what)
    need_node(self, x, what)
    if #x.shape ~= 3 then
      errors.usage("%s: %s: expected tokens [batch, tokens, width], found [%s]", place(self), what,
        table.concat(x.shape, ", "))
    end
    return x.shape[2], x.shape[3]
  end

  --- Each row (the last dimension) to mean 0 and variance 1, · gamma + beta, which start at 1 and 0.
  -- @param options  { name =, eps = 1e-5 }
  function builder:layer_norm(x, options)
    local n, name = width(self, x, "layer_norm"), path(self, "norm", options and options.name)
    local gamma, beta = own(self, name .. ".weight", { n }, ONE), own(self, name .. ".bias", { n }, ZERO)
    return self:op("layer_norm", { x, gamma, beta }, { eps = options and options.eps }, name)
  end

  --- Each row over the root of its mean square, · gamma, which starts at 1. Options as layer_norm.
  function builder:rms_norm(x, options)
    local n, name = width(self, x, "rms_norm"), path(self, "norm", options and options.name)
    return self:op("rms_norm", { x, own(self, name .. ".weight", { n }, ONE) }, { eps = options and options.eps }, name)
  end

  --- Rows of a learned table: ids i32[…] → […, width]. Its second result is the table, which linear takes as `weight`
  -- to tie the output layer to it.
  -- @param options  { name =, init = { kind =, a =, b = } (normal with deviation 1, as PyTorch's Embedding) }
  function builder:embedding(ids, entries, columns, options)
    need_node(self, ids, "embedding")
    options = options or {}
    local name = path(self, "embedding", options.name)
    local table_node = own(self, name .. ".weight", { entries, columns },
      options.init or { kind = "normal", a = 0, b = 1 }, { usual = not options.init })
    return self:op("embedding", { table_node, ids }, nil, name), table_node
  end

  -- Vaswani et al. 2017: sines at even, cosines at odd places of a vector, at wavelengths from 2π to 20000π; the
  -- vectors one after another, all times scale.
  local function waves(n, scale)
    return function(i)
      local position, k = math.floor(i / n), i % n
      local angle = position / 10000 ^ ((k - k % 2) / n)
      return scale * (k % 2 == 0 and math.sin(angle) or math.cos(angle))
    end
  end

  --- Adds a vector for each place to x[batch, tokens, width]: a learned one, or sines and cosines that stay.
  -- @param options  { name =, kind = "learned" (default) or "sinusoidal", init = of learned ones (normal with deviation
  --   0.02), scale = of sinusoidal ones (1, as published) }
  function builder:positions(x, options)
    local t, n = tokens(self, x, "positions")
    options = options or {}
    local kind = options.kind or "learned"
    if kind ~= "learned" and kind ~= "sinusoidal" then
      errors.usage("%s: positions: there is no kind '%s', expected learned or sinusoidal", place(self), tostring(kind))
    end
    local name, fixed = path(self, "positions", options.name), kind == "sinusoidal"
    local scale = options.scale or 1
    local init = fixed and { kind = "values", f = waves(n, scale), a = scale } or options.init
      or { kind = "normal", a = 0, b = 0.02 }
    local p = own(self, name .. ".weight", { t, n }, init, { group = "no_decay", state = fixed,
      usual = not options.init and scale == 1 })
    return self:op("bias", { x, p }, nil, name)
  end

  --- Puts one learned token in front of every sequence. options: { name =, init = (normal with deviation 0.02) }
  function builder:class_token(x, options)
    local _, n = tokens(self, x, "class_token")
    options = options or {}
    local name = path(self, "token", options.name)
    return self:op("class_token", { x, own(self, name .. ".weight", { n }, options.init
      or { kind = "normal", a = 0, b = 0.02 }, { usual = not options.init }) }, nil, name)
  end

  --- Multi-head attention with its projections: x[batch, tokens, width] → the same shape.
  -- @param options  { heads = 1, causal = false, dropout = 0, lengths = node i32[batch]: tokens that count of each
  --   sequence, bias = true, name =, init =, out_init = of the two projections' weights }
  function builder:attention(x, options)
    local _, n = tokens(self, x, "attention")
    options = options or {}
    local heads = options.heads or 1
    if type(heads) ~= "number" or heads < 1 or heads % 1 ~= 0 or n % heads ~= 0 then
      errors.usage("%s: attention: %s heads do not divide a width of %d", place(self), tostring(heads), n)
    end
    local name, saved = path(self, "attention", options.name), self.scopes
    self.scopes = {}
    local qkv = self:linear(x, 3 * n, { name = name .. ".qkv", bias = options.bias, init = options.init })
    local y = self:op("attention", { qkv, options.lengths }, { heads = heads, causal = options.causal and 1 or 0,
      dropout = options.dropout or 0 }, name)
    y = self:linear(y, n, { name = name .. ".out", bias = options.bias, init = options.out_init or options.init })
    self.scopes = saved
    return y
  end

  --- Stochastic depth: in training each sample is zeroed as a whole with probability p, the others scaled by 1/(1-p).
  function builder:drop_rows(x, p, options)
    need_node(self, x, "drop_rows")
    return self:op("drop_rows", { x }, { p = p }, path(self, "drop_rows", options and options.name))
  end

  --- How many tokens of each sequence count: ids i32[batch, tokens] → i32[batch], for attention and token_mean.
  -- @param options  { pad = id behind the tokens that count (0), name = }
  function builder:token_lengths(ids, options)
    need_node(self, ids, "token_lengths")
    return self:op("token_lengths", { ids }, { pad = options and options.pad },
      path(self, "lengths", options and options.name))
  end

  --- The mean over the tokens that count: x[batch, tokens, width], lengths i32[batch] → [batch, width].
  function builder:token_mean(x, lengths, options)
    tokens(self, x, "token_mean")
    need_node(self, lengths, "token_mean")
    return self:op("token_mean", { x, lengths }, nil, path(self, "mean", options and options.name))
  end

  --- a · b of equal shapes, element by element.
  function builder:mul(a, b, options)
    return self:op("mul", { a, b }, nil, path(self, "mul", options and options.name))
  end

  --- Nodes one after another along an axis (0: the batch).
  function builder:concat(list, axis, options)
    return self:op("concat", list, { axis = axis }, path(self, "concat", options and options.name))
  end

  --- Entries start … start + length - 1 (from 0) of an axis (0: the batch).
  function builder:slice(x, axis, start, length, options)
    return self:op("slice", { x }, { axis = axis, start = start, length = length },
      path(self, "slice", options and options.name))
  end

  --- Products of the matrices in the last two dimensions. options: { transpose_a =, transpose_b = booleans, name = }
  function builder:batch_matmul(a, b, options)
    options = options or {}
    return self:op("batch_matmul", { a, b }, { transpose_a = options.transpose_a and 1 or 0,
      transpose_b = options.transpose_b and 1 or 0 }, path(self, "matmul", options.name))
  end
end
