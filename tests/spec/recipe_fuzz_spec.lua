--- Damaged recipes: whatever a slip of the keyboard makes of a recipe, it resolves (and then again from what is stored)
-- or ends in a usage error that names the file; never in a fault of lgelu itself.

dofile("tests/spec/support/recipe_fakes.lua").install()
local errors = require("lgelu.errors")
local recipe = require("lgelu.recipe")

local PIECES = {
  "", "", "", "{", "}", "=", ",", "nil", "'x'", "0/0", "-1", "1e400", "gate", "t", "function() end", "[1]", "..", "\0",
  "[[", "]]", "--", "true", "{}", "{{}}", "lg", "lg.models", "return", "math.huge", "budgets", '"', "\\", "\255",
}

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("*a")
  file:close()
  return text
end

--- One to three stretches of up to seven bytes replaced by pieces.
local function damage(text)
  for _ = 1, math.random(3) do
    local at = math.random(#text)
    text = text:sub(1, at - 1) .. PIECES[math.random(#PIECES)] .. text:sub(at + math.random(0, 7))
  end
  return text
end

describe("a damaged recipe", function()
  it("resolves or is refused with its file's name", function()
    local source, resolved_count, refused = read("recipes/moons.lua"), 0, 0
    for seed = 1, 1500 do
      math.randomseed(seed)
      local text = damage(source)
      local ok, r = pcall(recipe.from_text, text, "f.lua", { budget = seed % 3 == 0 and "smoke" or nil })
      if ok then
        resolved_count = resolved_count + 1
        assert.equal(r.hash, recipe.from_stored(r.json, text, "f.lua").hash, text)
        assert.equal("string", type(recipe.describe(r)))
      else
        refused = refused + 1
        assert.is_true(errors.is(r, "usage"), tostring(r) .. "\n" .. text)
        assert.equal("f.lua", r.message:sub(1, 5), text)
      end
    end
    assert.is_true(resolved_count > 50 and refused > 500)
  end)
end)
