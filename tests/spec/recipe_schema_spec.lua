--- Specification of the recipe's schema as it ships, with the real data sources, models and gates: every entry is well
-- formed and its example works, and every recipe of recipes/ resolves in every budget.

local check = require("lgelu.recipe.check")
local overrides = require("lgelu.recipe.overrides")
local recipe = require("lgelu.recipe")
local schema = require("lgelu.recipe.schema")

local TYPES = { number = true, integer = true, string = true, boolean = true, list = true, ["function"] = true }
local FIELDS = {}
for field in ("key type default min max exclusive_min exclusive_max choices items of default_of required optional "
  .. "instead_of hashed example doc"):gmatch("%S+") do
  FIELDS[field] = true
end

--- Calls f(full key, entry, variant, section's name) for every key of every variant.
local function each_entry(f)
  for _, entry in ipairs(schema.top) do f(entry.key, entry) end
  for _, name in ipairs(schema.order) do
    local section = schema.section(name)
    for _, variant in ipairs(section.variants()) do
      for _, entry in ipairs(section.entries(variant)) do f(name .. "." .. entry.key, entry, variant, name) end
    end
  end
end

describe("every key of a recipe", function()
  it("is described in known fields and types", function()
    each_entry(function(key, entry)
      for field in pairs(entry) do assert.is_true(FIELDS[field], key .. " has the field " .. tostring(field)) end
      for kind in entry.type:gmatch("[^|]+") do assert.is_true(TYPES[kind], key .. " has the type " .. kind) end
      assert.truthy(entry.doc and entry.doc:find("%.$"), key .. " lacks a sentence of doc")
    end)
  end)

  it("has a default that passes its own check, or is required or optional", function()
    each_entry(function(key, entry, variant)
      local default = schema.default(entry, variant)
      if default == nil then
        assert.is_true(entry.required or entry.optional, key .. " has no default")
      else
        assert.is_nil(check.problem(entry, default), key)
      end
    end)
  end)

  it("belongs to variants that exist", function()
    each_entry(function(key, entry, _, name)
      local known = {}
      for _, variant in ipairs(name and schema.section(name).variants() or {}) do known[variant] = true end
      for _, variant in ipairs(entry.of or {}) do assert.is_true(known[variant], key .. " of " .. variant) end
      for variant in pairs(entry.default_of or {}) do assert.is_true(known[variant], key .. " of " .. variant) end
    end)
  end)

  it("has an example, if any, that sets it to something it accepts", function()
    each_entry(function(key, entry)
      local of_its_own = key == "name" or key == "seed" or key == "model.arch"
      if entry.example and not of_its_own then
        assert.is_nil(check.problem(entry, overrides.parse({ entry.example })[key]), entry.example)
      end
    end)
  end)

  it("may be given on the command line under its full name, which the error for a wrong value then names", function()
    each_entry(function(key, entry, variant, name)
      if not name then return end
      local t = { data = { source = "moons" }, model = { arch = "mlp" } }
      local section = schema.section(name)
      t[name] = { [section.variant] = variant, path = (variant == "idx" or variant == "csv") and "x" or nil }
      local ok, e = pcall(recipe.from_table, t, { overrides = { key .. "={{}}" } })
      if entry.type ~= "string" or entry.choices then
        assert.is_false(ok, key)
        assert.equal("command line: " .. key .. ": found ", e.message:sub(1, 22 + #key))
      end
    end)
  end)
end)

describe("every recipe of recipes/", function()
  for _, name in ipairs(recipe.list()) do
    it("resolves in every budget and with every activation: " .. name, function()
      for _, budget in ipairs({ false, unpack(schema.budgets) }) do
        for _, kind in ipairs(schema.engine_names("activation")) do
          local ok, r = pcall(recipe.load, name, { budget = budget or nil, overrides = { "gate.kind=" .. kind } })
          assert.is_true(ok, tostring(r))
          assert.equal(kind, r.config.gate.kind)
          assert.equal(name, r.name)
        end
      end
    end)
  end
end)

describe("the hash of a shipped recipe", function()
  it("does not change by accident", function()
    assert.equal('{"data":{"n":2000,"noise":0.2,"seed":0,"source":"moons","test":0.5,"validation":0.1},"gate":{"c":1,'
      .. '"init":"gelu","kind":"lambda_gelu","learn":true,"reparam":"softplus","t":0.1,"tie":false},"model":{'
      .. '"arch":"mlp","bias":true,"dropout":0,"hidden":[32,32]},"optimizer":{"beta1":0.9,"beta2":0.999,"clip":0,'
      .. '"decay_biases":false,"decay_gates":false,"eps":1e-08,"lr":0.001,"name":"adam","weight_decay":0},'
      .. '"schedule":{"name":"constant","warmup":0},"train":{"batch":64,"epochs":100,"eval_batch":1000,'
      .. '"label_smoothing":0,"last":"keep","loss":"cross_entropy"}}', recipe.load("moons").hash_text)
    assert.equal("6aa1ce66a4b3e33213ab046d6ebe54a81e044362c7ee1c9bdb30d34f9cf951bd", recipe.load("moons").hash)
  end)
end)
