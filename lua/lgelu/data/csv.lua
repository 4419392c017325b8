--- Source "csv": a table of numbers and categories in a text file, with the class in one of its columns. The format is
-- read in src/data/csv.c, what columns become in lgelu.data.columns.
local C = require("lgelu.C")
local columns = require("lgelu.data.columns")
local find = require("lgelu.data.find")

local ffi, lib, check = C.ffi, C.lib, C.check
local csv = {}

csv.doc = "a table of numbers and categories in a CSV or TSV file, data.path"
csv.kind = "files"

local DELIMITERS = { comma = ",", tab = "\t", semicolon = ";" }

--- Keys of sources of tables that choose rows.
csv.schema = {
  { key = "path", type = "string", required = true, example = "data.path=table.csv",
    doc = "The file, plain or .gz, as it is or below one of the data folders." },
  { key = "test_path", type = "string", optional = true, example = "data.test_path=test.csv",
    doc = "A file of the same columns for the test part. Without it: data.test." },
  { key = "test", type = "number", default = 0.2, min = 0, exclusive_max = 1, example = "data.test=0",
    doc = "Share of rows kept for the test part, each class in proportion, where there is no data.test_path." },
  { key = "delimiter", type = "string", default = "by name", choices = { "by name", "comma", "tab", "semicolon" },
    example = "data.delimiter=semicolon",
    doc = "What stands between fields; by name: a tab in .tsv files, else a comma." },
  { key = "quoting", type = "boolean", default = true, example = "data.quoting=false",
    doc = "Whether fields may stand in double quotes; false: quotes are text." },
  { key = "header", type = "boolean", default = true, example = "data.header=false",
    doc = "Whether the first row holds the columns' names." },
  { key = "skip", type = "integer", default = 0, min = 0, example = "data.skip=1",
    doc = "Lines in front of the table that are left out." },
  { key = "missing", type = "string|number", default = "? NA NaN", example = "data.missing=-999",
    doc = "Marks of missing values, with blanks between; an empty field is always missing." },
  { key = "label", type = "string|integer", default = "last", example = "data.label=species",
    doc = "Column of the class, by its name or number; last: the last column." },
  { key = "drop", type = "list", items = "string", default = {}, example = "data.drop={'id','name'}",
    doc = "Columns that are left out, by name or number." },
  { key = "categories", type = "list", items = "string", default = {}, example = "data.categories={'zip'}",
    doc = "Columns of numbers that are categories all the same, by name or number." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of the choice of test rows; the run's seed does not change it." },
}

-- The file of a key: as it is, or below a data folder.
local function locate(path, key)
  if find.packed(path) then return find.packed(path) end
  local tried = { path .. ": no such file" }
  for _, folder in ipairs(path:sub(1, 1) == "/" and {} or find.folders()) do
    local found = find.packed(folder.path .. "/" .. path)
    if found then return found end
    tried[#tried + 1] = ("%s/%s: no such file (%s)"):format(folder.path, path, folder.from)
  end
  return find.missing("csv", tried, { ("data.%s = a CSV or TSV file, plain or .gz"):format(key),
    "LGELU_DATA = the folder it is in", "data.source=synthetic_table" })
end

--- Reads a file as a table of texts.
-- @param path     the file, plain or gzipped
-- @param options  { delimiter = one character, quoting =, header = booleans, skip = lines, missing = list of marks }
-- @return { handle, path, rows, columns = how many, names = list (the columns' numbers without a header) }
function csv.read(path, options)
  local out, rows, count = ffi.new("lg_csv *[1]"), ffi.new("int64_t[1]"), ffi.new("int32_t[1]")
  check(lib.lg_csv_read(out, path, options.delimiter:byte(), options.quoting and 1 or 0, options.header and 1 or 0,
    options.skip or 0, table.concat(options.missing, "\n") .. "\n"))
  local handle = ffi.gc(out[0], lib.lg_csv_free)
  check(lib.lg_csv_size(rows, count, handle))
  local names = {}
  for c = 1, count[0] do
    local name = lib.lg_csv_name(handle, c - 1)
    names[c] = name ~= nil and ffi.string(name) or tostring(c)
  end
  return { handle = handle, path = path, rows = tonumber(rows[0]), columns = count[0], names = names }
end

--- The text of a field (rows and columns from 1; nil: missing), the line of a row in its file.
function csv.text(t, row, column)
  local text = lib.lg_csv_text(t.handle, row - 1, column - 1)
  return text ~= nil and ffi.string(text) or nil
end

function csv.line(t, row) return tonumber(lib.lg_csv_line(t.handle, row - 1)) end

local function options_of(config, path)
  local marks, delimiter = {}, DELIMITERS[config.delimiter]
  for mark in tostring(config.missing):gmatch("%S+") do marks[#marks + 1] = mark end
  if not delimiter then delimiter = (path:match("%.tsv$") or path:match("%.tsv%.gz$")) and "\t" or "," end
  return {
    delimiter = delimiter, quoting = config.quoting, header = config.header, skip = config.skip, missing = marks,
  }
end

function csv.load(config)
  local path = locate(config.path, "path")
  local train, test = csv.read(path, options_of(config, path)), nil
  if config.test_path then
    local test_path = locate(config.test_path, "test_path")
    test = csv.read(test_path, options_of(config, test_path))
  end
  local set = columns.set(train, test, { label = config.label, drop = config.drop, categories = config.categories,
    test = not test and config.test or 0, seed = config.seed })
  set.found_in = path:match("^(.*)/[^/]*$") or "."
  set.description = ("%s: %d rows of %d columns"):format(config.path, train.rows, train.columns)
  return set
end

--- What the schema cannot say: a message, or nil.
function csv.problem(config)
  if config.test_path and config.test_path == config.path then
    return ("test_path: found %s, which is data.path"):format(config.test_path)
  end
end

return csv
