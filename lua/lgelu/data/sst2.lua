--- Source "sst2": the Stanford Sentiment Treebank's phrases and sentences from film reviews, positive or not (Socher et
-- al. 2013), in GLUE's form: sentence<TAB>label in train.tsv, dev.tsv and test.tsv, first line a header, no quoting.
-- dev.tsv is the validation part: phrases of one sentence stand all over train.tsv, so rows kept from it were known.
local csv = require("lgelu.data.csv")
local errors = require("lgelu.errors")
local files = require("lgelu.data.files")
local find = require("lgelu.data.find")
local idx = require("lgelu.data.idx")
local manifest = require("lgelu.data.manifest")
local sentences = require("lgelu.data.sentences")

local sst2 = {}

sst2.doc = "SST-2: phrases of film reviews, positive or negative"
sst2.kind = "files"
sst2.own_validation = true

sst2.schema = {
  { key = "path", type = "string", optional = true, hashed = false, example = "data.path=/data/sst2",
    doc = "Folder of the files, or the one above it; without it, the data folders are searched." },
  sentences.schema[1], sentences.schema[2], idx.limits[1], idx.limits[2],
}

local function read(folder, name, limit)
  local t = csv.read(find.packed(folder .. "/" .. name), { delimiter = "\t", quoting = false, header = true,
    missing = {} })
  if t.names[1] ~= "sentence" or t.names[2] ~= "label" or t.columns ~= 2 then
    errors.fail("%s: found columns %s, expected sentence, label", t.path, table.concat(t.names, ", "))
  end
  local part = { texts = {}, labels = {}, where = t.path }
  for row = 1, limit > 0 and math.min(limit, t.rows) or t.rows do
    local text, label = csv.text(t, row, 1), csv.text(t, row, 2)
    if label ~= "0" and label ~= "1" then
      errors.fail("%s: line %d, column 2 (label): found '%s', expected 0 or 1", t.path, csv.line(t, row), label or "")
    end
    part.texts[row], part.labels[row] = text or "", tonumber(label)
  end
  return part
end

function sst2.load(config)
  local folder = files.demand("sst2", config.path)
  local set = sentences.set(read(folder, "train.tsv", config.limit), read(folder, "dev.tsv", 0),
    read(folder, "test.tsv", config.test_limit), config)
  set.classes, set.labels, set.found_in = 2, { "negative", "positive" }, folder
  set.description = manifest.get("sst2").title
  return set
end

return sst2
