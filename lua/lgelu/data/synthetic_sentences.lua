--- Source "synthetic_sentences": seeded sentences with two classes that need no file. A few words are good, as many are
-- bad, the others mean nothing; "not" turns the next word that means something around. The class is the sum's sign,
-- never 0. Counting words alone gets most right, not all.
local random = require("lgelu.data.random")
local sentences = require("lgelu.data.sentences")

local synthetic_sentences = {}

synthetic_sentences.doc = "seeded sentences of made-up words, 2 classes; needs no files"
synthetic_sentences.kind = "generated"

synthetic_sentences.schema = {
  { key = "n", type = "integer", default = 4000, min = 1, max = 1e6, example = "data.n=1000",
    doc = "Sentences for training and validation together." },
  { key = "n_test", type = "integer", default = 1000, min = 1, max = 1e6, example = "data.n_test=500",
    doc = "Sentences of the test part." },
  { key = "words", type = "integer", default = 40, min = 8, max = 10000, example = "data.words=50",
    doc = "Different words: an eighth is good, an eighth is bad." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of the sentences; the run's seed does not change them." },
  sentences.schema[1], sentences.schema[2],
}

local STREAM = 56 -- of the training part; the test part's is one further
local SHORTEST, LONGEST, NOT = 3, 12, 0.15

-- What word w (from 0) of `words` means: 1, −1 or 0.
local function meaning(w, words)
  local eighth = math.floor(words / 8)
  return w < eighth and 1 or w < 2 * eighth and -1 or 0
end

local function sentence(draws, at, words)
  local parts, sum, turned = {}, 0, 1
  local length = draws.integer(at, SHORTEST, LONGEST)
  for k = 1, length do
    if draws.uniform(at + 2 * k - 1, 0, 1) < NOT then
      parts[k], turned = "not", -1
    else
      local w = draws.integer(at + 2 * k, 0, words - 1)
      local value = meaning(w, words)
      parts[k], sum = "w" .. w, sum + turned * value
      if value ~= 0 then turned = 1 end
    end
  end
  return table.concat(parts, " "), sum
end

local function part_of(config, n, part)
  local draws = random.draws(config.seed, STREAM + part)
  local list, i = { texts = {}, labels = {}, where = "the synthetic sentences" }, 0
  while #list.texts < n do
    local text, sum = sentence(draws, i * 2 * (LONGEST + 1), config.words)
    if sum ~= 0 then list.texts[#list.texts + 1], list.labels[#list.labels + 1] = text, sum > 0 and 1 or 0 end
    i = i + 1
  end
  return list
end

function synthetic_sentences.load(config)
  local set = sentences.set(part_of(config, config.n, 0), nil, part_of(config, config.n_test, 1), config)
  set.classes, set.labels = 2, { "negative", "positive" }
  set.description = ("synthetic sentences: %d of %d words, seed %d"):format(config.n, config.words, config.seed)
  return set
end

return synthetic_sentences
