--- A tiny ViT, GPT, encoder and gated feed-forward block through the verbs of the program, one after another as a user
-- would: run, show, harden, swap, certify, export, repl, figure, compare. What each verb does is tested elsewhere, on
-- MLPs and CNNs; here is that none of them takes the kind of model or of data for granted, and that they agree about
-- one run.
local folders = require("tests.spec.support.folders")
local runs = require("tests.spec.support.runs")
local store = require("lgelu.store")
local swap = require("lgelu.swap")

local base = folders.temporary()

local FAMILIES = {
  vit = {
    data = 'source = "synthetic", n = 160, n_test = 40, shape = { 1, 8, 8 }, classes = 4, validation = 0.25',
    model = "lg.models.vit{ patch = 4, width = 8, depth = 2, heads = 2, expansion = 2, drop_path = 0.1 }",
    unit = "%%", input = "pixels / 255", predictions = 40,
  },
  gpt = {
    data = 'source = "synthetic_text", n = 2000, words = 10, context = 16, test = 0.1, validation = 0.2',
    model = "lg.models.gpt{ width = 8, depth = 2, heads = 2, expansion = 2 }",
    unit = "bits/char", input = "ids of tokens, int64, 16 a row", predictions = 12 * 16,
  },
  ffn = {
    data = 'source = "synthetic", n = 160, n_test = 40, shape = { 1, 8, 8 }, classes = 4, validation = 0.25',
    model = "lg.models.ffn{ width = 8, gated = true, dropout = 0.1 }",
    unit = "%%", input = "pixels / 255", predictions = 40, gates = { "gate" }, norm = "norm1",
  },
  encoder = {
    data = 'source = "synthetic_sentences", n = 160, n_test = 40, words = 16, length = 16, validation = 0.25',
    model = "lg.models.encoder{ width = 8, depth = 2, heads = 2, expansion = 2 }",
    unit = "%%", input = "ids of tokens, int64, 16 a row", predictions = 40,
  },
}

local BLOCKS = { "block1.gate", "block2.gate" } -- gates, where a family does not name its own

-- The program's output, which must be a success.
local function program(...)
  local status, output = runs.program(...)
  assert.are.equal(0, status, output)
  return output
end

local function has(text, ...)
  for _, part in ipairs({ ... }) do assert.is_truthy(text:find(part), text) end
end

