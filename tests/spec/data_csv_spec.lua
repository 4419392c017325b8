--- data_csv_spec.lua: tables in text files: what is read, what columns become, what is refused and how; UCI Adult's
-- files in small. The reader's fuzzing is tests/fuzz/fuzz_csv.c.
local columns = require("lgelu.data.columns")
local data = require("lgelu.data")
local errors = require("lgelu.errors")
local folders = require("tests.spec.support.folders")
local tensors = require("lgelu.data.tensors")

local folder
setup(function() folder = folders.temporary() end)
teardown(function() os.execute("rm -rf '" .. folder .. "'") end)

local function file(name, bytes)
  folders.write(folder .. "/" .. name, bytes)
  return folder .. "/" .. name
end

-- A set of a table that stands in a file; config: further keys.
local function load(bytes, config)
  local full = { source = "csv", path = file("table.csv", bytes), test = 0 }
  for key, value in pairs(config or {}) do full[key] = value end
  return data.load(full)
end

local function refused(kind, ...)
  local ok, e = pcall(load, ...)
  assert.is_false(ok)
  assert(errors.is(e, kind), tostring(e))
  return e.message
end

-- Batches of all rows in order, standardized.
local function batch(set, part)
  local loader = data.loader(set, part or "train", nil, { batch = 100 })
  loader:start(0)
  local x, y = loader:next()
  x, y = x:totable(), y:totable()
  loader:free()
  return x, y
end

local SMALL = "size,colour,kind\n1,red,a\n2,blue,b\n3,red,a\n6,green,b\n"

