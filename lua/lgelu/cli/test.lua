--- lgelu test: the test suite. It needs the sources, so it is the checkout's wrapper that builds and runs it; this verb
-- calls the wrapper (which does not come here but for --help).
local errors = require("lgelu.errors")
local paths = require("lgelu.paths")

return {
  summary = "Build and run the whole test suite, with and without sanitizers (in a checkout).",
  setup = function(parser)
    parser:option("-R", "Only the tests whose names match this regular expression."):target("only"):argname("REGEX")
    parser:flag("-V", "Show all that the tests print."):target("verbose")
  end,
  run = function(args)
    local wrapper = paths.absolute(paths.root .. "/lgelu")
    if not wrapper then
      errors.fail("this lgelu is installed without its tests: call ./lgelu test in a checkout")
    end
    local command = ("exec '%s' test"):format(wrapper)
    if args.verbose then command = command .. " -V" end
    if args.only then command = ("%s -R '%s'"):format(command, (args.only:gsub("'", "'\\''"))) end
    return os.execute(command) == 0 and 0 or 1
  end,
}
