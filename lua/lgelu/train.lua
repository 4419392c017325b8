--- train: from a resolved recipe to a finished run. Owns the loop; the numbers are the engine's, the files the store's
-- (train/folder.lua, train/state.lua), the words progress's.
local C = require("lgelu.C")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folder = require("lgelu.train.folder")
local generate = require("lgelu.generate")
local harden = require("lgelu.train.harden")
local network = require("lgelu.network")
local optim = require("lgelu.optim")
local profile = require("lgelu.profile")
local progress = require("lgelu.progress")
local states = require("lgelu.train.state")
local tokens = require("lgelu.data.tokens")

local lib, check = C.lib, C.check
local train = {}

local CHECKPOINT_SECONDS = 120 -- between checkpoints inside an epoch: what a kill can cost

-- Building ------------------------------------------------------------------------------------------------------------

-- A split that leaves nothing to validate by, or nothing to train on.
local function check_rows(resolved, train_rows, val_rows)
  local config = resolved.config
  if val_rows == 0 then
    errors.usage("%s: data.validation: %s of %d rows is none, and the best epoch is chosen by them",
      resolved.where("data.validation"), tostring(config.data.validation), train_rows)
  end
  if config.train.last == "drop" and train_rows < config.train.batch then
    errors.usage("%s: train.batch: %d rows make no whole batch of %d, and train.last = drop",
      resolved.where("train.batch"), train_rows, config.train.batch)
  end
end

--- Data, network, optimizer and loaders of a resolved recipe: everything that a step needs, before any file is written.
-- @param set  the recipe's data, where they are loaded already
-- @return session { resolved, set, net, opt, train, val (loaders), total (steps), epochs, seed, hardening (its plan) }
function train.session(resolved, set)
  local config = resolved.config
  set = set or data.load(config.data)
  local train_index, val_index = data.split(set, config.data.validation, resolved.seed)
  check_rows(resolved, train_index.shape[1], val_index.shape[1])
  local net = network.of(resolved, set)
  local session = {
    resolved = resolved, set = set, net = net, opt = optim.new(net, config.optimizer, config.gate),
    epochs = config.train.epochs, seed = resolved.seed, update_seconds = 0, step_seconds = 0, steps = 0, -- for profiles
    train = data.loader(set, "train", train_index,
      { batch = config.train.batch, last = config.train.last, shuffle = true, seed = resolved.seed, augment = true }),
    val = data.loader(set, "train", val_index, { batch = config.train.eval_batch }),
  }
  session.total = session.train:batches() * session.epochs
  session.hardening = harden.plan(session)
  return session
end

-- Batches of an epoch that was started, as x, y, rows; the tensors are given back as soon as the next is asked for.
local function batches(loader)
  local x, y, rows
  return function()
    if x then
      x:free()
      y:free()
    end
    x, y, rows = loader:next()
    return x, y, rows
  end
end

--- Mean loss and score (net.measure) of the network over a loader's samples, in evaluation mode.
function train.evaluate(net, loader)
  local loss, gathered, n = 0, net.measure.gather(), 0
  loader:start(0)
  for x, y, rows in batches(loader) do
    net:bind(x, y)
    local l, s = net:forward("eval")
    gathered:add(net, y, rows, l, s)
    loss, n = loss + l * rows, n + rows
  end
  return loss / n, gathered:value()
end

-- The loop ------------------------------------------------------------------------------------------------------------

local function stop_nonfinite(session, state, what, value)
  errors.fail("%s is %s at step %d (epoch %d): %s. Nothing was updated. Try a smaller optimizer.lr, optimizer.clip=1 "
    .. "or schedule.warmup=0.05", what, tostring(value), state.step + 1, state.epoch, session.net:explain_nonfinite())
end

local function is_finite(x) return x == x and x ~= math.huge and x ~= -math.huge end

local function update(session, state)
  local config = session.resolved.config
  local lr = session.rate or optim.rate(config.optimizer.lr, config.schedule, state.step, session.total)
  local start = lib.lg_clock()
  local ok, e = pcall(session.opt.step, session.opt, state.step + 1, lr)
  session.update_seconds = session.update_seconds + lib.lg_clock() - start
  if ok then return end
  if type(e) == "table" and e.engine == "nonfinite" then
    stop_nonfinite(session, state, "the gradients' norm", "not finite")
  end
  error(e, 0)
end

local function one_step(session, state, x, y, rows)
  local net, sums = session.net, state.sums
  harden.before_step(session, state)
  net:bind(x, y)
  local loss, score = net:forward("train", state.step)
  if not is_finite(loss) then stop_nonfinite(session, state, "the loss", loss) end
  net:backward()
  local gradients = net:lambda_grads()
  update(session, state)
  harden.after_step(session, state)
  for i, g in ipairs(gradients) do
    sums.lambda_sq[i] = sums.lambda_sq[i] + g * g
  end
  sums.loss, sums.score = sums.loss + loss * rows, sums.score + score * rows
  sums.rows, sums.steps = sums.rows + rows, sums.steps + 1
  state.step = state.step + 1
  return loss, score
