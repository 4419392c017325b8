--- train/folder: the run's folder: a new one with what the run file says about itself, or the one to go on with.
-- Called by lgelu.train.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local state = require("lgelu.train.state")
local store = require("lgelu.store")

local lib = C.lib
local text = C.ffi.string
local folder = {}

folder.last, folder.best = "/last.ckpt.h5", "/best.ckpt.h5"

local function attributes(session)
  local resolved, build, start = session.resolved, text(lib.lg_build_info()), session.start or {}
  return {
    name = resolved.name, recipe = resolved.source or "", config = resolved.json, hash = resolved.hash,
    seed = resolved.seed, budget = resolved.budget or "",
    lgelu_version = text(lib.lg_version()), git_commit = build:match("commit (%w+)") or "unknown",
    git_dirty = build:match("dirty") and 1 or 0,
    cpu = text(lib.lg_cpu_name()), isa = text(lib.lg_isa()), blas = text(lib.lg_blas_name()),
    blas_core = text(lib.lg_blas_core()), threads = lib.lg_threads(),
    data_sha256 = session.set.sha256, groups = session.opt:describe(), parameters = session.net:parameter_count(),
    weights = session.hardening and "last" or "best", parent = start.dir, parent_hash = start.hash,
    parent_weights = start.weights,
    score = session.net.measure.name ~= "accuracy" and session.net.measure.name or nil, -- older readers know no others
  }
end

local function create(session, dir)
  local gates, names = session.resolved.config.gate, {}
  for i, g in ipairs(session.net.gates) do
    names[i] = g.name
  end
  return store.create(dir, {
    attrs = attributes(session), tokens = session.set.tokens, columns = session.set.columns,
    gates = {
      names = names, lambda = session.net:lambdas(), s = session.net:s_values(), kind = gates.kind,
      reparam = gates.reparam, t = gates.t, c = gates.c, init = gates.lambda and "given" or gates.init,
    },
  })
end

local function check_same(session, dir, run)
  local hash, seed = run.attrs.hash, tonumber(run.attrs.seed)
  if hash ~= session.resolved.hash or seed ~= session.seed then
    errors.usage("%s holds the run %s with seed %s, not %s with seed %d: resume with the recipe it was started with, "
      .. "or take another folder (--out DIR)", dir, hash:sub(1, 8), tostring(seed), session.resolved.hash:sub(1, 8),
      session.seed)
  end
  if run.attrs.data_sha256 ~= session.set.sha256 then
    errors.fail("%s was trained on other data (sha256 %s, now %s)", dir, run.attrs.data_sha256:sub(1, 12),
      session.set.sha256:sub(1, 12))
  end
end

--- Opens the run's folder: a new one, or with resume the present one with its last checkpoint.
-- @return run object of the store, and the state to go on from: nil when the run is finished already
function folder.open(session, dir, resume)
  local fresh = state.fresh(#session.net:lambdas())
  if not (resume and store.exists(dir)) then return create(session, dir), fresh end
  local run = store.reopen(dir)
  local ok, e = pcall(check_same, session, dir, run)
  if not ok or run.attrs.status == "done" then
    run:release()
    if not ok then error(e, 0) end
    return run, nil
  end
  if not store.file_exists(dir .. folder.last) then return run, fresh end -- killed before the first checkpoint
  return run, state.load(dir .. folder.last, session)
end

return folder
