--- lgelu figure: draws a figure from run files. The work is lgelu.plot's; the list of figures is there too.

local errors = require("lgelu.errors")

local figure = {}

figure.summary = "Draw a figure from runs: png, svg or pdf, with its data and a caption beside it."

-- One line per figure: what is typed, and what it shows.
local function overview()
  local lines = {}
  for i, entry in ipairs(require("lgelu.plot").figures()) do
    local runs = entry.max_runs == 0 and "       " or entry.max_runs == 1 and "RUN    " or "RUN…   "
    lines[i] = ("  %-11s %s %s"):format(entry.name, runs, entry.summary)
  end
  return table.concat(lines, "\n")
end

function figure.setup(parser)
  parser:argument("name", "Which figure; 'list' shows them all.")
  parser:argument("runs", "Runs, by folder or name."):args("*")
  parser:option("-o --out", "The picture: FILE.png, FILE.svg or FILE.pdf. Its data become FILE.tsv, its caption "
    .. "FILE.txt. Without it: fig/NAME.png in the first run's folder, or NAME.png here for a figure without runs.")
    :argname("FILE")
  parser:epilog("Figures:\n" .. overview())
end

function figure.run(given)
  if given.name == "list" then
    if #given.runs > 0 or given.out then errors.usage("figure list takes neither runs nor -o") end
    io.write(overview(), "\n")
    return 0
  end
  local plot = require("lgelu.plot")
  plot.check(given.name, #given.runs, given.out)
  local runs = {}
  for i, name in ipairs(given.runs) do
    local store = require("lgelu.store")
    runs[i] = store.open(store.resolve(name))
  end
  io.write(plot.figure(given.name, runs, given.out).picture, "\n")
  return 0
end

return figure
