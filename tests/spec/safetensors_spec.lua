--- lg.safetensors: files beside Python's struct and json, both ways; every kind of broken header, told apart; random
-- damage; weights into a network.
local C = require("lgelu.C")
local folders = require("tests.spec.support.folders")
local models = require("tests.spec.support.folded_models")
local safetensors = require("lgelu.safetensors")
local tensor = require("lgelu.tensor")

local folder = folders.temporary()
local path = folder .. "/t.safetensors"
teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

local function python(script)
  folders.write(folder .. "/s.py", script)
  local pipe = io.popen(("unset LD_PRELOAD; cd '%s'; PYTHONIOENCODING=utf8 /usr/bin/python3 s.py 2>&1"):format(folder))
  local text = pipe:read("*a")
  pipe:close()
  return text
end

-- A file of a header and data, with its right length or another.
local function file_of(header, data, length)
  local bytes, n = {}, length or #header
  for i = 1, 8 do
    bytes[i], n = string.char(n % 256), math.floor(n / 256)
  end
  return table.concat(bytes) .. header .. (data or "")
end

local function message_of(bytes)
  folders.write(path, bytes)
  local ok, e = pcall(safetensors.read, path)
  assert.is_false(ok)
  assert.are.equal("fail", e.kind)
  assert.are.equal(path .. ": ", e.message:sub(1, #path + 2))
  return e.message:sub(#path + 3)
end

describe("safetensors", function()
  it("are written as Python's struct and json read them, aligned, whole", function()
    safetensors.write(path, {
      ["a.weight"] = tensor.tensor({ { 1, 2, 3 }, { -4, 5.5, 6 } }), s = tensor.tensor({ 1 / 3 }, "f64"),
      ["λ \"quoted\""] = tensor.tensor({ 7, 8 }, "i32"), pixels = tensor.tensor({ 0, 255, 3 }, "u8"),
      transposed = tensor.tensor({ { 1, 2 }, { 3, 4 } }).T, empty = tensor.zeros({ 0, 3 }), scalar = tensor.tensor(2.5),
    }, { run = "x\ny" })
    assert.are.equal([[
__metadata__ {'run': 'x\ny'}
s F64 [1] 0 (0.3333333333333333,)
a.weight F32 [2, 3] 0 (1.0, 2.0, 3.0, -4.0, 5.5, 6.0)
empty F32 [0, 3] 0 ()
scalar F32 [] 0 (2.5,)
transposed F32 [2, 2] 0 (1.0, 3.0, 2.0, 4.0)
λ "quoted" I32 [2] 0 (7, 8)
pixels U8 [3] 0 (0, 255, 3)
end 0
]], python([==[
import json, struct
b = open("t.safetensors", "rb").read()
n, = struct.unpack("<Q", b[:8])
assert n % 8 == 0
header, data, at = json.loads(b[8:8 + n]), b[8 + n:], 0
letter = {"F64": "d", "F32": "f", "I32": "i", "U8": "B"}
for name, t in header.items():
    if name == "__metadata__":
        print(name, t)
        continue
    first, last = t["data_offsets"]
    assert first == at
    at = last
    size = struct.calcsize(letter[t["dtype"]])
    values = struct.unpack("<%d%s" % ((last - first) // size, letter[t["dtype"]]), data[first:last])
    print(name, t["dtype"], t["shape"], first % size, values)
print("end", len(data) - at)
]==]))
  end)

  it("are read as Python writes them, in any order, with escapes and spaces", function()
    assert.are.equal("", python([[
import json, struct
t = {"b": {"data_offsets": [12, 20], "shape": [1], "dtype": "F64"}, "__metadata__": {"k": "v\u00e9\U0001d6cc"},
     "a/\u03bb\U0001d6cc": {"dtype": "F32", "shape": [3, 1], "data_offsets": [0, 12]}}
h = json.dumps(t, indent=1).encode() + b"   "
open("t.safetensors", "wb").write(struct.pack("<Q", len(h)) + h + struct.pack("<fffd", 1, 2, 3, 0.1))
]]))
    local tensors, metadata = safetensors.read(path)
    assert.are.same({ { 1 }, { 2 }, { 3 } }, tensors["a/λ𝛌"]:totable())
    assert.are.equal("f64", tensors.b.dtype)
    assert.are.same({ 0.1 }, tensors.b:totable())
    assert.are.same({ k = "vé𝛌" }, metadata)
    folders.write(path, file_of("{}"))
    assert.is_nil(next((safetensors.read(path))))
  end)

  it("come back as they were", function()
    local given = { x = tensor.randn({ 3, 4, 5 }, "f32", 1), y = tensor.randn({ 7 }, "f64", 2) }
    safetensors.write(path, given)
    local tensors, metadata = safetensors.read(path)
    assert.are.same({}, metadata)
    for name, t in pairs(given) do
      assert.are.same(t:totable(), tensors[name]:totable())
      assert.are.equal(t.dtype, tensors[name].dtype)
    end
  end)

  local four = '"dtype":"F32","shape":[1],"data_offsets":[0,4]'
  local function pair(a, b) return ('{"a":{"dtype":"F32","shape":[1],"data_offsets":%s},"b":{"dtype":"F32","shape":'
    .. '[2],"data_offsets":%s}}'):format(a, b) end
  local BROKEN = {
    { "a length beyond the file", file_of("{}", "", 3), "its header claims 3 bytes, but 2 follow: the file is cut" },
    { "a length of 2^63", "\0\0\0\0\0\0\0\128{}", "its header claims 9223372036854775808 bytes, but 100000000 is" },
    { "a length that cuts the header", file_of(("{%q:{%s}}"):format("a", four), "1234", 20), "the header at byte" },
    { "a length into the data", file_of(("{%q:{%s}}"):format("a", four), "1234", 56), "expected nothing but spaces" },
    { "fewer than 8 bytes", "\1\0\0", "no safetensors file: it has 3 bytes, expected 8 of length" },
    { "nothing", "", "no safetensors file: it has 0 bytes" },
    { "a list", file_of("[]"), "the header at byte 8: expected '{'" },
    { "an overlap", file_of(pair("[0,4]", "[2,10]"), "0123456789"),
      "tensor 'b' begins at byte 2 of the data, but 'a' ends at 4: they overlap" },
    { "a hole", file_of(pair("[0,4]", "[5,13]"), "0123456789abc"), "tensor 'b' begins at byte 5 of the data, but 'a' "
      .. "ends at 4: there is a hole" },
    { "a hole in front", file_of(pair("[1,5]", "[5,13]"), "0123456789abc"), "'a' begins at byte 1 of the data, but the "
      .. "header ends at 0: there is a hole" },
    { "bytes behind", file_of(pair("[0,4]", "[4,12]"), "0123456789abcd"), "2 bytes behind the last tensor belong to" },
    { "data cut short", file_of(pair("[0,4]", "[4,12]"), "0123456789a"), "tensor 'b': it ends at byte 12 of the data, "
      .. "which has 11: the file is cut short" },
    { "an unknown dtype", file_of('{"a":{"dtype":"F23","shape":[1],"data_offsets":[0,4]}}', "1234"),
      "tensor 'a': dtype 'F23' is not read; expected one of F64, F32, I32, U8, did you mean 'F32'?" },
    { "a dtype that we do not have", file_of('{"a":{"dtype":"BF16","shape":[2],"data_offsets":[0,4]}}', "1234"),
      "tensor 'a': dtype 'BF16' is not read" },
    { "a shape that does not match", file_of('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}}', "1234"),
      "tensor 'a': F32 of shape [2] takes 8 bytes, data_offsets hold 4" },
    { "a shape that overflows", file_of('{"a":{"dtype":"F32","shape":[4294967296,4294967296,4294967296],"data_offsets":'
      .. "[0,4]}}", "1234"), "tensor 'a': F32 of shape [4294967296, 4294967296, 4294967296] takes" },
    { "offsets backwards", file_of('{"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}}', "1234"),
      "tensor 'a': data_offsets are not [begin, end]" },
    { "three offsets", file_of('{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4,4]}}', "1234"),
      "tensor 'a': data_offsets are not [begin, end]" },
    { "a negative offset", file_of('{"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}}', "1234"),
      "expected a whole number" },
    { "a fraction", file_of('{"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}}', "1234"), "expected ']'" },
    { "a name given twice", file_of(("{%q:{%s},%q:{%s}}"):format("a", four, "a", four), "1234"),
      "'a' stands there twice" },
    { "the same name, escaped", file_of(('{"a":{%s},"\\u0061":{%s}}'):format(four, four), "1234"),
      "'a' stands there twice" },
    { "a key given twice", file_of('{"a":{"dtype":"F32","dtype":"F32"}}'), "'dtype' stands there twice" },
    { "an unknown key", file_of('{"a":{"type":"F32"}}'), "tensor 'a': unknown key 'type'" },
    { "a missing key", file_of('{"a":{"dtype":"F32","shape":[1]}}'), "tensor 'a': data_offsets is missing" },
    { "nine dimensions", file_of('{"a":{"dtype":"U8","shape":[1,1,1,1,1,1,1,1,1],"data_offsets":[0,1]}}', "1"),
      "tensor 'a': 9 dimensions, expected at most 8" },
    { "a name that is no text", file_of('{"a\255":{}}'), "the header is not UTF-8" },
    { "half a surrogate pair", file_of('{"\\ud835x":{}}'), "half a surrogate pair" },
    { "a control character", file_of('{"a\1":{}}'), "a character that no string may hold" },
    { "an end inside a string", file_of('{"a'), "a string without its end" },
    { "a metadata value that is no text", file_of('{"__metadata__":{"a":1}}'), "expected '\"', found '1'" },
  }
  for _, case in ipairs(BROKEN) do
    it("are refused with " .. case[1], function()
      local e = message_of(case[2])
      assert.is_truthy(e:find(case[3], 1, true), e)
    end)
  end

  it("are read or refused, but never worse, whatever is changed in them", function()
    safetensors.write(path, { a = tensor.randn({ 2, 3 }, "f32", 1), b = tensor.randn({ 2 }, "f64", 1) }, { k = "v" })
    local file = assert(io.open(path, "rb"))
    local whole = file:read("*a")
    file:close()
    local count, read = 0, 0
    local function dice(n)
      count = count + 1
      return math.floor(C.lib.lg_rng_uniform(11, 3, count) * n) + 1
    end
    for _ = 1, 800 do
      local bytes = whole
      for _ = 1, dice(3) do
        local at, what = dice(math.min(#bytes, 230)), dice(4)
        local new = what == 1 and "" or what == 2 and string.char(dice(256) - 1)
          or what == 3 and bytes:sub(at, at + dice(9)) or ('{}[]",:0129\\u'):sub(dice(13)):sub(1, 1)
        bytes = bytes:sub(1, at - 1) .. new .. bytes:sub(at + (what == 4 and 0 or 1))
      end
      if dice(10) == 1 then bytes = bytes:sub(1, dice(#bytes)) end
      folders.write(path, bytes)
      local ok, e = pcall(safetensors.read, path)
      read = read + (ok and 1 or 0)
      if not ok then assert.are.equal("fail", type(e) == "table" and e.kind or tostring(e)) end
    end
    assert.is_true(read > 10 and read < 600, read)
  end)

  it("name a file that is not there, and what is no tensor", function()
    local ok, e = pcall(safetensors.read, folder .. "/none")
    assert.is_false(ok)
    assert.are.equal(folder .. "/none: No such file or directory", e.message)
    for _, bad in ipairs({ { a = 1 }, { [1] = tensor.zeros({ 1 }) }, { ["\255"] = tensor.zeros({ 1 }) },
      { __metadata__ = tensor.zeros({ 1 }) } }) do
      ok, e = pcall(safetensors.write, path, bad)
      assert.is_false(ok)
      assert.are.equal("usage", e.kind)
    end
    ok, e = pcall(safetensors.write, folder .. "/no/where.safetensors", { a = tensor.zeros({ 1 }) })
    assert.is_false(ok)
    assert.is_truthy(e.message:find(folder .. "/no/where.safetensors", 1, true), e.message)
  end)
end)

describe("network:load_weights", function()
  local cnn = models.list[3]
  local function weights(net)
    local list = {}
    for _, part in ipairs({ net.params, net.states }) do
      for _, leaf in ipairs(part) do
        list[leaf.name] = net:tensor(leaf.name)
      end
    end
    return list
  end

  it("takes all parameters and running statistics", function()
    local from = models.build(cnn[2], cnn[3])
    local to = require("lgelu.network").new({ model = cnn[2], gate = from.gate_config, batch = 3, seed = 99,
      dtype = "f64", info = from.info })
    safetensors.write(path, weights(from))
    to:load_weights(path)
    for name, t in pairs(weights(from)) do
      assert.are.same(t:totable(), to:tensor(name):totable())
    end
    assert.are.same(from:lambdas(), to:lambdas())
  end)

  it("takes nothing of a file that does not fit, and says what", function()
    local net = models.build(cnn[2], cnn[3])
    local before = net:tensor("fc1.weight"):totable()
    local function refused(change)
      local list = {}
      for name, t in pairs(weights(net)) do
        list[name] = t + 1
      end
      change(list)
      safetensors.write(path, list)
      local ok, e = pcall(net.load_weights, net, path)
      assert.is_false(ok)
      assert.are.same(before, net:tensor("fc1.weight"):totable())
      return e.message:gsub("^.-: ", "", 1)
    end
    assert.are.equal("'fc2.bias' is missing, did you mean 'fc1.bias'?", (refused(function(l) l["fc2.bias"] = nil end)))
    assert.are.equal("the network has no 'fc1.weigth', did you mean 'fc1.weight'?",
      (refused(function(l) l["fc1.weigth"] = l["fc1.bias"] end)))
    assert.are.equal("'fc1.bias' is f64[4], expected f64[6]",
      (refused(function(l) l["fc1.bias"] = tensor.zeros({ 4 }, "f64") end)))
    assert.are.equal("'fc1.bias' is i32[6], expected f64[6]",
      (refused(function(l) l["fc1.bias"] = tensor.zeros({ 6 }, "i32") end)))
  end)
end)
