--- Made-up runs for specs: what lgelu.store.open returns, without a file; and run folders that lgelu.store writes.
local json = require("cjson")

local runs = {}

--- A run.
-- @param o  dir, seed, hash, status, kind, lambda (list of rows), val_score (list), test_score, config (sections),
--   measure (name of the score, nil: accuracy)
function runs.fake(o)
  local epochs = { epoch = {}, val_score = o.val_score }
  local best = { epoch = 0, val_score = -math.huge, test_score = o.test_score }
  for e, score in ipairs(o.val_score) do
    epochs.epoch[e] = e
    if score > best.val_score then best.epoch, best.val_score = e, score end
  end
  local names = {}
  for l = 1, #o.lambda[1] do names[l] = ("fc%d.gate"):format(l) end
  local gates = { names = names, lambda = o.lambda, kind = o.kind, t = 0.1, c = 3, init = "gelu" }
  return {
    dir = o.dir,
    attrs = { name = "made_up", hash = o.hash or "abcdef12", seed = o.seed or 1, status = o.status or "done",
      score = o.measure },
    epochs = function() return epochs end,
    gates = function() return gates end,
    best = function() return best.epoch > 0 and best or nil end,
    status = function() return o.status or "done" end,
    config = function() return o.config end,
  }
end

--- A λ-GELU run whose λ rises with depth and epoch; without λ for gates = 0.
function runs.learned(dir, gates, epochs, seed)
  local lambda, val_score = {}, {}
  for e = 0, epochs do
    lambda[e + 1] = {}
    for l = 1, gates do lambda[e + 1][l] = 1.1 + l * (1 - math.exp(-e / 5)) end
    if e > 0 then val_score[e] = 0.9 - 0.1 * math.exp(-e / 3) - (e == epochs and e > 1 and 0.01 or 0) end
  end
  return runs.fake({
    dir = dir, seed = seed, kind = gates > 0 and "lambda_gelu" or "relu", lambda = lambda, val_score = val_score,
  })
end

--- Writes a run folder: three gates; λ only where kind is lambda_gelu.
-- @param o  dir, kind, seed, epochs, score (added to every score), status ("done" when nil), measure (as above)
function runs.store(o)
  local learned = o.kind == "lambda_gelu"
  local gate = { kind = o.kind, t = learned and 0.1 or nil }
  local lambda = learned and { 1.1, 1.1, 1.1 } or {}
  local run = require("lgelu.store").create(o.dir, {
    attrs = {
      name = "made_up", recipe = "return {}", seed = o.seed, score = o.measure,
      hash = (o.kind .. (o.measure or "") .. "0123456789abcdef"):rep(4):sub(1, 64),
      config = json.encode({ name = "made_up", seed = o.seed, gate = gate, model = { hidden = { 8, 4 } } }),
    },
    gates = {
      names = { "gate1", "gate2", "gate3" }, lambda = lambda, s = lambda, kind = o.kind, init = "gelu",
      t = learned and 0.1 or nil, c = learned and 3 or nil,
    },
  })
  for e = 1, o.epochs do
    local now = {}
    for l = 1, #lambda do now[l] = 1.1 + l * (1 - math.exp(-e / 5)) end
    run:append({
      epoch = e, step = 10 * e, lr = 0.001, train_loss = 1 / e, train_score = 0.8, val_loss = 1 / e,
      val_score = o.score - 0.1 * math.exp(-e / 4) + 0.001 * o.seed, seconds = 1, lambda = now, s = now,
      grad_lambda_rms = now,
    })
  end
  local status = o.status or "done"
  if status == "done" then
    local bvs = o.score - 0.1 * math.exp(-o.epochs / 4) + 0.001 * o.seed
    run:set_best({ epoch = o.epochs, val_score = bvs, test_score = bvs - 0.01 })
  end
  run:finish(status)
end

--- Exit status and output (both streams) of the program with these words.
function runs.program(...)
  local words = { os.getenv("LGELU_PROGRAM") or "build/lgelu" }
  for _, word in ipairs({ ... }) do words[#words + 1] = "'" .. word:gsub("'", "'\\''") .. "'" end
  local pipe = io.popen(("(%s) 2>&1; echo status=$?"):format(table.concat(words, " ")))
  local text = pipe:read("*a")
  pipe:close()
  local output, status = text:match("^(.*)status=(%d+)\n$")
  return tonumber(status), output
end

return runs
