--- Specification of lgelu.recipe.json: the one text of a value, on which every run's hash rests.

local json = require("lgelu.recipe.json")

describe("canonical JSON", function()
  it("writes integers without point or exponent and other numbers in the fewest digits that read back", function()
    local expected = {
      [1] = "1", [-3] = "-3", [1e15] = "1000000000000000", [2 ^ 53 - 1] = "9007199254740991", [0.1] = "0.1",
      [0.001] = "0.001", [1e-8] = "1e-08", [1 / 3] = "0.3333333333333333", [0.1 + 0.2] = "0.30000000000000004",
      [1e300] = "1e+300", [5e-324] = "4.94065645841247e-324", [123456.789] = "123456.789",
    }
    for number, text in pairs(expected) do assert.equal(text, json.number(number)) end
    assert.equal("0", json.number(-0.0))
  end)

  it("reads back every number bit for bit", function()
    local x = 0.123456789
    for _ = 1, 2000 do
      x = (x * 997.13 + 0.7) % 1
      local y = (x - 0.5) * 10 ^ (math.floor(x * 600) - 300)
      assert.equal(y, tonumber(json.number(y)))
    end
  end)

  it("sorts keys by byte, writes no spaces, and takes an empty table for a list", function()
    local value = { b = "t", a = { x = { 1, 2.5, true } }, B = {} }
    assert.equal('{"B":[],"a":{"x":[1,2.5,true]},"b":"t"}', json.encode(value))
  end)

  it("escapes what JSON demands and leaves UTF-8 alone", function()
    assert.equal('"a\\"b\\\\c\\n\\u0001\\u007fλ"', json.encode('a"b\\c\n\1\127λ'))
  end)

  it("refuses what has no form", function()
    for _, value in ipairs({ 0 / 0, math.huge, -math.huge, print, { 1, 2, x = 3 }, { 1, nil, 3 }, { [true] = 1 } }) do
      assert.has_error(function() json.encode(value) end)
    end
  end)
end)
