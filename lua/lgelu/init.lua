--- lg: the one table that scripts, recipes and the REPL see.
-- lg.X is the module lgelu.X, loaded when it is first used; names that are no module are functions of lgelu.tensor
-- (lg.zeros, …), and lg.tensor is its constructor. lg.version is the engine's version. An unknown name is an error,
-- not nil.
local errors = require("lgelu.errors")

local lg = {}

-- Modules that scripts use, for completion and for the message on an unknown name.
local MODULES = {
  "bench", "compare", "data", "errors", "export", "gate", "h5", "models", "nn", "optim", "paths", "plot", "probe",
  "recipe", "repl", "safetensors", "stats", "store", "swap", "sweep", "train", "trained",
}

local function is_module(name)
  return package.searchpath("lgelu." .. name, package.path) ~= nil
end

--- Every name that lg.NAME accepts, sorted: modules that exist and functions of lgelu.tensor. For completion.
function lg.names()
  local seen, names = { version = true, names = true }, { "version", "names" }
  local function add(name)
    if not seen[name] then
      seen[name] = true
      names[#names + 1] = name
    end
  end
  for _, name in ipairs(MODULES) do
    if is_module(name) then add(name) end
  end
  for name in pairs(require("lgelu.tensor")) do
    if type(name) == "string" and not name:match("^_") then add(name) end
  end
  table.sort(names)
  return names
end

setmetatable(lg, {
  __index = function(_, name)
    if type(name) ~= "string" or name:match("^__") then return nil end
    local value
    if name == "version" then
      local C = require("lgelu.C")
      value = C.ffi.string(C.lib.lg_version())
    else
      local found = name ~= "tensor" and name:match("^[%w_]+$") and is_module(name)
      value = found and require("lgelu." .. name) or rawget(require("lgelu.tensor"), name)
    end
    if value == nil then errors.usage("lg has no '%s'%s", name, errors.suggest(name, lg.names())) end
    rawset(lg, name, value)
    return value
  end,
})

return lg
