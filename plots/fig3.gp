# Figure 3: validation trajectories of the init modes and the baseline with vertical lines at their BVS epochs (left),
# Spearman's ρ between the hardness profiles of the init modes (right); one row of panels for each sweep and
# recipe. Made by `lgelu figure fig3 SWEEP…`, or by hand from its table:
#
#   gnuplot -e "tsv='fig/fig3.tsv'; out='fig/fig3.png'" plots/fig3.gp
#
# out ends in .png, .svg or .pdf. Columns of the table, tab-separated, named in its first line: panel (1, 2, …), part
# (trajectory or rho), title, series (1, 2, …; init modes first), name (of a mode: "init …"),
# baseline (1: no λ), epoch, score, …, bvs_epoch, bvs_score (height of the curve there, in one row of each series);
# axis (label of the scores' axis); for part rho: series_b, name_b (the column of the matrix), rho (NA: undefined), text (of the cell).

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
style = ARG0[1:strlen(ARG0) - strlen("fig3.gp")]."style.gp"

# -- what the table holds
set datafile separator "\t"
set datafile missing "NA"
set datafile columnheaders
stats tsv using "panel" nooutput name "T"
panels = int(T_max)
stats tsv using "series" nooutput name "T"
most = int(T_max)
array title[panels]
array modes[panels]
array last[panels]
array low[panels]
array high[panels]
array axis[panels]
array curves[panels]
array name[panels * most + 1]           # one more: gnuplot looks once into a loop that is empty
array plain[panels * most]
array bvs[panels * most]
longest = 0
of(k, part) = (column("panel") == k && strcol("part") eq part)
do for [k = 1:panels] {
  stats tsv using (of(k, "rho") ? (text = strcol("title"), column("series")) : NaN) nooutput name "M"
  title[k] = text
  modes[k] = int(M_max)
  stats tsv using (of(k, "trajectory") ? (text = strcol("axis"), column("epoch")) : NaN) nooutput name "E"
  axis[k] = text
  last[k] = E_max
  stats tsv using (of(k, "trajectory") && column("epoch") > last[k] / 5.0 ? column("score") : NaN) nooutput name "S"
  pad = (S_max > S_min) ? 0.06 * (S_max - S_min) : 0.02 * abs(S_max) + 1e-3
  low[k] = S_min - pad
  high[k] = S_max + pad
  stats tsv using (of(k, "trajectory") ? column("series") : NaN) nooutput name "M"
  curves[k] = int(M_max)
  do for [s = 1:curves[k]] {
    stats tsv using (of(k, "trajectory") && column("series") == s ? (text = strcol("name"), at = column("bvs_epoch"), \
      column("baseline")) : NaN) nooutput name "B"
    name[(k - 1) * most + s] = text
    plain[(k - 1) * most + s] = int(B_max)
    bvs[(k - 1) * most + s] = at
    longest = (strlen(text) > longest) ? strlen(text) : longest
  }
}
most_modes = 0
do for [k = 1:panels] { most_modes = (modes[k] > most_modes) ? modes[k] : most_modes }

# -- page, in inches
cell = 0.62
panel_height = (most_modes * cell > 1.9) ? most_modes * cell : 1.9
panel_width = 3.5
left = 0.75
middle = 0.45 + 0.066 * (longest - 5)
right = 0.95
top = 0.32
legend = 0.2 * ceil(most / 2.0)        # below each trajectory panel, in two columns
under = 0.54                           # room for tics and label of the x axis
between = under + legend + 0.45
bottom = (under + legend > 0.75) ? under + legend + 0.05 : 0.8
# one panel below the other; more than fill a page side by side, two in a row
across = (panels > 4) ? 2 : 1
down = int(ceil(panels / (1.0 * across)))
pair = left + panel_width + middle + most_modes * cell
gutter = 0.3
width = across * pair + (across - 1) * gutter + right
height = top + down * panel_height + (down - 1) * between + bottom
load style
x_left(k) = (((k - 1) % across) * (pair + gutter) + left) / width
y_high(k) = 1 - (top + int((k - 1) / across) * (panel_height + between)) / height
y_low(k) = y_high(k) - panel_height / height

# Modes from dark to light, which grey and every kind of colour vision keep apart; what has no λ in grey, broad.
shade(k, s) = (modes[k] == 1) ? 0.35 : 0.88 * (s - 1.0) / (modes[k] - 1)
is_gap(text) = (text eq "undefined" || text eq "–")
curve(k, s) = column("panel") == k && strcol("part") eq "trajectory" && column("series") == s

