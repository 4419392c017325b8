# λ of each gate over the steps of training, up to the network at the prompt. Made by plot("trajectory") of
# `lgelu repl`, or by hand:
#
#   gnuplot -e "tsv='trajectory.tsv'; out='trajectory.png'" plots/probe_trajectory.gp
#
# out ends in .png, .svg or .pdf; or it is empty, with columns and lines set: characters. Columns of the table: step,
# then lambda:NAME for each gate in forward order.

style = ARG0[1:strlen(ARG0) - strlen("probe_trajectory.gp")]."style.gp"
set datafile separator "\t"
stats tsv using 1 every ::1 nooutput name "C"
gates = C_columns - 1
width = 7.2
height = 3.6
load style

shade(i) = (gates == 1) ? 0.4 : (i - 2.0) / (gates - 1) * 0.9
named(i) = columnhead(i)[strlen("lambda:") + 1:*]
set xlabel "step" textcolor rgb ink
set ylabel (out eq "" ? "λ" : "hardness λ") textcolor rgb ink
set autoscale yfix
set offsets graph 0, graph 0.02, graph 0.05, graph 0.05
set key outside right top noautotitle
if (out eq "") {
  unset grid
  plot for [i = 2:gates + 1] tsv using 1:i with linespoints linetype i - 1 pointtype i - 1 title named(i)
} else {
  plot for [i = 2:gates + 1] tsv using 1:i with lines linewidth 1.4 linecolor palette frac shade(i) title named(i)
}
