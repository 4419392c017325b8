--- Figures: pure functions of run files, drawn by gnuplot.
--
-- run.h5 files → table (FILE.tsv) → one gnuplot process → picture (FILE.png, .svg or .pdf), with a caption (FILE.txt)
-- that says what it shows and how to draw it again. Data are checked before, the picture after; the three files appear
-- under their names together, or not at all.
-- What it is not: the figures themselves, which are lgelu.plot.NAME (table and caption) and plots/NAME.gp (the look).
-- Called by lgelu.cli.figure and at the prompt, as `lg.plot`.
--
-- A figure is { name, summary, script (in plots/), takes = "runs" | "sweeps" | nil (nothing), least, most (how many of
-- them), default_out(inputs) → path, build(inputs) → { columns, rows, caption = list of paragraphs, gaps = list of
-- lines on what is missing (optional), partly = name → true for columns that may be all NA (optional) } }. Runs are
-- readers of lgelu.store, sweeps are those of lgelu.plot.sweeps. A new figure is its module and a line in FIGURES.
-- @module lgelu.plot

local errors = require("lgelu.errors")

local plot = {}

-- The only list of figures, in the order of help.
local FIGURES = { "fig1", "fig2", "fig3", "fig4", "profile", "activation" }

-- How every caption begins.
local CAPTION_MARK = "lgelu figure "

--- The figures there are.
-- @treturn table list of figures, as described above
function plot.figures()
  local list = {}
  for i, name in ipairs(FIGURES) do list[i] = require("lgelu.plot." .. name) end
  return list
end

local function find(name)
  for _, known in ipairs(FIGURES) do
    if known == name then return require("lgelu.plot." .. name) end
  end
  errors.usage("'%s' is no figure%s; there are: %s", tostring(name), errors.suggest(name, FIGURES),
    table.concat(FIGURES, ", "))
end

-- Splits FILE.png into FILE and png; a usage error for another extension.
local function split(out)
  local EXTENSIONS = require("lgelu.plot.gnuplot").EXTENSIONS
  local stem, extension = out:match("^(.*[^/])%.(%a+)$")
  for _, known in ipairs(EXTENSIONS) do
    if extension == known then return stem, extension end
  end
  errors.usage("%s: a figure's name ends in .png, .svg or .pdf%s", out,
    extension and errors.suggest(extension, EXTENSIONS) or "")
end

-- Writes text to path; the work failed when that cannot be done, as on a full disk.
local function write(path, text)
  local file, why = io.open(path, "wb")
  if not file then errors.fail("cannot write %s", why) end
  local ok, wrong = file:write(text)
  if ok then ok, wrong = file:close() else file:close() end
  if not ok then errors.fail("cannot write %s: %s", path, wrong) end
end

