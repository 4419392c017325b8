--- The figure `activation`: f(x; λ) and ∂f/∂x for several λ with ReLU, through the kernels that train.
-- Not a formula of its own: values come from lgelu.gate. Called by lgelu.plot.

local activation = {}

activation.name = "activation"
activation.summary = "The family f(x; λ) = x·Φ(λx) and its slope for λ = 1, 2, 5, 20, 160, with ReLU."
activation.script = "activation.gp"

local LAMBDAS = { 1, 2, 5, 20, 160 }

function activation.default_out() return "activation.png" end

-- −2 to 2 in steps of 1/100, and in steps of 1/2000 where the hardest gate turns (|x| < 6/160 and a little more).
local function abscissas()
  local xs = {}
  for i = -200, -5 do xs[#xs + 1] = i / 100 end
  for i = -99, 99 do xs[#xs + 1] = i / 2000 end
  for i = 5, 200 do xs[#xs + 1] = i / 100 end
  return xs
end

--- Table and caption of the figure.
-- @treturn table columns, rows, caption (list of paragraphs)
function activation.build()
  local gate = require("lgelu.gate")
  local columns = { "x" }
  for _, prefix in ipairs({ "f:", "df:" }) do
    for _, lambda in ipairs(LAMBDAS) do columns[#columns + 1] = prefix .. lambda end
    columns[#columns + 1] = prefix .. "relu"
  end
  local rows, n = {}, #LAMBDAS + 1
  for r, x in ipairs(abscissas()) do
    local row = { x }
    for i, lambda in ipairs(LAMBDAS) do
      row[1 + i] = gate.value(x, lambda)
      row[1 + n + i] = (gate.grad(x, lambda))
    end
    row[1 + n] = math.max(x, 0)
    row[1 + n + n] = x > 0 and 1 or 0
    rows[r] = row
  end
  local caption = {
    "The λ-GELU family. Left: f(x; λ) = x·Φ(λx); right: its slope ∂f/∂x = Φ(λx) + λx·φ(λx), for λ = "
      .. table.concat(LAMBDAS, ", ") .. ", with ReLU (broad grey line). λ = 1 is GELU; λ = 160 is the hardness at "
      .. "which gates are replaced by ReLU. Φ and φ are the standard normal distribution function and density.",
    "Values: the float32 kernels that train; no run is involved (n = 0 runs).",
  }
  return { columns = columns, rows = rows, caption = caption }
end

return activation
