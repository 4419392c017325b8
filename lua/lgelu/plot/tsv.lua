--- Tables of figures: tab-separated text with the columns' names in the first line, checked before it is written.
--
-- What it is: the only way from numbers to gnuplot. pandas.read_csv(path, sep="\t") reads the same file.
-- What it is not: a table for people (lgelu.table).
-- Called by lgelu.plot.

local errors = require("lgelu.errors")

local tsv = {}

--- The cell of a value that does not exist, as the validation score at initialization.
tsv.NA = setmetatable({}, { __tostring = function() return "NA" end })

-- Shortest decimal form that reads back as the same double.
local function number_text(x)
  for digits = 6, 17 do
    local text = ("%." .. digits .. "g"):format(x)
    if tonumber(text) == x then return text end
  end
end

local function cell(value, column, row, what)
  if value == tsv.NA then return "NA" end
  if type(value) == "string" then
    if value:find("[%c]") then
      errors.fail("%s: column '%s', row %d holds a control character; plain text is expected", what, column, row)
    end
    return value
  end
  if type(value) ~= "number" then
    errors.fail("%s: column '%s', row %d has no value (%s); a number is expected", what, column, row, type(value))
  end
  if value ~= value or value == math.huge or value == -math.huge then
    errors.fail("%s: column '%s', row %d is %s; a finite number is expected, so there is no figure", what, column, row,
      value ~= value and "NaN" or tostring(value))
  end
  return number_text(value)
end

--- The table as text.
-- @tparam table columns names
-- @tparam table rows each a list of numbers, strings or tsv.NA, one per column
-- @tparam string what the table's origin, for messages
-- @tparam ?table partly name → true for columns that may be all NA
-- @treturn string text, lines ended by a newline
-- @raise the work failed: no rows, a value missing, NaN or infinite, a column without any value
function tsv.format(columns, rows, what, partly)
  if #rows == 0 then errors.fail("%s: there is nothing to draw: no rows", what) end
  local lines, has_value = { table.concat(columns, "\t") }, {}
  for r, row in ipairs(rows) do
    local cells = {}
    for c, column in ipairs(columns) do
      cells[c] = cell(row[c], column, r, what)
      if row[c] ~= tsv.NA then has_value[c] = true end
    end
    lines[r + 1] = table.concat(cells, "\t")
  end
  for c, column in ipairs(columns) do
    if not has_value[c] and not (partly and partly[column]) then
      errors.fail("%s: there is nothing to draw: column '%s' has no values", what, column)
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

return tsv
