--- lgelu data: the data sources and their files on this machine. The work is lgelu.data's.

local errors = require("lgelu.errors")

local verb = {}

verb.summary = "List data sources, check or fetch their files."

function verb.setup(parser)
  parser:argument("action", "list (the default), check or get."):args("?")
  parser:argument("name", "The data set to check or get."):args("?")
  parser:epilog("check compares sizes and sha256 with the manifest. get fetches a set from its own home into your data "
    .. "folder. Files are looked for in the folders of LGELU_DATA, in data/, in your data folder, in "
    .. "/usr/share/datasets.")
end

local function megabytes(bytes)
  return ("%.1f MB"):format(bytes / 1e6)
end

--- One row of the list: name, kind, size, licence, where.
local function describe(name)
  local manifest, files = require("lgelu.data.manifest"), require("lgelu.data.files")
  local source = require("lgelu.data").source(name)
  local set = source.manifest or name
  local entry = manifest.all()[set]
  if not entry then
    return { name, source.kind, "-", "-", source.kind == "generated" and "needs no files" or "where data.path says" }
  end
  return { name, source.kind, megabytes(files.bytes(entry)), entry.licence,
    files.locate(entry) or "missing: lgelu data get " .. set }
end

--- The width of a UTF-8 text in characters.
local function width_of(text)
  return #text:gsub("[\128-\191]", "")
end

local function table_text(rows)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for i, cell in ipairs(row) do widths[i] = math.max(widths[i] or 0, width_of(cell)) end
  end
  for r, row in ipairs(rows) do
    local cells = {}
    for i, cell in ipairs(row) do cells[i] = cell .. (" "):rep(widths[i] - width_of(cell)) end
    lines[r] = table.concat(cells, "  "):gsub("%s+$", "")
  end
  return table.concat(lines, "\n") .. "\n"
end

local actions = {}

function actions.list()
  local data, rows = require("lgelu.data"), { { "name", "kind", "size", "licence", "where" } }
  for _, name in ipairs(data.sources()) do rows[#rows + 1] = describe(name) end
  io.write(table_text(rows))
  for _, note in ipairs(require("lgelu.data.find").notes()) do io.write("note: ", note, "\n") end
  return 0
end

function actions.check(name)
  local files = require("lgelu.data.files")
  local entry = require("lgelu.data.manifest").get(name)
  local folder, tried = files.locate(entry)
  if not folder then
    require("lgelu.data.find").missing(name, tried, files.by_hand(entry, "a folder " .. entry.folders[1]))
  end
  local results, good = files.check(entry, folder)
  for _, result in ipairs(results) do
    io.write(result.path, ": ", result.problem or result.note or "as in the manifest", "\n")
  end
  return good and 0 or 1
end

function actions.get(name)
  local files, find = require("lgelu.data.files"), require("lgelu.data.find")
  local entry = require("lgelu.data.manifest").get(name)
  local folder = files.locate(entry)
  if folder and select(2, files.check(entry, folder)) then
    io.write(("%s: is there and as in the manifest: %s\n"):format(name, folder))
    return 0
  end
  local user = find.user_folder()
  if not user then errors.fail("data get: set HOME or XDG_DATA_HOME: there is no data folder to put files into") end
  files.get(entry, user .. "/" .. entry.folders[1], function(line) io.write(line, "\n") end)
  return 0
end

function verb.run(args)
  local name = args.action or "list"
  local action = actions[name]
  if not action then
    errors.usage("data: no action '%s': expected list, check or get%s", name, errors.suggest(name, actions))
  end
  if name == "list" and args.name then errors.usage("data list takes no name, found '%s'", args.name) end
  if name ~= "list" and not args.name then
    errors.usage("data %s: which data set? For example 'lgelu data %s fashion_mnist'", name, name)
  end
  return action(args.name)
end

return verb
