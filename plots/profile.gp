# Hardness profile: λ of each gate over epochs (top), validation score with the epoch of its best value, the BVS, marked
# (bottom); one column of panels per run. Made by `lgelu figure profile`, or by hand from its table:
#
#   gnuplot -e "tsv='fig/profile.tsv'; out='fig/profile.png'" plots/profile.gp
#
# out ends in .png, .svg or .pdf. Columns of the table, tab-separated, named in its first line: panel (1, 2, …), run
# (name), gate (activation), gates (with a λ), epoch (0: at initialization), val_score (NA at epoch 0), best (1 at the
# BVS epoch), then lambda:NAME for each gate in forward order (NA where a run has no such gate).

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
style = ARG0[1:strlen(ARG0) - strlen("profile.gp")]."style.gp"

# -- what the table holds
set datafile separator "\t"
set datafile missing "NA"
stats tsv using 1 every ::1 nooutput name "C"
fixed = 7
gates = C_columns - fixed
columns = C_columns
longest = 0                            # characters of the longest gate's name
do for [i = fixed + 1:columns] {
  stats tsv using (length = strlen(strcol(i)) - strlen("lambda:")) every ::::0 nooutput
  longest = (length > longest) ? length : longest
}
set datafile columnheaders
stats tsv using "panel":"epoch" nooutput name "T"
panels = int(T_max_x)
epochs = T_max_y
lambda_min = NaN
lambda_max = NaN
do for [i = fixed + 1:columns] {
  stats tsv using i nooutput name "L"
  lambda_min = (lambda_min <= L_min) ? lambda_min : L_min
  lambda_max = (lambda_max >= L_max) ? lambda_max : L_max
}
stats tsv using "val_score" nooutput name "S"
array run[panels]
array gate[panels]
array learned[panels]
array best_epoch[panels]
array best_score[panels]
do for [k = 1:panels] {
  stats tsv using (column("panel") == k ? (run_name = strcol("run"), gate_name = strcol("gate"), column("gates")) : NaN) \
    nooutput name "R"
  run[k] = run_name
  gate[k] = gate_name
  learned[k] = int(R_max)
  stats tsv using (column("panel") == k && column("best") == 1 ? (at = column("epoch"), column("val_score")) : NaN) \
    nooutput name "B"
  best_epoch[k] = at
  best_score[k] = B_max
}

# -- page, in inches; panels share their axes, the legend stands right of them
listed = 20
panel_width = (panels == 1) ? 5.2 : (panels == 2) ? 3.4 : 2.5
gap = 0.3
left = 0.85
right = (gates == 0) ? 0.3 : (gates > listed) ? 1.0 : 0.7 + 0.072 * longest
width = left + panels * panel_width + (panels - 1) * gap + right
height = 4.9
load style
x_left(k) = (left + (k - 1) * (panel_width + gap)) / width
x_right(k) = x_left(k) + panel_width / width
y_top = 1 - 0.4 / height
y_middle_high = 1 - 2.95 / height
y_middle_low = 1 - 3.1 / height
y_bottom = 0.55 / height

shade(i) = (gates == 1) ? 0.35 : (i - fixed - 1.0) / (gates - 1)
logarithmic = (lambda_max / lambda_min > 8)
pad = (lambda_max > lambda_min) ? 0.05 * (lambda_max - lambda_min) : 0.05 * lambda_max
score_pad = (S_max > S_min) ? 0.1 * (S_max - S_min) : 0.02
score_low = S_min - score_pad
score_high = S_max + score_pad
# about five steps of 1, 2 or 5 times a power of ten
coarse = (score_high - score_low) / 5
power = 10 ** floor(log10(coarse))
score_step = power * (coarse < 1.5 * power ? 1 : coarse < 3.5 * power ? 2 : coarse < 7.5 * power ? 5 : 10)

set multiplot
set xrange [0:(epochs > 0 ? epochs : 1)]
if (epochs < 6) { set xtics 1 }

