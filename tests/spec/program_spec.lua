-- program_spec.lua: the program around Lua (src/cli): its files, exit statuses, messages, terminal.
-- The program is copied into a prefix of its own, whose lgelu.cli runs its first argument as Lua.
local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"

local prefix = os.tmpname()
os.remove(prefix)
assert(os.execute(("mkdir -p '%s/bin' '%s/share/lgelu/lua/lgelu/cli' && cp '%s' '%s/bin/lgelu'"):format(
  prefix, prefix, program, prefix)) == 0)
assert(os.execute(("cp lua/lgelu/errors.lua lua/lgelu/paths.lua '%s/share/lgelu/lua/lgelu/'"):format(prefix)) == 0)
local cli = assert(io.open(prefix .. "/share/lgelu/lua/lgelu/cli/init.lua", "w"))
cli:write("return { main = function(argv) return assert(loadstring(argv[1]))() end }\n")
cli:close()

local function quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- Runs a shell command; returns exit status and output.
local function shell(command)
  local p = io.popen(("(%s) 2>&1; echo status=$?"):format(command))
  local text = p:read("*a")
  p:close()
  local output, status = text:match("^(.*)status=(%d+)\n$")
  return tonumber(status), output
end

-- Runs code in the program, with shell text before and after.
local function run(code, before, after)
  return shell(("%s %s/bin/lgelu %s %s"):format(before or "", prefix, quote(code), after or ""))
end

-- Runs code in the program at a pseudo-terminal (tests/spec/support/at_terminal.py).
local function at_terminal(code, steps)
  local words = {}
  for i, step in ipairs(steps) do words[i] = quote(step) end
  return shell(("XDG_STATE_HOME=%s/state python3 tests/spec/support/at_terminal.py %s -- %s/bin/lgelu %s"):format(
    prefix, table.concat(words, " "), prefix, quote(code)))
end

describe("the program", function()
  teardown(function()
    os.execute(("rm -r '%s'"):format(prefix))
  end)

  it("ends with the status that the command line returns", function()
    assert.are.same({ 0, "" }, { run("return 0") })
    assert.are.same({ 0, "" }, { run("") })
    assert.are.same({ 7, "" }, { run("return 7") })
  end)

  it("shows the message of an error object, and ends with its status", function()
    for kind, status in pairs({ usage = 2, fail = 1, interrupted = 130 }) do
      local code = ("require('lgelu.errors').%s('no recipe %%s', 'x')"):format(kind)
      assert.are.same({ status, "lgelu: no recipe x\n" }, { run(code) })
      local traced, text = run(code, "LGELU_DEBUG=trace")
      assert.are.equal(status, traced)
      assert.truthy(text:find("^lgelu: no recipe x\nstack traceback:\n"), text)
    end
  end)

  it("names a fault of its own, says how to see where, and shows it", function()
    local status, text = run("local t = nil; return t.x")
    assert.are.equal(1, status)
    assert.truthy(text:find("a fault of lgelu itself: .*attempt to index local 't'.*\nwith LGELU_DEBUG=trace "), text)
    assert.is_nil(text:find("stack traceback", 1, true))
    status, text = run("error()", "LGELU_DEBUG=trace")
    assert.are.equal(1, status)
    assert.truthy(text:find("a fault of lgelu itself: nil\nstack traceback:", 1, true), text)
  end)

  it("fails when its output cannot be written", function()
    local status, text = run("print('x')", "", ">/dev/full")
    assert.are.equal(1, status)
    assert.truthy(text:find("standard output could not be written", 1, true), text)
  end)

  it("finds its files from where it lies, through links and from other folders", function()
    local code = "local p = require('lgelu.program') print(p.exe, p.root, p.library)"
    local expected = ("%s/bin/lgelu\t%s/share/lgelu\t%s/bin/../lib/liblgelu.so\n"):format(prefix, prefix, prefix)
    assert.are.same({ 0, expected }, { run(code) })
    os.execute(("ln -s '%s/bin/lgelu' '%s/link'"):format(prefix, prefix))
    assert.are.same({ 0, expected }, { shell(("cd / && %s/link %s"):format(prefix, quote(code))) })
    local status, text = shell(("cp %s/bin/lgelu %s/alone && %s/alone x"):format(prefix, prefix, prefix))
    assert.are.equal(1, status)
    assert.truthy(text:find("cannot find its Lua files", 1, true), text)
  end)

  it("knows whether it is at a terminal", function()
    local code = "local t = require('lgelu.terminal') print(t.isatty(0), t.isatty(1), t.width())"
    assert.are.same({ 0, "false\tfalse\t80\n" }, { run(code, "", "</dev/null | cat") })
    assert.are.same({ 0, "true\ttrue\t80\r\n" }, { at_terminal(code, {}) })
  end)

  it("reads lines until the end of input", function()
    local code = "local t = require('lgelu.terminal') print(t.readline('')) print(t.readline(''))"
    local status, text = run(code, "echo 'a b' |")
    assert.are.equal(0, status)
    assert.truthy(text:find("a b\n.*nil\n$"), text)
  end)

  it("completes names, and survives a completion that fails", function()
    local code = [[
      local t = require('lgelu.terminal')
      local line = t.readline('1> ', function(text)
        if text == 'bad' then error('x') end
        if text == 'lg.ga' then return { 'lg.gate' } end
        return {}
      end)
      print('got', line)
    ]]
    local status, text = at_terminal(code, { "1> =print(lg.ga\\t", "print(lg.gate=)\\n" })
    assert.are.equal(0, status, text)
    assert.truthy(text:find("got\tprint(lg.gate)\r\n", 1, true), text)
    status, text = at_terminal(code, { "1> =bad\\t", "bad=\\n" })
    assert.are.equal(0, status, text)
    assert.truthy(text:find("got\tbad\r\n", 1, true), text)
  end)

  it("clears the line on Ctrl-C, and remembers lines", function()
    local code = [[
      local t = require('lgelu.terminal')
      local line = t.readline('1> ')
      print('got', line)
      t.add_history(line)
      print('got', t.readline('2> '))
    ]]
    local status, text = at_terminal(code, { "1> =wrong", "wrong=\\x03", "1> =right\\n", "2> =\\x1b[A", "right=\\n" })
    assert.are.equal(0, status, text)
    assert.truthy(text:find("got\tright\r\n.*got\tright\r\n"), text)
    local f = assert(io.open(prefix .. "/state/lgelu/history"))
    assert.are.equal("right\n", f:read("*a"))
    f:close()
  end)
end)
