--- models: the architectures that a recipe can name. lg.models.mlp{ hidden = {64, 64} } returns a declaration, plain
-- data that the recipe stores; lgelu.network builds it. Adding one: a file in lua/lgelu/models/ and a name here.
-- A model file returns { doc =, schema = {entries as in lgelu.recipe.schema}, build = function(nn, x, options, info) →
-- node }.
local errors = require("lgelu.errors")

local NAMES = { "mlp", "cnn", "resnet", "vit", "gpt", "encoder", "ffn" }

local models = {}

--- Names of the architectures.
function models.list()
  local names = {}
  for i, name in ipairs(NAMES) do
    names[i] = name
  end
  return names
end

local function get(arch)
  for _, name in ipairs(NAMES) do
    if name == arch then return require("lgelu.models." .. name) end
  end
  errors.usage("there is no model '%s'%s (known: %s)", tostring(arch), errors.suggest(arch, NAMES),
    table.concat(NAMES, ", "))
end

--- The schema entries of an architecture, and its one-line description.
function models.schema(arch) return get(arch).schema, get(arch).doc end

--- Builds a declaration, or calls an inline function.
-- @param model  { arch =, … } or function (nn, x, info)
-- @return the output node
function models.build(model, nn, x, info)
  if type(model) == "function" then return model(nn, x, info) end
  return get(model.arch).build(nn, x, model, info)
end

return setmetatable(models, {
  __index = function(_, arch)
    get(arch)
    return function(options)
      local declaration = { arch = arch }
      for key, value in pairs(options or {}) do
        declaration[key] = value
      end
      return declaration
    end
  end,
})
