--- Where data files are: the search order of every source that reads files. Reads no content.
-- The order: the recipe's path; each folder of LGELU_DATA (colon-separated); data/ in the current folder and beside the
-- program; the user's data folder; /usr/share/datasets. A path that is given is the only place looked at: a run must
-- not train on another copy than the one its recipe names.
local errors = require("lgelu.errors")
local paths = require("lgelu.paths")

local find = {}

--- Is there a folder of this name?
function find.is_folder(path)
  return paths.absolute(path .. "/.") ~= nil
end

--- Is there a file of this name (no folder)?
function find.is_file(path)
  return paths.absolute(path) ~= nil and not find.is_folder(path)
end

--- The user's data folder: XDG_DATA_HOME/lgelu, by default ~/.local/share/lgelu; nil without HOME. It may not exist.
function find.user_folder()
  local base = os.getenv("XDG_DATA_HOME")
  if not base or base:sub(1, 1) ~= "/" then -- the XDG specification: a relative path is ignored
    local home = os.getenv("HOME")
    if not home or home == "" then return nil end
    base = home .. "/.local/share"
  end
  return base .. "/lgelu"
end

--- The folders to search, each once: list of { path =, from = what names it, absent = true when it is no folder }.
function find.folders()
  local folders, seen = {}, {}
  local function add(path, from)
    local real = paths.absolute(path)
    if real and seen[real] then return end
    if real then seen[real] = true end
    folders[#folders + 1] = { path = path, from = from, absent = not find.is_folder(path) }
  end
  for path in (os.getenv("LGELU_DATA") or ""):gmatch("[^:]+") do add(path, "LGELU_DATA") end
  add("data", "the current folder")
  add(paths.data, "lgelu's own folder")
  local user = find.user_folder()
  if user then add(user, "your data folder") end
  add("/usr/share/datasets", "the system's data folder")
  return folders
end

--- The file itself or the same name with .gz; nil when there is neither.
function find.packed(path)
  for _, candidate in ipairs({ path, path .. ".gz" }) do
    if find.is_file(candidate) then return candidate end
  end
end

--- Names of `files` that folder lacks, plain or gzipped.
local function lacking(folder, files)
  local missing = {}
  for _, name in ipairs(files) do
    if not find.packed(folder .. "/" .. name) then missing[#missing + 1] = name end
  end
  return missing
end

--- Looks for a folder that holds all the files.
-- @param wanted  { folders = names to try below each place, files = names without .gz, path = the recipe's, or nil }
-- @return folder, or nil; list of lines that say what was looked at and what was amiss there
function find.set(wanted)
  local tried = {}
  local function try(folder, note)
    if not find.is_folder(folder) then
      tried[#tried + 1] = folder .. ": no such folder" .. note
      return false
    end
    local missing = lacking(folder, wanted.files)
    if #missing == 0 then return true end
    tried[#tried + 1] = ("%s: lacks %s%s"):format(folder, table.concat(missing, ", "), note)
    return false
  end
  local places = wanted.path and { { path = wanted.path, from = "data.path" } } or find.folders()
  for _, place in ipairs(places) do
    local note = (" (%s)"):format(place.from)
    if place.absent or wanted.path and not find.is_folder(place.path) then
      tried[#tried + 1] = place.path .. ": no such folder" .. note
    else
      if wanted.path and #lacking(place.path, wanted.files) == 0 then return place.path, tried end
      for _, name in ipairs(wanted.folders) do
        local folder = place.path:gsub("/+$", "") .. "/" .. name
        -- Only the first spelling is reported as absent; the others would repeat it.
        if find.is_folder(folder) or name == wanted.folders[1] then
          if try(folder, note) then return folder, tried end
        end
      end
      if wanted.path then try(place.path, note) end
    end
  end
  return nil, tried
end

--- LGELU_DATA's folders that do not exist, as notes for the log: a misspelt one is otherwise passed over in silence.
function find.notes()
  local notes = {}
  for _, folder in ipairs(find.folders()) do
    if folder.from == "LGELU_DATA" and folder.absent then
      notes[#notes + 1] = ("LGELU_DATA names %s, which is no folder"):format(folder.path)
    end
  end
  return notes
end

--- Raises the error for a data set that is nowhere.
-- @param name   the set's name
-- @param tried  lines from find.set
-- @param ways   list of ways on, as texts
function find.missing(name, tried, ways)
  errors.fail("%s: the data set is not there. Looked at:\n  %s\nWays on:\n  %s", name, table.concat(tried, "\n  "),
    table.concat(ways, "\n  "))
end

return find