describe("a table", function()
  it("becomes standardized numbers and one feature for each category", function()
    local set = load(SMALL)
    assert.are.same({ "size", "colour=blue", "colour=green", "colour=red" }, set.columns.features)
    assert.are.same({ "number", "category of 3", "class" }, set.columns.kinds)
    assert.are.same({ "a", "b" }, set.labels)
    assert.are.equal(2, set.classes)
    local x, y = batch(set)
    assert.are.same({ 0, 1, 0, 1 }, y)
    local sd = math.sqrt((4 + 1 + 0 + 9) / 4)
    for i, size in ipairs({ 1, 2, 3, 6 }) do assert.is_true(math.abs(x[i][1] - (size - 3) / sd) < 1e-6) end
    assert.are.same({ { 0, 0, 1 }, { 1, 0, 0 }, { 0, 0, 1 }, { 0, 1, 0 } },
      { { unpack(x[1], 2) }, { unpack(x[2], 2) }, { unpack(x[3], 2) }, { unpack(x[4], 2) } })
  end)

  it("is the same in every way of writing it", function()
    local expected = load(SMALL).sha256
    for _, bytes in ipairs({
      SMALL:gsub("\n", "\r\n"), SMALL:sub(1, -2), "\239\187\191" .. SMALL, SMALL:gsub("\n", "\n\n"),
      SMALL:gsub(",", " , "), SMALL:gsub("%w+", '"%1"'), SMALL:gsub("%w+", '"%0"'), (SMALL:gsub("3", "+3.0e0")),
      (SMALL:gsub("6", ".6E+1")),
    }) do
      assert.are.equal(expected, load(bytes).sha256)
    end
    assert.are.equal(expected, load(SMALL:gsub(",", ";"), { delimiter = "semicolon" }).sha256)
    assert.are.equal(expected, data.load({ source = "csv", path = file("t.tsv", (SMALL:gsub(",", "\t"))), test = 0 })
      .sha256)
    assert.are.equal(expected, load(SMALL:gsub("^[^\n]*\n", ""), { header = false }).sha256)
    assert.are.equal(expected, load("a line\nand one\n" .. SMALL, { skip = 2 }).sha256)
    assert.are.equal(expected, load("kind,size,colour\na,1,red\nb,2,blue\na,3,red\nb,6,green\n", { label = "kind" })
      .sha256)
  end)

  it("has quoted fields with delimiters, newlines and quotes in them", function()
    local set = load('"a,b",k\n"x,1",p\n"say ""hi""",q\n"two\nlines",p\n')
    assert.are.same({ 'a,b=say "hi"', "a,b=two\nlines", "a,b=x,1" }, set.columns.features)
    local plain = load('a\tk\n"x\tp\ny"y\tq\n', { delimiter = "tab", quoting = false })
    assert.are.same({ 'a="x', 'a=y"y' }, plain.columns.features)
  end)

  it("says in the log what its columns were taken for", function()
    assert.are.same({ "4 features of 3 columns: size: number; colour: category of 3; kind: class" }, load(SMALL).notes)
    assert.is_nil(columns.stand_ins(load(SMALL)))
    local first, second = {}, {}
    for c = 1, 20 do first[c], second[c] = c, 2 * c end
    local wide = load(table.concat(first, ",") .. "\n" .. table.concat(second, ",") .. "\n", { header = false })
    assert.matches("^19 features of 20 columns: 1: number; .*; 16: number; and 4 more$", wide.notes[1])
  end)

  it("has missing numbers at the mean of training and a feature that says so", function()
    local set = load("n,c,k\n1,u,a\n?,u,b\n3,NA,a\n,v,b\n8,v,a\n")
    assert.are.same({ "n", "n is missing", "c=u", "c=v", "c is missing" }, set.columns.features)
    local x = batch(set)
    local means = { 0, 1, 0, 1, 0 }
    for i, missing in ipairs(means) do assert.are.equal(missing, x[i][2]) end
    assert.are.equal(0, x[2][1])
    assert.are.equal(0, x[4][1])
    assert.is_true(math.abs(x[1][1] - (1 - 4) / math.sqrt((9 + 1 + 16) / 3)) < 1e-6)
    assert.are.same({ 0, 0, 1 }, { unpack(x[3], 3) })
    -- by the rows that stay in training alone: with other rows kept, another mean stands in for what is missing
    local train = data.split(set, 0.4, 3)
    local sum, count, values = 0, 0, { 1, nil, 3, nil, 8 }
    for _, row in ipairs(train:totable()) do
      if values[row] then sum, count = sum + values[row], count + 1 end
    end
    assert.are.equal(sum / count, set.mean[1])
    assert.are.same({ n = sum / count }, columns.stand_ins(set))
    assert.are.equal(0, batch(set)[2][1])
  end)

  it("has 0 for a text, or a mark of missing values, that no row in training has", function()
    local text = { "n,c,k" }
    for i = 1, 24 do -- rows 5, 6 and 7 alone have a text of their own, a missing text, a missing number
      local n, c = i == 7 and "" or i, i == 5 and "rare" or i == 6 and "" or i % 2 == 0 and "u" or "v"
      text[i + 1] = ("%s,%s,%s"):format(n, c, i % 3 == 0 and "a" or "b")
    end
    local seen, column = {}, { { 5, 3 }, { 6, 6 }, { 7, 2 } } -- each row, and the feature that it alone has
    for seed = 1, 12 do
      local set = load(table.concat(text, "\n"))
      assert.are.same({ "n", "n is missing", "c=rare", "c=u", "c=v", "c is missing" }, set.columns.features)
      local stays = {}
      for _, row in ipairs((data.split(set, 0.25, seed)):totable()) do stays[row] = true end
      for _, one in ipairs(column) do
        local row, f = unpack(one)
        local x = batch(set)
        for i = 1, 24 do assert.are.equal(i == row and stays[row] and 1 or 0, x[i][f]) end
        seen[stays[row] or false] = true
      end
    end
    assert.is_true(seen[true] and seen[false])
  end)

  it("loses constant columns, with a word in the run file", function()
    local set = load("one,n,c,gone,k\n7,1,u,,a\n7,2,u,,b\n")
    assert.are.same({ "n" }, set.columns.features)
    assert.are.same({ "left out: one value in all rows", "number", "left out: one value in all rows",
      "left out: one value in all rows", "class" }, set.columns.kinds)
    assert.matches("no column is left to learn from", refused("fail", "n,k\n1,a\n1,b\n"), 1, true)
  end)

  it("has columns that are dropped or categories by the recipe", function()
    local set = load("id,zip,k\n1,8001,a\n2,9000,b\n3,8001,a\n", { drop = { "id" }, categories = { "2" } })
    assert.are.same({ "zip=8001", "zip=9000" }, set.columns.features)
    assert.are.equal("left out (data.drop)", set.columns.kinds[1])
    assert.matches("data.drop: .*table.csv has no column 'idd'; it has id, k, did you mean 'id'?",
      refused("usage", "id,k\n1,a\n2,b\n", { drop = { "idd" } }))
    assert.matches("it has id;k: with data.delimiter=semicolon it would have more",
      refused("usage", "id;k\n1;a\n2;b\n", { label = "k" }), 1, true)
    assert.matches("data.drop: 'k' is the class", refused("usage", "id,k\n1,a\n2,b\n", { drop = { "k" } }), 1, true)
  end)

  it("has classes that are numbers in the order of numbers", function()
    assert.are.same({ "2", "9", "10" }, load("n,k\n1,10\n2,9\n3,2\n").labels)
  end)

  it("gives a part of its rows for testing, each class in proportion, missing ones with it", function()
    local lines = { "n,k" }
    for i = 1, 40 do lines[i + 1] = (i % 5 == 0 and "" or i) .. "," .. (i % 4 == 0 and "a" or "b") end
    local bytes = table.concat(lines, "\n")
    local set = load(bytes, { test = 0.2 })
    assert.are.same({ 32, 2 }, set.train.x.shape)
    assert.are.same({ 8, 2 }, set.test.x.shape)
    local ones = 0
    for _, label in ipairs(set.test.y:totable()) do ones = ones + label end
    assert.are.equal(6, ones)
    data.split(set, 0.25, 1)
    local seen = {}
    for _, part in ipairs({ "train", "test" }) do
      for i, row in ipairs(set[part].x:totable()) do
        if row[2] == 1 then
          assert.is_true(math.abs(row[1] - set.mean[1]) < 1e-5)
        else
          assert.are.equal(row[1] % 4 == 0 and 0 or 1, set[part].y:totable()[i])
          seen[row[1]] = (seen[row[1]] or 0) + 1
        end
      end
    end
    for i = 1, 40 do assert.are.equal(i % 5 > 0 and 1 or nil, seen[i]) end
    assert.are_not.equal(set.sha256, load(bytes, { test = 0.2, seed = 1 }).sha256)
  end)
end)

