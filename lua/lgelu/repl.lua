--- The prompt: lines of Lua, with `lg` at hand; also chunks from the command line and from standard input.
--
-- What it is: reading, compiling, running and printing. What it is not: line editing (lgelu.terminal, which only the
-- program has), layout of values (lgelu.repl.pretty) or completion (lgelu.repl.complete).
-- Called by lgelu.cli.repl.
--
-- A line is a chunk: `local x = 1` ends with its line, so write `x = 1`. A line that is an expression prints its
-- values, as does `= EXPRESSION`. A chunk that is not finished goes on with the next line.
-- @module lgelu.repl

local errors = require("lgelu.errors")
local pretty = require("lgelu.repl.pretty")

local repl = {}

local PROMPT, CONTINUED = "> ", ">> "

-- How many instructions of the interpreter pass between two looks at Ctrl-C.
local POLL_INSTRUCTIONS = 100000

-- How the profiler runs: by lines, every 100 ms of processor time.
local PROFILER_MODE = "li100"

-- What help() says of each module; those that are not there are left out.
local MODULES = {
  { "tensor", "lg.tensor{…}, lg.zeros(…): arrays; t.shape, t:totable(), t + u, t:mean(), t[1]" },
  { "gate", "lg.gate.value(x, lambda), grad, lambda(s, t), s(lambda, t), target(eps): x·Φ(λx) and its λ" },
  { "models", "networks, as lg.models.mlp{…}" },
  { "data", "data sets and loaders" },
  { "recipe", "recipes, resolved and checked" },
  { "train", "training a resolved recipe" },
  { "store", "lg.store.open(RUN): run files; run:epochs(), run:gates(), run:best()" },
  { "h5", "any HDF5 file" },
  { "stats", "lg.stats.summary{…}, paired, spearman, drift, median, quantile" },
  { "compare", "lg.compare.groups(records): runs grouped by what differs, over seeds" },
  { "probe", "p = lg.probe.open(RUN): p:hardness(), p:probe(GATE), p:set(GATE, λ), p:swap(), p:undo(), …" },
  { "plot", "lg.plot.figure(\"profile\", { run }, \"FILE.png\")" },
}

-- Characters, each a column wide.
local function utf8_width(text)
  return select(2, text:gsub("[^\128-\191]", ""))
end

