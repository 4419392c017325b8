--- Specification of the command line's front: verbs, options, help, exit statuses, and what `lgelu run` hands on.
-- The verbs' own work is specified with their parts.

local fakes = dofile("tests/spec/support/recipe_fakes.lua")
local cli = require("lgelu.cli")
local verbs = require("lgelu.cli.verbs")

--- Runs main(argv) in this process; returns status (or the error object) and what it wrote.
local function main(...)
  local written, write = {}, io.write
  io.write = function(...) -- luacheck: ignore 122
    for _, text in ipairs({ ... }) do written[#written + 1] = text end
    return io.stdout
  end
  local ok, result = pcall(cli.main, { ... })
  io.write = write -- luacheck: ignore 122
  return result, table.concat(written), ok
end

local function message(...)
  local e, _, ok = main(...)
  assert.is_false(ok)
  assert.equal("usage", e.kind)
  return e.message
end

describe("the command line", function()
  it("shows every verb with its summary, and examples", function()
    local status, text = main("--help")
    assert.equal(0, status)
    for _, name in ipairs(verbs) do
      assert.truthy(text:find("\n  " .. name .. " +" .. require("lgelu.cli." .. name).summary:gsub("%p", "%%%0")), name)
    end
    assert.equal(text, select(2, main("help")))
    assert.equal(text, select(2, main("-h")))
  end)

  it("shows its version", function()
    local status, text = main("--version")
    assert.equal(0, status)
    assert.truthy(text:find("^lgelu %d+%.%d+%.%d+\n$"))
  end)

  it("shows the help of every verb, by --help, -h and help VERB", function()
    for _, name in ipairs(verbs) do
      local status, text = main(name, "--help")
      assert.equal(0, status)
      assert.equal("Usage: lgelu " .. name, text:sub(1, 13 + #name))
      assert.equal(text, select(2, main(name, "-h")))
      assert.equal(text, select(2, main("help", name)))
    end
  end)

  it("names every layer of a model of one's own, and no other", function()
    local _, text = main("help", "models")
    local shown, inner = {}, { op = true, input = true, param = true, state = true, describe = true }
    for name in text:match("Layers:\n(.*)"):gmatch("([%w_]+)%(") do shown[name] = true end
    for name, method in pairs(getmetatable(require("lgelu.nn").builder({}))) do
      if type(method) == "function" then assert.are.equal(not inner[name], shown[name] == true, name) end
      shown[name] = nil
    end
    assert.is_nil(next(shown))
  end)

  it("names the nearest verb, option or topic for a misspelt one", function()
    assert.equal("'hlep' is no verb of lgelu, did you mean 'help'?; 'lgelu help' lists them", message("hlep"))
    assert.equal("unknown option '--versoin', did you mean '--version'?; options of a verb stand after it",
      message("--versoin"))
    assert.equal("help: unknown option '--hlep', did you mean '--help'?; see 'lgelu help --help'",
      message("help", "--hlep"))
    assert.equal("help: too many arguments; see 'lgelu help --help'", message("help", "a", "b"))
    assert.equal("which verb? For example 'lgelu run mlp_fmnist'; 'lgelu help' lists the verbs", message())
    assert.truthy(message("help", "recipes"):find("^help: no topic 'recipes', did you mean 'recipe'%?; topics: "))
  end)
end)

describe("the program", function()
  local program = os.getenv("LGELU_PROGRAM") or "build/lgelu"

  local function run(words, errors_to)
    local pipe = io.popen(("%s %s 2>%s; echo status=$?"):format(program, words, errors_to or "&1"))
    local text = pipe:read("*a")
    pipe:close()
    return tonumber(text:match("status=(%d+)\n$")), (text:gsub("status=%d+\n$", ""))
  end

  it("ends with the status of the error, its message on standard error", function()
    assert.equal(0, (run("--help")))
    assert.equal(0, (run("help recipe")))
    local status, text = run("hlep")
    assert.equal(2, status)
    assert.equal("lgelu: 'hlep' is no verb of lgelu, did you mean 'help'?; 'lgelu help' lists them\n", text)
    assert.equal("", select(2, run("hlep", "/dev/null")))
  end)

  it("shows a traceback when asked, and only then", function()
    assert.truthy(select(2, run("hlep")):find("traceback") == nil)
    local pipe = io.popen(("LGELU_DEBUG=trace %s hlep 2>&1"):format(program))
    local text = pipe:read("*a")
    pipe:close()
    assert.truthy(text:find("stack traceback", 1, true))
  end)
end)

describe("help", function()
  fakes.install()

  it("explains every key of a recipe, in the whole, by section and alone", function()
    local whole = select(2, main("help", "recipe"))
    for _, section in ipairs(require("lgelu.recipe").docs()) do
      for _, row in ipairs(section.rows) do
        local path = (section.name == "" and "" or section.name .. ".") .. row.entry.key
        assert.truthy(whole:find(row.entry.doc, 1, true), path)
        local page = select(2, main("help", "recipe." .. path))
        assert.truthy(page:find("recipe." .. path .. "\n  " .. row.entry.doc .. "\n", 1, true), path)
        if section.name ~= "" then
          assert.truthy(select(2, main("help", "recipe." .. section.name)):find("\n  " .. row.entry.key, 1, true), path)
        end
      end
    end
  end)

  it("gives type, default, range and an example of a key", function()
    assert.equal("recipe.gate.t\n"
      .. "  Temperature t of λ(s). Smaller: the same step of s moves λ further.\n"
      .. "  type     a number > 0\n"
      .. "  default  0.1\n"
      .. "  range    > 0\n"
      .. "  with     gate.kind = lambda_gelu\n"
      .. "  example  gate.t=0.3\n", select(2, main("help", "recipe.gate.t")))
    assert.equal(select(2, main("help", "recipe.gate.t")), select(2, main("help", "gate.t")))
    assert.equal("help: recipes have no 'gate.tt', did you mean 'recipe.gate.t'?; 'lgelu help recipe' lists all keys",
      message("help", "recipe.gate.tt"))
  end)

  it("lists what a key may name, each with what it is", function()
    local lists = { activations = "gate.kind", reparams = "gate.reparam", init = "gate.init",
      optimizers = "optimizer.name", schedules = "schedule.name", sources = "data.source", models = "model.arch" }
    local overview = select(2, main("help"))
    for topic, key in pairs(lists) do
      local text, page = select(2, main("help", topic)), select(2, main("help", "recipe." .. key))
      local name, section = key:match("%w+$"), require("lgelu.recipe.schema").section(key:match("^%w+"))
      for _, entry in ipairs(section.entries(section.variants()[1])) do
        for _, choice in ipairs(entry.key == name and require("lgelu.recipe.check").choices(entry) or {}) do
          assert.truthy(text:find("\n  " .. choice .. " +%S"), choice)
          assert.truthy(page:find("\n    " .. choice .. " +%S"), choice)
        end
      end
      assert.truthy(overview:find(topic, 1, true))
    end
    local ops = select(2, main("help", "ops"))
    for _, op in ipairs(require("lgelu.recipe.schema").engine_names("op")) do
      assert.truthy(ops:find("\n  " .. op .. " +%S"), op)
    end
    assert.truthy(ops:find("\n    label_smoothing +%S.*default 0, 0 to 1"))
  end)
end)

describe("lgelu run", function()
  local given

  setup(function()
    fakes.install()
    package.loaded["lgelu.train"] = {
      run = function(resolved, options)
        given = { resolved = resolved, options = options }
        return 7
      end,
      session = function(resolved) require("lgelu.recipe").rehash(resolved, "built") end,
    }
  end)

  before_each(function() given = nil end)

  local folder = os.tmpname()
  os.remove(folder)
  local file = folder .. "/r.lua"

  setup(function()
    assert(os.execute("mkdir " .. folder) == 0)
    local out = assert(io.open(file, "w"))
    out:write('return { name = "r", data = { source = "digits" }, model = lg.models.mlp{},\n'
      .. 'budgets = { smoke = { ["train.epochs"] = 1 } } }\n')
    out:close()
  end)

  teardown(function() os.execute("rm -r " .. folder) end)

  it("resolves the recipe, prints it, and hands both on; its status is the training's", function()
    local status, text = main("run", file, "gate.t=0.3", "--seed", "5", "model.hidden={8}", "--budget", "smoke",
      "--threads", "2", "--out", "there", "--resume")
    assert.equal(7, status)
    assert.equal(5, given.resolved.seed)
    assert.equal(0.3, given.resolved.config.gate.t)
    assert.same({ 8 }, given.resolved.config.model.hidden)
    assert.equal(1, given.resolved.config.train.epochs)
    assert.same({ out = "there", resume = true, threads = 2 }, given.options)
    assert.truthy(text:find("\n  gate.t +0.3 +command line\n"))
    assert.truthy(text:find("\n  train.epochs +1 +budget smoke\n"))
  end)

  it("prints nothing of its own with --quiet", function()
    local status, text = main("run", file, "--quiet")
    assert.equal(7, status)
    assert.equal("", text)
    assert.same({ quiet = true }, given.options)
  end)

  it("trains nothing with --dry-run, and names the run's folder", function()
    local status, text = main("run", file, "--dry-run")
    assert.equal(0, status)
    assert.is_nil(given)
    assert.truthy(text:find("\nfolder runs/r%-%x%x%x%x%x%x%x%x%-s1\n$"))
    assert.truthy(select(2, main("run", file, "--dry-run", "--out", "there")):find("\nfolder there\n$"))
  end)

  it("builds an inline model to know the folder", function()
    local inline = folder .. "/inline.lua"
    local out = assert(io.open(inline, "w"))
    out:write('return { data = { source = "digits" }, model = function() end }')
    out:close()
    local recipe = require("lgelu.recipe")
    local expected = recipe.rehash(recipe.load(inline), "built").run_name
    assert.truthy(select(2, main("run", inline, "--dry-run")):find("\nfolder runs/" .. expected .. "\n", 1, true))
  end)

  it("refuses what it cannot read", function()
    assert.equal("run: missing argument 'recipe'; see 'lgelu run --help'", message("run"))
    assert.equal("run: --seed: found 'x', expected an integer >= 0; see 'lgelu run --help'",
      message("run", file, "--seed", "x"))
    for _, threads in ipairs({ "-1", "257", "x" }) do
      assert.equal("run: --threads: found '" .. threads .. "', expected an integer from 0 to 256; "
        .. "see 'lgelu run --help'", message("run", file, "--threads=" .. threads))
    end
    assert.equal("run: unknown option '--buget', did you mean '--budget'?; see 'lgelu run --help'",
      message("run", file, "--buget", "smoke"))
    assert.truthy(message("run", folder .. "/none.lua"):find("none.lua: No such file or directory", 1, true))
    assert.equal("command line: gate.tt: unknown key, did you mean 'gate.t'?", message("run", file, "gate.tt=1"))
  end)
end)