describe("a table is refused where", function()
  local function says(message, bytes, config)
    assert.matches(message, refused("fail", bytes, config), 1, true)
  end

  it("a row has too many or too few fields", function()
    says("table.csv: line 3: 2 fields, expected 3 as in line 1", "a,b,k\n1,2,x\n3,y\n")
    says("table.csv: line 4: 4 fields, expected 3 as in line 1", "a,b,k\n1,\"2\n\",x\n3,4,5,y\n")
  end)

  it("a quote is stray, followed by text or never closed", function()
    says("table.csv: line 2, column 2: a stray quote", 'a,k\n1,x"y\n')
    says("table.csv: line 3, column 1: text behind a closing quote", 'a,k\n1,x\n"2"3,y\n')
    says("table.csv: line 2, column 2: the quote that opens here is never closed", 'a,k\n1,"x\n2,y\n')
  end)

  it("numbers have a decimal comma, whatever the locale", function()
    local bytes = "n;k\n1,5;a\n2;b\n"
    says("table.csv: line 2, column 1: '1,5' is a number with a decimal comma; write it with a point", bytes,
      { delimiter = "semicolon" })
    says("line 3, column 1: '1.234,5'", 'n,k\n1,a\n"1.234,5",b\n')
    assert.are.same({ "n=1,5", "n=one" }, load('n,k\n"1,5",a\none,b\n').columns.features)
    os.setlocale("de_DE.UTF-8") -- where it is there, strtod takes a comma for the point
    local x = load("n,k\n1.5,a\n2.25,b\n").train.x:totable()
    os.setlocale("C")
    assert.are.same({ { 1.5 }, { 2.25 } }, x)
  end)

  it("a number is no number that a table holds", function()
    says("table.csv: line 2, column 1: '1e999' is too large for a number", "n,k\n1e999,a\n2,b\n")
    says("a number of n is too large for float32", "n,k\n1e300,a\n2,b\n")
    for _, text in ipairs({ "nan", "inf", "0x10", "1e", ".", "-", "1 2", "1_000", "--1", "1.2.3" }) do
      assert.are.equal("category of 2", load(("n,k\n%s,a\n2,b\n"):format(text), { missing = "?" }).columns.kinds[1])
    end
  end)

  it("a column is of numbers but for a few fields that are not", function()
    local lines = { "n,k" }
    for i = 1, 20 do lines[i + 1] = ("%s,%s"):format(i == 7 and "1_000" or i, i % 2 == 0 and "a" or "b") end
    local bytes = table.concat(lines, "\n")
    says("table.csv: line 8, column 1 (n): '1_000' is no number, as 19 of the column's 20 fields are", bytes)
    assert.are.equal("number, some missing", load(bytes, { missing = "1_000" }).columns.kinds[1])
    assert.are.equal("category of 20", load(bytes, { categories = { "n" } }).columns.kinds[1])
    lines[4], lines[5] = "some,a", "more,b"
    assert.are.equal("category of 20", load(table.concat(lines, "\n")).columns.kinds[1]) -- 17 of 20: no slip any more
  end)

  it("the recipe names one of two columns of the same name", function()
    assert.matches("data.label: columns 1 and 2 of .*table.csv are both called 'n': rename one of them",
      refused("usage", "n,n,k\n1,2,a\n3,4,b\n", { label = "n" }))
    assert.are.same({ "n", "n" }, load("n,n,k\n1,2,a\n3,4,b\n").columns.features)
  end)

  it("it is empty, has names only, or bytes that are no text", function()
    says("table.csv: is empty, expected rows of fields", "")
    says("table.csv: is empty, expected rows of fields", "\n\r\n  \n")
    says("table.csv: holds names of columns but no row behind them", "a,b\n")
    says("table.csv: line 2, column 1: a zero byte", "a,k\n\0,x\n")
    says("table.csv: line 1, column 2: a carriage return without a newline", "a,k\r1,x\r2,y\r")
  end)

  it("the class is missing, single, or unknown to the training part", function()
    says("table.csv: line 3, column 2 (k): the class is missing", "n,k\n1,a\n2,\n3,b\n")
    says("column 2 (k), the class, holds 1 different value, expected at least 2", "n,k\n1,a\n2,a\n")
    local test = file("test.csv", "n,k\n1,a\n2,c\n")
    says("test.csv: line 3, column 2 (k): class 'c' is not among the training file's: a, b", "n,k\n1,a\n2,b\n",
      { test_path = test })
  end)

  it("a class has too few rows for training and validation", function()
    local lines = { "n,k" }
    for i = 1, 20 do lines[i + 1] = ("%d,%s"):format(i, i == 7 and "rare" or i % 2 == 0 and "a" or "b") end
    local set = load(table.concat(lines, "\n"))
    data.split(set, 0.5, 1)
    local ok, e = pcall(data.split, set, 0.6, 1) -- 0.6 of its only row is rounded to one
    assert.is_false(ok)
    assert.matches("class 'rare' is not among the 8 rows that stay in training", e.message, 1, true)
  end)

  it("the test file has other columns or texts for numbers", function()
    local train = "n,k\n1,a\n2,b\n"
    says("test.csv has 3 columns, ", train, { test_path = file("test.csv", "n,m,k\n1,2,a\n") })
    says("test.csv: column 1 is 'm', in ", train, { test_path = file("test.csv", "m,k\n1,a\n") })
    says("test.csv: line 2, column 1 (n): 'x' is no number, as the training file's are", train,
      { test_path = file("test.csv", "n,k\nx,a\n") })
    local set = load("c,k\nu,a\nv,b\n", { test_path = file("test.csv", "c,k\nw,a\nu,b\n") })
    assert.are.same({ { 0, 0 }, { 1, 0 } }, set.test.x:totable())
  end)

  it("a column of texts has hundreds of them", function()
    local lines = { "name,k" }
    for i = 1, 1001 do lines[i + 1] = ("n%d,%s"):format(i, i % 2 == 0 and "a" or "b") end
    says("column 1 (name) holds 1001 different texts, expected at most 1000: leave it out with data.drop",
      table.concat(lines, "\n"))
  end)
end)