-- help(what): of one of the functions there are, or of a module, by name or value.
local function help_on(what, predefined)
  local names = {}
  for _, entry in ipairs(predefined) do
    names[#names + 1] = entry.name
    if what == entry.name or (what ~= nil and what == entry.value) then
      local head = ("%s: %s"):format(entry.usage or entry.name, entry.help)
      return entry.text and ("%s.\n%s\n"):format(head, entry.text) or head .. "\n"
    end
  end
  for _, entry in ipairs(MODULES) do
    names[#names + 1] = entry[1]
    if what == entry[1] then return ("lg.%s: %s\n"):format(entry[1], entry[2]) end
  end
  if what == "lg" or what == require("lgelu") then return "lg: the library; help() lists its parts\n" end
  if what == "help" or what == _G.help then return "help([NAME]): what is here, or more of NAME\n" end
  local name = type(what) == "string" and "'" .. what .. "'" or "a " .. type(what)
  errors.usage("help: nothing is known of %s%s; help() says what is here", name, errors.suggest(tostring(what), names))
end

--- The text that help() prints at the prompt.
-- @tparam table predefined what the command line predefined, as `start` takes it
-- @param what  nil: all that is there, a line each; otherwise one of the names, or a function that is there
-- @raise usage error when there is no help on what
function repl.help_text(predefined, what)
  if what ~= nil then return help_on(what, predefined) end
  local lines = {
    "lgelu " .. require("lgelu").version .. ": Lua (LuaJIT) with the library lg.",
    "",
    "  An expression prints its value; x = … keeps one. A local ends with its line.",
    "  Tab completes names, fields and methods. Ctrl-C clears the line or stops what runs; a second Ctrl-C ends lgelu.",
    "  Ctrl-D leaves; on a continued line (>>) it drops what was typed.",
    "",
  }
  local width = 0
  for _, entry in ipairs(predefined) do width = math.max(width, utf8_width(entry.usage or entry.name)) end
  for _, entry in ipairs(predefined) do
    local name = entry.usage or entry.name
    lines[#lines + 1] = ("  %s%s  %s"):format(name, (" "):rep(width - utf8_width(name)), entry.help)
  end
  if #predefined > 0 then
    lines[#lines + 1] = '  help("NAME") or help(NAME) says more of each.'
    lines[#lines + 1] = ""
  end
  for _, entry in ipairs(MODULES) do
    if package.searchpath("lgelu." .. entry[1], package.path) then
      lines[#lines + 1] = ("  lg.%-7s %s"):format(entry[1], entry[2])
    end
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Every chunk gets this as its argument. An expression is compiled as arguments of a call of it: after a plain
-- `return f()`, a tail call, an error in f would have lost its line.
local function values(...) return ... end

--- Compiles a line or chunk.
-- @tparam string text Lua; `= EXPRESSION` and a bare expression become a chunk that returns their values
-- @tparam string name of the chunk, for messages
-- @treturn[1] function the chunk, for repl.run
-- @return[2] nil
-- @treturn[2] string the syntax error
-- @treturn[2] boolean whether more input could complete it
function repl.compile(text, name)
  local expression = text:match("^%s*=(.*)$")
  local chunk, as_value = loadstring("return " .. (expression or text), "=" .. name)
  if chunk then return loadstring("return (...)(" .. (expression or text) .. "\n)", "=" .. name) or chunk end
  local wrong = as_value
  if not expression then chunk, wrong = loadstring(text, "=" .. name) end
  if chunk then return chunk end
  local at_end = wrong:find("near '<eof>'", 1, true) or as_value:find("near '<eof>'", 1, true)
  -- a quoted string ends with its line: the next one cannot complete it
  return nil, wrong, at_end ~= nil and not wrong:find("unfinished string", 1, true)
end

local function handler(e)
  if errors.is(e) or type(e) ~= "string" then return e end
  return os.getenv("LGELU_DEBUG") == "trace" and debug.traceback(e, 2) or e
end

local function print_values(n, ...)
  for i = 1, n do io.write(pretty.format((select(i, ...))), "\n") end
end

--- Runs a chunk and prints its values.
-- @tparam function chunk from repl.compile
-- @param argument what the chunk gets; nil: `values`
-- @treturn boolean whether it ran to its end
-- @return the error value when it did not
function repl.run(chunk, argument)
  local function finish(ok, ...)
    if not ok then return false, (...) end
    return xpcall(print_values, handler, select("#", ...), ...)
  end
  return finish(xpcall(chunk, handler, argument or values))
end

-- A chunk whose statements outside of blocks that are nothing but a call of one of the names, from the beginning of a
-- line to the end of one, print what it gives, as at the prompt; nil where there are none. Lines keep their numbers.
local function compile_showing(text, name, names)
  local parts, statement, close, found = { "local __show = ...; " }, "", "", false
  for line in (text .. "\n"):gmatch("[^\n]*\n") do
    statement = statement .. line
    if loadstring(statement) then
      local called = names[statement:match("^%s*([%a_][%w_]*)%s*%(")] and loadstring("return " .. statement)
      parts[#parts + 1] = close .. (called and "__show(" or "") .. statement
      statement, close, found = "", called and "); " or "", found or called
    end
  end
  parts[#parts + 1] = close .. statement
  return found and loadstring(table.concat(parts), "=" .. name) or nil
end

local function show(...) print_values(select("#", ...), ...) end

-- Runs a chunk so that Ctrl-C, which raises the engine's flag, stops it wherever it loops. A hook that counts
-- instructions polls the flag; compiled traces run no hooks, but the profiler's timer leaves them, and where the flag
-- is up it then takes the compiler out of the way. What heeds the flag itself, as training does between steps, comes
-- first: the hook acts when it finds the flag up twice.
local function run_interruptible(chunk, argument)
  local lib, profiler = require("lgelu.C").lib, require("jit.profile")
  local seen, stopped = false, false
  profiler.start(PROFILER_MODE, function()
    if lib.lg_interrupted() == 0 or not jit.status() then return end
    stopped = true
    jit.off()
    jit.flush()
  end)
  debug.sethook(function()
    local up = lib.lg_interrupted() ~= 0
    if up and seen then errors.interrupted("interrupted") end
    seen = up
  end, "", POLL_INSTRUCTIONS)
  local ok, e = repl.run(chunk, argument)
  debug.sethook()
  profiler.stop()
  if stopped then jit.on() end
  return ok, e
end

--- Runs text as one chunk, as for -e and standard input.
-- @tparam string text Lua
-- @tparam string name of the chunk, for messages
-- @tparam table names set of functions whose calls print their values where they are statements of their own
-- @raise the work failed (exit status 1), whatever the chunk raised; interrupted stays interrupted
function repl.run_chunk(text, name, names)
  local chunk, wrong = repl.compile(text, name)
  if not chunk then errors.fail("%s", wrong) end
  local showing = not loadstring("return " .. text) and compile_showing(text, name, names)
  local ok, e = run_interruptible(showing or chunk, showing and show)
  if ok then return end
  if errors.is(e, "interrupted") then error(e, 0) end
  errors.fail("%s", pretty.error(e))
end

--- The loop of the prompt.
-- @tparam table terminal as lgelu.terminal: readline(prompt, complete) → line or nil at the end, add_history(line)
-- @tparam function execute as repl.run
function repl.loop(terminal, execute)
  local function complete(text) return require("lgelu.repl.complete").words(_G, text) end
  local pending
  while true do
    local line = terminal.readline(pending and CONTINUED or PROMPT, complete)
    if not line then
      io.write("\n")
      if not pending then return end
      pending = nil
    else
      if line:find("%S") then terminal.add_history(line) end
      local text = pending and pending .. "\n" .. line or line
      local chunk, wrong, unfinished = repl.compile(text, "prompt")
      if unfinished and text:find("%S") then
        pending = text
      else
        pending = nil
        local ok, e = true, nil
        if chunk then ok, e = execute(chunk) elseif wrong then ok, e = false, wrong end
        io.stdout:flush()
        if not ok then io.stderr:write(pretty.error(e), "\n") end
      end
    end
  end
end

-- What stands in for lgelu.terminal outside the program.
local function plain_terminal()
  local ffi = require("ffi")
  ffi.cdef("int isatty(int fd);")
  return {
    isatty = function(fd) return ffi.C.isatty(fd) == 1 end,
    readline = function(prompt)
      io.write(prompt)
      io.flush()
      return io.read("*l")
    end,
    add_history = function() end,
  }
end

-- Sets globals; those with `make` get their value when they are first used.
local function predefine(entries)
  local makers = {}
  for _, entry in ipairs(entries) do
    _G[entry.name] = entry.value
    makers[entry.name] = entry.make
  end
  if next(makers) == nil then return end
  setmetatable(_G, {
    __index = function(_, name)
      local make = makers[name]
      if not make then return nil end
      local value = make()
      rawset(_G, name, value)
      return value
    end,
  })
end

--- Starts: runs the given chunks, or standard input when it is no terminal, or the prompt.
-- @tparam table options `code`: list of chunks from the command line; `predefined`: list of { name, help = one line,
-- value, or make = function that makes it at first use; of a function, usage and text for help(NAME) }: globals
-- @raise as run_chunk
function repl.start(options)
  local lg = require("lgelu")
  local predefined = options.predefined or {}
  _G.lg = lg
  _G.help = function(what) io.write(repl.help_text(predefined, what)) end
  predefine(predefined)
  local names = {}
  for _, entry in ipairs(predefined) do names[entry.name] = entry.usage ~= nil or nil end
  if options.code and #options.code > 0 then
    for i, text in ipairs(options.code) do
      repl.run_chunk(text, #options.code == 1 and "-e" or ("-e #%d"):format(i), names)
    end
    return
  end
  local has_terminal, terminal = pcall(require, "lgelu.terminal")
  if not has_terminal then terminal = plain_terminal() end
  if not terminal.isatty(0) then return repl.run_chunk(io.read("*a"), "stdin", names) end
  io.write(("lgelu %s, %s: help() says what is here, Ctrl-D leaves\n"):format(lg.version, jit.version))
  repl.loop(terminal, function(chunk)
    local ok, e = run_interruptible(chunk)
    require("lgelu.C").lib.lg_interrupt_clear()
    return ok, e
  end)
end

return repl
