# The activation family f(x; λ) = x·Φ(λx) and its slope ∂f/∂x for several λ, with ReLU. Made by `lgelu figure
# activation`, or by hand from its table:
#
#   gnuplot -e "tsv='activation.tsv'; out='activation.png'" plots/activation.gp
#
# out ends in .png, .svg or .pdf. Columns of the table, tab-separated, named in its first line: x, then f:λ for each λ in
# ascending order and f:relu, then df:λ for each λ and df:relu.

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
style = ARG0[1:strlen(ARG0) - strlen("activation.gp")]."style.gp"
width = 7.4
height = 3.2
load style

stats tsv using 1 nooutput name "C"
curves = (C_columns - 1) / 2 - 1       # without ReLU
shade(i) = (curves == 1) ? 0.35 : (i - 2.0) / (curves - 1)

x_low = 0.6 / width
panel = 2.5 / width
gap = 0.6 / width
y_low = 0.55 / height
y_high = 1 - 0.38 / height

# ReLU lies under the curves, broad and pale, so that the hard ones show on it.
relu = 'with lines linewidth 3.8 linecolor rgb "#c9c9c9"'

set multiplot
set tmargin at screen y_high
set bmargin at screen y_low
set xlabel "x" offset 0, 0.4 textcolor rgb ink
set xrange [-2:2]
set xtics 1

set lmargin at screen x_low
set rmargin at screen x_low + panel
set title "f(x; λ) = x·Φ(λx)" offset 0, -0.4 textcolor rgb ink
set yrange [-0.5:2]
set ytics 0.5
plot tsv using 1:"f:relu" @relu, \
  for [i = 2:curves + 1] tsv using 1:i with lines linewidth 1.4 linecolor palette frac shade(i)

set lmargin at screen x_low + panel + gap
set rmargin at screen x_low + 2 * panel + gap
set title "∂f/∂x = Φ(λx) + λx·φ(λx)" offset 0, -0.4 textcolor rgb ink
set yrange [-0.2:1.2]
set ytics 0.2
set key at screen x_low + 2 * panel + gap + 0.1 / width, y_high left top Left reverse
plot tsv using 1:"df:relu" @relu, \
  for [i = 2:curves + 1] tsv using 1:(column(i + curves + 1)) with lines linewidth 1.4 \
    linecolor palette frac shade(i) title "λ = ".columnheader(i)[3:*], \
  keyentry @relu title "ReLU"
unset multiplot
unset output
