--- Source "adult": 32,561 training and 16,281 test rows of the 1994 US census, six numbers and eight categories each:
-- does the person earn more than 50,000 dollars a year? (Becker and Kohavi, UCI 1996)
local columns = require("lgelu.data.columns")
local csv = require("lgelu.data.csv")
local files = require("lgelu.data.files")
local find = require("lgelu.data.find")
local idx = require("lgelu.data.idx")
local manifest = require("lgelu.data.manifest")

local adult = {}

adult.doc = "UCI Adult: census rows of numbers and categories, income above 50K or not"
adult.kind = "files"

adult.schema = {
  { key = "path", type = "string", optional = true, hashed = false, example = "data.path=/data/adult",
    doc = "Folder of the files, or the one above it; without it, the data folders are searched." },
  idx.limits[1], idx.limits[2],
}

-- The files have no header.
local NAMES = {
  "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship", "race",
  "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
}
local OPTIONS = { delimiter = ",", quoting = false, header = false, missing = { "?" } }

-- The test file begins with a line that is no row, and its classes end in a point.
local function read(folder, name, skip)
  local options = { skip = skip }
  for key, value in pairs(OPTIONS) do options[key] = value end
  local t = csv.read(find.packed(folder .. "/" .. name), options)
  if t.columns == #NAMES then t.names = NAMES end
  return t
end

function adult.load(config)
  local folder = files.demand("adult", config.path)
  local set = columns.set(read(folder, "adult.data", 0), read(folder, "adult.test", 1), {
    label = "income", classes = { "<=50K", ">50K" }, clean = function(text) return (text:gsub("%.$", "")) end,
    limit = config.limit, test_limit = config.test_limit,
  })
  set.found_in, set.description = folder, manifest.get("adult").title
  return set
end

return adult
