--- Checkpoints: named tensors and scalars in one HDF5 file, complete or not there, and known to be undamaged when read.
-- What it is not: a choice of what belongs in one; lgelu.train makes it.
local errors = require("lgelu.errors")
local format = require("lgelu.store.format")
local h5 = require("lgelu.h5")

local checkpoint = {}

--- Writes a checkpoint; an older one of that name stays until the new one is whole and on the disk.
-- @param path   file name
-- @param state  { attrs = { name = number | string | boolean }, tensors = { ["/params/fc1.weight"] = tensor } }
function checkpoint.save(path, state)
  h5.with(path, "w", function(file)
    for name, value in pairs(state.attrs) do
      file:set_attr("/", name, value)
    end
    for name, tensor in pairs(state.tensors) do
      file:write(name, tensor)
    end
    file:set_attr("/", "format", format.checkpoint)
    file:set_attr("/", "format_version", format.checkpoint_version)
  end)
end

local function read_tree(file, group, tensors)
  for _, child in ipairs(file:list(group)) do
    local name = (group == "/" and "" or group) .. "/" .. child
    if file:is_group(name) then
      read_tree(file, name, tensors)
    else
      tensors[name] = file:read(name)
    end
  end
  return tensors
end

-- What to do about an unusable checkpoint.
local function advice(path)
  local dir, name = path:match("^(.*/)([^/]+)$")
  if (name or path) == format.last_checkpoint then
    local best = (dir or "") .. format.best_checkpoint
    return ("; to go on from the best epoch: mv %s %s; to start over: delete it"):format(best, path)
  end
  return "; delete it, and train again what needs it"
end

local function read(path)
  return h5.with(path, "r", function(file)
    local attrs = file:attrs("/")
    if attrs.format ~= format.checkpoint then
      errors.fail("%s: not a checkpoint of lgelu: its attribute 'format' is %s, expected '%s'", path,
        attrs.format and ("'%s'"):format(tostring(attrs.format)) or "missing", format.checkpoint)
    end
    if not file:sealed() then
      errors.fail("%s: its checksum is missing: it was cut short, or changed by another program", path)
    end
    if attrs.format_version ~= format.checkpoint_version then
      errors.fail("%s: a checkpoint of format_version %s, expected %d", path, tostring(attrs.format_version),
        format.checkpoint_version)
    end
    attrs.format, attrs.format_version = nil, nil
    return { attrs = attrs, tensors = read_tree(file, "/", {}) }
  end)
end

--- Reads a checkpoint: { attrs =, tensors = } as it was saved. The error for one that is missing, damaged, cut short or
-- something else says what to do.
function checkpoint.load(path)
  local ok, result = pcall(read, path)
  if ok then return result end
  if not errors.is(result, "fail") then error(result, 0) end
  if result.engine == "missing" then error(result, 0) end
  errors.fail("%s%s", result.message, advice(path))
end

return checkpoint
