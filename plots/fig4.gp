# Figure 4: the ways to a ReLU network as drops of the score (left), validation score against hardness λ along hardened
# trainings (right); one row of panels for each sweep and recipe. Made by `lgelu figure fig4 SWEEP…`, or by hand
# from its table:
#
#   gnuplot -e "tsv='fig/fig4.tsv'; out='fig/fig4.png'" plots/fig4.gp
#
# out ends in .png, .svg or .pdf. Columns of the table, tab-separated, named in its first line: panel (1, 2, …), part
# (way or path), title, series (1, 2, … of the part), name; for ways: runs, text (the score of the ReLU network; –: no
# run), drop, …, drop_low and drop_high (the interval; drop itself where one seed has none), …; for paths: colour (1, 2,
# …; name belongs to it), epoch, lambda_mid, lambda_min, lambda_max, score; axis (label of the scores' axis).

if (!exists("tsv") || !exists("out")) exit error "set tsv (the table) and out (the picture) with -e"
style = ARG0[1:strlen(ARG0) - strlen("fig4.gp")]."style.gp"

# -- what the table holds
set datafile separator "\t"
set datafile missing "NA"
set datafile columnheaders
stats tsv using "panel" nooutput name "T"
panels = int(T_max)
array title[panels]
array ways[panels]
array paths[panels]
array drop_low[panels]
array drop_high[panels]
array path_low[panels]
array path_high[panels]
array drop_axis[panels]
array path_axis[panels]
array lambda_high[panels]
most = 6                               # colours and names in the legend of a panel
array name[panels * most + 1]
array colours[panels]
longest = 0
most_colours = 1
most_ways = 0
of(k, part) = (column("panel") == k && strcol("part") eq part)
do for [k = 1:panels] {
  stats tsv using (of(k, "way") ? (text = strcol("title"), n = strlen(strcol("name")), \
    longest = (n > longest) ? n : longest, column("series")) : NaN) nooutput name "W"
  title[k] = text
  ways[k] = int(W_max)
  most_ways = (ways[k] > most_ways) ? ways[k] : most_ways
  stats tsv using (of(k, "way") ? (text = strcol("axis"), column("series")) : NaN) nooutput name "W"
  drop_axis[k] = text
  stats tsv using (of(k, "way") ? column("drop_low") : NaN) nooutput name "L"
  stats tsv using (of(k, "way") ? column("drop_high") : NaN) nooutput name "H"
  drop_low[k] = (L_min < 0) ? L_min : 0
  drop_high[k] = (H_max > 0) ? H_max : 0
  # the same without a path: a count that may be none
  stats tsv using (of(k, "path") ? column("series") : 0) nooutput name "P"
  paths[k] = int(P_max)
  colours[k] = 1
  if (paths[k] > 0) {
    stats tsv using (of(k, "path") ? (text = strcol("axis"), column("epoch")) : NaN) nooutput name "E"
    path_axis[k] = text
    stats tsv using (of(k, "path") && column("epoch") > E_max / 5.0 ? column("score") : NaN) nooutput name "S"
    stats tsv using (of(k, "path") ? column("lambda_max") : NaN) nooutput name "X"
    path_low[k] = S_min
    path_high[k] = S_max
    lambda_high[k] = X_max
    stats tsv using (of(k, "path") ? column("colour") : NaN) nooutput name "N"
    colours[k] = int(N_max)
    most_colours = (colours[k] > most_colours) ? colours[k] : most_colours
    do for [s = 1:(colours[k] < most ? colours[k] : most)] {
      stats tsv using (of(k, "path") && column("colour") == s ? (text = strcol("name"), 1) : NaN) nooutput name "N"
      name[(k - 1) * most + s] = text
    }
  }
}

# -- page, in inches
left = 0.25 + 0.078 * longest
drop_width = 2.0
scores = 0.95
middle = 0.75
path_width = 2.7
right = 0.2
top = 0.35
panel_height = (0.34 * most_ways > 1.7) ? 0.34 * most_ways : 1.7
under = 0.54                           # room for tics and label of the x axis
below = 0.2 * ceil((most_colours < most ? most_colours : most) / 2.0) + 0.1  # and the legend's
between = under + below + 0.35
bottom = under + below
# one panel below the other; more than fill a page side by side, two in a row
across = (panels > 4) ? 2 : 1
down = int(ceil(panels / (1.0 * across)))
pair = left + drop_width + scores + middle + path_width + right
width = across * pair
height = top + down * panel_height + (down - 1) * between + bottom
load style
x_left(k) = (((k - 1) % across) * pair + left) / width
x_path(k) = x_left(k) + (drop_width + scores + middle) / width
y_high(k) = 1 - (top + int((k - 1) / across) * (panel_height + between)) / height
y_low(k) = y_high(k) - panel_height / height
shade(k, s) = (colours[k] == 1) ? 0.35 : 0.88 * (s - 1.0) / (colours[k] - 1)
path(k, s) = column("panel") == k && strcol("part") eq "path" && column("series") == s
pick(k) = shade(k, column("colour"))