set multiplot
do for [k = 1:panels] {
  # -- trajectories
  set lmargin at screen x_left(k)
  set rmargin at screen x_left(k) + panel_width / width
  set tmargin at screen y_high(k)
  set bmargin at screen y_low(k)
  set border 3
  set grid
  set title title[k] offset 0, -0.5
  set xrange [0:last[k] * 1.02]
  set yrange [low[k]:high[k]]
  set xtics autofreq out nomirror scale 0.6 norotate autojustify font ""
  if (last[k] < 6) { set xtics 1 }
  set ytics autofreq out nomirror scale 0.6 font ""
  set xlabel "epoch" offset 0, 0.4 textcolor rgb ink
  set ylabel axis[k] offset 0.8, 0 textcolor rgb ink
  set key at screen x_left(k) + panel_width / 2 / width, y_low(k) - under / height center top Left reverse \
    vertical maxrows int(ceil(curves[k] / 2.0)) font small samplen 1.6 width 1
  set palette defined (0 "#031576", 1 "#391e86", 2 "#63278a", 3 "#8b3085", 4 "#b03d77", 5 "#cf5163", 6 "#e66b4a", \
    7 "#f28c2c", 8 "#f3b01d")
  set cbrange [0:1]
  unset colorbox
  unset arrow
  do for [s = 1:curves[k]] {
    i = (k - 1) * most + s
    if (plain[i]) {
      set arrow s from bvs[i], graph 0 to bvs[i], graph 1 nohead dashtype (4, 3) linewidth 0.9 linecolor rgb faint back
    } else {
      set arrow s from bvs[i], graph 0 to bvs[i], graph 1 nohead dashtype (4, 3) linewidth 0.9 \
        linecolor palette frac shade(k, s) back
    }
  }
  plot for [s = modes[k] + 1:curves[k]] tsv using (curve(k, s) ? column("epoch") : NaN):"score" with lines \
      linewidth 2.6 linecolor rgb faint title name[(k - 1) * most + s], \
    for [s = 1:modes[k]] tsv using (curve(k, s) ? column("epoch") : NaN):"score" with lines linewidth 1.4 \
      linecolor palette frac shade(k, s) title name[(k - 1) * most + s], \
    for [s = modes[k] + 1:curves[k]] tsv using (curve(k, s) ? column("bvs_epoch") : NaN):"bvs_score" \
      with points pointtype 7 pointsize 0.55 linecolor rgb faint, \
    for [s = 1:modes[k]] tsv using (curve(k, s) ? column("bvs_epoch") : NaN):"bvs_score" with points \
      pointtype 7 pointsize 0.55 linecolor palette frac shade(k, s)
  unset arrow

  # -- agreement
  x_low = x_left(k) + (panel_width + middle) / width
  y_top = (y_high(k) + y_low(k)) / 2 + modes[k] * cell / 2 / height
  set lmargin at screen x_low
  set rmargin at screen x_low + modes[k] * cell / width
  set tmargin at screen y_top
  set bmargin at screen y_top - modes[k] * cell / height
  unset border
  unset grid
  unset xlabel
  unset ylabel
  set key off
  set title (k <= across ? "Spearman’s ρ of init modes" : "") offset 0, -0.5
  # blue over white to orange: darker on the negative side, so that the sign survives in grey
  set palette defined (-1 "#1c3f95", -0.5 "#7f97cf", 0 "#f4f4f4", 0.5 "#f6bd78", 1 "#ee8a1d")
  set cbrange [-1:1]
  if (k == panels) {
    set colorbox user origin screen x_low + (most_modes * cell + 0.2) / width, y_top - modes[k] * cell / height \
      size screen 0.12 / width, modes[k] * cell / height
    set cbtics 0.5 out scale 0.4 font small
  }
  set xrange [0.5:modes[k] + 0.5]
  set yrange [modes[k] + 0.5:0.5]
  set xtics () scale 0 rotate by 30 right font small
  set ytics () scale 0 font small
  do for [s = 1:modes[k]] {
    mode = name[(k - 1) * most + s][6:*]
    set xtics add (mode s)
    set ytics add (mode s)
  }
  half = 0.48
  plot tsv using (of(k, "rho") ? column("series_b") : NaN):"series":(column("series_b") - half):\
(column("series_b") + half):(column("series") - half):(column("series") + half):"rho" with boxxyerror \
      fillstyle solid 1 noborder linecolor palette, \
    tsv using (of(k, "rho") && is_gap(strcol("text")) ? column("series_b") : NaN):"series":(column("series_b") - half):\
(column("series_b") + half):(column("series") - half):(column("series") + half) with boxxyerror \
      fillstyle pattern 4 noborder linecolor rgb "#bdbdbd", \
    tsv using (of(k, "rho") ? column("series_b") : NaN):"series":(strcol("text")): \
      (!is_gap(strcol("text")) && column("rho") < -0.6 ? 0xffffff : 0x222222) with labels font small \
      textcolor rgb variable
}
unset multiplot
unset output
