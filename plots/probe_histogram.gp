# What arrives at a gate: the histogram of its pre-activations, the transition band |λx| < 2 set off. Made by plot(GATE)
# of `lgelu repl`, or by hand:
#
#   gnuplot -e "tsv='gate1.tsv'; out='gate1.png'" plots/probe_histogram.gp
#
# out ends in .png, .svg or .pdf; or it is empty, with columns and lines set: characters. Columns of the table: x (middle
# of a bin), count, band (1: the middle lies in the band).

style = ARG0[1:strlen(ARG0) - strlen("probe_histogram.gp")]."style.gp"
width = 6.4
height = 3.4
load style

set xlabel "pre-activation x" textcolor rgb ink
set ylabel "values" textcolor rgb ink
set yrange [0:*]
set style fill solid noborder
if (out eq "") {
  unset grid
  plot tsv using "x":(column("band") == 1 ? column("count") : 0) with impulses linetype 1 title "|λx| < 2", \
    tsv using "x":(column("band") == 1 ? 0 : column("count")) with impulses linetype 3 title "outside"
} else {
  set boxwidth 1 relative
  plot tsv using "x":(column("band") == 1 ? column("count") : 0) with boxes linecolor rgb "#cf5163" \
      title "|λx| < 2", \
    tsv using "x":(column("band") == 1 ? 0 : column("count")) with boxes linecolor rgb "#63278a" title "outside"
}
