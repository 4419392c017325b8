--- A sweep on a cluster: one job array of Slurm, a task for each run that is to be done, all in the sweep's folder on a
-- disk that the nodes share. A task is the same process as on one machine (sweep/cell.lua), and the state of the sweep
-- is read from the same files. What it is not: a scheduler; partition, account and time limit are sbatch's own
-- variables (SBATCH_PARTITION, SBATCH_ACCOUNT, SBATCH_TIMELIMIT).
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local folder = require("lgelu.sweep.folder")
local paths = require("lgelu.paths")

local slurm = {}

local SCRIPT = "slurm.sh"
local SECONDS_TO_SAVE = 120 -- before its time limit a task gets Ctrl-C, saves a checkpoint and ends

local function quote(word) return "'" .. word:gsub("'", "'\\''") .. "'" end

-- Exit status and output of a command.
local function shell(command)
  local pipe = io.popen("(" .. command .. ") 2>&1; echo status=$?")
  local said = pipe and pipe:read("*a") or ""
  if pipe then pipe:close() end
  local output, status = said:match("^(.-)%s*status=(%d+)%s*$")
  return tonumber(status), output
end

--- The script of the job array.
-- @param o  { dir = absolute path, name, program = absolute path, jobs = list of runs of the plan, parallel = how many
--   tasks at a time (nil: as many as Slurm gives), threads = of each }
function slurm.script(o)
  local lines = {
    "#!/bin/sh",
    "#SBATCH --job-name=" .. o.name,
    ("#SBATCH --array=0-%d%s"):format(#o.jobs - 1, o.parallel and "%" .. o.parallel or ""),
    "#SBATCH --cpus-per-task=" .. o.threads,
    "#SBATCH --output=/dev/null",
    ("#SBATCH --signal=B:INT@%d"):format(SECONDS_TO_SAVE),
    "# Each task trains one of these runs; submitted again, it goes on with it.",
    "set -- \\",
  }
  for i, entry in ipairs(o.jobs) do lines[#lines + 1] = ("  %s%s"):format(entry.run, i < #o.jobs and " \\" or "") end
  lines[#lines + 1] = 'shift "$SLURM_ARRAY_TASK_ID"'
  lines[#lines + 1] = ('exec %s sweep %s --only "$1" --threads %d --quiet >%s/"$1".txt 2>&1'):format(quote(o.program),
    quote(o.dir), o.threads, quote(o.dir .. "/output"))
  return table.concat(lines, "\n") .. "\n"
end

-- The script for a sweep in that folder, which may not be there yet.
local function script_for(dir, plan, jobs, options)
  local inside, program = pcall(require, "lgelu.program")
  if not inside then errors.fail("a sweep starts the program lgelu: call it as 'lgelu sweep'") end
  local absolute = paths.absolute(dir) or (dir:sub(1, 1) == "/" and dir or paths.absolute(".") .. "/" .. dir)
  return slurm.script({ dir = absolute, name = plan.name, program = program.exe, jobs = jobs, parallel = options.jobs,
    threads = options.threads or 1 })
end

--- The script that slurm.submit would submit, as text; nil when nothing is to be done.
slurm.preview = function(dir, plan, jobs, options)
  return #jobs > 0 and script_for(dir, plan, jobs, options) or nil
end

-- A sweep whose array is still in the queue would train runs twice.
local function check_queue(dir)
  local state = folder.read_state(dir)
  local job = state and state.slurm_job
  if not job then return end
  local status, queued = shell(("squeue --noheader --jobs=%s --format=%%i"):format(quote(job)))
  if status == 0 and queued:find("%S") then
    errors.fail("%s: batch job %s of this sweep is still queued or running: wait for it, or end it with 'scancel %s'",
      dir, job, job)
  end
end

--- Writes the script and submits it.
-- @param jobs     runs of the plan that are to be done
-- @param options  { jobs, threads }
-- @return the batch job's id, for state.json. Raises: the last array is still queued, sbatch is missing or refuses
function slurm.submit(dir, plan, jobs, options)
  check_queue(dir)
  local path, text = dir .. "/" .. SCRIPT, script_for(dir, plan, jobs, options)
  C.check(C.lib.lg_file_replace(path, text, #text))
  local status, said = shell("sbatch --parsable " .. quote(path))
  if status == 127 then
    errors.fail("sbatch is not there (Debian's slurm-client): is this a machine from which jobs are submitted?")
  end
  local job = said:match("(%d+)[^\n]*$")
  if status ~= 0 or not job then errors.fail("sbatch refused %s: %s", path, said) end
  return job
end

return slurm
