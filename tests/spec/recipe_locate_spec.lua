--- Specification of lgelu.recipe.locate: the line of a key, in recipes as people write them.

local locate = require("lgelu.recipe.locate")

local SOURCE = [==[
-- gate = { t = 9 } in a comment
--[[ long
gate = { t = 8 } ]]
local widths = { 64, 32 }   -- line 4
local base = { lr = 1 }
if #widths == 2 then base.lr = 2 end
local text = "gate = { t = 7 }"
local long = [[
gate = { t = 6 }]]
return {
  name = 'a', seed = 3;
  data = { source = "moons", path = long or text },
  model = lg.models.mlp{
    hidden = widths, dropout = 0,
  },
  ["gate"] = {
    init = function(layer, count)
      local t = { c = layer }
      for i = 1, count do t.c = i end
      return t.c == 1 and 2 or 3
    end,
    t = 0.1,
  },
  optimizer = base,
  budgets = {
    smoke = {
      ["train.epochs"] = 1, train = { batch = 8 },
    },
  },
}
]==]

describe("the line of a key", function()
  local lines = locate.lines(SOURCE)

  it("is that of the key itself where the recipe writes it out", function()
    local expected = {
      name = 11, seed = 11, data = 12, ["data.source"] = 12, ["data.path"] = 12, model = 13, ["model.hidden"] = 14,
      ["model.dropout"] = 14, gate = 16, ["gate.init"] = 17, ["gate.t"] = 22, optimizer = 24,
      ["budgets.smoke"] = 26, ["budgets.smoke.train.epochs"] = 27, ["budgets.smoke.train.batch"] = 27,
    }
    for key, line in pairs(expected) do
      local found, exact = locate.find(lines, key)
      assert.equal(line, found, key)
      assert.is_true(exact, key)
    end
  end)

  it("is that of what encloses it where the key cannot be seen", function()
    local found, exact = locate.find(lines, "gate.c")
    assert.equal(16, found)
    assert.is_false(exact)
    assert.equal(24, (locate.find(lines, "optimizer.eps")))
    assert.equal(10, (locate.find(lines, "schedule.name")))
    assert.equal(10, (locate.find(lines, "train")))
  end)

  it("finds keys set by assignment and sections of tables with another name", function()
    local assigned = locate.lines("local r = {}\nr.gate = {\n  t = 1 }\nr.data = {}\nr.data.source = 'x'\nreturn r\n")
    assert.equal(3, (locate.find(assigned, "gate.t")))
    assert.equal(5, (locate.find(assigned, "data.source")))
  end)

  it("reads any text without failing", function()
    for _, text in ipairs({ "", "}", "return {", "'", "--[[", "[==[", "a = {{{", "\0\255", "= = =", "end end" }) do
      assert.equal("number", type((locate.find(locate.lines(text), "gate.t"))))
    end
  end)
end)
