--- The figure `profile`: λ of each gate over epochs, and the validation score with the epoch of its best value marked.
-- Runs whose gates have no λ (relu, gelu) keep their score; their λ panel says why it is empty. Called by lgelu.plot.

local errors = require("lgelu.errors")
local tsv = require("lgelu.plot.tsv")

local profile = {}

profile.name = "profile"
profile.summary = "λ of each gate over epochs, and the validation score with its best epoch (BVS) marked."
profile.script = "profile.gp"
profile.takes, profile.least, profile.most = "runs", 1, 6

function profile.default_out(runs) return runs[1].dir .. "/fig/profile.png" end

-- What the panel is called: the run's folder, with the recipe's hash where the name does not hold it already.
local function title(run)
  local name, hash = run.dir:match("[^/]*$"), run.attrs.hash:sub(1, 8)
  return name:find(hash, 1, true) and name or ("%s (%s)"):format(name, hash)
end

-- One run as the figure needs it: name, kind, epochs (list of { epoch, val_score }), lambda (list of rows, the first at
-- initialization; nil without λ), names, best (index into epochs).
local function history(run)
  local epochs, gates = run:epochs(), run:gates()
  if #epochs.epoch == 0 then errors.fail("%s has no finished epoch yet: there is nothing to draw", run.dir) end
  local h = { name = title(run), kind = gates.kind, names = gates.names, epochs = epochs }
  if #gates.lambda > 0 and #gates.lambda[1] > 0 then
    h.lambda = gates.lambda
    if #h.lambda ~= #epochs.epoch + 1 then
      errors.fail("%s is damaged: λ has %d rows and there are %d epochs; %d rows are expected", run.dir, #h.lambda,
        #epochs.epoch, #epochs.epoch + 1)
    end
  end
  local best = run:best()
  for e, epoch in ipairs(epochs.epoch) do
    if best and epoch == best.epoch then h.best = e end
  end
  if not h.best then errors.fail("%s has no best validation score: there is nothing to mark", run.dir) end
  return h
end

-- Names of all gates that have a λ, in forward order of the run that names them first; and each name's place.
local function gate_columns(histories)
  local names, place = {}, {}
  for _, h in ipairs(histories) do
    for _, name in ipairs(h.lambda and h.names or {}) do
      if not place[name] then
        names[#names + 1] = name
        place[name] = #names
      end
    end
  end
  return names, place
end

-- The rows of one panel: epoch 0 with the λ at initialization, then one per epoch.
local function add_rows(rows, panel, h, names, place)
  for e = 0, #h.epochs.epoch do
    local row = { panel, h.name, h.kind, h.lambda and #h.names or 0 }
    row[5] = e == 0 and h.epochs.epoch[1] - 1 or h.epochs.epoch[e]
    row[6] = e == 0 and tsv.NA or h.epochs.val_score[e]
    row[7] = e == h.best and 1 or 0
    for i = 1, #names do row[7 + i] = tsv.NA end
    for l, name in ipairs(h.lambda and h.names or {}) do row[7 + place[name]] = h.lambda[e + 1][l] end
    rows[#rows + 1] = row
  end
end

local function describe(run, h)
  local attrs, gates = run.attrs, run:gates()
  local text = ("%s: recipe hash %s, seed %s, gates %s"):format(h.name, attrs.hash, tostring(attrs.seed), h.kind)
  if h.lambda then
    text = ("%s (%d, t = %s, c = %s, init %s)"):format(text, #h.names, tostring(gates.t), tostring(gates.c),
      tostring(gates.init))
  end
  local count = #h.epochs.epoch
  return ("%s; %d epoch%s, BVS %.6g at epoch %d; status %s."):format(text, count, count == 1 and "" or "s",
    h.epochs.val_score[h.best], h.epochs.epoch[h.best], run:status())
end

--- Table and caption of the figure.
-- @tparam table runs opened runs
-- @treturn table columns, rows, caption (list of paragraphs)
-- @raise the work failed: a run without a finished epoch, or damaged
function profile.build(runs)
  local histories = {}
  for i, run in ipairs(runs) do histories[i] = history(run) end
  local names, place = gate_columns(histories)
  local columns = { "panel", "run", "gate", "gates", "epoch", "val_score", "best" }
  for _, name in ipairs(names) do columns[#columns + 1] = "lambda:" .. name end
  local rows = {}
  local caption = {
    "Hardness profile. Top: hardness λ of each gate x·Φ(λx) over epochs (epoch 0: at initialization), coloured in "
      .. "forward order from dark to light. Bottom: validation score over epochs. Dashed line and dot: the best "
      .. "validation score (BVS) and its epoch. n = " .. #runs
      .. (#runs == 1 and " run." or " runs, one a column, on common axes."),
  }
  for i, h in ipairs(histories) do
    add_rows(rows, i, h, names, place)
    caption[#caption + 1] = describe(runs[i], h)
  end
  return { columns = columns, rows = rows, caption = caption }
end

return profile
