# Figure 2: ΔBVS (text) and hardness drift Δλ (colour) as a row over the multiplier c. Made by
# `lgelu figure fig2 SWEEP`, or by hand from its table:
#
#   gnuplot -e "tsv='fig/fig2.tsv'; out='fig/fig2.png'" plots/fig2.gp
#
# out ends in .png, .svg or .pdf. heatmap.gp draws it and describes the table.

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
plots = ARG0[1:strlen(ARG0) - strlen("fig2.gp")]
style = plots."style.gp"
as_row = 1
cell_width = 0.82
cell_height = 0.6
load plots."heatmap.gp"
