--- lg.safetensors: named tensors in one file that other programs read without running code: 8 bytes of length, a JSON
-- header { name: { dtype, shape, data_offsets } }, the elements in C order, little-endian.
-- Source of the format: github.com/huggingface/safetensors, README. Written: F64, F32, I32, U8. The reader trusts
-- nothing: a header that is not exactly that, offsets that overlap or leave holes, sizes that do not fit their shapes,
-- and names given twice are errors that name the file and the tensor.
--   lg.safetensors.write("net.safetensors", { ["fc1.weight"] = t }, { run = "…" })
--   tensors, metadata = lg.safetensors.read("net.safetensors")
local C = require("lgelu.C")
local base = require("lgelu.tensor.base")
local errors = require("lgelu.errors")
local json = require("lgelu.recipe.json")
local tensor = require("lgelu.tensor")
local text = require("lgelu.store.text")

local ffi = C.ffi
local safetensors = {}

local DTYPES = { F64 = "f64", F32 = "f32", I32 = "i32", U8 = "u8" }
local NAMES = { f64 = "F64", f32 = "F32", i32 = "I32", u8 = "U8" }
local BYTES = { F64 = 8, F32 = 4, I32 = 4, U8 = 1 }
local LONGEST = 100000000 -- bytes of a header, as the format has it

-- Reading the header ------------------------------------------------------------------------------------------------
-- A parser of its own: names given twice, which a JSON library lets pass, are how two readers of one file differ.

local scanner = {}
scanner.__index = scanner

function scanner:fail(format, ...)
  errors.fail("%s: the header at byte %d: %s", self.path, self.at + 7, format:format(...))
end

function scanner:skip_space()
  self.at = self.text:find("[^ \t\r\n]", self.at) or #self.text + 1
end

-- Takes a character, behind white space, if it comes next.
function scanner:take(char)
  self:skip_space()
  if self.text:sub(self.at, self.at) ~= char then return false end
  self.at = self.at + 1
  return true
end

function scanner:need(char)
  if not self:take(char) then
    local found = self.text:sub(self.at, self.at):gsub("[^\32-\126]", "?")
    self:fail("expected '%s', found %s", char, found == "" and "its end" or "'" .. found .. "'")
  end
end

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function utf8(code)
  if code < 0x80 then return string.char(code) end
  local tail, lead = {}, code < 0x800 and 0xC0 or code < 0x10000 and 0xE0 or 0xF0
  local count = code < 0x800 and 1 or code < 0x10000 and 2 or 3
  for i = count, 1, -1 do
    tail[i], code = string.char(0x80 + code % 64), math.floor(code / 64)
  end
  return string.char(lead + code) .. table.concat(tail)
end

-- The character of \uXXXX at self.at, two of which make one beyond the first plane.
function scanner:unicode()
  local code = tonumber(self.text:match("^u(%x%x%x%x)", self.at) or "", 16)
  if not code then self:fail("expected four hexadecimal digits behind \\u") end
  self.at = self.at + 5
  if code < 0xD800 or code > 0xDFFF then return utf8(code) end
  local low = tonumber(self.text:match("^\\u(%x%x%x%x)", self.at) or "", 16)
  if code > 0xDBFF or not low or low < 0xDC00 or low > 0xDFFF then self:fail("half a surrogate pair") end
  self.at = self.at + 6
  return utf8(0x10000 + (code - 0xD800) * 0x400 + low - 0xDC00)
end