-- A table or caption is overwritten only by its like: FILE.txt may be somebody's notes.
local function check_ours(path, beginning)
  local file = io.open(path, "rb")
  if not file then return end
  local found = file:read(#beginning)
  file:close()
  if found and found ~= beginning then
    errors.fail("%s is there and is no part of such a figure: it is left alone; choose another name with -o", path)
  end
end

local function caption_text(figure, built, command, out, stem)
  local gnuplot = require("lgelu.plot.gnuplot")
  local parts = { CAPTION_MARK .. figure.name }
  for _, paragraph in ipairs(built.caption) do parts[#parts + 1] = paragraph end
  parts[#parts + 1] = "Data: " .. stem:match("[^/]*$") .. ".tsv, beside this file."
  parts[#parts + 1] = "Made with lgelu " .. require("lgelu").version .. ":\n  " .. command
    .. "\nThe picture alone, from its table (plots/ is lgelu's folder of that name):\n  "
    .. gnuplot.command("plots/" .. figure.script, stem .. ".tsv", out)
  return table.concat(parts, "\n\n") .. "\n"
end

-- Draws under temporary names, then renames all; removes them when anything fails.
local function make(figure, built, text, table_text, stem, extension)
  local gnuplot = require("lgelu.plot.gnuplot")
  local script = require("lgelu.paths").plots .. "/" .. figure.script
  local suffixes = { "tsv", "txt", extension }
  local ok, e = pcall(function()
    write(stem .. ".tmp.tsv", table_text)
    write(stem .. ".tmp.txt", text)
    gnuplot.draw(script, stem .. ".tmp.tsv", stem .. ".tmp." .. extension)
    for _, suffix in ipairs(suffixes) do
      local done, why = os.rename(stem .. ".tmp." .. suffix, stem .. "." .. suffix)
      if not done then errors.fail("cannot write %s", why) end
    end
  end)
  if not ok then
    for _, suffix in ipairs(suffixes) do os.remove(stem .. ".tmp." .. suffix) end
    error(e, 0)
  end
  return { picture = stem .. "." .. extension, table = stem .. ".tsv", caption = stem .. ".txt", rows = #built.rows }
end

-- "no runs", "1 to 6 runs", "1 sweep".
local function wanted(figure)
  if not figure.takes then return "no runs" end
  if figure.least == figure.most then return ("%d %s"):format(figure.least, figure.takes:gsub("s$", "", 1)) end
  return ("%d to %d %s"):format(figure.least, figure.most, figure.takes)
end

--- Checks what can be known before any run is opened.
-- @tparam string name of the figure
-- @tparam number count of runs or sweeps
-- @tparam ?string out the picture's path, where one is asked for
-- @treturn table the figure
-- @raise usage error: unknown figure or extension, too few or too many runs or sweeps
function plot.check(name, count, out)
  local figure = find(name)
  if count < (figure.least or 0) or count > (figure.most or 0) then
    errors.usage("figure %s takes %s; %d given", name, wanted(figure), count)
  end
  if out then split(out) end
  return figure
end

--- Opens what a figure takes.
-- @tparam string name one of `plot.figures()`
-- @tparam table words runs by folder or name; sweeps by folder, name or condensed file
-- @treturn table list of inputs for `plot.figure`
-- @raise as plot.check, lgelu.store and lgelu.sweep
function plot.open(name, words)
  local figure, inputs = plot.check(name, #words), {}
  for i, word in ipairs(words) do
    if figure.takes == "sweeps" then
      inputs[i] = require("lgelu.plot.sweeps").open(word)
    else
      local store = require("lgelu.store")
      inputs[i] = store.open(store.resolve(word))
    end
  end
  return inputs
end

--- Draws a figure.
-- @tparam string name one of `plot.figures()`
-- @tparam ?table inputs opened runs or sweeps (`plot.open`), as many as the figure takes
-- @tparam ?string out FILE.png, .svg or .pdf; by default fig/NAME.png in the first run's or sweep's folder, or
-- NAME.png beside a condensed file
-- @treturn table paths `picture`, `table`, `caption`; `rows` of the table; `gaps`, lines on what is missing
-- @raise as plot.check; the work failed: no data, NaN, a file that cannot be written, gnuplot missing or failing
function plot.figure(name, inputs, out)
  inputs = inputs or {}
  local figure = plot.check(name, #inputs, out)
  local built = figure.build(inputs)
  if not out then
    out = figure.default_out(inputs)
    local folder = out:match("^(.*)/")
    if folder then
      local C = require("lgelu.C")
      C.check(C.lib.lg_dir_make(folder))
    end
  end
  local shell_word, words = require("lgelu.plot.gnuplot").shell_word, { "lgelu", "figure", name }
  for _, input in ipairs(inputs) do words[#words + 1] = shell_word(input.dir) end
  words[#words + 1] = "-o " .. shell_word(out)
  return plot.draw(figure, built, table.concat(words, " "), out)
end

--- Draws what was built already: how the prompt makes figures of what is in memory.
-- @tparam table figure { name, script }
-- @tparam table built { columns, rows, caption }
-- @tparam string command what makes the same figure again, for the caption
-- @tparam string out as for plot.figure
-- @treturn table as plot.figure; errors as there
function plot.draw(figure, built, command, out)
  local stem, extension = split(out)
  local table_text = require("lgelu.plot.tsv").format(built.columns, built.rows, "figure " .. figure.name, built.partly)
  local text = caption_text(figure, built, command, out, stem)
  check_ours(stem .. ".txt", CAPTION_MARK)
  check_ours(stem .. ".tsv", built.columns[1] .. "\t" .. built.columns[2])
  local made = make(figure, built, text, table_text, stem, extension)
  made.gaps = built.gaps or {}
  return made
end

--- The same as characters, for a terminal.
-- @tparam number columns  @tparam number lines  the size of the picture
-- @treturn string lines of text without a newline at the end
function plot.text(figure, built, columns, lines)
  local gnuplot = require("lgelu.plot.gnuplot")
  local table_path = os.tmpname()
  local ok, text = pcall(function()
    write(table_path, require("lgelu.plot.tsv").format(built.columns, built.rows, "figure " .. figure.name))
    return gnuplot.text(require("lgelu.paths").plots .. "/" .. figure.script, table_path, columns, lines)
  end)
  os.remove(table_path)
  if not ok then error(text, 0) end
  return text
end

return plot
