--- Tables as data sets: what the columns of a table become for a network. Shared by sources of tables; reads no files
-- (lgelu.data.csv does).
--   number    one feature, standardized by the rows that stay in training; where the training file lacks some, missing
--             ones are the mean, and a second feature is 1 for them and 0 elsewhere
--   category  one feature for each text of the training file, 1 for it and 0 elsewhere, and one for missing ones where
--             the training file has some; what no row that stays in training has is 0 everywhere
--   constant  left out: a column that is one value in the whole training file
-- So x is f32 [N, features], and a linear layer on it is the sum of one learned vector for each category (an embedding)
-- and a vector times each number. What was found is written into the run.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local tensors = require("lgelu.data.tensors")

local ffi, lib, check = C.ffi, C.lib, C.check
local columns = {}

local MOST_LEVELS = 1000 -- of a category: more are names or numbers of rows
local SPELT_WRONG = 0.9 -- a column with numbers in more of its rows than this, and texts in the others, is refused

local function at_line(t, row, c)
  return ("%s: line %d, column %d (%s)"):format(t.path, tonumber(lib.lg_csv_line(t.handle, row)), c, t.names[c])
end

-- A table of one column whose name holds a usual delimiter was cut at another one.
local function delimiter_hint(t)
  if t.columns > 1 then return "" end
  for mark, name in pairs({ [";"] = "semicolon", ["\t"] = "tab", [","] = "comma" }) do
    if t.names[1]:find(mark, 1, true) then return (": with data.delimiter=%s it would have more"):format(name) end
  end
  return ""
end

-- The number of a column that a recipe names; key: where it does.
local function column_number(t, name, key)
  local found
  for c, known in ipairs(t.names) do
    if known == tostring(name) then
      if found then
        errors.usage("data.%s: columns %d and %d of %s are both called '%s': rename one of them", key, found, c, t.path,
          known)
      end
      found = c
    end
  end
  if found then return found end
  local number = tonumber(name)
  if number and number >= 1 and number <= t.columns and number % 1 == 0 then return number end
  return errors.usage("data.%s: %s has no column '%s'; it has %s%s%s", key, t.path, tostring(name),
    table.concat(t.names, ", "), errors.suggest(tostring(name), t.names), delimiter_hint(t))
end

-- A column's numbers (double[rows], NaN: missing), or nil where it is one of texts.
local function numbers(t, c)
  local numeric, values = ffi.new("int32_t[1]"), ffi.new("double[?]", t.rows)
  check(lib.lg_csv_numbers(numeric, values, t.handle, c - 1))
  return numeric[0] == 1 and values or nil
end

-- A column's texts: list with false for missing ones.
local function texts(t, c)
  local list = {}
  for row = 0, t.rows - 1 do
    local text = lib.lg_csv_text(t.handle, row, c - 1)
    list[row + 1] = text ~= nil and ffi.string(text) or false
  end
  return list
end

-- Is it a number as the reader takes them? Lua's are more: 0x10, nan.
local function is_number(text) return tonumber(text) ~= nil and not text:find("[xXnN]") end

-- A column of texts that is one of numbers but for a few fields: these are spelt wrong, or marks of missing values that
-- the recipe does not know. As categories its numbers would lose their order, and nobody would be told.
local function check_spelling(t, c, list)
  local count, present, first = 0, 0, nil
  for row, text in ipairs(list) do
    if text then
      present = present + 1
      if is_number(text) then count = count + 1 else first = first or row end
    end
  end
  if count > SPELT_WRONG * present then
    errors.fail("%s: '%s' is no number, as %d of the column's %d fields are: mend it, add it to data.missing, or name "
      .. "the column in data.categories", at_line(t, first - 1, c), list[first], count, present)
  end
end

