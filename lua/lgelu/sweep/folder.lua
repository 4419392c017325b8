--- A sweep's folder: its plan, and what has become of each run. Called by the other parts of lgelu.sweep.
-- What it is not: a database beside the runs: a run's state is read from its own folder, so that it is true however a
-- process ended. The folder, runs/sweeps/<name>/:
--   plan.json          the runs of the sweep as it was last started (see sweep/file.lua)
--   state.json         an overview for others to read, replaced as a whole whenever something changes
--   <run>/             a run folder as `lgelu run` makes it (run.h5, checkpoints, log.txt)
--   failed/<run>.txt   the message of a run that failed; it is tried again with --retry only
--   output/<run>.txt   what the run's process printed
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local json = require("lgelu.recipe.json")
local lfs = require("lfs")
local store = require("lgelu.store")
local text = require("lgelu.store.text")

local folder = {}

folder.root = "runs/sweeps"
local PLAN, FORMAT, VERSION = "plan.json", "lgelu-sweep-plan", 1

local function read(path)
  local file = io.open(path, "rb")
  if not file then return nil end
  local content = file:read("*a")
  file:close()
  return content
end

local function replace(path, content)
  C.check(C.lib.lg_file_replace(path, content, #content))
end

--- Is it a sweep's folder?
function folder.exists(dir)
  return lfs.attributes(dir .. "/" .. PLAN, "mode") == "file"
end

--- Writes the plan; makes the folder when it is missing.
function folder.write_plan(dir, plan)
  C.check(C.lib.lg_dir_make(dir .. "/failed"))
  C.check(C.lib.lg_dir_make(dir .. "/output"))
  local all = { format = FORMAT, format_version = VERSION }
  for key, value in pairs(plan) do all[key] = value end
  replace(dir .. "/" .. PLAN, json.encode(all) .. "\n")
end

--- Reads the plan of a sweep's folder. Errors: none there, damaged, of a newer lgelu.
function folder.read_plan(dir)
  local path = dir .. "/" .. PLAN
  local content = read(path)
  if not content then errors.usage("%s: not a sweep's folder: there is no %s in it", dir, PLAN) end
  local plan = text.from_json(content, path)
  if type(plan) ~= "table" or plan.format ~= FORMAT or type(plan.format_version) ~= "number"
    or type(plan.runs) ~= "table" then
    errors.fail("%s: not the plan of a sweep", path)
  end
  if plan.format_version > VERSION then
    errors.fail("%s: written by a newer lgelu (format_version %d, this one reads up to %d)", path, plan.format_version,
      VERSION)
  end
  return plan
end

function folder.run_dir(dir, run) return dir .. "/" .. run end
function folder.output_file(dir, run) return dir .. "/output/" .. run .. ".txt" end
local function failed_file(dir, run) return dir .. "/failed/" .. run .. ".txt" end

--- How many runs lie in the folder that are none of the plan's: of another budget, other seeds, another recipe.
function folder.strangers(dir, plan)
  local own, count = {}, 0
  if lfs.attributes(dir, "mode") ~= "directory" then return 0 end
  for _, entry in ipairs(plan.runs) do own[entry.run] = true end
  for name in lfs.dir(dir) do
    if not own[name] and name ~= "." and name ~= ".." and store.exists(dir .. "/" .. name) then count = count + 1 end
  end
  return count
end

--- Remembers that a run failed, and why; nil as message: it did not (any more).
function folder.set_failed(dir, run, message)
  if message then
    replace(failed_file(dir, run), message .. "\n")
  else
    os.remove(failed_file(dir, run))
  end
end

-- Is what comes after the training still to be done?
local function has_rest(plan, found)
  return plan.after == "swap" and #require("lgelu.swap").list(found) == 0
end

--- Is that the run of the plan, by its hash and seed? A run's folder may have been copied under another name.
function folder.holds(found, entry)
  return found.attrs.hash == entry.hash and tonumber(found.attrs.seed) == entry.seed
end

--- What has become of a run.
-- @param entry  a run of the plan
-- @return status, message, reader: "done"; "failed" with its message; "running" (a process is at it); "unfinished" (it
--   was stopped or killed, or what comes after the training is missing); "damaged" with a message (its run.h5 cannot be
--   read, is another run's, or is gone); "missing" (not begun). reader: the run's (lgelu.store), where it can be read
function folder.status(dir, plan, entry)
  local path = folder.run_dir(dir, entry.run)
  local message = read(failed_file(dir, entry.run))
  message = message and message:gsub("%s+$", "")
  if not store.exists(path) then
    if not store.is_free(path) then return "damaged", path .. " holds files, but no run.h5", nil end
    return message and "failed" or "missing", message, nil
  end
  local ok, found = pcall(store.open, path)
  if not ok then return "damaged", found.message or tostring(found), nil end
  if not folder.holds(found, entry) then
    return "damaged", ("%s holds the run %s with seed %s"):format(path, tostring(found.attrs.hash):sub(1, 8),
      tostring(found.attrs.seed)), nil
  end
  if C.lib.lg_lock_taken(path) == 1 then return "running", nil, found end
  if message or found.attrs.status == "failed" then return "failed", message or found.attrs.error or "?", found end
  if found.attrs.status ~= "done" then return "unfinished", nil, found end
  return has_rest(plan, found) and "unfinished" or "done", nil, found
end

--- Reads state.json; nil when there is none.
function folder.read_state(dir)
  local content = read(dir .. "/state.json")
  return content and text.from_json(content, dir .. "/state.json")
end

--- Writes state.json.
-- @param state  plain table
function folder.write_state(dir, state)
  state.written = text.now()
  replace(dir .. "/state.json", json.encode(state) .. "\n")
end

return folder
