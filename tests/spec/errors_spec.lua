-- errors_spec.lua: error objects, suggestions.
local errors = require("lgelu.errors")

describe("errors", function()
  it("raises objects with kind, message and exit status", function()
    for kind, status in pairs({ usage = 2, fail = 1, interrupted = 130 }) do
      local ok, e = pcall(errors[kind], "no file '%s' in %d folders", "a", 3)
      assert.is_false(ok)
      assert.are.equal(kind, e.kind)
      assert.are.equal(status, e.status)
      assert.are.equal("no file 'a' in 3 folders", tostring(e))
      assert.is_true(errors.is(e))
      assert.is_true(errors.is(e, kind))
      assert.is_false(errors.is(e, "other"))
    end
  end)

  it("takes a text without arguments as it is", function()
    local _, e = pcall(errors.fail, "100 % done")
    assert.are.equal("100 % done", e.message)
  end)

  it("knows other errors from its own", function()
    assert.is_false(errors.is("text"))
    assert.is_false(errors.is(nil))
    assert.is_false(errors.is({ kind = "fail" }))
  end)

  it("suggests the nearest name, and none that is far", function()
    local names = { "lambda_gelu", "gelu", "relu", "silu", "gelu_tanh" }
    assert.are.equal(", did you mean 'lambda_gelu'?", errors.suggest("lamda_gelu", names))
    assert.are.equal(", did you mean 'relu'?", errors.suggest("erlu", names))
    assert.are.equal(", did you mean 'gelu'?", errors.suggest("GELU", names))
    assert.are.equal(", did you mean 'silu'?", errors.suggest("slu", { silu = 1, other = 2 }))
    assert.are.equal("", errors.suggest("convolution", names))
    assert.are.equal("", errors.suggest("x", {}))
    assert.are.equal(", did you mean 'a'?", errors.suggest("c", { "b", "a" }))
  end)
end)
