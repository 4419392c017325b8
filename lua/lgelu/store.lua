--- Run folders: making, finding and opening them. The one module of the store that others call.
-- A run is a folder with run.h5 (readable with h5py and h5dump), last.ckpt.h5, best.ckpt.h5, log.txt and fig/.
-- The parts: store/format.lua (layout), store/run.lua (writing), store/reader.lua, store/checkpoint.lua.
local C = require("lgelu.C")
local checkpoint = require("lgelu.store.checkpoint")
local errors = require("lgelu.errors")
local format = require("lgelu.store.format")
local lfs = require("lfs")
local reader = require("lgelu.store.reader")
local run = require("lgelu.store.run")

local store = {
  save_checkpoint = checkpoint.save,
  load_checkpoint = checkpoint.load,
}

--- The folder that holds runs when none is named.
store.root = "runs"

local function mode(path)
  return (lfs.attributes(path, "mode"))
end

local function join(dir, name)
  return dir == "." and name or (dir:gsub("/*$", "/", 1)) .. name
end

-- A folder's name without slashes at its end.
local function plain(dir)
  return #dir > 1 and (dir:gsub("(.)/+$", "%1")) or dir
end

local function has_run(dir)
  return mode(join(dir, format.run_file)) == "file"
end

-- Entries that a run killed before its first run.h5 leaves; a folder with nothing else may be used.
local function is_leftover(name)
  return name == "." or name == ".." or name == format.log_file or name:match("^run%.h5%.%d+%.tmp$") ~= nil
end

--- May a run be made in that folder? Yes where there is none, or where it holds nothing that is missed.
function store.is_free(dir)
  if not mode(dir) then return true end
  if mode(dir) ~= "directory" then return false end
  for name in lfs.dir(dir) do
    if not is_leftover(name) then return false end
  end
  return true
end

local function refuse(dir)
  errors.usage("%s exists%s; --resume goes on with it, --out DIR takes another folder", dir,
    has_run(dir) and " and holds a run" or mode(dir) == "directory" and " and is not empty" or " and is no folder")
end

