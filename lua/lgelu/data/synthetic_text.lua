--- Source "synthetic_text": a seeded text that needs no file: sentences of made-up words, each with a few that may
-- follow it. What a model can learn: the words' letters, who follows whom, and that a sentence ends with ".\n".
local random = require("lgelu.data.random")
local text = require("lgelu.data.text")
local tokens = require("lgelu.data.tokens")
local windows = require("lgelu.data.windows")

local synthetic_text = {}

synthetic_text.doc = "a seeded text of made-up words; needs no files"
synthetic_text.kind = "generated"

synthetic_text.schema = {
  { key = "n", type = "integer", default = 100000, min = 1, max = 1e8, example = "data.n=20000",
    doc = "Characters of the text." },
  { key = "words", type = "integer", default = 200, min = 2, max = 5000, example = "data.words=50",
    doc = "Different words." },
  { key = "followers", type = "integer", default = 4, min = 1, max = 100, example = "data.followers=2",
    doc = "Words that may follow a word, each equally likely; 1: the text is certain." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of the text; the run's seed does not change it." },
}
for _, entries in ipairs({ text.level_schema, windows.schema }) do
  for _, entry in ipairs(entries) do synthetic_text.schema[#synthetic_text.schema + 1] = entry end
end

-- Stream numbers: what draws.
local SPELLING, CHAIN, TEXT = 32, 33, 34
local ONSETS = { "b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v" }
local VOWELS = { "a", "e", "i", "o", "u" }
local SYLLABLES, SENTENCE = 3, 8 -- at most in a word; words in a sentence on average

-- Words of one to three syllables; two may be spelt alike.
local function make_words(config)
  local draws, words = random.draws(config.seed, SPELLING), {}
  for w = 1, config.words do
    local at, parts = (w - 1) * (2 * SYLLABLES + 1), {}
    for s = 1, draws.integer(at, 1, SYLLABLES) do
      parts[s] = ONSETS[draws.integer(at + 2 * s - 1, 1, #ONSETS)] .. VOWELS[draws.integer(at + 2 * s, 1, #VOWELS)]
    end
    words[w] = table.concat(parts)
  end
  return words
end

--- The text as a string of config.n characters.
local function write(config)
  local words = make_words(config)
  local chain, draws = random.draws(config.seed, CHAIN), random.draws(config.seed, TEXT)
  local parts, length, word, i = {}, 0, 1, 0
  while length < config.n do
    local ends = draws.uniform(2 * i, 0, 1) < 1 / SENTENCE
    local part = words[word] .. (ends and ".\n" or " ")
    parts[#parts + 1], length = part, length + #part
    local follower = draws.integer(2 * i + 1, 0, config.followers - 1)
    word = chain.integer((word - 1) * config.followers + follower, 1, config.words)
    i = i + 1
  end
  return table.concat(parts):sub(1, config.n)
end

function synthetic_text.load(config)
  local bytes = write(config)
  local set = text.of_bytes(tokens.bytes(bytes), #bytes, config, "the synthetic text")
  set.description = ("synthetic text: %d characters of %d words, seed %d"):format(config.n, config.words, config.seed)
  return set
end

return synthetic_text