-- The different texts of a list, by number where all are numbers, else by their bytes; is any missing?
local function levels_of(list)
  local seen, levels, missing, numeric = {}, {}, false, true
  for _, text in ipairs(list) do
    if not text then
      missing = true
    elseif not seen[text] then
      seen[text], levels[#levels + 1] = true, text
      numeric = numeric and tonumber(text) ~= nil
    end
  end
  table.sort(levels, function(a, b)
    if numeric and tonumber(a) ~= tonumber(b) then return tonumber(a) < tonumber(b) end
    return a < b
  end)
  return levels, missing
end

-- What a column of the training file is: { column =, kind = "number", "category" or "constant", missing = boolean,
-- levels = list of a category }.
local function describe(t, c, forced)
  local values = not forced and numbers(t, c)
  if values then
    local least, greatest, missing = math.huge, -math.huge, false
    for row = 0, t.rows - 1 do
      if values[row] ~= values[row] then missing = true else
        least, greatest = math.min(least, values[row]), math.max(greatest, values[row])
      end
    end
    local constant = least > greatest or (least == greatest and not missing)
    return { column = c, kind = constant and "constant" or "number", missing = missing }
  end
  local list = texts(t, c)
  if not forced then check_spelling(t, c, list) end
  local levels, missing = levels_of(list)
  if #levels > MOST_LEVELS then
    errors.fail("%s: column %d (%s) holds %d different texts, expected at most %d: leave it out with data.drop, or is "
      .. "a number among them spelt wrong?", t.path, c, t.names[c], #levels, MOST_LEVELS)
  end
  local constant = #levels + (missing and 1 or 0) < 2
  return { column = c, kind = constant and "constant" or "category", missing = missing, levels = levels }
end

-- The features that the kept columns become: sets each column's first feature (from 0); returns their names.
local function lay_out(t, kept)
  local names = {}
  for _, k in ipairs(kept) do
    local name = t.names[k.column]
    k.first = #names
    if k.kind == "number" then names[#names + 1] = name end
    for _, level in ipairs(k.levels or {}) do names[#names + 1] = name .. "=" .. level end
    if k.missing then names[#names + 1] = name .. " is missing" end
  end
  return names
end

local function fill_number(t, k, x, width, holes)
  local values = numbers(t, k.column)
  if not values then
    for row, text in ipairs(texts(t, k.column)) do
      if text and not is_number(text) then
        errors.fail("%s: '%s' is no number, as the training file's are", at_line(t, row - 1, k.column), text)
      end
    end
  end
  for row = 0, t.rows - 1 do
    local at, value = row * width + k.first, values[row]
    if value == value then x[at] = value else
      holes[#holes + 1] = at
      if k.missing then x[at + 1] = 1 end
    end
  end
end

local function fill_category(t, k, x, width)
  local number = {}
  for i, level in ipairs(k.levels) do number[level] = i - 1 end
  for row, text in ipairs(texts(t, k.column)) do
    local i = text and number[text] or (not text and k.missing and #k.levels) or nil
    if i then x[(row - 1) * width + k.first + i] = 1 end
  end
end

-- Labels i32 [rows]. classes: list of texts; clean: from a label's text to a class's, where they are spelt differently.
local function labels(t, c, classes, clean)
  local y, to = tensors.new("i32", { t.rows })
  local number = {}
  for i, class in ipairs(classes) do number[class] = i - 1 end
  for row, text in ipairs(texts(t, c)) do
    if not text then errors.fail("%s: the class is missing", at_line(t, row - 1, c)) end
    local class = clean and clean(text) or text
    if not number[class] then
      errors.fail("%s: class '%s' is not among the training file's: %s", at_line(t, row - 1, c), class,
        table.concat(classes, ", "))
    end
    to[row - 1] = number[class]
  end
  return y
end

-- One part of the set; holes: places in x of missing numbers.
local function part(t, plan)
  local x, to = tensors.new("f32", { t.rows, #plan.features })
  local holes = {}
  for _, k in ipairs(plan.kept) do
    if k.kind == "number" then
      fill_number(t, k, to, #plan.features, holes)
    else
      fill_category(t, k, to, #plan.features)
    end
  end
  for i = 0, t.rows * #plan.features - 1 do
    if math.abs(to[i]) == math.huge then
      errors.fail("%s: a number of %s is too large for float32", at_line(t, math.floor(i / #plan.features), 1),
        plan.features[i % #plan.features + 1])
    end
  end
  return { x = x, y = labels(t, plan.label, plan.classes, plan.clean), holes = holes }
end

-- A file's first part and the rest: the stratified share `test` of its rows becomes the test part.
local function cut(all, share, seed)
  local n, width = all.x.shape[1], all.x.shape[2]
  local n_test = math.floor(n * share + 0.5)
  if n_test == 0 then return all, nil end
  local index = ffi.new("int64_t[?]", n)
  check(lib.lg_split(index, n, n_test, all.y, seed))
  local is_hole = {}
  for _, at in ipairs(all.holes) do is_hole[at] = true end
  local function take(from, count)
    local x, to = tensors.new("f32", { count, width })
    local y, label = tensors.new("i32", { count })
    local old, old_label, holes = tensors.pointer(all.x), tensors.pointer(all.y), {}
    for i = 0, count - 1 do
      local row = tonumber(index[from + i])
      label[i] = old_label[row]
      for c = 0, width - 1 do
        to[i * width + c] = old[row * width + c]
        if is_hole[row * width + c] then holes[#holes + 1] = i * width + c end
      end
    end
    return { x = x, y = y, holes = holes }
  end
  return take(n_test, n - n_test), take(0, n_test)
end

-- A class that is validated or tested by but not in the rows that stay in training could not be learned: it has too few
-- rows to be shared out.
local function check_classes(set, rows, n)
  local trained, y = {}, tensors.pointer(set.train.y)
  for i = 0, n - 1 do trained[y[rows[i]]] = true end
  for _, one in ipairs({ set.train.y, set.test and set.test.y }) do
    local label = tensors.pointer(one)
    for i = 0, one.shape[1] - 1 do
      if not trained[label[i]] then
        errors.fail("class '%s' is not among the %d rows that stay in training: it has too few rows to be shared out; "
          .. "leave them out, or choose another data.validation", set.labels[label[i] + 1], n)
      end
    end
  end
end

-- A feature that no row in training has, of a text or of missing ones, would meet weights that nothing has taught: it
-- is 0 in every part, as a text that only the test file has.
local function silence(set, rows, n)
  local width, x, silent = #set.columns.features, tensors.pointer(set.train.x), {}
  for _, k in ipairs(set.columns.kept) do
    local first = k.first + (k.kind == "number" and 1 or 0)
    for f = first, first + #(k.levels or {}) + (k.missing and 1 or 0) - 1 do
      local seen, i = false, 0
      while not seen and i < n do
        seen, i = x[tonumber(rows[i]) * width + f] ~= 0, i + 1
      end
      if not seen then silent[#silent + 1] = f end
    end
  end
  for _, one in ipairs({ set.train, set.test }) do
    local to = tensors.pointer(one.x)
    for _, f in ipairs(silent) do
      for i = 0, one.x.shape[1] - 1 do to[i * width + f] = 0 end
    end
  end
end

-- Mean and deviation of each number over the given rows (0-based int64_t), missing ones left out, and the missing ones
-- of all parts set to the mean. Other features stay as they are: mean 0, deviation 1.
local function standardize(set, rows, n)
  check_classes(set, rows, n)
  silence(set, rows, n)
  local width, x = #set.columns.features, tensors.pointer(set.train.x)
  local is_hole = {}
  for _, at in ipairs(set.train.holes) do is_hole[at] = true end
  set.mean, set.sd = {}, {}
  for f = 1, width do set.mean[f], set.sd[f] = 0, 1 end
  for _, k in ipairs(set.columns.kept) do
    if k.kind == "number" then
      local f, sum, squares, count = k.first, 0, 0, 0
      for i = 0, n - 1 do
        local at = tonumber(rows[i]) * width + f
        if not is_hole[at] then sum, count = sum + x[at], count + 1 end
      end
      local mean = count > 0 and sum / count or 0
      for i = 0, n - 1 do
        local at = tonumber(rows[i]) * width + f
        if not is_hole[at] then squares = squares + (x[at] - mean) ^ 2 end
      end
      set.mean[f + 1], set.sd[f + 1] = mean, squares > 0 and math.sqrt(squares / count) or 1
    end
  end
  for _, one in ipairs({ set.train, set.test }) do
    local to = tensors.pointer(one.x)
    for _, at in ipairs(one.holes) do to[at] = set.mean[at % width + 1] end
  end
end

-- What each column became, in words, for the run file.
local function kinds_of(t, all, label)
  local kinds = {}
  for c = 1, t.columns do kinds[c] = c == label and "class" or "left out (data.drop)" end
  for _, k in ipairs(all) do
    local missing = k.missing and ", some missing" or ""
    kinds[k.column] = k.kind == "constant" and "left out: one value in all rows"
      or k.kind == "number" and "number" .. missing or ("category of %d%s"):format(#k.levels, missing)
  end
  return kinds
end

-- The plan: which columns are kept, as what; features; classes.
local function plan_of(t, o)
  local label = o.label == "last" and t.columns or column_number(t, o.label, "label")
  local role = { [label] = "label" }
  for _, name in ipairs(o.drop or {}) do role[column_number(t, name, "drop")] = "drop" end
  if role[label] == "drop" then errors.usage("data.drop: '%s' is the class (data.label)", t.names[label]) end
  local forced, all, kept = {}, {}, {}
  for _, name in ipairs(o.categories or {}) do forced[column_number(t, name, "categories")] = true end
  for c = 1, t.columns do
    if not role[c] then
      all[#all + 1] = describe(t, c, forced[c])
      if all[#all].kind ~= "constant" then kept[#kept + 1] = all[#all] end
    end
  end
  if #kept == 0 then errors.fail("%s: no column is left to learn from: each is constant or left out", t.path) end
  local classes = o.classes or (levels_of(texts(t, label)))
  if #classes < 2 then
    errors.fail("%s: column %d (%s), the class, holds %d different value%s, expected at least 2", t.path, label,
      t.names[label], #classes, #classes == 1 and "" or "s")
  end
  if #classes > MOST_LEVELS then
    errors.fail("%s: column %d (%s), the class, holds %d different values, expected at most %d", t.path, label,
      t.names[label], #classes, MOST_LEVELS)
  end
  return { label = label, kept = kept, features = lay_out(t, kept), classes = classes, clean = o.clean,
    kinds = kinds_of(t, all, label) }
end

local function check_same_columns(train, test)
  if test.columns ~= train.columns then
    errors.fail("%s has %d columns, %s has %d", test.path, test.columns, train.path, train.columns)
  end
  for c, name in ipairs(train.names) do
    if test.names[c] ~= name then
      errors.fail("%s: column %d is '%s', in %s it is '%s'", test.path, c, test.names[c], train.path, name)
    end
  end
end

local SHOWN = 16 -- columns in a line of the log

-- What each column was taken for, as a line for the log: who reads it sees a missing header, a number taken for text.
local function note_of(names, plan)
  local parts = {}
  for i = 1, math.min(#names, SHOWN) do parts[i] = ("%s: %s"):format(names[i], plan.kinds[i]) end
  if #names > SHOWN then parts[SHOWN + 1] = ("and %d more"):format(#names - SHOWN) end
  return ("%d features of %d columns: %s"):format(#plan.features, #names, table.concat(parts, "; "))
end

--- A set of tables.
-- @param train  of lgelu.data.csv.read
-- @param test   the same of the test file, or nil
-- @param o      { label = column (name, number or "last"), drop = list of columns, categories = list of columns, test =
--   share of the training file that becomes the test part where there is no file (default 0), seed = of that choice,
--   classes = list of texts (default: what the training file has), clean = function(text of a label) → class,
--   limit, test_limit = rows from the first on (0 or nil: all) }
-- @return set as in lgelu.data.sources, with columns = { names, kinds (in words), features, kept }
function columns.set(train, test, o)
  if test then check_same_columns(train, test) end
  local plan = plan_of(train, o)
  local first, second = part(train, plan), test and part(test, plan)
  if not test then first, second = cut(first, o.test or 0, o.seed or 0) end
  local function limited(one, limit)
    if not one or not limit or limit == 0 or limit >= one.x.shape[1] then return one end
    local holes = {}
    for _, at in ipairs(one.holes) do
      if at < limit * #plan.features then holes[#holes + 1] = at end
    end
    local x, y = tensors.first_rows(one.x, one.y, limit)
    return { x = x, y = y, holes = holes }
  end
  return {
    classes = #plan.classes, labels = plan.classes, scale = 1, standardize = standardize,
    train = limited(first, o.limit), test = limited(second, o.test_limit),
    columns = { names = train.names, kinds = plan.kinds, features = plan.features, kept = plan.kept },
    note = note_of(train.names, plan),
  }
end

--- What stands for a missing number: { [feature] = the mean by which it is standardized }, of the features whose
-- training rows lack some; nil where there are none. Of a standardized set.
function columns.stand_ins(set)
  local found
  for _, k in ipairs(set.columns.kept) do
    if k.kind == "number" and k.missing then
      found = found or {}
      found[set.columns.features[k.first + 1]] = set.mean[k.first + 1]
    end
  end
  return found
end

return columns