--- Makes a run's folder and its run.h5. Never writes over anything: a folder that holds something is an error that
-- names the ways on (an empty one may be used).
-- @param dir   folder; those above it are made
-- @param info  { attrs = { name =, recipe = source text, config = resolved recipe as JSON text, hash =, seed =,
--                lgelu_version =, git_commit =, git_dirty =, cpu =, blas =, blas_core =, threads =, data_sha256 =, … },
--              gates = { names = {…L}, lambda = {…L}, s = {…L}, t =, c =, init =, kind =, … } (lambda and s are empty
--                where no gate has a λ),
--              tokens = { level =, vocabulary = list of texts, nil for bytes } where the data are text (optional),
--              columns = { names, kinds, features = lists of texts } where they are a table (optional),
--              units, descriptions = by column of /epochs or matrix of /gates, instead of the usual ones (optional) }
-- @return run object for writing (store/run.lua), which holds the folder's lock
function store.create(dir, info)
  dir = plain(dir)
  for _, name in ipairs({ "name", "recipe", "config", "hash", "seed" }) do
    if info.attrs[name] == nil then errors.fail("%s: a run cannot be made without its attribute '%s'", dir, name) end
  end
  local gates = #info.gates.lambda
  if gates > 0 and gates ~= #info.gates.names then
    errors.fail("%s: %d gates have names and %d have a λ", dir, #info.gates.names, gates)
  end
  if not store.is_free(dir) then refuse(dir) end
  C.check(C.lib.lg_dir_make(dir))
  local attrs = {}
  for name, value in pairs(info.attrs) do
    attrs[name] = value
  end
  local created = run.attach(dir, attrs, gates)
  if has_run(dir) then -- another process was faster between the question and the lock
    created:release()
    refuse(dir)
  end
  created:begin(info)
  return created
end

--- Opens a run for reading.
-- @param path  the run's folder, or its run.h5
-- @return reader (store/reader.lua): attrs, dir, epochs(), gates(), best(), config(), status()
function store.open(path)
  local dir = path
  if mode(path) == "file" then
    dir = path:match("^(.*)/[^/]+$") or "."
    if (path:match("[^/]+$")) ~= format.run_file then
      errors.fail("%s: expected a run's folder or its %s", path, format.run_file)
    end
  elseif mode(path) ~= "directory" then
    errors.fail("%s: there is no such run", path)
  elseif not has_run(path) then
    errors.fail("%s: not a run: there is no %s in it", path, format.run_file)
  end
  return reader.open(plain(dir))
end

--- Does the folder hold a run?
store.exists = has_run

--- Is there a file of that name?
function store.file_exists(path)
  return mode(path) == "file"
end

--- Opens a run for changing it or going on with it: a run object (store/run.lua) with attrs, which holds the folder's
-- lock. Nothing is written yet; its first append marks it as running again. Errors: no run, damaged, in use by another
-- process (named).
function store.reopen(dir)
  local found = store.open(dir)
  return run.attach(found.dir, found.attrs, #found:gates().lambda[1])
end

local PATIENCE = 10 -- seconds; what others add to a run that ended is written in much less

--- Adds to run.h5 of a run that ended, at one instant: fn(file) gets an lgelu.h5 file. Waits while another process does
-- the same.
-- @raise fails when a process has the run, or when the file cannot be written; it is then as it was
function store.change(dir, fn)
  local found = store.open(dir)
  local changed = run.attach(found.dir, found.attrs, #found:gates().lambda[1], PATIENCE)
  local ok, e = pcall(changed.update, changed, fn)
  changed:release()
  if not ok then error(e, 0) end
end

local function folders(root)
  local names = {}
  if mode(root) == "directory" then
    for name in lfs.dir(root) do
      if name:sub(1, 1) ~= "." and has_run(join(root, name)) then names[#names + 1] = name end
    end
  end
  table.sort(names)
  return names
end

--- Runs in the folders of root (default "runs"), or root itself when it is one.
-- @return list of readers, by folder name; list of { path =, message = } of those that cannot be read
function store.list(root)
  root = root or store.root
  local runs, damaged = {}, {}
  local paths = has_run(root) and { root } or {}
  if #paths == 0 then
    for i, name in ipairs(folders(root)) do
      paths[i] = join(root, name)
    end
  end
  for _, path in ipairs(paths) do
    local ok, result = pcall(store.open, path)
    if ok then
      runs[#runs + 1] = result
    elseif errors.is(result) then
      damaged[#damaged + 1] = { path = path, message = result.message }
    else
      error(result, 0)
    end
  end
  return runs, damaged
end

--- The folder of a run that a person named: its folder, its run.h5, or the beginning of a name under runs/ that only
-- one has. Errors (usage): none, with the nearest name; several, with all of them.
function store.resolve(name, root)
  root = root or store.root
  if mode(name) == "file" and name:match("[^/]+$") == format.run_file then return name:match("^(.*)/[^/]+$") or "." end
  if has_run(name) then return plain(name) end
  if mode(name) and name:find("/") then errors.usage("%s: not a run: there is no %s in it", name, format.run_file) end
  local names, matches = folders(root), {}
  for _, candidate in ipairs(names) do
    if candidate == name then return join(root, name) end
    if candidate:sub(1, #name) == name then matches[#matches + 1] = candidate end
  end
  if #matches == 1 then return join(root, matches[1]) end
  if #matches > 1 then
    errors.usage("'%s' could be each of these runs in %s: %s", name, root, table.concat(matches, ", "))
  end
  errors.usage("there is no run '%s' in %s%s%s", name, root, errors.suggest(name, names),
    #names == 0 and ": it has no runs" or "; 'lgelu ls' lists them")
end

return store
