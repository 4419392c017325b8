--- harden: the recipe of a run that hardens a finished one: its configuration, its weights, and a section `hardening`
-- over all steps. Trains nothing: lgelu.train does, given what this returns. Called by `lgelu harden`.
local errors = require("lgelu.errors")
local overrides = require("lgelu.recipe.overrides")
local recipe = require("lgelu.recipe")
local store = require("lgelu.store")
local trained = require("lgelu.trained")

local harden = {}

local FIXED = { data = true, model = true, gate = true } -- sections that the parent's weights belong to

-- The words of the command line under their full names; an error for what must be the parent's.
local function own_words(words, run)
  local full = {}
  for i, word in ipairs(words or {}) do
    full[i] = word:gsub("^%s*epochs%s*=", "train.epochs=")
  end
  for key in pairs((overrides.parse(full))) do
    if FIXED[key:match("^[^.]+")] then
      errors.usage("command line: %s: the weights of %s belong to its %s; expected a key of hardening, optimizer, "
        .. "schedule or train", key, run.dir, key:match("^[^.]+"))
    elseif key == "seed" then
      errors.usage("command line: seed: it is that of %s, %s: another would validate on rows that it was trained on",
        run.dir, tostring(run.attrs.seed))
    elseif key == "hardening.parent" then
      errors.usage("command line: hardening.parent is set by 'lgelu harden RUN' itself")
    end
  end
  return full
end

--- The recipe that goes on from a finished run of λ-GELU gates and hardens it; GELU is one of fixed λ = 1.
-- Epochs: a quarter of the parent's, rounded up; hardening.from: 0. Optimizer and schedule: the parent's, begun anew.
-- The hash covers the parent's hash and seed.
-- @param name   the parent: folder, run.h5, or the beginning of a name under runs/
-- @param words  "key=value" of the sections hardening, optimizer, schedule and train, or name; epochs=N is short for
--   train.epochs=N
-- @return resolved recipe, and for lgelu.train { dir, path = checkpoint, hash, weights = "best" | "last", data_sha256 }
-- @raise usage error for gates without λ and keys that are the parent's; fails for a run that is not done
function harden.derive(name, words)
  local run = store.open(store.resolve(name))
  local weights = run:weights()
  local path, kind = trained.checkpoint(run, weights), run:config().gate.kind
  if kind ~= "lambda_gelu" and kind ~= "gelu" then
    errors.usage("%s: its gates are %s and have no λ: only a run with gate.kind = lambda_gelu or gelu can be hardened",
      run.dir, kind)
  end
  local resolved = recipe.from_stored(run.attrs.config, run.attrs.recipe, run.path, {
    overrides = own_words(words, run),
    change = function(t)
      t.name = t.name:gsub("_hardened$", "") .. "_hardened"
      t.train.epochs = math.ceil(t.train.epochs / 4)
      if kind == "gelu" then t.gate = { kind = "lambda_gelu", learn = false, lambda = 1 } end
      t.hardening = { from = 0, parent = ("%s-s%d"):format(run.attrs.hash, run.attrs.seed) }
    end,
  })
  if not resolved.config.hardening then
    errors.usage("command line: hardening.schedule: found none, expected a shape: hardening is what this run is for")
  end
  local where = resolved.where
  function resolved.where(key) -- the parent's lines of source do not say what is derived
    local place = where(key)
    return place == "command line" and place or run.dir
  end
  return resolved, {
    dir = run.dir, path = path, hash = run.attrs.hash, weights = weights, data_sha256 = run.attrs.data_sha256,
  }
end

return harden
