# Look shared by every figure: terminal from the extension of `out`, fonts, axes, colours.
# What it is not: a figure. Each plots/NAME.gp loads it after setting width and height in inches.
#
# Colours: anchors at equal steps of OKLCH (lightness 0.28 to 0.80, hue 265° over magenta to 80°, chroma 0.16 or what
# sRGB holds). Lightness rises evenly, so that order survives in grey and for every kind of colour vision.

if (!exists("width")) width = 7.2
if (!exists("height")) height = 4.6

extension = (strlen(out) > 4) ? out[strlen(out) - 3:strlen(out)] : ""
if (out ne "" && extension ne ".png" && extension ne ".svg" && extension ne ".pdf") \
  exit error sprintf("out is '%s': a name that ends in .png, .svg or .pdf is expected", out)

# No `out`: characters on standard output, `columns` by `lines`, for a terminal; where that needs another drawing, the
# figure's script asks for out eq "".
if (out eq "") set terminal dumb noenhanced mono size columns, lines

# The same picture from all three: 9 point text, lines in points. Bitmaps have 300 dots an inch. The terminals count
# text in 1/96 inch (svg: its pixels) and lines in their own units, hence the scales.
if (extension eq ".png") set terminal pngcairo noenhanced background rgb "white" font "DejaVu Sans,9" \
  fontscale 300.0 / 96 linewidth 300.0 / 72 pointscale 300.0 / 72 size width * 300, height * 300
if (extension eq ".svg") set terminal svg noenhanced background rgb "white" font "DejaVu Sans,12" \
  linewidth 96.0 / 72 size width * 96, height * 96
if (extension eq ".pdf") set terminal pdfcairo noenhanced background rgb "white" font "DejaVu Sans,9" \
  fontscale 72.0 / 96 linewidth 2 pointscale 1 size width, height
small = (extension eq ".svg") ? ",10.5" : ",8"

set encoding utf8
set minussign
if (out ne "") set output out
set datafile separator "\t"
set datafile columnheaders
set datafile missing "NA"

set palette defined (0 "#031576", 1 "#391e86", 2 "#63278a", 3 "#8b3085", 4 "#b03d77", 5 "#cf5163", 6 "#e66b4a", \
  7 "#f28c2c", 8 "#f3b01d")
set cbrange [0:1]
unset colorbox

ink = "#222222"
faint = "#8a8a8a"
set border 3 linewidth 0.7 linecolor rgb ink
set tics out nomirror scale 0.6 textcolor rgb ink
set grid back linetype 1 linewidth 0.4 linecolor rgb "#e3e3e3"
set key noautotitle textcolor rgb ink samplen 1.6 spacing 1.15
set title textcolor rgb ink
