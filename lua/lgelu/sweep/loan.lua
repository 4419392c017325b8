--- Runs that another sweep beside this one has done already: they are copied, not trained again. The same name means
-- the same recipe and seed, since a run's name holds its hash. Called by lgelu.sweep before it starts anything.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local lfs = require("lfs")
local store = require("lgelu.store")

local loan = {}

local FILES = { "last.ckpt.h5", "best.ckpt.h5", "log.txt", "run.h5" }

-- Copies a run's folder; it appears under its name complete, or not at all.
local function copy(from, to)
  local beside = to .. ".copy"
  C.check(C.lib.lg_dir_make(beside))
  for _, name in ipairs(FILES) do
    local file = io.open(from .. "/" .. name, "rb")
    if file then
      local content = file:read("*a")
      file:close()
      C.check(C.lib.lg_file_replace(beside .. "/" .. name, content, #content))
    end
  end
  local ok, message = os.rename(beside, to)
  if not ok then errors.fail("%s", message) end
end

-- Folders of other sweeps beside this one, sorted.
local function neighbours(dir)
  local parent, own = dir:match("^(.*)/([^/]+)/*$")
  parent, own = parent or ".", own or dir
  local list = {}
  if lfs.attributes(parent, "mode") ~= "directory" then return list end -- of a preview
  for name in lfs.dir(parent) do
    if name ~= own and name:sub(1, 1) ~= "." and folder.exists(parent .. "/" .. name) then
      list[#list + 1] = parent .. "/" .. name
    end
  end
  table.sort(list)
  return list
end

-- Is it a finished run of that recipe?
local function is_done(path, entry)
  if not store.exists(path) then return false end
  local ok, found = pcall(store.open, path)
  return ok and found:status() == "done" and folder.holds(found, entry)
end

--- What is missing in a sweep's folder and done in another.
-- @return run → its folder in the other sweep; folder of another sweep → how many runs it has
function loan.find(dir, plan)
  local found, counts, others = {}, {}, neighbours(dir)
  for _, entry in ipairs(plan.runs) do
    -- A folder that is there, if only with a log, belongs to a run that began here.
    local wanted = folder.status(dir, plan, entry) == "missing" and not lfs.attributes(folder.run_dir(dir, entry.run))
    for _, other in ipairs(wanted and others or {}) do
      local from = folder.run_dir(other, entry.run)
      if not found[entry.run] and is_done(from, entry) then
        found[entry.run], counts[other] = from, (counts[other] or 0) + 1
      end
    end
  end
  return found, counts
end

--- Copies all that `find` finds.
-- @return folder of another sweep → how many runs were taken over from it
function loan.take(dir, plan)
  local found, counts = loan.find(dir, plan)
  for run, from in pairs(found) do copy(from, folder.run_dir(dir, run)) end
  return counts
end

return loan
