--- What a sweep file says of its cells → a list of cells: products of a grid, lists, what a function returns.
-- What it is not: the resolving of recipes (sweep/file.lua). Pure functions of tables; called by sweep/file.lua.
--
-- A cell is { values = full key of a recipe → value; or nil: recipe = name of another base recipe, label = text, budget
-- = the recipe's budget that it takes }.
local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local schema = require("lgelu.recipe.schema")
local text = require("lgelu.store.text")

local grid = {}

local MOST_CELLS = 10000
local OWN = { recipe = true, label = true, budget = true } -- keys of a cell that are no keys of a recipe

local function is_section(name)
  for _, section in ipairs(schema.order) do
    if section == name then return true end
  end
  return false
end

local function is_list(t)
  local n = 0
  for _ in pairs(t) do n = n + 1 end
  return n > 0 and n == #t
end

--- Keys and values of a table, sections (gate = { t = 1 }) opened into full keys (["gate.t"] = 1).
-- @param where  function(key) → "file:line"
-- @param what   what the table is called in messages: "grid", "baseline", "budgets.desk"
function grid.flat(t, where, what)
  local values = {}
  local function add(key, value)
    if values[key] ~= nil then errors.usage("%s: %s: %s is given twice", where(key), what, key) end
    values[key] = value
  end
  for key, value in pairs(t) do
    if type(key) ~= "string" then
      errors.usage("%s: %s: found %s without a key, expected key = value", where(what), what, check.show(value))
    elseif is_section(key) and type(value) == "table" and not is_list(value) then
      for name, inner in pairs(value) do add(key .. "." .. tostring(name), inner) end
    else
      add(key, value)
    end
  end
  return values
end

--- One cell out of a table that a sweep file wrote.
function grid.cell(t, where, what)
  if type(t) ~= "table" then
    errors.usage("%s: %s: found %s, expected a table such as { [\"gate.t\"] = 0.3 }", where(what), what, check.show(t))
  end
  local cell = { values = grid.flat(t, where, what) }
  for key in pairs(OWN) do
    local problem = cell.values[key] ~= nil and check.problem({ type = "string" }, cell.values[key])
    if problem then errors.usage("%s: %s: %s: %s", where(key), what, key, problem) end
    cell[key], cell.values[key] = cell.values[key], nil
  end
  local label = cell.label
  if label and (not label:find("%S") or label:find("%c") or text.utf8(label) ~= label) then
    errors.usage("%s: %s: label: found %s, expected a line of text in UTF-8", where("label"), what, check.show(label))
  end
  return cell
end

local function check_count(count, where, what)
  if count > MOST_CELLS then
    errors.usage("%s: %s: found %.0f cells, expected %d at most", where(what), what, count, MOST_CELLS)
  end
end

-- The product of lists of values, the last axis running fastest.
local function product(t, where, what, order)
  local lists = grid.flat(t, where, what)
  local axes, count = grid.ordered(lists, order), 1
  for _, axis in ipairs(axes) do
    local list = lists[axis]
    if type(list) ~= "table" or not is_list(list) then
      errors.usage("%s: %s: %s: found %s, expected a list of values such as { 0.1, 0.3 }", where(axis), what, axis,
        type(list) == "table" and next(list) == nil and "an empty list" or check.show(list))
    end
    count = count * #list
  end
  check_count(count, where, what)
  local cells = {}
  local function fill(depth, chosen)
    if depth > #axes then
      local copy = {}
      for key, value in pairs(chosen) do copy[key] = value end
      cells[#cells + 1] = grid.cell(copy, where, what)
      return
    end
    for _, value in ipairs(lists[axes[depth]]) do
      chosen[axes[depth]] = value
      fill(depth + 1, chosen)
    end
  end
  fill(1, {})
  return cells
end

--- The keys of a table in the order in which they stand in the file.
-- @param order  function(key) → number
function grid.ordered(values, order)
  local keys = {}
  for key in pairs(values) do keys[#keys + 1] = key end
  table.sort(keys, function(a, b)
    local x, y = order(a), order(b)
    if x ~= y then return x < y end
    return a < b
  end)
  return keys
end

--- All cells of a grid: a table of lists (their product), a list of cells, or a function that returns either.
-- @param t       what the sweep file gives
-- @param where   function(key) → "file:line"
-- @param what    its name in messages
-- @param order   function(key) → place in the file
-- @param budget  name of the budget, or nil: what a function is called with
function grid.cells(t, where, what, order, budget)
  if type(t) == "function" then t = t(budget) end
  if type(t) ~= "table" then
    errors.usage("%s: %s: found %s, expected lists of values by key, a list of cells, or a function that returns one",
      where(what), what, check.show(t))
  end
  if next(t) == nil then errors.usage("%s: %s: found an empty table: it has no cells", where(what), what) end
  if not is_list(t) then return product(t, where, what, order) end
  check_count(#t, where, what)
  local cells = {}
  for i, item in ipairs(t) do cells[i] = grid.cell(item, where, ("%s[%d]"):format(what, i)) end
  return cells
end

--- The axes of cells: every key that they give, in the order of the file.
function grid.axes(cells, order)
  local seen = {}
  for _, cell in ipairs(cells) do
    if cell.recipe then seen.recipe = true end
    for key in pairs(cell.values) do seen[key] = true end
  end
  return grid.ordered(seen, order)
end

--- A value in a label or a stored cell: what it is, functions as the word "function".
function grid.plain(value)
  return type(value) == "function" and "function" or value
end

--- "t=0.1, c=3, init=gelu": a cell's label where it has none of its own.
function grid.label(cell, axes)
  if cell.label then return cell.label end
  local parts = {}
  for _, axis in ipairs(axes) do
    local value = cell.values[axis]
    if axis == "recipe" then
      parts[#parts + 1] = cell.recipe
    elseif value ~= nil then
      value = grid.plain(value)
      parts[#parts + 1] = axis:match("[^.]+$") .. "=" .. (type(value) == "string" and value or check.show(value))
    end
  end
  return table.concat(parts, ", ")
end

return grid
