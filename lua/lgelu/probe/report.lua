--- Results of lgelu.probe as text: each is the plain table it was, and prints as people read it.
-- Pure: tables in, the same tables out with a metatable. Called by lgelu.probe.
local draw = require("lgelu.probe.draw")
local gate = require("lgelu.gate")
local tables = require("lgelu.table")

local report = {}

local BAR, ROWS = 28, 8 -- columns of a bar; lines of a histogram
local SOFTEST, HARDEST = 1, gate.target(0.005) -- ends of the logarithmic scale of λ; the hardest gate may go beyond

local function printing(value, text)
  return setmetatable(value, { __tostring = function(self) return (text(self):gsub("\n$", "")) end })
end

local function percent(share) return ("%.2f %%"):format(100 * share) end

--- λ of a gate's state in words.
function report.lambda(state)
  if state.kind == "relu" then return "∞" end
  return state.lambda and ("%.6g"):format(state.lambda) or "–"
end

-- The λ that a gate stands for on a scale of hardness: ∞ for ReLU, 1 for GELU; nil where there is none.
local function place(row)
  if row.kind == "relu" then return math.huge end
  return row.lambda or (row.kind == "gelu" and 1) or nil
end

--- Rows of probe:hardness(): a table with bars on a logarithmic scale of λ.
function report.hardness(rows)
  return printing(rows, function()
    local top, lines = HARDEST, {}
    for _, row in ipairs(rows) do
      if row.lambda then top = math.max(top, row.lambda) end
    end
    for i, row in ipairs(rows) do
      local lambda = place(row)
      local part = lambda and math.log(math.max(lambda, SOFTEST) / SOFTEST) / math.log(top / SOFTEST)
      lines[i] = { tostring(i), row.name, row.kind, report.lambda(row), part and draw.bar(part, BAR) or "", row.bound }
    end
    return tables.render({
      { title = "#", align = "right" }, { title = "gate" }, { title = "kind" }, { title = "λ", align = "number" },
      { title = ("λ from %g to %.4g, log"):format(SOFTEST, top), align = "left" },
      { title = "sup|f − ReLU|", format = "%.6f" },
    }, lines)
  end)
end

--- What a change did: { what, before, after, drop, loss_before, loss_after }; of a training also from, to, rate, loss,
-- score; of undo also left.
-- @param measure  of lgelu.score
function report.effect(made, measure)
  return printing(made, function()
    local text = ("%s; validation score %s → %s (%s), loss %.4f → %.4f"):format(made.what, measure:text(made.before),
      measure:text(made.after), made.drop == 0 and "as before" or measure:change(made.drop),
      made.loss_before, made.loss_after)
    if made.rate then
      text = ("%s\nsteps %d to %d, rate %.3g; over them loss %.4f, score %s"):format(text, made.from, made.to,
        made.rate, made.loss, measure:text(made.score))
    elseif made.left then
      text = ("%s; %d more to undo"):format(text, made.left)
    end
    return text
  end)
end

--- What probe:probe() found: histogram and numbers.
function report.probe(row)
  return printing(row, function()
    local h, lines = row.histogram, {}
    local band = row.lambda and 2 / row.lambda or (row.kind ~= "relu" and 2) or nil
    lines[1] = ("%s, %s%s: %d values of %d validation samples"):format(row.name, row.kind,
      row.lambda and (", λ = %.6g"):format(row.lambda) or "", row.values, row.samples)
    for _, line in ipairs(draw.histogram(h.counts, h.low, h.high, ROWS, band)) do lines[#lines + 1] = "  " .. line end
    local function add(name, format, ...)
      local _, behind = name:gsub("[\128-\191]", "") -- bytes that are no column of their own
      lines[#lines + 1] = name .. (" "):rep(22 - #name + behind) .. format:format(...)
    end
    if band then
      add("transition band", "%s of values have %s (heavy part of the axis)", percent(row.band),
        row.lambda and ("|λx| < 2, |x| < %.4g"):format(band) or "|x| < 2")
    end
    if row.slope then
      add("gradient attenuation", "mean x²φ(λx) = %.4g, %s of its ceiling 0.293525/λ² = %.4g", row.slope,
        percent(row.slope / row.ceiling), row.ceiling)
    end
    if row.kind == "relu" then
      add("zeros", "%s of its outputs", percent(row.zeros_after))
    else
      add("zeros", "%s before, %s after a swap to ReLU", percent(row.zeros_before), percent(row.zeros_after))
    end
    add("range", "%.6g to %.6g%s", row.min, row.max, h.below + h.above > 0
      and ("; %d values below and %d above are not drawn"):format(h.below, h.above) or "")
    if row.bound and row.bound > 0 then
      add("greatest |f − ReLU|", "%.6g, of at most %.6g", row.max_deviation, row.bound)
    end
    return table.concat(lines, "\n")
  end)
end

--- Rows of probe:sensitivity(): ranked, with a bar for the drop.
-- @param measure  of lgelu.score
function report.sensitivity(rows, measure)
  return printing(rows, function()
    local most, lines = 0, {}
    for _, row in ipairs(rows) do most = math.max(most, row.drop) end
    for i, row in ipairs(rows) do
      lines[i] = {
        tostring(i), row.name, report.lambda(row), row.loss, measure.scale * row.after, measure.scale * row.drop,
        draw.bar(most > 0 and row.drop / most or 0, BAR),
      }
    end
    return ("validation score %s; of each gate alone swapped to ReLU:\n"):format(measure:text(rows.before))
      .. tables.render({
        { title = "rank", align = "right" }, { title = "gate" }, { title = "λ", align = "number" },
        { title = "loss", format = "%.4f" }, { title = "score, " .. measure.unit, format = measure:format() },
        { title = "drop, " .. measure.difference, format = measure:format() },
        most > 0 and { title = "", align = "left" } or nil,
      }, lines)
  end)
end

return report
