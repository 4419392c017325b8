--- generate: text out of a language model, one token at a time, each drawn from what the network says of the next.
-- Called by lgelu.train at the end of a run and by lgelu.probe. Knows no files. The whole window is computed again for
-- every token: no keys and values are kept, which a network of one fixed plan could not reuse.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local random = require("lgelu.data.random")
local tensors = require("lgelu.data.tensors")
local tokens = require("lgelu.data.tokens")

local ffi, lib, check = C.ffi, C.lib, C.check
local generate = {}

local STREAM = 64 -- of lgelu.data.random, by the sample's number

-- The ids of a text by the set's vocabulary; refuses what it lacks.
local function ids_of(set, text)
  local level, vocabulary = set.tokens.level, set.tokens.vocabulary
  local raw, n, names = tokens.split(tokens.bytes(text), #text, level, "the text")
  local number, ids = {}, {}
  for i, token in ipairs(vocabulary or {}) do number[token] = i - 1 end
  for i = 0, n - 1 do
    local id = raw[i]
    if vocabulary then
      local name = names[id + 1]
      id = number[name]
      if not id then
        errors.usage("'%s' is not in the run's vocabulary of %d tokens%s", name, #vocabulary,
          level == "word" and errors.suggest(name, vocabulary) or "")
      end
    end
    ids[i + 1] = id
  end
  return ids
end

-- Draws from softmax(logits/temperature) over the ids that may come; temperature 0: the likeliest.
local function draw(logits, first, count, barred, temperature, u)
  local top, best = -math.huge, 0
  for k = 0, count - 1 do
    if k ~= barred and logits[first + k] > top then top, best = logits[first + k], k end
  end
  if temperature == 0 then return best end
  local sum, weights = 0, {}
  for k = 0, count - 1 do
    weights[k] = k ~= barred and math.exp((logits[first + k] - top) / temperature) or 0
    sum = sum + weights[k]
  end
  local at = u * sum
  for k = 0, count - 1 do
    at = at - weights[k]
    if at < 0 then return k end
  end
  return best
end

-- The window of a sample's last tokens into row b of x; returns how many there are.
local function put_window(x, b, context, ids)
  local n = math.min(#ids, context)
  for i = 0, context - 1 do x[b * context + i] = i < n and ids[#ids - n + 1 + i] or 0 end
  return n -- what stands behind them is not seen: attention is causal
end

-- The id that stands for all unknown tokens, which is never written; -1 where there is none.
local function unknown_of(set)
  local vocabulary = set.tokens.vocabulary
  return vocabulary and vocabulary[set.classes] == tokens.unknown and set.classes - 1 or -1
end

--- Does the data set have a text that a network can go on with?
function generate.possible(set) return set.tokens ~= nil and #(set.label_shape or {}) == 1 end

--- The id of the training part's first token that the vocabulary holds: what a text can begin with.
function generate.first_known(set)
  local x, unknown = tensors.pointer(set.train.x), unknown_of(set)
  for i = 0, set.train.x.size - 1 do
    if x[i] ~= unknown then return x[i] end
  end
end

--- Texts that the network writes.
-- @param net      lgelu.network of a language model
-- @param set      its data: tokens, label_shape, classes
-- @param options  { text = what each begins with (one token at least), n = tokens to add, samples = how many texts (1),
--   temperature = 0 to 100 (0.8; 0: always the likeliest token), seed = 0 }: a function of these and the weights
-- @return list of texts, each with its beginning
-- @raise usage error for data without text, a token out of the vocabulary, an empty beginning
function generate.texts(net, set, options)
  if not generate.possible(set) then errors.usage("the data %s are no text to go on with", tostring(set.name)) end
  local count, context, classes = options.samples or 1, set.label_shape[1], set.classes
  local begin = ids_of(set, options.text)
  if #begin == 0 then errors.usage("the text to begin with is empty: expected one token at least") end
  local x, to = tensors.new("i32", { count, context })
  local y, list, draws = tensors.new("i32", { count, context }), {}, {}
  for b = 1, count do list[b], draws[b] = { unpack(begin) }, random.draws(options.seed or 0, STREAM + b) end
  local barred = unknown_of(set)
  local out = ffi.new("lg_tensor *[1]")
  for step = 1, options.n do
    local lengths = {}
    for b = 1, count do lengths[b] = put_window(to, b - 1, context, list[b]) end
    net:bind(x, y)
    net:forward("eval")
    check(lib.lg_graph_value(out, net.graph, net.logits))
    local logits = ffi.cast("float *", lib.lg_tensor_data(out[0]))
    lib.lg_tensor_free(out[0]) -- the graph keeps the memory alive
    for b = 1, count do
      list[b][#list[b] + 1] = draw(logits, ((b - 1) * context + lengths[b] - 1) * classes, classes, barred,
        options.temperature or 0.8, draws[b].uniform(step, 0, 1))
    end
    if lib.lg_interrupted() ~= 0 then errors.interrupted("interrupted") end
  end
  for b = 1, count do list[b] = tokens.text(list[b], set.tokens.vocabulary, set.tokens.level) end
  return list
end

return generate
