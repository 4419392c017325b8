--- Figure 2: ΔBVS and hardness drift over the multiplier c at one temperature. Called by lgelu.plot.

local errors = require("lgelu.errors")

local fig2 = {}

fig2.name = "fig2"
fig2.summary = "The same as a row over c, at one t."
fig2.script = "fig2.gp"
fig2.takes, fig2.least, fig2.most = "sweeps", 1, 1

function fig2.default_out(list) return require("lgelu.plot.sweeps").default_out(list, "fig2") end

--- Table and caption of the figure.
-- @tparam table list one sweep
-- @treturn table columns, rows, caption, gaps, partly
-- @raise as lgelu.plot.heatmap; the work failed: the sweep has several t
function fig2.build(list)
  local built = require("lgelu.plot.heatmap").build(list[1], "fig2",
    "Score and hardness drift of λ-GELU over the learning-rate multiplier c of s, at one temperature t.")
  local last = built.rows[#built.rows]
  if last[2] > 1 then
    errors.fail("%s: this sweep has %d values of gate.t; fig2 shows one, fig1 shows all", list[1].dir, last[2])
  end
  return built
end

return fig2
