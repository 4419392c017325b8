--- export/calibration: training samples for the calibration of integer quantizers, in the exported network's units:
-- "input" f32 [N, …] and "labels" i32 [N, …], as NumPy's .npz (a zip of .npy, stored) or HDF5. Ids are int64 in .npz,
-- as the network takes them, and i32 in HDF5.
local C = require("lgelu.C")
local bit = require("bit")
local errors = require("lgelu.errors")
local samples = require("lgelu.export.samples")

local calibration = {}

local table_of -- of the CRC, made at first use

--- CRC-32 (ISO 3309, as in zip) of a string.
local function crc32(text)
  if not table_of then
    table_of = C.ffi.new("uint32_t[256]")
    for n = 0, 255 do
      local c = n
      for _ = 1, 8 do
        c = bit.bxor(bit.rshift(c, 1), bit.band(c, 1) == 1 and 0xEDB88320 or 0)
      end
      table_of[n] = c
    end
  end
  local crc, bytes = 0xFFFFFFFF, C.ffi.cast("const uint8_t *", text)
  for i = 0, #text - 1 do
    crc = bit.bxor(table_of[bit.band(bit.bxor(crc, bytes[i]), 255)], bit.rshift(crc, 8))
  end
  return bit.bnot(crc) % 2 ^ 32
end

-- Little-endian bytes of the numbers: { bytes, value, … }.
local function pack(list)
  local out = {}
  for i = 1, #list, 2 do
    local v = list[i + 1]
    for _ = 1, list[i] do
      out[#out + 1] = string.char(v % 256)
      v = math.floor(v / 256)
    end
  end
  return table.concat(out)
end

-- The .npy file of a tensor as bytes.
local function npy(t)
  local path = os.tmpname()
  os.remove(path)
  path = path .. ".npy"
  t:save(path)
  local file = assert(io.open(path, "rb"))
  local bytes = file:read("*a")
  file:close()
  os.remove(path)
  return bytes
end

-- The .npy file of i32 numbers as one of int64: magic, version and length of the header stand in the first 10 bytes.
local function widened(bytes)
  local head = 10 + bytes:byte(9) + 256 * bytes:byte(10)
  local count = (#bytes - head) / 4
  local from, to = C.ffi.new("int32_t[?]", count), C.ffi.new("int64_t[?]", count)
  C.ffi.copy(from, bytes:sub(head + 1), count * 4)
  for i = 0, count - 1 do
    to[i] = from[i]
  end
  local header, changed = bytes:sub(1, head):gsub("<i4", "<i8")
  assert(changed == 1)
  return header .. C.ffi.string(to, count * 8)
end

local DATE = 33 -- 1 January 1980, the format's first: the same tensors give the same bytes

-- A zip file of stored members (PKWARE's APPNOTE 6.3): { { name, bytes }, … }.
local function zip(members)
  local parts, directory, at = {}, {}, 0
  for _, member in ipairs(members) do
    local name, bytes = member[1], member[2]
    local common = pack({ 2, 20, 2, 0, 2, 0, 2, 0, 2, DATE, 4, crc32(bytes), 4, #bytes, 4, #bytes, 2, #name, 2, 0 })
    local head = "PK\3\4" .. common .. name
    parts[#parts + 1] = head .. bytes
    directory[#directory + 1] = "PK\1\2" .. pack({ 2, 20 }) .. common
      .. pack({ 2, 0, 2, 0, 2, 0, 4, 0, 4, at }) .. name
    at = at + #head + #bytes
  end
  local central = table.concat(directory)
  local last = "PK\5\6" .. pack({ 2, 0, 2, 0, 2, #members, 2, #members, 4, #central, 4, at, 2, 0 })
  return table.concat(parts) .. central .. last
end

local formats = {}

function formats.npz(path, x, y)
  if x.size * (x.dtype == "i32" and 8 or 4) >= 2 ^ 31 then
    errors.usage("--samples: %d are more than a zip file holds here: write .h5", x.shape[1])
  end
  local input = x.dtype == "i32" and widened(npy(x)) or npy(x)
  local bytes = zip({ { "input.npy", input }, { "labels.npy", npy(y) } })
  C.check(C.lib.lg_file_replace(path, bytes, #bytes))
end

function formats.h5(path, x, y)
  require("lgelu.h5").with(path, "w", function(file)
    file:write("/input", x)
    file:write("/labels", y)
  end)
end
formats.hdf5 = formats.h5

--- Fails unless the name of a calibration file says a format that is known.
function calibration.check(path)
  local ending = path:lower():match("%.(%w+)$")
  if not formats[ending] then
    errors.usage("--calibration: '%s' ends in neither .npz nor .h5 nor .hdf5", path)
  end
  return formats[ending]
end

--- Writes `count` training samples, evenly spaced over the rows that the network was trained on.
-- @param t  of lgelu.trained.open
function calibration.write(t, path, count)
  local write, index = calibration.check(path), t.index.train:totable()
  if count > #index then
    errors.usage("--samples: found %d, but there are %d training samples only", count, #index)
  end
  local rows = {}
  for i = 1, count do
    rows[i] = index[math.floor((i - 1) * #index / count) + 1]
  end
  write(path, samples.gather(t.set, t.set.train, rows))
end

return calibration
