# λ of each gate of the network at the prompt, in forward order. Made by plot("profile") of `lgelu repl`, or by hand:
#
#   gnuplot -e "tsv='profile.tsv'; out='profile.png'" plots/probe_profile.gp
#
# out ends in .png, .svg or .pdf; or it is empty, with columns and lines set: characters. Columns of the table: gate
# (number), name, kind, lambda (NA: a gate that has none, as ReLU).

style = ARG0[1:strlen(ARG0) - strlen("probe_profile.gp")]."style.gp"
width = 7.2
height = 3.4
load style

stats tsv using "gate" nooutput name "G"
set xrange [G_min - 0.6:G_max + 0.6]
stats tsv using "lambda" nooutput name "L"
set yrange [0.9:(L_max < 2 ? 2.2 : 1.3 * L_max)]
set logscale y
set ytics (1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)
set ylabel (out eq "" ? "λ" : "hardness λ") textcolor rgb ink
if (out eq "") {
  unset grid
  set xtics 1
  set xlabel "gate, in forward order"
  plot tsv using "gate":"lambda" with impulses linetype 1, tsv using "gate":"lambda" with points pointtype 15
} else {
  set xtics rotate by -35 left nomirror
  plot tsv using "gate":"lambda":xticlabels(2) with impulses linewidth 2 linecolor rgb "#cf5163", \
    tsv using "gate":"lambda" with points pointtype 7 pointsize 0.6 linecolor rgb "#63278a"
}
