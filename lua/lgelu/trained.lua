--- trained: a stored run's network, with its weights, its data and its gates, ready to be looked at: what swap, export,
-- certificates, probing and fine-tuning start from. Never writes to the run; training is lgelu.train's.
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local network = require("lgelu.network")
local recipe = require("lgelu.recipe")
local states = require("lgelu.train.state")
local store = require("lgelu.store")

local trained = {}
local Trained = {}
Trained.__index = Trained

local CHECKPOINTS = { best = "/best.ckpt.h5", last = "/last.ckpt.h5" }

--- The file of a run's weights, which can be used: the run ended, and the file is there.
-- @param run    a reader of the store
-- @param which  "best" or "last"
function trained.checkpoint(run, which)
  local status, file = run:status(), CHECKPOINTS[which]
  if status == "failed" then
    errors.fail("%s: the run failed%s: there is no trained network in it", run.dir,
      run.attrs.error and " (" .. tostring(run.attrs.error):match("^[^\n]*") .. ")" or "")
  elseif status ~= "done" then
    errors.fail("%s: the run is %s, not done%s", run.dir, status,
      status == "running" and ": wait for its end" or ": finish it first (lgelu run … --resume)")
  end
  if not store.file_exists(run.dir .. file) then
    errors.fail("%s: its %s checkpoint (%s) is missing", run.dir, which, file:sub(2))
  end
  return run.dir .. file
end

--- The recipe of a stored run, resolved again; an error when this lgelu resolves it to another hash.
-- @param run  a reader of the store
function trained.recipe(run)
  local resolved = recipe.from_stored(run.attrs.config, run.attrs.recipe, run.path)
  resolved.seed = tonumber(run.attrs.seed)
  return resolved
end

--- Opens a finished run.
-- @param name     folder, run.h5, or the beginning of a name under runs/
-- @param options  { checkpoint = "best" or "last" (default: the run's own, "last" when it was hardened),
--   training = plan for training too (false), probe = keep each gate's input and output readable after a forward
--   (false; see network:gate_input) }
-- @return { dir, run (reader), file (of the checkpoint), resolved, config, set (data), net, loader(self, part) }
-- @raise usage error for an unknown run or checkpoint; fails for a run that is not done, damaged files, other data
function trained.open(name, options)
  options = options or {}
  if options.checkpoint and not CHECKPOINTS[options.checkpoint] then
    errors.usage("checkpoint '%s': expected best or last", tostring(options.checkpoint))
  end
  local run = store.open(store.resolve(name))
  local which = options.checkpoint or run:weights()
  local path = trained.checkpoint(run, which)
  local resolved = trained.recipe(run)
  local set = data.load(resolved.config.data)
  if set.sha256 ~= run.attrs.data_sha256 then
    errors.fail("%s was trained on other data (sha256 %s, now %s)", run.dir, run.attrs.data_sha256:sub(1, 12),
      set.sha256:sub(1, 12))
  end
  local train_index, val_index = data.split(set, resolved.config.data.validation, resolved.seed)
  local net = network.of(resolved, set, { training = options.training or false, probe = options.probe })
  if resolved.hash ~= run.attrs.hash then
    errors.fail("%s: its recipe resolves to %s now, it was trained as %s: this lgelu gives some key another meaning",
      run.dir, resolved.hash:sub(1, 8), tostring(run.attrs.hash):sub(1, 8))
  end
  states.load_parameters(path, { net = net, resolved = resolved })
  return setmetatable({
    dir = run.dir, run = run, resolved = resolved, config = resolved.config, set = set, net = net, checkpoint = which,
    file = path, index = { train = train_index, val = val_index },
  }, Trained)
end

--- The same of a recipe that was not trained: its network as it is before the first step.
-- @param resolved  what recipe.load returns
-- @param options   { training, probe } as for open
-- @return as open, without dir, run, file and checkpoint
function trained.untrained(resolved, options)
  local set = data.load(resolved.config.data)
  local train_index, val_index = data.split(set, resolved.config.data.validation, resolved.seed)
  options = options or {}
  local net = network.of(resolved, set, { training = options.training or false, probe = options.probe })
  return setmetatable({
    resolved = resolved, config = resolved.config, set = set, net = net,
    index = { train = train_index, val = val_index },
  }, Trained)
end

--- A fresh loader over a part of the data, in order, as it is (no augmentation), in evaluation batches.
-- @param part  "train" (what was trained on), "val" or "test"
function Trained:loader(part)
  if part ~= "train" and part ~= "val" and part ~= "test" then
    errors.usage("part '%s': expected train, val or test", tostring(part))
  end
  if part == "test" and not self.set.test then errors.fail("the data %s have no test part", self.set.name) end
  return data.loader(self.set, part == "test" and "test" or "train", self.index[part],
    { batch = self.config.train.eval_batch })
end

return trained
