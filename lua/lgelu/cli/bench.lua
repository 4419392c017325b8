--- lgelu bench: measures cases and prints a table, or one line of JSON a record. The work is lgelu.bench's.
local args = require("lgelu.cli.args")

local verb = {}

verb.summary = "Measure speed: gates, matrix products, training steps."

function verb.setup(parser)
  local bench, lines = require("lgelu.bench"), {}
  for _, name in ipairs(bench.cases) do lines[#lines + 1] = ("  %-8s %s"):format(name, bench.case(name).summary) end
  parser:argument("case", "What to measure; without it, all cases."):args("?")
  parser:option("--gate", "The gate to measure, of the cases that have one."):argname("KIND")
  parser:option("--threads", "How many threads (default: those of the engine)."):argname("N")
    :convert(args.integer("--threads", 1, args.MOST_THREADS))
  parser:flag("--json", "One line of JSON a record.")
  parser:epilog("Cases:\n" .. table.concat(lines, "\n"))
end

-- Progress on a terminal's own line, on standard error; "" clears it.
local function say(text)
  if require("lgelu.terminal").isatty(2) then io.stderr:write("\r\27[K", text) end
end

function verb.run(given)
  local bench, json = require("lgelu.bench"), require("lgelu.recipe.json")
  for _, name in ipairs(given.case and { given.case } or bench.cases) do
    local has_gate = given.case or bench.case(name).gate ~= nil
    local records = bench.run(name, {
      gate = has_gate and given.gate or nil,
      threads = given.threads,
      say = function(text) say(("bench %s: %s"):format(name, text)) end,
    })
    say("")
    if given.json then
      for _, record in ipairs(records) do io.write(json.encode(record), "\n") end
    else
      io.write(bench.render(name, records))
    end
  end
  return 0
end

return verb
