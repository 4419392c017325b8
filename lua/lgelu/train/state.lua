--- train/state: what a training knows between two steps, and its checkpoint: parameters, states (running statistics),
-- optimizer state, the step, the best epoch, floors under λ and λ at the switch to hardening, the sums of the epoch.
-- Every step is a function of (recipe, seed, step), so this is all that a resumed run needs to give the bits of an
-- undisturbed one. Called by lgelu.train.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local store = require("lgelu.store")
local tensor = require("lgelu.tensor")

local lib, check = C.lib, C.check
local state = {}

--- What one epoch gathers. gates: number of gates with a λ.
function state.fresh_sums(gates)
  local sums = { loss = 0, score = 0, rows = 0, seconds = 0, steps = 0, lambda_sq = {} }
  for i = 1, gates do
    sums.lambda_sq[i] = 0
  end
  return sums
end

--- The state before the first step.
function state.fresh(gates)
  return { step = 0, epoch = 1, best_epoch = 0, best_score = -math.huge, sums = state.fresh_sums(gates) }
end

-- The floors under λ as they are, and λ at the switch once it is known: what hardening goes on from.
local function put_hardening(tensors, session, now)
  local floors = {}
  for i, g in ipairs(session.net.gates) do
    floors[i] = g.floor or 0
  end
  tensors["/gates/floor"] = tensor.tensor(floors, "f64")
  if now.switch then tensors["/gates/switch_lambda"] = tensor.tensor(now.switch, "f64") end
end

--- Writes a checkpoint at one instant. now: { step, epoch, best_epoch, best_score, sums, switch = λ of each gate at the
-- switch to hardening, or nil }.
function state.save(path, session, now)
  local sums = now.sums
  local attrs = {
    hash = session.resolved.hash, seed = session.seed, step = now.step, epoch = now.epoch,
    best_epoch = now.best_epoch, best_score = now.best_score, loss = sums.loss, score = sums.score, rows = sums.rows,
    seconds = sums.seconds, steps = sums.steps,
  }
  local tensors = {}
  for _, p in ipairs(session.net.params) do
    tensors["/params/" .. p.name] = session.net:tensor(p.name)
  end
  for _, s in ipairs(session.net.states) do
    tensors["/states/" .. s.name] = session.net:tensor(s.name)
  end
  for name, t in session.opt:state() do
    tensors[name] = t
  end
  if session.resolved.config.hardening then put_hardening(tensors, session, now) end
  if #sums.lambda_sq > 0 then tensors["/sums/lambda_sq"] = tensor.tensor(sums.lambda_sq, "f64") end
  store.save_checkpoint(path, { attrs = attrs, tensors = tensors })
end

local function copy_into(view, stored, name, path)
  if not stored then
    errors.fail("%s: '%s' is missing: the file belongs to another model; start anew in another folder (--out DIR)",
      path, name)
  end
  check(lib.lg_tensor_copy(view, stored))
end

-- of: hash of the run that the checkpoint must belong to; nil: the session's own.
local function read(path, session, of)
  local checkpoint = store.load_checkpoint(path)
  local hash = checkpoint.attrs.hash
  of = of or session.resolved.hash
  if hash ~= of then
    errors.fail("%s: belongs to the run %s, not to %s: start anew in another folder (--out DIR)", path,
      tostring(hash):sub(1, 8), of:sub(1, 8))
  end
  return checkpoint
end

-- Puts what a checkpoint holds into the network: parameters, states, floors under λ.
local function put(checkpoint, path, session)
  for _, part in ipairs({ { "/params/", session.net.params }, { "/states/", session.net.states } }) do
    for _, leaf in ipairs(part[2]) do
      local stored = checkpoint.tensors[part[1] .. leaf.name]
      copy_into(session.net:tensor(leaf.name), stored, leaf.name, path)
      if not stored:all_finite() then
        errors.fail("%s: '%s' holds NaN or infinite numbers: the network in it is broken", path, leaf.name)
      end
    end
  end
  local floors = checkpoint.tensors["/gates/floor"]
  floors = floors and floors:totable() or {}
  for i = 1, #session.net.gates do
    session.net:set_floor(i, floors[i] or 0)
  end
end

--- Puts a checkpoint's parameters, states and floors under λ into the session's network.
-- @param of  hash of the run that it must belong to; nil: the session's own
function state.load_parameters(path, session, of)
  put(read(path, session, of), path, session)
end

--- Puts a checkpoint into the session's network and optimizer. Returns the state to go on from.
function state.load(path, session)
  local checkpoint = read(path, session)
  local a = checkpoint.attrs
  put(checkpoint, path, session)
  for name, view in session.opt:state() do
    copy_into(view, checkpoint.tensors[name], name, path)
  end
  local sums = { loss = a.loss, score = a.score, rows = a.rows, seconds = a.seconds, steps = a.steps, lambda_sq = {} }
  local stored = checkpoint.tensors["/sums/lambda_sq"]
  if stored then sums.lambda_sq = stored:totable() end
  local switch = checkpoint.tensors["/gates/switch_lambda"]
  return {
    step = a.step, epoch = a.epoch, best_epoch = a.best_epoch, best_score = a.best_score, sums = sums,
    switch = switch and switch:totable(),
  }
end

return state
