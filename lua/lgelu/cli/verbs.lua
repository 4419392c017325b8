--- The verbs of the command line, in the order of the overview; the only list of them.
-- Each is one file lgelu/cli/<verb>.lua that returns { summary = one line, setup = function(parser) declaring its
-- arguments with lua-argparse, run = function(args) returning the exit status (nil: 0) }. Verbs that work are here.
return {
  "run",
  "sweep",
  "harden",
  "figure",
  "show",
  "ls",
  "compare",
  "swap",
  "export",
  "certify",
  "repl",
  "data",
  "doctor",
  "bench",
  "help",
  "test",
}
