# Figure 1: ΔBVS (text) and hardness drift Δλ (colour) over the temperature t and the multiplier c. Made by
# `lgelu figure fig1 SWEEP`, or by hand from its table:
#
#   gnuplot -e "tsv='fig/fig1.tsv'; out='fig/fig1.png'" plots/fig1.gp
#
# out ends in .png, .svg or .pdf. heatmap.gp draws it and describes the table.

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
plots = ARG0[1:strlen(ARG0) - strlen("fig1.gp")]
style = plots."style.gp"
as_row = 0
cell_width = 0.82
cell_height = 0.52
load plots."heatmap.gp"