for name, family in pairs(FAMILIES) do
  describe("a tiny " .. name, function()
    local gates, norm = family.gates or BLOCKS, family.norm or "block1.norm1"
    local first, last = gates[1], gates[#gates]
    local soft, hard, file = base .. "/" .. name, base .. "/" .. name .. "_hard", base .. "/" .. name .. ".lua"

    setup(function()
      folders.write(file, ([[
return { name = %q, data = { %s }, model = %s, gate = { init = "ascending", t = 0.1 }, optimizer = { name = "adamw",
  lr = 0.005 }, train = { epochs = 2, batch = 16, eval_batch = 32 } }]]):format(name, family.data, family.model))
      has(program("run", file, "--out", soft), "best validation score [%d.]+ " .. family.unit)
      program("harden", soft, "epochs=1", "--out", hard)
    end)

    it("is swapped: the hardened run hardly changes, each gate stays within its bound", function()
      has(program("swap", soft), ("%d of %d lambda_gelu gates replaced by ReLU"):format(#gates, #gates), last,
        family.unit)
      program("swap", hard)
      local _, before = swap.of(soft)
      local _, after = swap.of(hard)
      assert.are.equal(family.predictions, before.test.predictions)
      assert.is_true(after.test.max_logit_change < before.test.max_logit_change)
      for _, report in ipairs({ before, after }) do
        for i, gate in ipairs(report.gates) do
          assert.are.equal(gates[i], gate.name)
          assert.is_true(gate.max_deviation > 0 and gate.max_deviation < gate.bound * 1.0001)
        end
      end
      for _, gate in ipairs(after.gates) do assert.is_true(math.abs(gate.lambda - 159.577) < 0.001) end
    end)

    it("is certified gate by gate, and told why no more than that", function()
      local _, report = swap.of(soft)
      local text = program("certify", soft)
      local own = report.test
      has(text, "no bound on its logits: intervals grow too wide through '" .. norm .. "' %(layer_norm%)",
        (("Observed on %d test samples: greatest |change| of a logit %.4g; %d of %d predictions change"):format(
          own.samples, own.max_logit_change, own.flipped, family.predictions):gsub("%-", "%%-")),
        ("Observed on %d validation samples"):format(report.val.samples))
      local rows = program("certify", soft, "--format", "csv")
      for _, gate in ipairs(report.gates) do
        local lambda, bound, deviation = rows:match("\n" .. gate.name:gsub("%.", "%%.") .. ",([^,]+),([^,]+),([^,]+),")
        assert.are.same({ gate.lambda, gate.bound, gate.max_deviation },
          { tonumber(lambda), tonumber(bound), tonumber(deviation) })
      end
      for _, words in ipairs({ { "--eps", "0.1" }, { "--samples", "3" }, { "--box", "0,1" } }) do
        local status, output = runs.program("certify", soft, unpack(words))
        assert.are.equal(2, status)
        has(output, "intervals grow too wide through '" .. norm .. "'")
      end
    end)

    it("is exported, smooth and as ReLU", function()
      has(program("export", soft, "-o", base .. "/s.onnx"), "Erf", "input: " .. family.input:gsub("%-", "%%-"))
      local text = program("export", hard, "--relu", "--batch", "dynamic", "-o", base .. "/r.onnx", "--weights",
        base .. "/r.safetensors", "--calibration", base .. "/r.npz", "--samples", "4")
      has(text, "Relu", "ReduceMean", "note: not every verifier takes", "r%.npz: 4 training samples",
        "r%.safetensors: ")
      assert.is_nil(text:find("Erf", 1, true))
    end)

    it("is probed in memory, and put back", function()
      local lambda = store.open(soft):gates().lambda[store.open(soft):best().epoch + 1]
      local text = program("repl", soft, "-e", "hardness()", "-e", "probe('" .. first .. "')", "-e", "sensitivity()",
        "-e", "before = score()", "-e", "set('" .. last .. "', 40)", "-e", "swap()", "-e", "undo()", "-e", "undo()",
        "-e", "print(score() == before)", "-e", "train(2)")
      has(text, ("%s  lambda_gelu +%.6g"):format(first, lambda[1]), "transition band", "gradient attenuation",
        "validation score [%d.]+ " .. family.unit .. "; of each gate alone swapped to ReLU", "set " .. last .. ": λ",
        "swap all gates: ReLU", "undone: set " .. last, "\ntrue\n", "train 2 steps")
    end)

    it("is drawn, compared and shown", function()
      program("figure", "profile", soft, hard, "-o", base .. "/p.svg")
      local tsv = assert(io.open(base .. "/p.tsv")):read("*a")
      local drawn, stored = {}, {}
      for line in tsv:gmatch("\n(%d[^\n]*)") do
        local row, values = {}, {}
        for field in line:gmatch("[^\t]+") do row[#row + 1] = field end
        for i = 1, #gates do values[i] = tonumber(row[#row - #gates + i]) end
        drawn[#drawn + 1] = values
      end
      for _, run in ipairs({ soft, hard }) do
        for _, row in ipairs(store.open(run):gates().lambda) do stored[#stored + 1] = row end
      end
      assert.are.same(stored, drawn)
      assert.is_truthy(require("lfs").attributes(base .. "/p.svg"))
      has(program("compare", soft, hard), "hardening%.schedule", "geometric", "BVS %(" .. family.unit)
      has(program("show", soft), first, "Best validation score", "parameters", "Gates: lambda_gelu")
      has(program("show", hard), "weights +last")
    end)
  end)
end

teardown(function() os.execute("rm -rf '" .. base .. "'") end)
