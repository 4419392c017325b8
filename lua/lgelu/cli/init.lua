--- The command line: finds the verb, lets lua-argparse read its arguments, runs it.
-- What it is not: a printer of errors; it raises error objects, and the program (src/cli/main.c) prints them and exits
-- with their status. A verb's module is loaded only when it is called or when its summary is shown.

local argparse = require("argparse")
local errors = require("lgelu.errors")
local verbs = require("lgelu.cli.verbs")

local cli = {}

--- The verb's module; a usage error with the nearest name for an unknown verb.
function cli.verb(name)
  for _, known in ipairs(verbs) do
    if known == name then return require("lgelu.cli." .. name) end
  end
  errors.usage("'%s' is no verb of lgelu%s; 'lgelu help' lists them", name, errors.suggest(name, verbs))
end

--- The verb's parser. add_help is off: argparse would end the process where a caller wants a status.
function cli.parser(name)
  local verb = cli.verb(name)
  local parser = argparse("lgelu " .. name, verb.summary):add_help(false)
  verb.setup(parser)
  parser:flag("-h --help", "Show this help.")
  return parser
end

--- Help of one verb, as text.
function cli.verb_help(name)
  return cli.parser(name):get_help() .. "\n"
end

local function asks_for_help(words)
  for _, word in ipairs(words) do
    if word == "--" then return false end
    if word == "-h" or word == "--help" then return true end
  end
  return false
end

--- Reads the words of one verb.
-- @return table of arguments, or nil when help was asked for; a usage error otherwise
local function parse(name, words)
  local ok, result = cli.parser(name):pparse(words)
  if ok and not result.help then return result end
  if ok or asks_for_help(words) then return nil end
  local message = result:gsub("%s*\nDid you mean (.-)%?$", ", did you mean %1?"):gsub("\n", " ")
  errors.usage("%s: %s; see 'lgelu %s --help'", name, message, name)
end

local OPTIONS = { "--help", "--version" }

--- Runs a command line.
-- @param argv  list of words, the verb first (as `arg`; index 0 is not looked at)
-- @return exit status; raises error objects of lgelu.errors
function cli.main(argv)
  local name = argv[1]
  if name == nil then
    errors.usage("which verb? For example 'lgelu run mlp_fmnist'; 'lgelu help' lists the verbs")
  elseif name == "--help" or name == "-h" then
    io.write(require("lgelu.cli.help").overview())
    return 0
  elseif name == "--version" then
    local C = require("lgelu.C")
    io.write("lgelu ", C.ffi.string(C.lib.lg_version()), "\n")
    return 0
  elseif name:sub(1, 1) == "-" then
    errors.usage("unknown option '%s'%s; options of a verb stand after it", name, errors.suggest(name, OPTIONS))
  end
  local words = {}
  for i = 2, #argv do words[i - 1] = argv[i] end
  local args = parse(name, words)
  if not args then
    io.write(cli.verb_help(name))
    return 0
  end
  return cli.verb(name).run(args) or 0
end

return cli
