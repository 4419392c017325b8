--- train: from a resolved recipe to a finished run. Owns the loop; the numbers are the engine's, the files the store's.
-- Every step is a pure function of (recipe, seed, step), so a run that was killed and resumed gives the same bits as
-- one that was not: permutation and dropout are counter-based, and a checkpoint holds all sums of the present epoch.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local progress = require("lgelu.progress")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local tensor = require("lgelu.tensor")

local ffi, lib, check = C.ffi, C.lib, C.check
local train = {}

local CHECKPOINT_SECONDS = 120 -- between checkpoints inside an epoch: what a kill can cost

local function text(pointer) return ffi.string(pointer) end

-- Building ------------------------------------------------------------------------------------------------------------

--- Data, network, optimizer and loaders of a resolved recipe: everything that a step needs, before any file is written.
-- @return session { resolved, set, net, opt, train, val, total, epochs, seed }
function train.session(resolved)
  local config = resolved.config
  local set = data.load(config.data)
  local train_index, val_index = data.split(set, config.data.validation, resolved.seed)
  local options = {
    model = resolved.model, gate = config.gate, gate_init = resolved.gate_init, where = resolved.where("model"),
    info = { classes = set.classes, input_shape = set.input_shape }, loss = config.train.loss,
    label_smoothing = config.train.label_smoothing, seed = resolved.seed,
    batch = math.max(config.train.batch, config.train.eval_batch),
  }
  local net = network.new(options)
  if resolved.gate_init then recipe.apply_gate_init(resolved, config.gate.tie and 1 or #net.gates) end
  if type(resolved.model) == "function" then recipe.rehash(resolved, net.description) end
  local session = {
    resolved = resolved, set = set, net = net, opt = optim.new(net, config.optimizer, config.gate),
      epochs = config.train.epochs,
    seed = resolved.seed,
    train = data.loader(set, "train", train_index, { batch = config.train.batch, last = config.train.last,
      shuffle = true, seed = resolved.seed }),
    val = data.loader(set, "train", val_index, { batch = config.train.eval_batch, last = "keep", shuffle = false }),
  }
  session.total = session.train:batches() * session.epochs
  return session
end

--- Mean loss and score of the network over a loader's samples, in evaluation mode.
function train.evaluate(net, loader)
  local loss, score, n = 0, 0, 0
  loader:start(0)
  for x, y, rows in loader:each() do
    net:bind(x, y)
    local l, s = net:forward("eval")
    loss, score, n = loss + l * rows, score + s * rows, n + rows
  end
  return loss / n, score / n
end

-- State ---------------------------------------------------------------------------------------------------------------

-- What one epoch gathers; a checkpoint inside an epoch holds it.
local function fresh_sums(gates)
  local sums = { loss = 0, score = 0, rows = 0, seconds = 0, steps = 0, lambda_sq = {} }
  for i = 1, gates do
    sums.lambda_sq[i] = 0
  end
  return sums
end

local function checkpoint_state(session, state)
  local attrs = {
    hash = session.resolved.hash, seed = session.seed, step = state.step, epoch = state.epoch,
      best_epoch = state.best_epoch,
    best_score = state.best_score, loss = state.sums.loss, score = state.sums.score, rows = state.sums.rows,
    seconds = state.sums.seconds, steps = state.sums.steps,
  }
  local tensors = {}
  for _, p in ipairs(session.net.params) do
    tensors["/params/" .. p.name] = session.net:tensor(p.name)
  end
  for name, t in session.opt:state() do
    tensors[name] = t
  end
  if #state.sums.lambda_sq > 0 then tensors["/sums/lambda_sq"] = tensor.tensor(state.sums.lambda_sq, "f64") end
  return { attrs = attrs, tensors = tensors }
end

local function copy_into(view, stored, name, path)
  if not stored then errors.fail("%s: '%s' is missing: it belongs to another model; start again in a new folder (--out DIR)", path, name) end
  check(lib.lg_tensor_copy(view, stored))
end

local function load_params(session, checkpoint, path)
  for _, p in ipairs(session.net.params) do
    copy_into(session.net:tensor(p.name), checkpoint.tensors["/params/" .. p.name], p.name, path)
  end
end

local function restore(session, checkpoint, path)
  load_params(session, checkpoint, path)
  for name, view in session.opt:state() do
    copy_into(view, checkpoint.tensors[name], name, path)
  end
  local a, sums = checkpoint.attrs, nil
  sums = { loss = a.loss, score = a.score, rows = a.rows, seconds = a.seconds, steps = a.steps, lambda_sq = {} }
  local stored = checkpoint.tensors["/sums/lambda_sq"]
  if stored then sums.lambda_sq = stored:totable() end
  return { step = a.step, epoch = a.epoch, best_epoch = a.best_epoch, best_score = a.best_score, sums = sums }
end

-- The run's folder ----------------------------------------------------------------------------------------------------

local function run_attributes(session)
  local resolved, build = session.resolved, text(lib.lg_build_info())
  return {
    name = resolved.name, recipe = resolved.source or "", config = resolved.json, hash = resolved.hash,
      seed = resolved.seed,
    lgelu_version = text(lib.lg_version()), git_commit = build:match("commit (%w+)") or "unknown",
      git_dirty = build:match("dirty") and 1 or 0,
    cpu = text(lib.lg_cpu_name()), isa = text(lib.lg_isa()), blas = text(lib.lg_blas_name()),
      blas_core = text(lib.lg_blas_core()),
    threads = lib.lg_threads(), data_sha256 = session.set.sha256, groups = session.groups_text,
      parameters = session.net:parameter_count(),
    budget = resolved.budget or "",
  }
end

local function create_run(session, dir)
  local gates, names = session.resolved.config.gate, {}
  for i, g in ipairs(session.net.gates) do
    names[i] = g.name
  end
  local init = gates.lambda and "given" or gates.init or ""
  return store.create(dir, {
    attrs = run_attributes(session),
    gates = {
      names = names, lambda = session.net:lambdas(), s = session.net:s_values(), t = gates.t, c = gates.c,
        init = init, kind = gates.kind,
      reparam = gates.reparam,
    },
  })
end

-- Opens the run's folder: a new one, or with --resume the present one with its last checkpoint.
-- @return run, state, or nil when the run is finished already
local function open_run(session, dir, resume)
  local fresh = { step = 0, epoch = 1, best_epoch = 0, best_score = -math.huge,
    sums = fresh_sums(#session.net:lambdas()) }
  if not (resume and store.exists(dir)) then return create_run(session, dir), fresh end
  local run = store.reopen(dir)
  if run.attrs.hash ~= session.resolved.hash or tonumber(run.attrs.seed) ~= session.seed then
    errors.usage("%s holds the run %s with seed %s, not %s with seed %d: resume with the recipe it was started with, or choose --out DIR", dir,
      run.attrs.hash:sub(1, 8), tostring(run.attrs.seed), session.resolved.hash:sub(1, 8), session.seed)
  end
  if run.attrs.data_sha256 ~= session.set.sha256 then
    errors.fail("%s was trained on other data (sha256 %s, now %s)", dir, run.attrs.data_sha256:sub(1, 12),
      session.set.sha256:sub(1, 12))
  end
  if run.attrs.status == "done" then return run, nil end
  local path = dir .. "/last.ckpt.h5"
  if not store.file_exists(path) then return run, fresh end
  return run, restore(session, store.load_checkpoint(path), path)
end

-- The loop ------------------------------------------------------------------------------------------------------------

local function stop_nonfinite(session, state, what, value)
  errors.fail("%s is %s at step %d (epoch %d): %s. Nothing was updated. Try a smaller optimizer.lr, optimizer.clip=1 or schedule.warmup=0.05", what,
    tostring(value), state.step + 1, state.epoch, session.net:explain_nonfinite())
end

local function one_step(session, state, x, y, rows)
  local net, sums, config = session.net, state.sums, session.resolved.config
  net:bind(x, y)
  local loss, score = net:forward("train", state.step)
  if loss ~= loss or math.abs(loss) == math.huge then stop_nonfinite(session, state, "the loss", loss) end
  net:backward()
  local grads = net:lambda_grads()
  state.lr = optim.rate(config.optimizer.lr, config.schedule, state.step, session.total)
  local ok, e = pcall(session.opt.step, session.opt, state.step + 1, state.lr)
  if not ok then
    if type(e) == "table" and e.engine == "nonfinite" then stop_nonfinite(session, state, "the gradients' norm",
      "not finite") end
    error(e, 0)
  end
  for i, g in ipairs(grads) do
    sums.lambda_sq[i] = sums.lambda_sq[i] + g * g
  end
  sums.loss, sums.score, sums.rows, sums.steps = sums.loss + loss * rows, sums.score + score * rows, sums.rows + rows,
    sums.steps + 1
  state.step = state.step + 1
  return loss, score
end

local function save_last(session, run, state)
  store.save_checkpoint(run.dir .. "/last.ckpt.h5", checkpoint_state(session, state))
end

-- Ctrl-C ends between steps, never inside one, so that what is saved is a step's exact end.
local function stop_if_interrupted(session, run, state)
  if lib.lg_interrupted() == 0 then return end
  lib.lg_interrupt_clear()
  save_last(session, run, state)
  run:finish("stopped")
  errors.interrupted("stopped at step %d of %d, in epoch %d; go on with the same command and --resume", state.step,
    session.total, state.epoch)
end

local function train_epoch(session, run, state, show)
  local start, saved = lib.lg_clock(), lib.lg_clock()
  local before = state.sums.seconds
  session.train:start(state.epoch, state.sums.steps)
  local lambdas = function() return session.net:lambdas() end
  for x, y, rows in session.train:each() do
    local loss, score = one_step(session, state, x, y, rows)
    local now = lib.lg_clock()
    state.sums.seconds = before + now - start
    show:step({ epoch = state.epoch, step = state.step, loss = loss, score = score, lambdas = lambdas })
    stop_if_interrupted(session, run, state)
    if now - saved > CHECKPOINT_SECONDS then
      save_last(session, run, state)
      saved = now
    end
  end
end

local function finish_epoch(session, run, state, show)
  local sums, start = state.sums, lib.lg_clock()
  local val_loss, val_score = train.evaluate(session.net, session.val)
  if val_loss ~= val_loss then stop_nonfinite(session, state, "the validation loss", val_loss) end
  local rms = {}
  for i, sq in ipairs(sums.lambda_sq) do
    rms[i] = math.sqrt(sq / sums.steps)
  end
  local row = {
    epoch = state.epoch, step = state.step, lr = state.lr, train_loss = sums.loss / sums.rows,
      train_score = sums.score / sums.rows,
    val_loss = val_loss, val_score = val_score, seconds = sums.seconds + lib.lg_clock() - start,
      lambda = session.net:lambdas(),
    s = session.net:s_values(), grad_lambda_rms = rms,
  }
  local best = val_score > state.best_score
  if best then
    state.best_score, state.best_epoch = val_score, state.epoch
    store.save_checkpoint(run.dir .. "/best.ckpt.h5", checkpoint_state(session, state))
  end
  run:append(row)
  state.epoch, state.sums = state.epoch + 1, fresh_sums(#row.lambda)
  save_last(session, run, state)
  show:epoch(row, best)
end

-- The test set is touched here and nowhere else: once, at the weights of the best validation score.
local function finish_run(session, run, state, show)
  local path, test_score = run.dir .. "/best.ckpt.h5", nil
  load_params(session, store.load_checkpoint(path), path)
  if session.set.test then
    local loader = data.loader(session.set, "test", nil, { batch = session.resolved.config.train.eval_batch,
      last = "keep", shuffle = false })
    local _
    _, test_score = train.evaluate(session.net, loader)
    loader:free()
  end
  run:set_best({ epoch = state.best_epoch, val_score = state.best_score, test_score = test_score })
  run:finish("done")
  show:line("best validation score %.2f %% (epoch %d)%s", 100 * state.best_score, state.best_epoch,
    test_score and (", test score %.2f %%"):format(100 * test_score) or "")
end

local function groups_text(opt)
  local lines = {}
  for _, g in ipairs(opt.groups) do
    lines[#lines + 1] = ("%-9s %9d numbers  lr x %-6g decay %-8g%s%s"):format(g.name, g.count, g.multiplier, g.decay,
      g.trainable and "" or " frozen", g.lower and (" at least %g"):format(g.lower) or "")
  end
  return table.concat(lines, "\n")
end

local function announce(session, run, show, state)
  local params, grads, work = session.net:memory()
  show:line("%s", (session.net.description:gsub("#", " ")))
  show:line("parameter groups\n  %s", (session.groups_text:gsub("\n", "\n  ")))
  show:line("memory %.1f MB: parameters %.1f, gradients %.1f, activations and workspace %.1f",
    (params + grads + work) / 1e6, params / 1e6,
    grads / 1e6, work / 1e6)
  show:line("data %s: %d training, %d validation, %d test samples", session.set.name, session.train.count,
    session.val.count,
    session.set.test and session.set.test.x.shape[1] or 0)
  show:line("run %s (%s, %s %s, %d thread%s)%s", run.dir, text(lib.lg_isa()), text(lib.lg_blas_name()),
    text(lib.lg_blas_core()), lib.lg_threads(),
    lib.lg_threads() == 1 and "" or "s", state.step > 0 and (": resumes at step %d of %d"):format(state.step,
      session.total) or "")
end

local function loop(session, run, state, show)
  announce(session, run, show, state)
  lib.lg_interrupt_install()
  while state.epoch <= session.epochs do
    train_epoch(session, run, state, show)
    finish_epoch(session, run, state, show)
    stop_if_interrupted(session, run, state)
  end
  finish_run(session, run, state, show)
end

--- Trains a resolved recipe into a run folder.
-- @param resolved  what recipe.load returns
-- @param options  { out = folder or nil (runs/<name>-<hash8>-s<seed>), resume = boolean, threads = number or nil,
-- quiet = boolean }
-- @return exit status 0, and the run's folder. Raises error objects: usage (2), fail (1), interrupted (130).
function train.run(resolved, options)
  if options.threads then check(lib.lg_init(options.threads)) end
  local session = train.session(resolved)
  session.groups_text = groups_text(session.opt)
  local dir = options.out or "runs/" .. resolved.run_name
  local run, state = open_run(session, dir, options.resume)
  local show = progress.new({
    total = session.total, epochs = session.epochs, batch = resolved.config.train.batch, quiet = options.quiet,
    log = function(line) run:log(line) end,
  })
  if not state then
    show:line("%s is finished already", dir)
    return 0, dir
  end
  local ok, e = xpcall(loop, function(e)
    return errors.is(e) and e or debug.traceback(tostring(e), 2)
  end, session, run, state, show)
  if not ok then
    if not errors.is(e, "interrupted") then pcall(run.finish, run, "failed", { error = tostring(e) }) end
    error(e, 0)
  end
  if options.quiet then io.stdout:write(dir, "\n") end
  return 0, dir
end

return train
