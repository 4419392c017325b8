--- Specification of lgelu.table: alignment, quoting and escaping in each format.
local tables = require("lgelu.table")

describe("a table", function()
  local columns = {
    { title = "name" }, { title = "λ", format = "%.4g" }, { title = "BVS", align = "number" }, { title = "seed" },
  }
  local rows = {
    { "a_b|c", 1.5, "89.5 ± 0.2", 1 }, { "größe", 159.577, "9.25 ± 0.11", 22 }, { 'say "x", y', nil, nil, 3 },
    { "nan", 0 / 0, "100 ± 1", 4 },
  }

  it("as text is aligned at the decimal point, whatever bytes its characters take", function()
    assert.equal([[
name            λ            BVS  seed
──────────  ─────  ─────────────  ────
a_b|c         1.5   89.5 ± 0.2       1
größe       159.6    9.25 ± 0.11    22
say "x", y    –      –               3
nan           –    100 ± 1           4
]], (tables.render(columns, rows):gsub(" +\n", "\n")))
  end)

  it("aligns a number column of signs, dots and none", function()
    local text = tables.render({ { title = "x" } }, { { 1 }, { -12.25 }, { 0.5 }, { 1e6 } })
    local at = {}
    for line in text:gmatch("[^\n]+") do
      local dot = line:find(".", 1, true)
      if dot then at[#at + 1] = dot end
    end
    assert.same({ at[1], at[1] }, at)
    assert.equal(at[1] - 1, #text:match("\n( *1)\n"))
    assert.equal(at[1] - 1, #text:match("\n( *1e%+06)") - 4)
  end)

  it("as Markdown has a rule that aligns, and escapes bars", function()
    local lines = {}
    for line in tables.render(columns, rows, "markdown"):gmatch("[^\n]+") do
      lines[#lines + 1] = line
      local bars = select(2, line:gsub("\\|", ""):gsub("|", ""))
      assert.equal(5, bars, line)
    end
    assert.equal(6, #lines)
    assert.truthy(lines[2]:find("^| %-+ | %-+: | %-+: | %-+: |$"), lines[2])
    assert.truthy(lines[3]:find("a_b\\|c", 1, true))
    assert.equal("| x   |\n| --- |\n| a   |\n", tables.render({ { title = "x" } }, { { "a" } }, "markdown"))
  end)

  it("as CSV keeps all digits and quotes by RFC 4180", function()
    assert.equal("name,λ,BVS,seed\na_b|c,1.5,89.5 ± 0.2,1\n"
      .. 'größe,159.577,9.25 ± 0.11,22\n"say ""x"", y",,,3\nnan,,100 ± 1,4\n',
      tables.render(columns, rows, "csv"))
    assert.equal("x\n0.1\n0.3333333333333333\n1e+300\ninf\n",
      tables.render({ { title = "x" } }, { { 0.1 }, { 1 / 3 }, { 1e300 }, { math.huge } }, "csv"))
  end)

  it("as LaTeX escapes its specials", function()
    local text = tables.render({ { title = "λ ± %" } }, { { "a_b & c#{}$^~\\" } }, "latex")
    assert.truthy(text:find("\\begin{tabular}{l}\n\\hline\n", 1, true), text)
    assert.truthy(text:find("$\\lambda$ $\\pm$ \\%", 1, true), text)
    assert.truthy(text:find(
      "a\\_b \\& c\\#\\{\\}\\$\\textasciicircum{}\\textasciitilde{}\\textbackslash{} \\\\\n", 1, true), text)
    text = tables.render({ { title = "x" }, { title = "y" } }, { { "-0.50 ± 1", "a-1" } }, "latex")
    assert.truthy(text:find("$-$0.50 $\\pm$ 1 & a-1 ", 1, true), text)
  end)

  it("without rows has its titles, in every format", function()
    for _, format in ipairs(tables.formats) do
      assert.truthy(tables.render({ { title = "alone" } }, {}, format):find("alone", 1, true))
    end
  end)

  it("has a range, or one number where both ends are written alike", function()
    assert.equal("1.01 to 2.5", tables.range("%.3g", { 2.5, 1.0123, 1.5 }))
    assert.equal("160", tables.range("%.3g", { 159.577, 159.58 }))
    assert.equal("1", tables.range("%.3g", { 1 }))
  end)

  it("refuses a format that it does not know, with the nearest", function()
    local ok, e = pcall(tables.render, columns, rows, "latx")
    assert.is_false(ok)
    assert.equal("--format: 'latx' is none of text, markdown, csv, latex, did you mean 'latex'?", e.message)
  end)
end)
