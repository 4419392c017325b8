--- Figure 1: ΔBVS and hardness drift over the temperature t and the multiplier c. Called by lgelu.plot.

local fig1 = {}

fig1.name = "fig1"
fig1.summary = "Heat map over t and c: ΔBVS in each cell, mean over init modes; its colour the drift Δλ."
fig1.script = "fig1.gp"
fig1.takes, fig1.least, fig1.most = "sweeps", 1, 1

function fig1.default_out(list) return require("lgelu.plot.sweeps").default_out(list, "fig1") end

--- Table and caption of the figure.
-- @tparam table list one sweep
-- @treturn table columns, rows, caption, gaps, partly
-- @raise as lgelu.plot.heatmap
function fig1.build(list)
  return require("lgelu.plot.heatmap").build(list[1], "fig1",
    "Score and hardness drift of λ-GELU over the temperature t and the learning-rate multiplier c of s.")
end

return fig1