function scanner:string()
  self:need('"')
  local parts = {}
  while true do
    local plain = self.text:match('^[^"\\%c]*', self.at)
    parts[#parts + 1], self.at = plain, self.at + #plain
    local char = self.text:sub(self.at, self.at)
    self.at = self.at + 1
    if char == '"' then return table.concat(parts) end
    local escape = char == "\\" and self.text:sub(self.at, self.at)
    if escape == "u" then
      parts[#parts + 1] = self:unicode()
    elseif escape and ESCAPES[escape] then
      parts[#parts + 1], self.at = ESCAPES[escape], self.at + 1
    else
      self.at = self.at - 1
      self:fail(char == "" and "a string without its end" or "a character that no string may hold")
    end
  end
end

-- A list of whole numbers from 0 on.
function scanner:numbers()
  local list = {}
  self:need("[")
  if self:take("]") then return list end
  repeat
    self:skip_space()
    local digits = self.text:match("^%d+", self.at)
    local value = digits and tonumber(digits)
    if not value or value >= 2 ^ 53 or digits:match("^0%d") then self:fail("expected a whole number below 2^53") end
    list[#list + 1], self.at = value, self.at + #digits
  until not self:take(",")
  self:need("]")
  return list
end

-- { "key": value, … }; value(self, key) reads one.
function scanner:object(value)
  local result, order = {}, {}
  self:need("{")
  if self:take("}") then return result, order end
  repeat
    local key = self:string()
    if result[key] ~= nil then self:fail("'%s' stands there twice", key) end
    self:need(":")
    result[key] = value(self, key)
    order[#order + 1] = key
  until not self:take(",")
  self:need("}")
  return result, order
end

local function entry(self, key)
  if key == "__metadata__" then return (self:object(scanner.string)) end
  local found = self:object(function(_, part)
    if part == "dtype" then return self:string() end
    if part == "shape" or part == "data_offsets" then return self:numbers() end
    return self:fail("tensor '%s': unknown key '%s'", key, part)
  end)
  for _, part in ipairs({ "dtype", "shape", "data_offsets" }) do
    if not found[part] then self:fail("tensor '%s': %s is missing", key, part) end
  end
  return found
end

-- Checking ----------------------------------------------------------------------------------------------------------

local function check_entry(path, name, e, data)
  local function fail(format, ...) errors.fail("%s: tensor '%s': " .. format, path, name, ...) end
  if not DTYPES[e.dtype] then
    fail("dtype '%s' is not read; expected one of F64, F32, I32, U8%s", e.dtype, errors.suggest(e.dtype, DTYPES))
  end
  if #e.shape > 8 then fail("%d dimensions, expected at most 8", #e.shape) end
  local bytes = BYTES[e.dtype]
  for _, dim in ipairs(e.shape) do
    bytes = bytes * dim
  end
  local first, last = e.data_offsets[1], e.data_offsets[2]
  if #e.data_offsets ~= 2 or last < first then fail("data_offsets are not [begin, end]") end
  if last > data then fail("it ends at byte %d of the data, which has %d: the file is cut short", last, data) end
  if last - first ~= bytes then
    fail("%s of shape [%s] takes %.0f bytes, data_offsets hold %d", e.dtype, table.concat(e.shape, ", "), bytes,
      last - first)
  end
end

-- Every byte of the data belongs to one tensor.
local function check_cover(path, entries, names, data)
  local sorted = { unpack(names) }
  table.sort(sorted, function(a, b)
    local x, y = entries[a].data_offsets, entries[b].data_offsets
    if x[1] ~= y[1] then return x[1] < y[1] end
    if x[2] ~= y[2] then return x[2] < y[2] end
    return a < b
  end)
  local at, before = 0, "the header"
  for _, name in ipairs(sorted) do
    local first, last = unpack(entries[name].data_offsets)
    if first ~= at then
      errors.fail("%s: tensor '%s' begins at byte %d of the data, but %s ends at %d: %s", path, name, first, before, at,
        first < at and "they overlap" or "there is a hole")
    end
    at, before = last, "'" .. name .. "'"
  end
  if at ~= data then errors.fail("%s: %d bytes behind the last tensor belong to none", path, data - at) end
end

-- The header of an open file → entries by name, names in order, metadata, bytes of the data.
local function read_header(file, path)
  local size = file:seek("end")
  file:seek("set")
  local head = file:read(8) or ""
  if #head < 8 then errors.fail("%s: no safetensors file: it has %d bytes, expected 8 of length", path, #head) end
  local length = 0
  for i = 8, 1, -1 do
    length = length * 256 + head:byte(i)
  end
  if length > LONGEST or length > size - 8 then
    errors.fail("%s: its header claims %.0f bytes, but %s: the file is cut short or no safetensors file", path, length,
      length > LONGEST and ("%d is the most"):format(LONGEST) or ("%d follow"):format(size - 8))
  end
  local header = file:read(length) or ""
  if text.utf8(header) ~= header then errors.fail("%s: the header is not UTF-8", path) end
  local s = setmetatable({ path = path, text = header, at = 1 }, scanner)
  if header:sub(1, 1) ~= "{" then s:fail("expected '{'") end
  local entries, names = s:object(entry)
  s:skip_space()
  if s.at <= length then s:fail("expected nothing but spaces behind it") end
  for i = #names, 1, -1 do
    if names[i] == "__metadata__" then table.remove(names, i) end
  end
  return entries, names, entries.__metadata__ or {}, size - 8 - length
end

--- The tensors of a file by name, and its metadata (text by name). Errors: see above; nothing is read on trust.
function safetensors.read(path)
  if type(path) ~= "string" then errors.usage("safetensors.read: expected a path, found a %s", type(path)) end
  local file, message = io.open(path, "rb")
  if not file then errors.fail("%s", message) end
  local ok, tensors, notes = pcall(function()
    local entries, names, metadata, data = read_header(file, path)
    for _, name in ipairs(names) do
      check_entry(path, name, entries[name], data)
    end
    check_cover(path, entries, names, data)
    local start, list = file:seek(), {}
    for _, name in ipairs(names) do
      local e = entries[name]
      local t, bytes = tensor.zeros(e.shape, DTYPES[e.dtype]), e.data_offsets[2] - e.data_offsets[1]
      file:seek("set", start + e.data_offsets[1])
      local elements = bytes > 0 and file:read(bytes) or ""
      if #elements ~= bytes then errors.fail("%s: cannot be read: tensor '%s'", path, name) end
      if bytes > 0 then ffi.copy(base.data(t), elements, bytes) end
      list[name] = t
    end
    return list, metadata
  end)
  file:close()
  if not ok then error(tensors, 0) end
  return tensors, notes
end

-- Writing -----------------------------------------------------------------------------------------------------------

-- Names by size of an element, then alphabetically: so every tensor is aligned.
local function in_order(tensors)
  local names = {}
  for name, t in pairs(tensors) do
    if type(name) ~= "string" or name == "__metadata__" or text.utf8(name) ~= name or not tensor.is_tensor(t) then
      errors.usage("safetensors.write: '%s' = %s: expected tensors by UTF-8 names", tostring(name), type(t))
    end
    names[#names + 1] = name
  end
  table.sort(names, function(a, b)
    local x, y = BYTES[NAMES[tensors[a].dtype]], BYTES[NAMES[tensors[b].dtype]]
    if x ~= y then return x > y end
    return a < b
  end)
  return names
end

--- Writes tensors by name, at one instant.
-- @param metadata  text by name, or nil
function safetensors.write(path, tensors, metadata)
  if type(path) ~= "string" then errors.usage("safetensors.write: expected a path, found a %s", type(path)) end
  local parts, lines, at = { "", "" }, {}, 0
  if metadata and next(metadata) then lines[1] = '"__metadata__":' .. json.encode(metadata) end
  for _, name in ipairs(in_order(tensors)) do
    local t = tensors[name]:contiguous()
    local bytes = t.size * BYTES[NAMES[t.dtype]]
    parts[#parts + 1] = ffi.string(base.data(t), bytes)
    lines[#lines + 1] = ('%s:{"dtype":"%s","shape":[%s],"data_offsets":[%d,%d]}'):format(json.encode(name),
      NAMES[t.dtype], table.concat(t.shape, ","), at, at + bytes)
    at = at + bytes
  end
  local header = "{" .. table.concat(lines, ",") .. "}"
  header = header .. (" "):rep(-#header % 8)
  local length, n = {}, #header
  for i = 1, 8 do
    length[i], n = string.char(n % 256), math.floor(n / 256)
  end
  parts[1], parts[2] = table.concat(length), header
  local bytes = table.concat(parts)
  C.check(C.lib.lg_file_replace(path, bytes, #bytes))
end

return safetensors