# The legend is a plot of its own, over the whole height: a key drops entries that do not fit beside their plot.
if (gates > 0 && gates <= listed) {
  set lmargin at screen x_right(panels)
  set rmargin at screen 1
  set tmargin at screen y_top
  set bmargin at screen 0
  unset border
  unset tics
  set yrange [0:1]
  set key at screen x_right(panels) + 0.1 / width, y_top left top Left reverse font small
  plot for [i = fixed + 1:columns] tsv using (NaN):(NaN) with lines linewidth 1.5 linecolor palette frac shade(i) \
    title columnheader(i)[8:*]
  set key off
  set border 3
  set xtics out nomirror
  set ytics out nomirror
}

do for [k = 1:panels] {
  set lmargin at screen x_left(k)
  set rmargin at screen x_right(k)
  unset label
  unset arrow

  # λ
  set tmargin at screen y_top
  set bmargin at screen y_middle_high
  set title run[k] offset 0, -0.4 textcolor rgb ink
  set format x ""
  unset xlabel
  if (k == 1) {
    set label 3 "gate hardness λ" at screen 0.2 / width, (y_top + y_middle_high) / 2 center rotate textcolor rgb ink
    set label 4 "validation score" at screen 0.2 / width, (y_middle_low + y_bottom) / 2 center rotate textcolor rgb ink
  }
  set format y (k == 1 ? "%g" : "")
  set grid
  if (gates == 0 || learned[k] == 0) { unset grid }
  if (gates > 0) {
    if (logarithmic) {
      set logscale y
      set yrange [lambda_min / 1.12:lambda_max * 1.12]
      set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
    } else {
      set yrange [lambda_min - pad:lambda_max + pad]
      set ytics autofreq
    }
  } else {
    set yrange [0:1]
    unset ytics
  }
  if (learned[k] > 0) {
    set arrow 1 from best_epoch[k], graph 0 to best_epoch[k], graph 1 nohead dashtype 2 linewidth 0.8 \
      linecolor rgb faint back
    if (gates > listed && k == panels) {
      set cbrange [1:gates]
      set colorbox user origin screen x_right(panels) + 0.3 / width, y_middle_high \
        size screen 0.12 / width, y_top - y_middle_high
      set cblabel "gate, in forward order" offset -0.4, 0
      set cbtics font small
    }
    plot for [i = fixed + 1:columns] tsv using (column("panel") == k ? column("epoch") : NaN):i with lines \
      linewidth 1.5 linecolor palette frac shade(i)
    unset colorbox
  } else {
    set label 1 sprintf("no λ to show:\nthe gates of this run are %s", gate[k]) at graph 0.5, 0.55 center \
      textcolor rgb faint
    plot tsv using (column("panel") == k ? column("epoch") : NaN):(NaN) with lines
  }
  unset label
  unset logscale y
  unset title

  # validation score
  set tmargin at screen y_middle_low
  set bmargin at screen y_bottom
  set grid
  set format x "%g"
  set xlabel "epoch" offset 0, 0.4 textcolor rgb ink
  set ytics out nomirror score_step
  set yrange [score_low:score_high]
  set arrow 1 from best_epoch[k], graph 0 to best_epoch[k], graph 1 nohead dashtype 2 linewidth 0.8 \
    linecolor rgb faint back
  late = best_epoch[k] > epochs / 2.0
  set label 2 sprintf("BVS %.4f, epoch %d", best_score[k], best_epoch[k]) \
    at best_epoch[k], graph 0.1 offset character (late ? -0.8 : 0.8), 0 left font small textcolor rgb ink
  if (late) { set label 2 right }
  plot tsv using (column("panel") == k ? column("epoch") : NaN):"val_score" with lines linewidth 1.5 linecolor rgb ink, \
    tsv using (column("panel") == k && column("best") == 1 ? column("epoch") : NaN):"val_score" with points pointtype 7 \
    pointsize 0.5 linecolor rgb "#cf5163"
}
unset multiplot
unset output
