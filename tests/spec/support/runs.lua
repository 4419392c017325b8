--- Made-up runs for specs: what lgelu.store.open returns, without a file.
local runs = {}

--- A run.
-- @param o  dir, seed, hash, status, kind, lambda (list of rows), val_score (list), test_score, config (sections)
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
    attrs = { name = "made_up", hash = o.hash or "abcdef12", seed = o.seed or 1, status = o.status or "done" },
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

return runs