end

--- Steps without files and evaluations, for the prompt. Past the recipe's last step the rate stays at that step's.
-- @param session  of train.session
-- @param state    of lgelu.train.state: it is advanced
-- @param count    how many steps
-- @param rate     base learning rate; nil: by the recipe's schedule
-- @return mean training loss and score (nil where the score is not one of means) over the steps' samples, and the base
--   rate of the last step
-- @raise interrupted after Ctrl-C, after a whole step; fails when the loss or the gradients are not finite
function train.steps(session, state, count, rate)
  local config, loss, score, samples = session.resolved.config, 0, 0, 0
  while count > 0 do
    session.train:start(state.epoch, state.sums.steps)
    for x, y, rows in batches(session.train) do
      session.rate = rate or optim.rate(config.optimizer.lr, config.schedule, math.min(state.step, session.total - 1),
        session.total)
      local l, s = one_step(session, state, x, y, rows)
      loss, score, samples, count = loss + l * rows, score + s * rows, samples + rows, count - 1
      if lib.lg_interrupted() ~= 0 then errors.interrupted("interrupted") end
      if count == 0 then
        return loss / samples, session.net.measure:from_means(loss / samples, score / samples), session.rate
      end
    end
    state.epoch, state.sums = state.epoch + 1, states.fresh_sums(#state.sums.lambda_sq)
  end
end

-- After Ctrl-C: what a resumed run goes on from, and how.
local function stop(session, run, state)
  lib.lg_interrupt_clear()
  if not state.tested then states.save(run.dir .. folder.last, session, state) end
  run:finish("stopped")
  errors.interrupted("stopped at step %d of %d, in epoch %d; go on with the same command and --resume", state.step,
    session.total, math.min(state.epoch, session.epochs))
end

local function train_epoch(session, run, state, show)
  local start, saved = lib.lg_clock(), lib.lg_clock()
  local before = state.sums.seconds
  session.train:start(state.epoch, state.sums.steps)
  for x, y, rows in batches(session.train) do
    local loss, score = one_step(session, state, x, y, rows)
    local now = lib.lg_clock()
    state.sums.seconds = before + now - start
    session.steps = session.steps + 1
    if session.profile then session.work = session.work or profile.work(session.net) end
    show:step({ epoch = state.epoch, step = state.step, loss = loss, score = score, net = session.net })
    if lib.lg_interrupted() ~= 0 then stop(session, run, state) end
    if now - saved > CHECKPOINT_SECONDS then
      states.save(run.dir .. folder.last, session, state)
      saved = now
    end
  end
  session.step_seconds = session.step_seconds + lib.lg_clock() - start
end

local function finish_epoch(session, run, state, show)
  local sums, start, config = state.sums, lib.lg_clock(), session.resolved.config
  local val_loss, val_score = train.evaluate(session.net, session.val)
  if not is_finite(val_loss) then stop_nonfinite(session, state, "the validation loss", val_loss) end
  local rms = {}
  for i, sq in ipairs(sums.lambda_sq) do
    rms[i] = math.sqrt(sq / sums.steps)
  end
  local row = {
    epoch = state.epoch, step = state.step,
    lr = optim.rate(config.optimizer.lr, config.schedule, state.step - 1, session.total),
    train_loss = sums.loss / sums.rows, val_loss = val_loss, val_score = val_score,
    train_score = session.net.measure:from_means(sums.loss / sums.rows, sums.score / sums.rows),
    seconds = sums.seconds + lib.lg_clock() - start,
    lambda = session.net:lambdas(), s = session.net:s_values(), grad_lambda_rms = rms,
  }
  local best = state.best_epoch == 0 or session.net.measure:is_better(val_score, state.best_score)
  if best then
    state.best_score, state.best_epoch = val_score, state.epoch
    states.save(run.dir .. folder.best, session, state)
  end
  run:append(row) -- before the checkpoint: killed in between, the epoch is repeated, and its row written again
  state.epoch, state.sums = state.epoch + 1, states.fresh_sums(#row.lambda)
  states.save(run.dir .. folder.last, session, state)
  show:epoch(row, best)
end

local function test(session)
  if not session.set.test then return nil end
  local loader = data.loader(session.set, "test", nil, { batch = session.resolved.config.train.eval_batch })
  local score = select(2, train.evaluate(session.net, loader))
  loader:free()
  return score
end

local SAMPLES, SAMPLE_TOKENS = 3, 400

-- What a language model writes at the end, into the run's folder: the weights must be those that stand for the run.
local function write_samples(session, run, show)
  if not generate.possible(session.set) then return end
  local set, path, parts = session.set, run.dir .. "/samples.txt", {}
  local first = tokens.text({ generate.first_known(set) }, set.tokens.vocabulary, set.tokens.level)
  local texts = generate.texts(session.net, set, { text = first, n = SAMPLE_TOKENS, samples = SAMPLES,
    seed = session.seed })
  for i, text in ipairs(texts) do parts[i] = ("--- sample %d\n%s\n"):format(i, text) end
  local content = table.concat(parts)
  check(lib.lg_file_replace(path, content, #content))
  show:line("%d samples of %d tokens: %s", SAMPLES, SAMPLE_TOKENS, path)
end

-- The test set is touched here and nowhere else: once at the weights of the best validation score, which are the run's,
-- and once at the last ones of a hardened run, which are that run's: an epoch before the last is not hard yet.
local function finish_run(session, run, state, show)
  local hard
  if session.hardening then
    hard = { epoch = session.epochs, val_score = select(2, train.evaluate(session.net, session.val)) }
    hard.test_score = test(session)
    write_samples(session, run, show)
  end
  state.tested = true -- from here on the network holds the best weights, not the last
  states.load_parameters(run.dir .. folder.best, session)
  local best = { epoch = state.best_epoch, val_score = state.best_score, test_score = test(session) }
  if not hard then write_samples(session, run, show) end
  run:set_best(best, hard)
  run:finish("done")
  local measure = session.net.measure
  local function tested(scores)
    return scores.test_score and ", test score " .. measure:text(scores.test_score) or ""
  end
  show:line("best validation score %s (epoch %d)%s", measure:text(best.val_score), best.epoch, tested(best))
  if hard then
    show:line("hardened, the weights of this run: validation score %s%s", measure:text(hard.val_score), tested(hard))
  end
end

local function loop(session, run, state, show)
  show:start(session, run, state)
  if session.profile then profile.start(session.net) end
  while state.epoch <= session.epochs do
    train_epoch(session, run, state, show)
    finish_epoch(session, run, state, show)
    if lib.lg_interrupted() ~= 0 then stop(session, run, state) end
  end
  finish_run(session, run, state, show)
  if session.profile and session.steps > 0 then
    show:line("%s", profile.report(session.net, session.steps, session.step_seconds, session.update_seconds,
      session.work))
  end
end

-- Ends a run that failed or was stopped inside an evaluation; raises the error again.
local function end_badly(session, run, state, e)
  if errors.is(e, "interrupted") then
    if e.engine == "interrupted" then stop(session, run, state) end
  else
    pcall(run.finish, run, "failed", { error = tostring(e) })
  end
  error(e, 0)
end

-- The weights that a hardened run starts from, instead of drawn ones.
local function start_from(session, start)
  local hardening = session.resolved.config.hardening
  if hardening and hardening.parent and not start then
    errors.usage("%s: hardening.parent: only 'lgelu harden RUN' trains with it, as it has that run's weights",
      session.resolved.where("hardening.parent"))
  end
  if not start then return end
  if session.set.sha256 ~= start.data_sha256 then
    errors.fail("%s was trained on other data (sha256 %s, now %s)", start.dir, start.data_sha256:sub(1, 12),
      session.set.sha256:sub(1, 12))
  end
  states.load_parameters(start.path, session, start.hash)
  session.start = start
end

--- Trains a resolved recipe into a run folder.
-- @param resolved  what recipe.load returns
-- @param options   { out = folder (default runs/<name>-<hash8>-s<seed>), resume = boolean, threads = number,
--                    quiet = boolean: nothing is printed, profile = boolean: where the time goes is printed at the
--                    end, start = { dir, path = checkpoint, hash, weights, data_sha256 } of the run whose weights it
--                    starts from (lgelu.harden); nil: drawn ones }
-- @return exit status 0, and the run's folder. Raises error objects: usage (2), fail (1), interrupted (130).
function train.run(resolved, options)
  if options.threads then check(lib.lg_init(options.threads)) end
  lib.lg_interrupt_install()
  local session = train.session(resolved)
  start_from(session, options.start)
  harden.check(session)
  session.profile = options.profile
  local dir = options.out or "runs/" .. resolved.run_name
  local run, state = folder.open(session, dir, options.resume)
  local show = progress.new({
    total = session.total, epochs = session.epochs, batch = resolved.config.train.batch,
    measure = session.net.measure, quiet = options.quiet,
    log = function(line) run:log(line) end,
  })
  if not state then
    show:line("%s is finished already", dir)
    return 0, dir
  end
  local ok, e = xpcall(loop, function(e)
    return errors.is(e) and e or debug.traceback(tostring(e), 2)
  end, session, run, state, show)
  show:clear()
  if not ok then end_badly(session, run, state, e) end
  return 0, dir
end

return train
