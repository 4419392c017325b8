--- Small stand-ins for lgelu.data, lgelu.models and lgelu.gate, so that the recipe specs (and the golden hash) test the
-- resolver alone and stay as they are when a source or a model gains a key. Called by recipe_*_spec.lua with dofile.

local fakes = {}

local SOURCES = {
  digits = {
    { key = "validation", type = "number", default = 0.1, min = 0, exclusive_max = 1, doc = "Share validated on." },
    { key = "limit", type = "integer", default = 0, min = 0, doc = "Samples used at most; 0: all." },
    { key = "path", type = "string", optional = true, hashed = false, doc = "Folder." },
  },
  moons = {
    { key = "n", type = "integer", default = 2000, min = 2, doc = "Points." },
    { key = "noise", type = "number", default = 0.1, min = 0, doc = "Noise." },
    { key = "validation", type = "number", default = 0.2, min = 0, exclusive_max = 1, doc = "Share validated on." },
  },
}

local ARCHS = {
  mlp = {
    { key = "hidden", type = "list", items = "integer", min = 1, default = { 512, 256, 128 }, doc = "Widths." },
    { key = "dropout", type = "number", default = 0, min = 0, exclusive_max = 1, doc = "Dropout." },
  },
}

--- Puts the stand-ins where require and `lg` find them, until the spec file ends (busted insulates files).
function fakes.install()
  package.loaded["lgelu.data"] = {
    sources = function() return { "digits", "moons" } end,
    schema = function(source) return SOURCES[source] end,
    source = function()
      local function problem(values)
        if values.n == 13 then return "n: found 13, expected any other number" end
      end
      return { doc = "A source.", problem = problem }
    end,
  }
  local models = {
    list = function() return { "mlp" } end,
    schema = function(arch) return ARCHS[arch], "A model." end,
    mlp = function(t)
      t.arch = "mlp"
      return t
    end,
  }
  package.loaded["lgelu.models"] = models
  package.loaded["lgelu.gate"] = {
    init_modes = function() return { "gelu", "ascending", "hard" } end,
    init_doc = function() return "A profile." end,
  }
  rawset(require("lgelu"), "models", models)
end

return fakes
