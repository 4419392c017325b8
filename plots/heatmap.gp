# Heat map over t and c: one box a cell, coloured by the hardness drift Δλ, with ΔBVS as its text. What fig1.gp and
# fig2.gp share; they set cell_width and cell_height (inches), and as_row: 0, or 1 for a single row, whose colour bar lies
# below it and whose cells say Δλ in numbers too.
#
# Columns of the table, tab-separated, named in its first line: x, y (place of the cell, from 1), c, t, state (complete,
# partial, no baseline, no λ, missing), text (of the cell), delta, …, drift (NA where nothing is known), ….

# -- what the table holds
set datafile separator "\t"
set datafile missing "NA"
set datafile columnheaders
stats tsv using "x" nooutput name "X"
stats tsv using "y" nooutput name "Y"
columns = int(X_max)
rows = int(Y_max)
stats tsv using "drift" nooutput name "D"
logarithmic = (D_max > 0)
if (logarithmic) { stats tsv using (column("drift") > 0 ? column("drift") : NaN) nooutput name "P" }

# room for the axes' names beside few cells
if (columns * cell_width < 2.5) { cell_width = 2.5 / columns }
if (!as_row && rows * cell_height < 1.3) { cell_height = 1.3 / rows }
left = as_row ? 0.75 : 0.8
right = as_row ? 0.2 : 1.1
top = 0.12
bottom = as_row ? 1.12 : 0.52
width = left + columns * cell_width + right
height = top + rows * cell_height + bottom
load style

# -- colours: logarithmic where anything drifts, and no drift is then the darkest; a range of no width is widened
low = logarithmic ? P_min : D_min
high = D_max
if (logarithmic && high / low < 1.2) { low = low / 1.1; high = high * 1.1 }
if (!logarithmic && high - low < 1e-12) { high = low + (low > 0 ? low : 1) }
shown(d) = (d > low) ? d : low
share(d) = logarithmic ? log(d / low) / log(high / low) : (d - low) / (high - low)
if (logarithmic) { set logscale cb }
set cbrange [low:high]
if (as_row) {
  set colorbox horizontal user origin screen left / width, 0.45 / height \
    size screen 1 - (left + right) / width, 0.12 / height
  set cblabel "hardness drift Δλ" offset 0, 0.5 textcolor rgb ink
} else {
  set colorbox user origin screen 1 - (right - 0.15) / width, bottom / height \
    size screen 0.13 / width, (height - top - bottom) / height
  set cblabel "hardness drift Δλ" offset 0.4, 0 textcolor rgb ink
}
set cbtics out font small scale 0.4
if (logarithmic) {
  # 1, 2, 5 times powers of ten; all digits where even those are too far apart
  ticks = floor(log10(high)) - floor(log10(low))
  set cbtics ()
  do for [p = floor(log10(low)):ceil(log10(high))] {
    do for [m in (ticks > 2 ? "1" : high / low > 4 ? "1 2 5" : "1 1.5 2 3 4 5 6 7 8 9")] {
      value = m * 10.0 ** p
      if (value >= low && value <= high) { set cbtics add (sprintf("%g", value) value) }
    }
  }
}

set lmargin at screen left / width
set rmargin at screen 1 - right / width
set tmargin at screen 1 - top / height
set bmargin at screen bottom / height
set xrange [0.5:columns + 0.5]
set yrange [0.5:rows + 0.5]
unset grid
unset border
set xlabel "multiplier c of the learning rate of s" offset 0, 0.4 textcolor rgb ink
if (!as_row) { set ylabel "temperature t" offset 0.6, 0 textcolor rgb ink }
set xtics () scale 0
set ytics () scale 0

# A box with a narrow white rim, and its text in white on dark colours. Texts that do not apply are empty: gnuplot 5.4
# cannot draw labels of which every one is NaN; and a row with an NA in any of its expressions is left out.
half = 0.485
is_gap(state) = state eq "missing" || state eq "no λ"
known(value) = is_gap(strcol("state")) ? NaN : value
unknown(value) = is_gap(strcol("state")) ? value : NaN
colour(d) = share(shown(d)) < 0.6 ? 0xffffff : 0x222222
drift_text(d) = as_row ? sprintf("Δλ %#.2g", d) : ""
gap_text(text) = is_gap(strcol("state")) ? text : ""
plot tsv using "x":"y":(column("x") - half):(column("x") + half):(column("y") - half):(column("y") + half):\
(known(shown(column("drift")))) with boxxyerror fillstyle solid 1 noborder linecolor palette, \
  tsv using (unknown(column("x"))):"y":(column("x") - half):(column("x") + half):(column("y") - half):\
(column("y") + half) with boxxyerror fillstyle pattern 4 noborder linecolor rgb "#bdbdbd", \
  tsv using "x":"y":"text":(colour(column("drift"))) with labels offset 0, (as_row ? 0.5 : 0) \
    textcolor rgb variable, \
  tsv using "x":"y":(drift_text(column("drift"))):(colour(column("drift"))) with labels offset 0, -0.6 font small \
    textcolor rgb variable, \
  tsv using "x":"y":(gap_text(strcol("text"))) with labels textcolor rgb ink, \
  tsv using "x":(NaN):xticlabel(strcol("c")) with points, \
  tsv using (NaN):"y":yticlabel((as_row ? "t = " : "").strcol("t")) with points
unset output
