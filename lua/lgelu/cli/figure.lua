--- lgelu figure: draws a figure from the files of runs or sweeps. The work is lgelu.plot's; the list of figures is
-- there too.

local errors = require("lgelu.errors")

local figure = {}

figure.summary = "Draw a figure from runs or sweeps: png, svg or pdf, with its data and a caption beside it."

-- One line per figure: what is typed, and what it shows.
local function overview()
  local lines = {}
  for i, entry in ipairs(require("lgelu.plot").figures()) do
    local word = entry.takes and entry.takes:upper():gsub("S$", "", 1) or ""
    if entry.most and entry.most > 1 then word = word .. "…" end
    local _, dots = word:gsub("…", "")
    lines[i] = ("  %-11s %s%s %s"):format(entry.name, word, (" "):rep(7 - #word + 2 * dots), entry.summary)
  end
  return table.concat(lines, "\n")
end

function figure.setup(parser)
  parser:argument("name", "Which figure; 'list' shows them all.")
  parser:argument("inputs", "Runs, by folder or name; or sweeps, by folder, name or condensed file."):args("*")
  parser:option("-o --out", "The picture: FILE.png, FILE.svg or FILE.pdf. Its data become FILE.tsv, its caption "
    .. "FILE.txt. Without it: fig/NAME.png in the first run's or sweep's folder, NAME.png beside a condensed file, or "
    .. "NAME.png here for a figure without runs.")
    :argname("FILE")
  parser:epilog("Figures:\n" .. overview())
end

function figure.run(given)
  if given.name == "list" then
    if #given.inputs > 0 or given.out then errors.usage("figure list takes neither runs nor -o") end
    io.write(overview(), "\n")
    return 0
  end
  local plot = require("lgelu.plot")
  plot.check(given.name, #given.inputs, given.out)
  local made = plot.figure(given.name, plot.open(given.name, given.inputs), given.out)
  for _, line in ipairs(made.gaps) do io.stderr:write("lgelu: ", line, "\n") end
  io.write(made.picture, "\n")
  return 0
end

return figure