describe("adult", function()
  it("is read as its files are: blanks behind commas, marks of missing values, a first line, points", function()
    local rows = {
      "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Unmarried, White, Male, 2174, 0, 40, Cuba, ",
      "50, ?, 83311, HS-grad, 9, Divorced, Sales, Husband, Black, Female, 0, 1902, 13, ?, ",
    }
    folders.write(folder .. "/adult.data", rows[1] .. "<=50K\n" .. rows[2] .. ">50K\n" .. rows[1] .. "<=50K\n\n")
    folders.write(folder .. "/adult.test", "|1x3 Cross validator\n" .. rows[2] .. ">50K.\n" .. rows[1] .. "<=50K.\n\n")
    local set = data.load{ source = "adult", path = folder }
    assert.are.same({ 0, 1, 0 }, set.train.y:totable())
    assert.are.same({ 1, 0 }, set.test.y:totable())
    assert.are.same({ "<=50K", ">50K" }, set.labels)
    assert.are.same({ "age", "workclass=State-gov", "workclass is missing", "fnlwgt", "education=Bachelors" },
      { unpack(set.columns.features, 1, 5) })
    assert.are.same({ 50, 0, 1, 83311, 0 }, { unpack(set.test.x:totable()[1], 1, 5) })
    assert.are.same({ 2 }, { data.load{ source = "adult", path = folder, limit = 2 }.train.x.shape[1] })
  end)
end)

