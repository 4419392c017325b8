--- Texts as numbers: a text cut into bytes, characters or words, the vocabulary of its training part, and the way back.
-- Pure functions: no file is read here (lgelu.data.text, lgelu.data.sst2) and no window cut (lgelu.data.windows).
--   byte  256 tokens, the bytes themselves
--   char  the characters of UTF-8
--   word  runs of letters, digits, apostrophes and characters beyond ASCII; every other character but blanks is a token
--         by itself, a newline too
local C = require("lgelu.C")
local errors = require("lgelu.errors")

local ffi = C.ffi
local tokens = {}

--- What stands for tokens that the training part lacks.
tokens.unknown = "<unknown>"
--- The levels, as in the list above.
tokens.levels = { "char", "byte", "word" }

local CODEPOINTS = 0x110000

-- Where byte i (0-based) stands is said by line and byte of the line, from 1.
local function refuse(text, i, where, what)
  local line, start = 1, 0
  for k = 0, i - 1 do
    if text[k] == 10 then line, start = line + 1, k + 1 end
  end
  errors.fail("%s: line %d, byte %d of it: %s", where, line, i - start + 1, what)
end

-- Code point and length of the character at byte i < n; nil where it is no UTF-8 (RFC 3629).
local function decode(text, i, n)
  local a = text[i]
  if a < 0x80 then return a, 1 end
  local length = a >= 0xF0 and 4 or a >= 0xE0 and 3 or 2
  if a < 0xC2 or a > 0xF4 or i + length > n then return nil end
  local code = length == 4 and a - 0xF0 or length == 3 and a - 0xE0 or a - 0xC0
  for k = i + 1, i + length - 1 do
    local b = text[k]
    if b < 0x80 or b > 0xBF then return nil end
    code = code * 64 + b - 0x80
  end
  local least = length == 4 and 0x10000 or length == 3 and 0x800 or 0x80
  if code < least or code >= CODEPOINTS or (code >= 0xD800 and code < 0xE000) then return nil end
  return code, length
end

-- The code point at byte i; refuses what is no text.
local function character(text, i, n, where)
  local code, length = decode(text, i, n)
  if not code then refuse(text, i, where, ("0x%02X is no UTF-8 here; level byte takes any file"):format(text[i])) end
  if code == 0 then refuse(text, i, where, "a zero byte: this is no text") end
  return code, length
end

--- A Lua string's bytes as an array: a pointer into the string itself would not keep it alive.
function tokens.bytes(text)
  local bytes = ffi.new("uint8_t[?]", #text + 1)
  ffi.copy(bytes, text, #text)
  return bytes
end

local split = {}

function split.byte(text, n)
  local ids = ffi.new("int32_t[?]", n)
  for i = 0, n - 1 do ids[i] = text[i] end
  return ids, n, nil
end

function split.char(text, n, where)
  local ids, count, names = ffi.new("int32_t[?]", n), 0, {}
  local number = ffi.new("int32_t[?]", CODEPOINTS) -- of a code point among the names, 0: not seen yet
  local i = 0
  while i < n do
    local code, length = character(text, i, n, where)
    if number[code] == 0 then
      names[#names + 1] = ffi.string(text + i, length)
      number[code] = #names
    end
    ids[count] = number[code] - 1
    count, i = count + 1, i + length
  end
  return ids, count, names
end

-- 0: a blank, 1: part of a word, 2: a token by itself.
local KIND = ffi.new("uint8_t[128]")
for code = 0, 127 do
  local c = string.char(code)
  KIND[code] = c:match("[%w']") and 1 or c:match("[ \t\r\f\v]") and 0 or 2
end

function split.word(text, n, where)
  local ids, count, names, number = ffi.new("int32_t[?]", n), 0, {}, {}
  local function put(from, to)
    local name = ffi.string(text + from, to - from)
    if not number[name] then
      names[#names + 1] = name
      number[name] = #names
    end
    ids[count], count = number[name] - 1, count + 1
  end
  local i, start = 0, -1 -- start of the word that i is in
  while i < n do
    local code, length = character(text, i, n, where)
    local kind = code < 128 and KIND[code] or 1
    if kind ~= 1 and start >= 0 then
      put(start, i)
      start = -1
    end
    if kind == 1 and start < 0 then start = i end
    if kind == 2 then put(i, i + length) end
    i = i + length
  end
  if start >= 0 then put(start, n) end
  return ids, count, names
end

--- Cuts a text into tokens.
-- @param text   its bytes: uint8_t pointer, or array that the caller keeps
-- @param n      how many
-- @param level  "byte", "char" or "word"
-- @param where  the file, for messages
-- @return int32_t[…] of numbers from 0, how many, and the tokens that these stand for in order of their first use (nil
--   for bytes)
-- @raise fails where char and word meet bytes that are no UTF-8, or a zero byte
function tokens.split(text, n, level, where)
  return split[level](text, n, where)
end

--- The vocabulary of a part of a text.
-- @param ids    of tokens.split
-- @param count  the first count of them make the part
-- @param names  of tokens.split
-- @param most   entries at most, the most frequent ones; 0: all
-- @return list of tokens: by frequency, and those equally frequent by their bytes; or with most = 0 by their bytes
function tokens.vocabulary(ids, count, names, most)
  local used = ffi.new("int32_t[?]", #names)
  for i = 0, count - 1 do used[ids[i]] = used[ids[i]] + 1 end
  local list, uses = {}, {}
  for k, name in ipairs(names) do
    if used[k - 1] > 0 then list[#list + 1], uses[name] = name, used[k - 1] end
  end
  table.sort(list, function(a, b)
    if most > 0 and uses[a] ~= uses[b] then return uses[a] > uses[b] end
    return a < b
  end)
  for i = #list, most > 0 and most + 1 or math.huge, -1 do list[i] = nil end
  return list
end

--- Numbers ids anew by a vocabulary, in place.
-- @param ids         of tokens.split
-- @param n           how many
-- @param names       of tokens.split
-- @param vocabulary  list of tokens; the number of the first is `first`
-- @param first       number of the first entry, default 0
-- @param unknown     number of what is not in it; nil: that is an error
-- @param where       the file, for messages
function tokens.number(ids, n, names, vocabulary, o)
  local new, by_name, first = ffi.new("int32_t[?]", #names), {}, o.first or 0
  for i, name in ipairs(vocabulary) do by_name[name] = first + i - 1 end
  for k, name in ipairs(names) do new[k - 1] = by_name[name] or o.unknown or -1 end
  local line = 1
  for i = 0, n - 1 do
    local raw = ids[i]
    ids[i] = new[raw]
    if ids[i] < 0 then
      errors.fail("%s: line %d: '%s' is not in the vocabulary of the training part; data.unknown=token takes one token "
        .. "for all such", o.where, line, names[raw + 1])
    end
    if names[raw + 1] == "\n" then line = line + 1 end
  end
end

--- A text of numbers, as people read it.
-- @param ids         list of numbers from 0
-- @param vocabulary  list of tokens, the first being 0; nil: bytes
-- @param level       as in tokens.split: words are joined by blanks
function tokens.text(ids, vocabulary, level)
  local parts = {}
  for i, id in ipairs(ids) do parts[i] = vocabulary and vocabulary[id + 1] or string.char(id) end
  if level ~= "word" then return table.concat(parts) end
  return (table.concat(parts, " "):gsub(" ?\n ?", "\n"):gsub(" ([.,:;?!])", "%1"))
end

return tokens
