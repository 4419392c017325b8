--- Tables of results as text, Markdown, CSV or LaTeX. Pure: values in, text out. Called by show, ls and compare.
-- A table is a list of columns and a list of rows. A column is { title =, format =, align = }: format is a
-- string.format pattern for its numbers (default "%.6g"), align is "left", "right" or "number" (aligned at the decimal
-- point; the default where every value is a number). A row is a list with one value a column: number, string, boolean;
-- nil is an unknown value, shown as "–" (empty in CSV).
local errors = require("lgelu.errors")
local json = require("lgelu.recipe.json")

local tables = {}

--- Names of the formats, in the order of help texts.
tables.formats = { "text", "markdown", "csv", "latex" }

local UNKNOWN = "–"

-- Characters, not bytes; every character of ours is one column wide.
local function width(text)
  local _, continuation = text:gsub("[\128-\191]", "")
  return #text - continuation
end

local function pad(text, before, after)
  return (" "):rep(before) .. text .. (" "):rep(after)
end

local function cell(value, column)
  if value == nil then return UNKNOWN end
  if type(value) == "number" then
    if value ~= value then return UNKNOWN end
    return (column.format or "%.6g"):format(value)
  end
  return tostring(value)
end

local function alignment(column, rows, c)
  if column.align then return column.align end
  local numbers = 0
  for _, row in ipairs(rows) do
    if row[c] ~= nil and type(row[c]) ~= "number" then return "left" end
    if row[c] ~= nil then numbers = numbers + 1 end
  end
  return numbers > 0 and "number" or "left"
end

