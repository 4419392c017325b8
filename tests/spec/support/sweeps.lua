--- Made-up records of sweeps for specs: what lgelu.sweep.records gives, without files.
local sweeps = {}

--- A record.
-- @param o  kind, t, c, init, seed, hardening (section or nil), status, error, role, name (of the recipe), lambda (rows
--           [E+1][L]; none where the kind has no λ), val_score (list), drop (its swap's, as a fraction; nil: no swap)
function sweeps.record(o)
  local learned = o.kind == "lambda_gelu"
  local best, epoch, lambda = { epoch = 0, val_score = -math.huge }, {}, o.lambda
  for e, score in ipairs(o.val_score) do
    epoch[e] = e
    if score > best.val_score then best = { epoch = e, val_score = score } end
  end
  if not learned then
    lambda = {}
    for e = 1, #o.val_score + 1 do lambda[e] = {} end
  end
  local gate = { kind = o.kind }
  if learned then gate.t, gate.c, gate.init = o.t, o.c, o.init end
  local cell = { ["gate.kind"] = o.kind ~= "lambda_gelu" and o.kind or nil, ["gate.t"] = gate.t, ["gate.c"] = gate.c,
    ["gate.init"] = gate.init, ["hardening.schedule"] = o.hardening and o.hardening.schedule }
  local part = o.drop and { score_before = 0.9, score_after = 0.9 - o.drop, drop = o.drop,
    predictions = 100, flipped = 3 }
  local hash, label = {}, {}
  for _, key in ipairs({ "t", "c", "init" }) do label[#label + 1] = gate[key] and key .. "=" .. gate[key] end
  for _, key in ipairs({ "kind", "t", "c", "init" }) do hash[#hash + 1] = tostring(gate[key]) end
  return {
    cell = cell, label = #label > 0 and table.concat(label, ", ") or "kind=" .. o.kind, role = o.role or "cell",
    seed = o.seed, status = o.status or "done", error = o.error, name = "r",
    hash = table.concat(hash, "-") .. (o.hardening and "-" .. o.hardening.schedule or ""),
    config = { name = o.name or "made_up", seed = o.seed, gate = gate, hardening = o.hardening },
    epochs = { epoch = epoch, val_score = o.val_score }, best = best,
    gates = { names = {}, lambda = lambda, kind = o.kind },
    swap = part and { checkpoint = o.hardening and "last" or "best", val = part, test = part,
      gates = { { name = "a" } } } or nil,
  }
end

-- Rows of λ that move by step an epoch at the last gate, half of that at the one before, and so on; constant for 0.
local function walk(epochs, gates, step, sign)
  local rows = {}
  for e = 0, epochs do
    rows[e + 1] = {}
    for l = 1, gates do rows[e + 1][l] = 1.1 + e * step * 2 ^ ((sign or 1) * (l - gates)) end
  end
  return rows
end
sweeps.walk = walk

--- Records of a grid with a baseline of score 0.9 for each seed: a cell's score is 0.9 + c/1000 − t/1000.
-- @param o  t, c, init, seeds (lists), status = function(t, c, init, seed) → status (nil: done), baseline = false: none
function sweeps.grid(o)
  local records = {}
  for _, seed in ipairs(o.seeds) do
    if o.baseline ~= false then
      records[#records + 1] = sweeps.record({ kind = "gelu", role = "baseline", seed = seed,
        val_score = { 0.5, 0.9, 0.8 } })
    end
    for _, t in ipairs(o.t) do
      for _, c in ipairs(o.c) do
        for _, init in ipairs(o.init) do
          local status = o.status and o.status(t, c, init, seed)
          records[#records + 1] = sweeps.record({
            kind = "lambda_gelu", t = t, c = c, init = init, seed = seed, status = status,
            error = status == "failed" and "the loss is NaN in step 12" or nil,
            val_score = { 0.5, 0.9 + c / 1000 - t / 1000, 0.8 },
            lambda = walk(3, 3, init == "gelu" and 0 or c / 100, init == "descending" and -1 or 1),
          })
        end
      end
    end
  end
  return records
end

return sweeps
