--- What verbs share: conversions of command-line words, as lua-argparse wants them (value, or nil and a message), and
-- the options of those that train.
local args = {}

args.MOST_THREADS = 256 -- of the engine's team, src/core/threads.c

--- An integer of at least min.
-- @param option  its name, for the message
-- @param min     least value
-- @param max     greatest value; nil: that which a number holds exactly
function args.integer(option, min, max)
  local range = max and ("from %d to %d"):format(min, max) or (">= %d"):format(min)
  return function(text)
    local value = text:find("^[+-]?%d+$") and tonumber(text)
    if value and value >= min and value <= (max or 2 ^ 53) then return value end
    return nil, ("%s: found '%s', expected an integer %s"):format(option, text, range)
  end
end

--- A finite number of at least min.
-- @param option  its name, for the message
-- @param above   min itself is not allowed
function args.number(option, min, above)
  return function(text)
    local value = tonumber(text)
    if value and value >= min and value < math.huge and not (above and value == min) then return value end
    return nil, ("%s: found '%s', expected a number %s %g"):format(option, text, above and ">" or ">=", min)
  end
end

--- A word that is not empty.
function args.text(option)
  return function(text)
    if text ~= "" then return text end
    return nil, ("%s: found an empty word"):format(option)
  end
end

--- Names of runs as given, without folders of sweeps: runs/* of a shell has runs/sweeps too. They are named on standard
-- error; where nothing else was given, they stay, for the verb to refuse.
function args.without_sweeps(names)
  local sweep, kept, lines = require("lgelu.sweep"), {}, {}
  for _, name in ipairs(names) do
    local first = sweep.first_inside(name)
    if first then
      lines[#lines + 1] = ("lgelu: %s is left out: it holds sweeps, such as %s\n"):format(name, first)
    else
      kept[#kept + 1] = name
    end
  end
  if #kept == 0 then return names end
  io.stderr:write(table.concat(lines))
  return kept
end

--- Declares the options of a verb that trains.
-- @param out  what --out is, with its default
function args.training(parser, out)
  parser:option("--threads", "Threads of the engine; 0, the default: as many as the process may use."):argname("N")
    :convert(args.integer("--threads", 0, args.MOST_THREADS))
  parser:option("--out", out):argname("DIR"):convert(args.text("--out"))
  parser:flag("--resume", "Go on with a run that was stopped.")
  parser:flag("--dry-run", "Print the resolved recipe and the run's folder; train nothing.")
  parser:flag("--profile", "Print where the time of training steps went: seconds, FLOPs and bytes of each node.")
  parser:flag("--quiet", "Print the run's folder alone.")
end

-- The run's folder. What functions of the recipe build is part of the hash, so they have to build it first.
local function folder(given, resolved)
  if given.out then return given.out end
  if not resolved.hash_is_final then require("lgelu.train").session(resolved) end
  return "runs/" .. resolved.run_name
end

--- Trains a resolved recipe as those options say, or shows it only.
-- @param start  what the training starts from, see train.run; nil: from scratch
-- @return exit status
function args.train(resolved, given, start)
  local describe = require("lgelu.recipe").describe
  if given.dry_run then
    local place = folder(given, resolved)
    io.write(describe(resolved), "folder ", place, "\n")
    return 0
  end
  if not given.quiet then io.write(describe(resolved)) end
  local status, dir = require("lgelu.train").run(resolved, {
    out = given.out, resume = given.resume, threads = given.threads, quiet = given.quiet, profile = given.profile,
    start = start,
  })
  if given.quiet then io.write(dir, "\n") end
  return status
end

return args
