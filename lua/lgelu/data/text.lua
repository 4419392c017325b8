--- Source "text": the next byte, character or word of a text, either a known one or any file.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local files = require("lgelu.data.files")
local find = require("lgelu.data.find")
local manifest = require("lgelu.data.manifest")
local tokens = require("lgelu.data.tokens")
local windows = require("lgelu.data.windows")

local ffi, lib, check = C.ffi, C.lib, C.check
local text = {}

text.doc = "the next byte, character or word of a text: Shakespeare's plays or the file data.path"
text.kind = "files"
text.manifest = "tinyshakespeare"

--- Keys of what the tokens are; the generated texts have them too.
text.level_schema = {
  { key = "level", type = "string", default = "char", choices = tokens.levels, example = "data.level=word",
    doc = "What a token is: a character of UTF-8, a byte, or a word (a run of letters, digits and apostrophes; other "
      .. "characters but blanks are tokens by themselves)." },
  { key = "vocabulary", type = "integer", default = 0, min = 0, max = 1e6, example = "data.vocabulary=5000",
    doc = "Entries of the vocabulary at most, the most frequent ones of the training part; 0: all." },
  { key = "unknown", type = "string", default = "token", choices = { "token", "error" }, example = "data.unknown=error",
    doc = "What the training part lacks: one further token stands for all of it, or it is an error. Bytes are known." },
}

text.schema = {
  { key = "set", type = "string", default = "tinyshakespeare", choices = { "tinyshakespeare" },
    example = "data.set=tinyshakespeare", doc = "A known text." },
  { key = "path", type = "string", optional = true, instead_of = "set", example = "data.path=novel.txt",
    doc = "A text file, plain or .gz, as it is or below one of the data folders. Takes the place of set." },
  { key = "limit", type = "integer", default = 0, min = 0, example = "data.limit=20000",
    doc = "Tokens used, from the first on; 0: all." },
}
for _, entries in ipairs({ text.level_schema, windows.schema }) do
  for _, entry in ipairs(entries) do text.schema[#text.schema + 1] = entry end
end

-- What a model of such tokens is judged by, where the recipe does not say (lgelu.score).
local SCORES = { char = "bits_per_char", byte = "bits_per_byte", word = "perplexity" }

-- The file of data.path: as it is, or below a data folder.
local function locate(path)
  if find.packed(path) then return find.packed(path) end
  local tried = { path .. ": no such file" }
  for _, folder in ipairs(path:sub(1, 1) == "/" and {} or find.folders()) do
    local found = find.packed(folder.path .. "/" .. path)
    if found then return found end
    tried[#tried + 1] = ("%s/%s: no such file (%s)"):format(folder.path, path, folder.from)
  end
  return find.missing("text", tried, { "data.path = a text file, plain or .gz", "LGELU_DATA = the folder it is in",
    "data.source=synthetic_text" })
end

-- The path of the file, and where it was found for the log.
local function file_of(config)
  if config.path then return locate(config.path) end
  local entry = manifest.get(config.set)
  return find.packed(files.demand(config.set) .. "/" .. entry.files[1].name)
end

--- A set of the bytes of a text.
-- @param bytes   uint8_t pointer
-- @param n       how many
-- @param config  level, vocabulary, unknown, limit (nil: all), context, windows, test, validation
-- @param where   the text, for messages
-- @return set as in lgelu.data.sources without description; also tokens = { level =, vocabulary = list (nil: bytes) }
function text.of_bytes(bytes, n, config, where)
  if n == 0 then errors.fail("%s: is empty, expected a text", where) end
  local ids, count, names = tokens.split(bytes, n, config.level, where)
  if (config.limit or 0) > 0 then count = math.min(count, config.limit) end
  local vocabulary
  if names then
    local training = windows.training_tokens(count, config, where)
    vocabulary = tokens.vocabulary(ids, training, names, config.vocabulary)
    local known = #vocabulary
    if config.unknown == "token" then vocabulary[known + 1] = tokens.unknown end
    tokens.number(ids, count, names, vocabulary,
      { unknown = config.unknown == "token" and known or nil, where = where })
  end
  local set = windows.set(windows.tensor(ids, count), config, where)
  set.score = SCORES[config.level]
  set.classes = vocabulary and #vocabulary or 256
  set.tokens = { level = config.level, vocabulary = vocabulary }
  set.note = ("%d tokens in windows of %d, a vocabulary of %d%s"):format(count, config.context, set.classes,
    vocabulary and config.unknown == "token" and " with one for all that the training part lacks" or "")
  return set
end

function text.load(config)
  local path = file_of(config)
  local out, n = ffi.new("char *[1]"), ffi.new("int64_t[1]")
  check(lib.lg_content_read(out, n, path))
  local ok, set = pcall(text.of_bytes, ffi.cast("uint8_t *", out[0]), tonumber(n[0]), config, path)
  lib.lg_text_free(out[0])
  if not ok then error(set, 0) end
  set.found_in = path:match("^(.*)/[^/]*$") or "."
  set.description = ("%s, by %ss, a vocabulary of %d"):format(config.path or manifest.get(config.set).title,
    config.level, set.classes)
  return set
end

return text
