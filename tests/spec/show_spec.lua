--- Specification of the verbs show and ls over run folders as they are found: done, killed, running, damaged, none.
local cli = require("lgelu.cli")
local kit = dofile("tests/spec/support/store_kit.lua")
local lfs = require("lfs")
local store = require("lgelu.store")

--- Runs a command line in this process; returns status or error object, standard output, standard error.
local function main(...)
  local out, err, write, stderr = {}, {}, io.write, io.stderr
  io.write = function(...) -- luacheck: ignore 122
    for _, text in ipairs({ ... }) do out[#out + 1] = text end
  end
  io.stderr = { write = function(_, ...) err[#err + 1] = table.concat({ ... }) end } -- luacheck: ignore 122
  local _, result = pcall(cli.main, { ... })
  io.write, io.stderr = write, stderr -- luacheck: ignore 122
  return result, table.concat(out), table.concat(err)
end

describe("show and ls", function()
  local folder
  before_each(function() folder = kit.folder() end)
  after_each(function() kit.remove(folder) end)

  local function has(text, ...)
    for _, part in ipairs({ ... }) do
      assert.truthy(text:find(part, 1, true), ("'%s' is missing in: %s"):format(part, text))
    end
  end

  it("list runs with status, epochs, score, λ and age, and name the damaged", function()
    kit.run(folder .. "/a-s1", 3):finish("done")
    kit.run(folder .. "/b-s1", 1, { score = "perplexity" }):release()
    local running = kit.run(folder .. "/c-s1", 0, { config = '{"train":{"epochs":12}}' })
    lfs.mkdir(folder .. "/d-s1")
    kit.spit(folder .. "/d-s1/run.h5", "x")
    local status, out, err = main("ls", folder)
    running:release()
    assert.equal(0, status)
    has(out, "run ", "hash", "BVS", "λ", "age")
    assert.truthy(out:find("a%-s1 +abcdef01 +7 +done +3 +0%.4030 +accuracy +4%.1 to 4%.3 +%d+ s\n"), out)
    assert.truthy(out:find("b%-s1 +abcdef01 +7 +killed +1 +[%d.]+ +perplexity "), out)
    assert.truthy(out:find("c%-s1 +abcdef01 +7 +running +0/12 +– +accuracy +1%.1 to 1%.3"), out)
    assert.is_nil(out:find("d-s1", 1, true))
    has(err, folder .. "/d-s1/run.h5: not an HDF5 file")
    local _, csv = main("ls", folder, "--format", "csv")
    has(csv, "a-s1,abcdef01,7,done,3,0.403,accuracy,4.1 to 4.3,")
  end)

  it("say so when there are none", function()
    local status, out = main("ls", folder)
    assert.equal(0, status)
    has(out, "There are no runs in " .. folder)
    local e = main("ls", folder .. "/none")
    assert.equal("usage", e.kind)
    has(e.message, folder .. "/none", "no such folder")
  end)

  it("show attributes, best epoch, gates and abridged epochs", function()
    local run = kit.run(folder .. "/a", 20, { groups = "one\ntwo" })
    run:set_best({ epoch = 19, val_score = 0.419, test_score = 0.4 })
    run:finish("done")
    local status, out = main("show", folder .. "/a")
    assert.equal(0, status)
    has(out, folder .. "/a\n", "Best validation score (BVS) 0.41900 at epoch 19; test score 0.40000 at its weights.",
      "Gates: lambda_gelu; t = 1, c = 3, init ascending.")
    assert.truthy(out:find("name +größer\nstatus +done\nhash +abcdef0123456789\nseed +7\n"), out)
    assert.truthy(out:find("groups +one\n +two\n"), out)
    assert.truthy(out:find("gate2 +1%.2000 +21%.2000 +1%.2000 +21%.2000\n"), out)
    assert.truthy(out:find("\n +6 +600 .-\n +…\n +15 +1500 "), out)
    assert.is_nil(out:find("return {}", 1, true))
  end)

  it("show one table in full, in every format", function()
    kit.run(folder .. "/a", 20):finish("done")
    local _, out = main("show", folder .. "/a", "--table", "epochs", "--format", "csv")
    assert.equal(21, select(2, out:gsub("\n", "")))
    has(out, "epoch,step,lr,train_loss,train_score,val_loss,val_score,seconds\n1,100,0.001,1,0.501,1.5,0.401,0.25\n",
      "3,300,0.0003333333333333333,")
    _, out = main("show", folder .. "/a", "--table", "gates", "--format", "csv")
    assert.equal("gate,λ first,λ last,λ min,λ max\ngate1,1.1,21.1,1.1,21.1\n", out:match("^.-\n.-\n"))
    _, out = main("show", folder .. "/a", "--table", "attributes", "--format", "markdown")
    assert.truthy(out:find("| status +| done +|"), out)
    _, out = main("show", folder .. "/a", "--format", "latex")
    has(out, "% " .. folder, "\\begin{tabular}{lrrrr}", "abcdef0123456789 \\\\")
    _, out = main("show", folder .. "/a", folder .. "/a", "--format", "markdown")
    assert.equal(2, select(2, out:gsub("## ", "")))
  end)

  it("show runs without epochs or without λ", function()
    local info = kit.info()
    info.gates = { names = { "relu1" }, lambda = {}, s = {}, kind = "relu" }
    store.create(folder .. "/a", info):release()
    local status, out = main("show", folder .. "/a")
    assert.equal(0, status)
    has(out, "killed", "No epoch with a validation score", "Gates: relu; none has a λ.")
  end)

  it("print the resolved recipe", function()
    local recipe = require("lgelu.recipe")
    local resolved = recipe.load("moons")
    kit.run(folder .. "/a", 1, { config = resolved.json, recipe = resolved.source }):finish("done")
    local status, out = main("show", folder .. "/a", "--config")
    assert.equal(0, status, tostring(status))
    has(out, "optimizer.lr", "train.epochs", "gate.kind")
  end)

  it("refuse what they cannot do", function()
    kit.run(folder .. "/a", 1):finish("done")
    for words, message in pairs({
      ["--format xml"] = "'xml' is none of text", ["--format csv"] = "--table attributes, gates or epochs",
      ["--table gate"] = "did you mean 'gates'?", ["--config --table gates"] = "neither --table nor --format",
    }) do
      local argv = { "show", folder .. "/a" }
      for word in words:gmatch("%S+") do argv[#argv + 1] = word end
      local e = main(unpack(argv))
      assert.equal("usage", e.kind)
      has(e.message, message)
    end
    local e = main("show", folder .. "/b")
    assert.equal("usage", e.kind)
    has(e.message, "there is no run")
    e = main("ls", folder, "--format", "xml")
    assert.equal("usage", e.kind)
  end)
end)
