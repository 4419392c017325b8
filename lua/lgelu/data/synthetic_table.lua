--- Source "synthetic_table": a seeded table that needs no file: numbers, categories and missing values, written as
-- CSV and read like any other. The class follows from a score that is not linear in the columns:
--   s = n1·n2 + n3 + effect[category 1] + noise,  class 1 where s > 0
-- with normal n1, n2, n3 and effects; the other columns mean nothing.
local csv = require("lgelu.data.csv")
local columns = require("lgelu.data.columns")
local random = require("lgelu.data.random")

local synthetic_table = {}

synthetic_table.doc = "a seeded table of numbers, categories and missing values, 2 classes; needs no files"
synthetic_table.kind = "generated"

synthetic_table.schema = {
  { key = "n", type = "integer", default = 4000, min = 10, max = 1e6, example = "data.n=1000",
    doc = "Rows for training and validation together." },
  { key = "n_test", type = "integer", default = 1000, min = 1, max = 1e6, example = "data.n_test=500",
    doc = "Rows of the test part." },
  { key = "missing", type = "number", default = 0.05, min = 0, exclusive_max = 1, example = "data.missing=0",
    doc = "Share of fields that are missing." },
  { key = "noise", type = "number", default = 0.5, min = 0, max = 100, example = "data.noise=0",
    doc = "Standard deviation of the noise in the score that decides the class." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of the table; the run's seed does not change it." },
}

-- Stream numbers: what draws, for the training part; the test part's are one further.
local EFFECTS, VALUES, CHOICES = 48, 49, 51
local LEVELS = { "ash", "beech", "elm", "fir", "oak", "pine" }
local NAMES = { "n1", "n2", "n3", "n4", "tree", "colour", "class" }
local COLOURS = { "blue", "green", "red" }

-- Rows as texts, row by row; part: 0 training, 1 test.
local function rows_of(config, n, part)
  local effects = random.draws(config.seed, EFFECTS)
  local values, choices = random.draws(config.seed, VALUES + part), random.draws(config.seed, CHOICES + part)
  local rows = {}
  for i = 0, n - 1 do
    local at, number = i * 16, {}
    for k = 1, 4 do number[k] = values.normal(i * 8 + k) end
    local tree = choices.integer(at, 1, #LEVELS)
    local score = number[1] * number[2] + number[3] + effects.normal(tree) + config.noise * values.normal(i * 8)
    local row = { LEVELS[tree], COLOURS[choices.integer(at + 1, 1, #COLOURS)] }
    for k = 4, 1, -1 do table.insert(row, 1, ("%.4f"):format(number[k])) end
    for k = 1, 6 do
      if choices.uniform(at + 1 + k, 0, 1) < config.missing then row[k] = "" end
    end
    row[7] = score > 0 and "yes" or "no"
    rows[i + 1] = table.concat(row, ",")
  end
  return table.concat(NAMES, ",") .. "\n" .. table.concat(rows, "\n") .. "\n"
end

local function read(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  local ok, t = pcall(csv.read, path, { delimiter = ",", quoting = true, header = true, missing = {} })
  os.remove(path)
  if not ok then error(t, 0) end
  return t
end

function synthetic_table.load(config)
  local set = columns.set(read(rows_of(config, config.n, 0)), read(rows_of(config, config.n_test, 1)),
    { label = "class", classes = { "no", "yes" } })
  set.description = ("synthetic table: %d rows, noise %g, seed %d"):format(config.n, config.noise, config.seed)
  return set
end

return synthetic_table
