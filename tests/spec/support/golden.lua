--- golden: what the golden trajectories share: the numbers that both sides draw, and tensors made of lists.
local C = require("lgelu.C")
local cjson = require("cjson")
local ffi, lib, check = C.ffi, C.lib, C.check

local golden = {}

--- The stored trajectory tests/ref/NAME.json.
function golden.read(name)
  local file = assert(io.open("tests/ref/" .. name .. ".json"))
  local stored = cjson.decode(file:read("*a"))
  file:close()
  return stored
end

--- draw() of the generators: n values in [-bound, bound), of float32.
function golden.draw(stream, n, bound)
  local list = {}
  for i = 0, n - 1 do
    local z = (ffi.cast("uint64_t", stream) * 2ULL ^ 32 + 1ULL + i) * 0x9E3779B97F4A7C15ULL
    z = bit.bxor(z, bit.rshift(z, 30)) * 0xBF58476D1CE4E5B9ULL
    z = bit.bxor(z, bit.rshift(z, 27)) * 0x94D049BB133111EBULL
    z = bit.bxor(z, bit.rshift(z, 31))
    list[i + 1] = tonumber(ffi.new("float", (2 * tonumber(bit.rshift(z, 40)) / 2 ^ 24 - 1) * bound))
  end
  return list
end

local POINTER = { f32 = "float *", f64 = "double *", i32 = "int32_t *" }

--- Writes a list into a contiguous tensor.
function golden.fill(t, dtype, values)
  local p = ffi.cast(POINTER[dtype], lib.lg_tensor_data(t))
  for i, v in ipairs(values) do
    p[i - 1] = v
  end
end

--- A tensor of a list.
function golden.tensor(dtype, shape, values)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", dtype), #shape, ffi.new("int64_t[8]", shape)))
  golden.fill(out[0], dtype, values)
  return ffi.gc(out[0], lib.lg_tensor_free)
end

--- Largest difference of two lists.
function golden.largest(a, b)
  local worst = 0
  for i, v in ipairs(b) do
    worst = math.max(worst, math.abs(a[i] - v))
  end
  return worst
end

return golden