-- Where a number's text has its decimal point (or would have it): the end of its first run of digits.
local function point(text)
  local _, last = text:find("^[^%d]*%d+")
  return width(text:sub(1, last or #text))
end

-- The cells of a column, title first, all of one width.
local function laid_out(column, rows, c, clean)
  local align = alignment(column, rows, c)
  local texts, widest, head, tail = {}, 0, 0, 0
  for r, row in ipairs(rows) do
    local text = clean(cell(row[c], column))
    texts[r] = text
    widest = math.max(widest, width(text))
    head = math.max(head, point(text))
    tail = math.max(tail, width(text) - point(text))
  end
  if align == "number" then
    for r, text in ipairs(texts) do
      texts[r] = pad(text, head - point(text), tail - width(text) + point(text))
    end
    widest = #rows > 0 and head + tail or 0
  end
  local title = clean(column.title or "")
  widest = math.max(widest, width(title))
  local function fill(text)
    local missing = widest - width(text)
    if align == "left" then return pad(text, 0, missing) end
    return pad(text, missing, 0)
  end
  local cells = { fill(title) }
  for _, text in ipairs(texts) do
    cells[#cells + 1] = fill(text)
  end
  return cells, align, widest
end

local function layout(columns, rows, clean)
  local lines, aligns, widths = {}, {}, {}
  for r = 1, #rows + 1 do
    lines[r] = {}
  end
  for c, column in ipairs(columns) do
    local cells
    cells, aligns[c], widths[c] = laid_out(column, rows, c, clean)
    for r, text in ipairs(cells) do
      lines[r][c] = text
    end
  end
  return lines, aligns, widths
end

local function one_line(text)
  return (text:gsub("%s*\n%s*", " "))
end

local writers = {}

function writers.text(columns, rows)
  local lines, _, widths = layout(columns, rows, one_line)
  local out, rules = {}, {}
  for c, w in ipairs(widths) do
    rules[c] = ("─"):rep(w)
  end
  for r, cells in ipairs(lines) do
    out[#out + 1] = (table.concat(cells, "  "):gsub("%s+$", ""))
    if r == 1 then out[#out + 1] = table.concat(rules, "  ") end
  end
  return table.concat(out, "\n") .. "\n"
end

function writers.markdown(columns, rows)
  local lines, aligns, widths = layout(columns, rows, function(text)
    return (one_line(text):gsub("\\", "\\\\"):gsub("|", "\\|"))
  end)
  local out, rules = {}, {}
  for c, w in ipairs(widths) do
    local dashes = math.max(w, 3)
    rules[c] = aligns[c] == "left" and ("-"):rep(dashes) or ("-"):rep(dashes - 1) .. ":"
  end
  for r, cells in ipairs(lines) do
    for c, text in ipairs(cells) do
      cells[c] = pad(text, 0, 3 - width(text))
    end
    out[#out + 1] = "| " .. table.concat(cells, " | ") .. " |"
    if r == 1 then out[#out + 1] = "| " .. table.concat(rules, " | ") .. " |" end
  end
  return table.concat(out, "\n") .. "\n"
end

-- RFC 4180, with plain line ends. Numbers keep all their digits: a machine reads them.
function writers.csv(columns, rows)
  local function field(value)
    if value == nil or value ~= value then return "" end
    if type(value) == "number" and math.abs(value) < math.huge then return json.number(value) end
    local text = tostring(value)
    return text:find('[",\r\n]') and '"' .. text:gsub('"', '""') .. '"' or text
  end
  local out, titles = {}, {}
  for c, column in ipairs(columns) do
    titles[c] = field(column.title)
  end
  out[1] = table.concat(titles, ",")
  for _, row in ipairs(rows) do
    local fields = {}
    for c = 1, #columns do
      fields[c] = field(row[c])
    end
    out[#out + 1] = table.concat(fields, ",")
  end
  return table.concat(out, "\n") .. "\n"
end

local LATEX = {
  ["\\"] = "\\textbackslash{}", ["&"] = "\\&", ["%"] = "\\%", ["$"] = "\\$", ["#"] = "\\#", ["_"] = "\\_",
  ["{"] = "\\{", ["}"] = "\\}", ["~"] = "\\textasciitilde{}", ["^"] = "\\textasciicircum{}",
}
local SYMBOLS = { ["λ"] = "$\\lambda$", ["Δ"] = "$\\Delta$", ["ρ"] = "$\\rho$", ["±"] = "$\\pm$", ["–"] = "--" }

function writers.latex(columns, rows)
  local lines, aligns = layout(columns, rows, function(text)
    text = one_line(text):gsub("[\\&%%$#_{}~^]", LATEX):gsub("^%-([%d.])", "$-$%1") -- a minus, not a hyphen
    for symbol, macro in pairs(SYMBOLS) do
      text = text:gsub(symbol, (macro:gsub("%%", "%%%%")))
    end
    return text
  end)
  local letters = {}
  for c, align in ipairs(aligns) do
    letters[c] = align == "left" and "l" or "r"
  end
  local out = { "\\begin{tabular}{" .. table.concat(letters) .. "}", "\\hline" }
  for r, cells in ipairs(lines) do
    out[#out + 1] = (table.concat(cells, " & "):gsub("%s+$", "")) .. " \\\\"
    if r == 1 then out[#out + 1] = "\\hline" end
  end
  out[#out + 1] = "\\hline"
  out[#out + 1] = "\\end{tabular}"
  return table.concat(out, "\n") .. "\n"
end

--- "89.63 ± 0.21": mean and half width of the interval, times scale; one seed has no interval. nil for no summary.
-- @param summary  of lgelu.stats.summary
-- @param format   a string.format pattern for the mean; its sign is the mean's alone
-- @param scale    default 1
-- @param unit     default ""; stands once, at the end
function tables.interval(summary, format, scale, unit)
  if not summary then return nil end
  local text = format:format((scale or 1) * summary.mean)
  if summary.ci95 then text = text .. " ± " .. format:gsub("%+", ""):format((scale or 1) * summary.ci95) end
  return text .. (unit or "")
end

--- "1.01 to 1.25": the least and the greatest of a list; once, where both are written alike.
function tables.range(format, list)
  local least, greatest = format:format(math.min(unpack(list))), format:format(math.max(unpack(list)))
  return least == greatest and least or least .. " to " .. greatest
end

--- A usage error when format is none of tables.formats; for verbs, before they do their work.
function tables.check(format)
  if writers[format] then return end
  errors.usage("--format: '%s' is none of %s%s", tostring(format), table.concat(tables.formats, ", "),
    errors.suggest(format, tables.formats))
end

--- The table as text that ends with a line end.
-- @param columns  list of { title =, format =, align = }, see above
-- @param rows     list of lists
-- @param format   one of tables.formats; default "text"
function tables.render(columns, rows, format)
  format = format or "text"
  tables.check(format)
  return writers[format](columns, rows)
end

return tables
