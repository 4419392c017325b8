--- Figures of the network at the prompt, in characters or as files: its profile, the way its λ went, what arrives at a
-- gate. What it is not: figures of stored runs (lgelu.plot's own list). Called by lgelu.repl.verbs.
local errors = require("lgelu.errors")
local plot = require("lgelu.plot")
local tsv = require("lgelu.plot.tsv")

local figures = {}

local COLUMNS, LINES = 79, 22 -- of a picture in characters

local PRINTS = { __tostring = function(self) return self.text end }

local function profile(p)
  local rows, any = {}, false
  for i, row in ipairs(p:hardness()) do
    rows[i], any = { i, row.name, row.kind, row.lambda or tsv.NA }, any or row.lambda ~= nil
  end
  if not any then errors.fail("no gate of the network has a λ at present: there is no profile to draw") end
  return { name = "profile", script = "probe_profile.gp" }, {
    columns = { "gate", "name", "kind", "lambda" }, rows = rows,
    caption = { "Hardness profile of the network at the prompt: λ of each gate x·Φ(λx), in forward order." },
  }
end

local function trajectory(p)
  if not p.net:lambdas()[1] then errors.fail("no gate of the network has a λ: there is no trajectory to draw") end
  local columns, rows = { "step" }, {}
  for i, g in ipairs(p.net.gates) do columns[i + 1] = "lambda:" .. g.name end
  for _, point in ipairs(p:trajectory()) do
    local row = { point.step }
    for i = 1, #p.net.gates do row[i + 1] = point.lambda[i] or tsv.NA end
    rows[#rows + 1] = row
  end
  if #rows < 2 then errors.fail("λ is known at the start only: train(n) first, then there is a trajectory to draw") end
  return { name = "trajectory", script = "probe_trajectory.gp" }, {
    columns = columns, rows = rows,
    caption = { "Hardness λ of each gate over the steps of training: once an epoch, and after each train(n)." },
  }
end

local function histogram(p, name)
  local row = p:probe(name)
  local h, rows = row.histogram, {}
  local width, edge = (h.high - h.low) / #h.counts, row.kind == "relu" and 0 or 2 / (row.lambda or 1)
  for i, count in ipairs(h.counts) do
    local x = h.low + (i - 0.5) * width
    rows[i] = { x, count, math.abs(x) < edge and 1 or 0 }
  end
  return { name = "histogram", script = "probe_histogram.gp" }, {
    columns = { "x", "count", "band" }, rows = rows,
    caption = {
      ("Pre-activations of %s (%s%s): %d values of %d validation samples, %d below and %d above the drawn range.")
        :format(row.name, row.kind, row.lambda and (", λ = %.6g"):format(row.lambda) or "", row.values, row.samples,
          h.below, h.above),
    },
  }
end

--- Draws.
-- @param p     probe
-- @param what  "profile", "trajectory", or a gate: its histogram
-- @param file  FILE.png, .svg or .pdf; nil: characters
-- @param command  how the same figure is made again, for the caption
-- @return { text = the picture }, which prints as it; or, with file, { picture, table, caption = paths, rows }
-- @raise usage error for anything else; fails when there is nothing to draw, as lgelu.plot does
function figures.draw(p, what, file, command)
  if file ~= nil and type(file) ~= "string" then
    errors.usage("plot(what, file): file is a %s; a name that ends in .png, .svg or .pdf is expected", type(file))
  end
  local make = what == "profile" and profile or what == "trajectory" and trajectory or histogram
  if make == histogram and not pcall(p.net.gate_index, p.net, what) then
    local names = { "profile", "trajectory" }
    for _, g in ipairs(p.net.gates) do names[#names + 1] = g.name end
    errors.usage("plot: '%s' is neither profile, trajectory nor a gate%s; gates: %s", tostring(what),
      errors.suggest(tostring(what), names), table.concat(names, ", ", 3))
  end
  local figure, built = make(p, what)
  if file then return plot.draw(figure, built, command, file) end
  return setmetatable({ text = plot.text(figure, built, COLUMNS, LINES) }, PRINTS)
end

return figures
