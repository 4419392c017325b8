--- Specification of `lgelu repl`: chunks from -e and standard input with their exit status, the prompt at a
-- pseudo-terminal, layout of values, completion.

local complete = require("lgelu.repl.complete")
local pretty = require("lgelu.repl.pretty")
local repl = require("lgelu.repl")
local runs = dofile("tests/spec/support/runs.lua")

local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"
local folder = os.tmpname()
os.remove(folder)
assert(os.execute(("mkdir '%s'"):format(folder)) == 0)

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

-- Exit status and output (both streams) of a shell command.
local function shell(command)
  local pipe = io.popen(("(%s) 2>&1; echo status=$?"):format(command))
  local text = pipe:read("*a")
  pipe:close()
  local output, status = text:match("^(.*)status=(%d+)\n$")
  return tonumber(status), output
end

local function with_code(...)
  local words = { program, "repl" }
  for _, text in ipairs({ ... }) do words[#words + 1] = "-e " .. quote(text) end
  return shell(table.concat(words, " "))
end

local function with_input(text, target)
  return shell(("printf '%%s' %s | %s repl %s"):format(quote(text), program, target or ""))
end

-- A session at a pseudo-terminal: steps EXPECTED=KEYS (tests/spec/support/at_terminal.py).
local function at_terminal(steps)
  local words = {}
  for i, step in ipairs(steps) do words[i] = quote(step) end
  return shell(("TERM=dumb XDG_STATE_HOME=%s python3 tests/spec/support/at_terminal.py %s -- %s repl"):format(folder,
    table.concat(words, " "), program))
end

describe("lgelu repl", function()
  teardown(function() os.execute(("rm -r '%s'"):format(folder)) end)

  it("runs -e, one after another, and prints the values of expressions", function()
    assert.are.same({ 0, "1\n" }, { with_code("print(1)") })
    assert.are.same({ 0, "5\n6\n\"a\"\n" }, { with_code("x = 5", "x, x + 1", "= ('a')") })
    assert.are.same({ 0, "2\n" }, { with_code("lg.stats.summary{1, 3}.mean") })
  end)

  it("ends with 1 and the message when a chunk fails, and runs none of the following", function()
    local status, text = with_code("error('boom')", "print('not reached')")
    assert.equal(1, status)
    assert.equal("lgelu: -e #1:1: boom\n", text)
    assert.are.same({ 1, "lgelu: -e:1: unexpected symbol near '<eof>'\n" }, { with_code("x =") })
    status, text = with_code("lg.stats.summary{0/0}")
    assert.equal(1, status)
    assert.equal("lgelu: stats.summary: list[1] is NaN; a finite number is expected\n", text)
    assert.are.same({ 1, "lgelu: error object: { 1 }\n" }, { with_code("error({ 1 })") })
  end)

  it("names the line of an error inside a chunk, also behind a call that is the whole expression", function()
    local _, text = with_code("local t\nprint(t.x)")
    assert.equal("lgelu: -e:2: attempt to index local 't' (a nil value)\n", text)
  end)

  it("runs standard input as one chunk when it is no terminal", function()
    assert.are.same({ 0, "3\n" }, { with_input("local a = 1\nlocal b = 2\nprint(a + b)\n") })
    assert.are.same({ 0, "" }, { with_input("") })
    assert.are.same({ 1, "1\nlgelu: stdin:2: stop\n" }, { with_input("print(1)\nerror('stop')\nprint(2)") })
  end)

  it("prints what calls of a network's functions give that stand alone, in a chunk as at the prompt", function()
    local function moons(text) return select(2, with_input(text, "moons")) end
    local said = moons([[
local l = 5 -- a local lives on
hardness() -- a comment
set(1, l)
set(
  2,
  7)
local r = undo()
if r then set(1, 6) end
print(r.left, "set(1, 3)"); f = function()
  score()
end
undo() undo()
undo()]])
    local first = { "#  gate ", "─", "1  gate1", "2  gate2", "set gate1: λ 1.1 → 5;", "set gate2: λ 1.1 → 7;",
      '1\tset(1, 3)', "lgelu: undo(): nothing was changed" }
    local count = 0
    for line in said:gmatch("[^\n]+") do
      count = count + 1
      assert.equal(first[count], line:sub(1, #(first[count] or "")), said)
    end
    assert.equal(#first, count)
    assert.truthy(moons("score()\n\nset(1, 2)\nerror('here')"):find("lgelu: stdin:4: here\n$"))
    assert.truthy(moons("score()\nfor\n"):find("stdin:3: '<name>' expected near '<eof>'", 1, true))
  end)

  it("says something of each name at hand", function()
    for _, name in ipairs({ "help", "lg", "hardness", "probe", "set", "swap", "score", "generate", "undo",
      "sensitivity", "plot", "train", "model", "data", "recipe" }) do
      local status, text = runs.program("repl", "moons", "-e", ("help(%q)"):format(name))
      assert.are.same({ 0, name }, { status, text:sub(1, #name) })
    end
    assert.are.same({ with_code("help('help')") }, { with_code("help(help)") })
    assert.are.same({ with_code("help('lg')") }, { with_code("help(lg)") })
  end)

  it("has a run or a recipe at hand when one is named", function()
    runs.store({ dir = folder .. "/run", kind = "lambda_gelu", seed = 1, epochs = 3, score = 0.9 })
    assert.are.same({ 0, "3\n" }, { runs.program("repl", folder .. "/run", "-e", "run:best().epoch") })
    assert.are.same({ 0, '"moons"\n' }, { runs.program("repl", "moons", "-e", "recipe.config.data.source") })
    assert.are.same({ 0, "{ 2000, 2 }\n" }, { runs.program("repl", "moons", "-e", "data.train.x.shape") })
    local _, run = runs.program("repl", folder .. "/run", "-e", "run")
    assert.matches("/run: %S+, seed 1, done after 3 epochs; validation score 0%.8%d+, test score 0%.8%d+\n$", run)
    local _, set = runs.program("repl", "moons", "-e", "data")
    assert.matches("\ndata%.train%.x f32%[2000, 2%], data%.train%.y i32%[2000%]\ndata%.test%.x f32%[1000, 2%]", set)
    assert.matches("^  input +input +%[%S+, 2%]\n", select(2, runs.program("repl", "moons", "-e", "model")))
    assert.matches("\n  train%.batch +64 +recipe\n", select(2, runs.program("repl", "moons", "-e", "recipe")))
    local status, text = runs.program("repl", "nothing", "-e", "1")
    assert.equal(2, status)
    assert.truthy(text:find("'nothing' is neither a run", 1, true), text)
  end)

  it("prints values, continues unfinished input, goes on after errors and leaves with Ctrl-D", function()
    local status, text = at_terminal({
      "> =1 + 1\\n", "2=x = {\\n", ">> =10, 20}\\n", "> =#x, x\\n", "{ 10, 20 }=local y = 7\\n", "> =y\\n",
      "nil=error('boom')\\n", "prompt:1: boom=1 +\\n", ">> =41\\n", "42=\\x04",
    })
    assert.equal(0, status, text)
    assert.truthy(text:find("2\r\n{ 10, 20 }", 1, true), text)
  end)

  it("clears the line, drops unfinished input and stops a computation", function()
    local status, text = at_terminal({
      "> =error('never run')\\x03", "> =f = (\\n", ">> =\\x04", "> =while true do end\\n", "true do end=\\x03",
      "interrupted=\"still\" .. \" here\"\\n", "\"still here\"=\\x04",
    })
    assert.equal(0, status, text)
    assert.is_nil(text:find("prompt:1:", 1, true), text)
  end)

  it("completes fields at Tab, and help() says what is there", function()
    local status, text = at_terminal({ "> =lg.stats.summ\\t{4}.mean\\n", "4=help()\\n", "lg.stats=\\x04" })
    assert.equal(0, status, text)
    assert.truthy(text:find("lg.stats.summary{4}.mean\r\n4\r\n", 1, true), text)
  end)

  it("remembers lines between sessions", function()
    assert.equal(0, (at_terminal({ "> =123 * 1000\\n", "123000=\\x04" })))
    local status, text = at_terminal({ "> =\\x10\\n", "123000=\\x04" })
    assert.equal(0, status, text)
  end)
end)

describe("compiling", function()
  it("tells what is unfinished from what is wrong", function()
    for _, text in ipairs({ "x = {", "for i = 1, 3 do", "1 +", "f(", "[[text", "= 2 *", "if x then\n  y()" }) do
      local chunk, _, unfinished = repl.compile(text, "test")
      assert.is_nil(chunk)
      assert.is_true(unfinished, text)
    end
    for _, text in ipairs({ "x = = 2", "end", "1 2", "'text", "= }" }) do
      local chunk, wrong, unfinished = repl.compile(text, "test")
      assert.is_nil(chunk)
      assert.is_false(unfinished, text)
      assert.equal("string", type(wrong))
    end
  end)

  it("takes an expression with a comment or a semicolon behind it", function()
    for _, text in ipairs({ "1 -- one", "1;", "= 1", "return 1" }) do
      local chunk = repl.compile(text, "test")
      assert.equal(1, chunk(function(...) return ... end), text)
    end
  end)
end)

describe("values as text", function()
  it("quotes strings and lays out tables", function()
    assert.equal('"a\\n\\"b\\""', pretty.format('a\n"b"'))
    assert.equal("{ 1, 2, a = true, [\"b c\"] = {} }", pretty.format({ 1, 2, a = true, ["b c"] = {} }))
    assert.equal("{}", pretty.format({}))
    assert.equal("nil", pretty.format(nil))
  end)

  it("abridges long and deep tables and stops at cycles", function()
    local long = {}
    for i = 1, 1000 do long[i] = i end
    local text = pretty.format(long)
    assert.truthy(text:find("40,\n  … 960 more", 1, true), text)
    local cycle = { 1 }
    cycle.self = cycle
    assert.equal("{ 1, self = {…} }", pretty.format(cycle))
    assert.equal("{ { { { { … } } } } }", pretty.format({ { { { { {} , 1 } } } } }))
    assert.truthy(pretty.format(("x"):rep(5000)):find("(5000 bytes)", 1, true))
  end)

  it("uses a handle's own text, and survives one that fails", function()
    assert.equal("tensor", pretty.format(setmetatable({}, { __tostring = function() return "tensor" end })))
    local broken = setmetatable({ 1 }, { __tostring = function() error("no") end })
    assert.equal("{ 1 }", pretty.format(broken))
    assert.truthy(pretty.error(broken):find("{ 1 }", 1, true))
  end)
end)

describe("completion", function()
  local env = { value = { alpha = 1, alpine = function() end, _hidden = 1 }, variable = "text", ["not a name"] = 1 }
  setmetatable(env, { __index = { inherited = {} } })

  it("finds names, keywords and what is inherited", function()
    assert.are.same({ "value", "variable" }, complete.words(env, "va"))
    assert.are.same({ "inherited" }, complete.words(env, "inh"))
    assert.are.same({ "until" }, complete.words(env, "unt"))
    assert.are.same({}, complete.words(env, "nothing"))
  end)

  it("finds fields and methods, hiding what begins with an underscore until it is begun", function()
    assert.are.same({ "value.alpha", "value.alpine" }, complete.words(env, "value."))
    assert.are.same({ "value:alpine" }, complete.words(env, "value:al"))
    assert.are.same({ "value._hidden" }, complete.words(env, "value._"))
    assert.are.same({ "variable:rep" }, complete.words(env, "variable:rep"))
    assert.are.same({}, complete.words(env, "value.missing.deeper"))
  end)

  it("knows what lg and tensors make on demand", function()
    local lg = require("lgelu")
    local here = { lg = lg, t = lg.zeros(2, 3) }
    assert.are.same({ "lg.stats" }, complete.words(here, "lg.stat"))
    assert.are.same({ "lg.zeros" }, complete.words(here, "lg.zer"))
    assert.are.same({ "lg.stats.spearman" }, complete.words(here, "lg.stats.spe"))
    assert.are.same({ "t.shape" }, complete.words(here, "t.sha"))
    assert.are.same({ "t:totable" }, complete.words(here, "t:tota"))
    assert.are.same({}, complete.words(here, "t:sha"))
  end)
end)