describe("a network", function()
  it("of a table trains, says in its run what the columns are, and is folded with their means", function()
    local recipe, train = require("lgelu.recipe"), require("lgelu.train")
    local dir = folder .. "/run"
    train.run(recipe.from_text([[return { data = { source = "synthetic_table", n = 400, n_test = 50 },
      model = lg.models.mlp{ hidden = { 8 } }, train = { epochs = 20, batch = 32 }, optimizer = { lr = 0.01 } }]],
      "table.lua"), { out = dir, quiet = true })
    local run = require("lgelu.store").open(dir)
    assert.is_true(run:best().val_score > 0.7)
    run:read(function(f)
      assert.are.same({ "n1", "n2", "n3", "n4", "tree", "colour", "class" }, f:read_texts("/data/names"))
      assert.are.equal("category of 6, some missing", f:read_texts("/data/kinds")[5])
      assert.are.equal("n1 is missing", f:read_texts("/data/features")[2])
    end)
    local t = require("lgelu.trained").open(dir, { probe = true })
    local first = require("lgelu.folded").of(t, { fold_input = true }).nodes[1]
    local loader = t:loader("test")
    loader:start(0)
    local x, y = loader:next()
    t.net:bind(x, y)
    t.net:forward("eval")
    local found, weight, bias = t.net:gate_input(1):totable(), first.weight:totable(), first.bias:totable()
    local raw, width = tensors.pointer(t.set.test.x), #t.set.columns.features
    for row = 1, 5 do
      for unit = 1, 8 do
        local sum = bias[unit]
        for k = 1, width do sum = sum + weight[unit][k] * raw[(row - 1) * width + k - 1] end
        assert.is_true(math.abs(sum - found[row][unit]) < 1e-4)
      end
    end
    loader:free()
  end)
end)