set multiplot
do for [k = 1:panels] {
  set key off
  set errorbars
  # -- drops
  set lmargin at screen x_left(k)
  set rmargin at screen x_left(k) + drop_width / width
  set tmargin at screen y_high(k)
  set bmargin at screen y_low(k)
  unset logscale x
  set border 1
  set grid xtics noytics
  set title title[k] offset 0, -0.5
  pad = 0.06 * (drop_high[k] - drop_low[k]) + 1e-6
  set xrange [drop_low[k] - pad:drop_high[k] + pad]
  set yrange [ways[k] + 0.6:0.4]
  set xtics autofreq out nomirror scale 0.6
  coarse = (drop_high[k] - drop_low[k] + 2 * pad) / (drop_high[k] - drop_low[k] < 0.5 ? 2.5 : 4) # longer numbers: fewer
  power = 10 ** floor(log10(coarse))
  set xtics power * (coarse < 1.5 * power ? 1 : coarse < 3.5 * power ? 2 : coarse < 7.5 * power ? 5 : 10)
  set format x "%g"
  unset ytics
  set xlabel drop_axis[k] offset 0, 0.4 textcolor rgb ink
  unset ylabel
  set arrow 1 from 0, graph 0 to 0, graph 1 nohead linewidth 0.8 linecolor rgb faint back
  set label 1 "ReLU network’s score" at graph 1.03, graph 1.03 left font small textcolor rgb faint
  plot tsv using (of(k, "way") ? column("drop") : NaN):"series":"drop_low":"drop_high" with xerrorbars pointtype 7 \
      pointsize 0.6 linewidth 1.3 linecolor rgb "#63278a", \
    tsv using (of(k, "way") ? 0.5 * (drop_low[k] + drop_high[k]) : NaN):"series": \
      (strcol("text") eq "–" ? "no run is done" : "") with labels textcolor rgb faint, \
    tsv using (of(k, "way") ? drop_low[k] - pad : NaN):"series":(strcol("name")) with labels right \
      offset -1, 0 textcolor rgb ink, \
    tsv using (of(k, "way") ? drop_high[k] + pad : NaN):"series":(strcol("text")) with labels left offset 1.2, 0 \
      font small textcolor rgb ink
  unset arrow
  unset label

  # -- score against λ
  set lmargin at screen x_path(k)
  set rmargin at screen x_path(k) + path_width / width
  set border 3
  set grid xtics ytics
  set title (k <= across ? "along hardening" : "") offset 0, -0.5
  set logscale x
  set errorbars small
  set key at screen x_path(k) + path_width / 2 / width, y_low(k) - under / height center top Left reverse \
    vertical maxrows int(ceil((colours[k] < most ? colours[k] : most) / 2.0)) font small samplen 1.2 width 1
  set xlabel "hardness λ" offset 0, 0.4 textcolor rgb ink
  set ylabel "validation score" offset 0.8, 0 textcolor rgb ink
  if (paths[k] > 0) {
    pad = (path_high[k] > path_low[k]) ? 0.06 * (path_high[k] - path_low[k]) : 0.02 * abs(path_high[k]) + 1e-3
    set ylabel path_axis[k]
    set xrange [0.9:lambda_high[k] * 1.25]
    set yrange [path_low[k] - pad:path_high[k] + pad]
    set xtics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000) out nomirror scale 0.6
    set ytics autofreq out nomirror scale 0.6
    plot for [s = 1:paths[k]] tsv using (path(k, s) ? column("lambda_mid") : NaN):"score":"lambda_min":"lambda_max":\
(pick(k)) with xerrorbars pointtype -1 linewidth 0.5 linecolor palette, \
      for [s = 1:paths[k]] tsv using (path(k, s) ? column("lambda_mid") : NaN):"score":(pick(k)) with linespoints \
        pointtype 7 pointsize 0.4 linewidth 1.3 linecolor palette, \
      for [s = 1:(colours[k] < most ? colours[k] : most)] keyentry with linespoints pointtype 7 pointsize 0.4 \
        linewidth 1.3 linecolor palette frac shade(k, s) title name[(k - 1) * most + s]
  } else {
    set xrange [1:200]
    set yrange [0:1]
    set xtics (1, 10, 100) out nomirror scale 0.6
    unset ytics
    set label 1 "no hardened run is done" at graph 0.5, 0.5 center textcolor rgb faint
    plot tsv using "panel":(NaN) with points
    unset label
  }
}
unset multiplot
unset output
