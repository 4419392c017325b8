--- lgelu repl: the prompt, chunks of the command line, standard input as a chunk. The work is lgelu.repl's.

local repl = {}

repl.summary = "Lua prompt with lg; runs -e CODE, or standard input when it is no terminal."

function repl.setup(parser)
  parser:argument("target", "A run (its folder or name) or a recipe. Then run or recipe, model and data are there, and "
    .. "functions that look at the network and change it, in memory only: hardness, probe, set, swap, score, generate, "
    .. "undo, sensitivity, plot, train.")
    :args("?")
  parser:option("-e", "Run CODE and leave; may stand several times. An expression prints its value.")
    :argname("CODE"):count("*"):target("code")
  parser:epilog("In CODE and standard input, a line that does nothing but call one of those functions prints what it "
    .. "gives, as at the prompt. A local of the prompt ends with its line. help() at the prompt says what is there, "
    .. "help(NAME) more of it.")
end

function repl.run(given)
  require("lgelu.repl").start({
    code = given.code,
    predefined = given.target and require("lgelu.repl.target").predefine(given.target),
  })
  return 0
end

return repl
