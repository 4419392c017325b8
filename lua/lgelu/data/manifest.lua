--- The manifest of data sets (data/manifest.lua) as a table; the file describes its fields. Nothing is checked on disk
-- here. Used by the sources, by lgelu.data.files and by `lgelu data`.
local errors = require("lgelu.errors")
local paths = require("lgelu.paths")

local manifest = {}

local sets

--- Entries by name.
function manifest.all()
  if not sets then
    local chunk, message = loadfile(paths.data .. "/manifest.lua")
    if not chunk then errors.fail("the manifest of data sets cannot be read: %s", message) end
    sets = chunk()
  end
  return sets
end

--- The entry of one data set; a usage error with the nearest name when there is none.
function manifest.get(name)
  local entry = manifest.all()[name]
  if entry then return entry end
  local names = {}
  for known in pairs(manifest.all()) do names[#names + 1] = known end
  table.sort(names)
  errors.usage("no data set '%s' in the manifest, which holds: %s%s", name, table.concat(names, ", "),
    errors.suggest(name, names))
end

return manifest
