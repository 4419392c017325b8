--- lgelu help: the overview, the recipe's keys, the engine's lists, the verbs. Everything shown comes from the lists
-- that the program itself works by (schema, verbs, engine lists); nothing is written down twice.

local check = require("lgelu.recipe.check")
local errors = require("lgelu.errors")
local verbs = require("lgelu.cli.verbs")

local help = {}

help.summary = "Explain verbs, the keys of a recipe, optimizers, schedules, activations."

local EXAMPLES = {
  run = "lgelu run mlp_fmnist gate.t=0.3 --seed 2",
  harden = "lgelu harden runs/mlp_fmnist-1a2b3c4d-s1 epochs=5",
  sweep = "lgelu sweep fig1 --budget desk --jobs 2",
  ls = "lgelu ls",
  show = "lgelu show runs/*",
  compare = "lgelu compare runs/*",
  swap = "lgelu swap runs/moons-1a2b3c4d-s1 --gates gate2",
  certify = "lgelu certify runs/moons-1a2b3c4d-s1 --samples 1000",
  figure = "lgelu figure profile runs/moons-1a2b3c4d-s1 -o profile.png",
  export = "lgelu export runs/mlp_fmnist-1a2b3c4d-s1 --relu -o net.onnx",
  repl = "lgelu repl -e 'print(lg.gate.value(1, 2))'",
  help = "lgelu help recipe.gate.t",
}

--- The overview, as text.
function help.overview()
  local lines = {
    "Usage: lgelu VERB …", "", "Networks that learn the hardness of their gates f(x; λ) = x·Φ(λx).", "", "Verbs:",
  }
  for _, name in ipairs(verbs) do
    lines[#lines + 1] = ("  %-9s %s"):format(name, require("lgelu.cli." .. name).summary)
  end
  lines[#lines + 1] = "\nOptions:\n  --help    Show this help; after a verb, the verb's.\n  --version Show the version."
  lines[#lines + 1] = "\nExamples:"
  for _, name in ipairs(verbs) do
    if EXAMPLES[name] then lines[#lines + 1] = "  " .. EXAMPLES[name] end
  end
  lines[#lines + 1] = "\nTopics of 'lgelu help': a verb; recipe, recipe.SECTION, recipe.SECTION.KEY; "
    .. table.concat(help.list_topics(), ", ") .. "."
  lines[#lines + 1] = "Exit status: 0 done, 1 the work failed, 2 wrong usage or recipe, 130 interrupted."
  return table.concat(lines, "\n") .. "\n"
end

-- Lists: what a key of the recipe may name, each name with its doc -------------------------------------------------

--- Rows { name, doc } of one of the engine's lists.
local function engine_rows(list)
  return function()
    local C = require("lgelu.C")
    local rows = {}
    for index, name in ipairs(require("lgelu.recipe.schema").engine_names(list)) do
      rows[index] = { name, C.ffi.string(C.lib.lg_list_doc(list, index - 1)) }
    end
    return rows
  end
end

local function source_rows()
  local data, rows = require("lgelu.data"), {}
  for i, name in ipairs(data.sources()) do rows[i] = { name, data.source(name).doc } end
  return rows
end

local function init_rows()
  local gate, rows = require("lgelu.gate"), {}
  for i, name in ipairs(gate.init_modes()) do rows[i] = { name, gate.init_doc(name) } end
  return rows
end

local function shape_rows()
  local hardening, rows = require("lgelu.hardening"), {}
  for i, name in ipairs(hardening.shapes()) do rows[i] = { name, hardening.shape_doc(name) } end
  return rows
end

local function model_rows()
  local models, rows = require("lgelu.models"), {}
  for i, name in ipairs(models.list()) do rows[i] = { name, (select(2, models.schema(name))) } end
  return rows
end

local INLINE_MODEL = [[

A recipe may also build a network of its own:
  model = function(nn, x, info)
    x = nn:flatten(x)
    for _, units in ipairs({ 64, 32 }) do x = nn:gate(nn:linear(x, units)) end
    return nn:linear(x, info.classes)
  end
x is the input, info.classes and info.input_shape say what the data are, nn:gate is the activation of the recipe's
section gate. Each layer takes a node and returns one; a + b adds two. Layers:
  linear(x, units)  conv2d(x, channels, {…})  channels_last(x)  batch_norm(x)  gate(x)  activation(x, kind)
  dropout(x, p)  bias(x)  add(a, b)  flatten(x)  reshape(x, shape)  max_pool(x, kernel)  avg_pool(x, kernel)
  global_pool(x)  mul(a, b)  concat({a, b}, axis)  slice(x, axis, start, length)  batch_matmul(a, b)
  embedding(ids, entries, width)  positions(x, { kind = "sinusoidal" })  class_token(x)  attention(x, { heads = 4 })
  layer_norm(x)  rms_norm(x)  drop_rows(x, p)  token_lengths(ids)  token_mean(x, lengths)  scope(name, function)
]]

-- Every op with its inputs and attributes, straight from the engine's tables.
local function op_rows()
  local C, rows = require("lgelu.C"), {}
  local lib, text, arity = C.lib, C.ffi.string, C.ffi.new("int32_t[2]")
  local range = C.ffi.new("double[3]")
  for op, name in ipairs(require("lgelu.recipe.schema").engine_names("op")) do
    C.check(lib.lg_op_arity(arity, arity + 1, op - 1))
    local inputs = arity[0] == arity[1] and ("%d"):format(arity[0]) or ("%d to %d"):format(arity[0], arity[1])
    local why = lib.lg_op_no_grad(op - 1)
    rows[#rows + 1] = { name, ("%s; %s input%s%s"):format(text(lib.lg_list_doc("op", op - 1)), inputs,
      inputs == "1" and "" or "s", why ~= nil and "; no gradient: " .. text(why) or "") }
    local i = 0
    while lib.lg_op_attr_name(op - 1, i) ~= nil do
      C.check(lib.lg_op_attr_range(range, range + 1, range + 2, op - 1, i))
      rows[#rows + 1] = { "  " .. text(lib.lg_op_attr_name(op - 1, i)), ("%s (default %g, %g to %g)"):format(
        text(lib.lg_op_attr_doc(op - 1, i)), range[0], range[1], range[2]) }
      i = i + 1
    end
  end
  return rows
end

local LISTS = {
  { topic = "activations", key = "gate.kind", rows = engine_rows("activation") },
  { topic = "reparams", key = "gate.reparam", rows = engine_rows("reparam") },
  { topic = "init", key = "gate.init", rows = init_rows },
  { topic = "optimizers", key = "optimizer.name", rows = engine_rows("optimizer") },
  { topic = "schedules", key = "schedule.name", rows = engine_rows("schedule") },
  { topic = "shapes", key = "hardening.schedule", rows = shape_rows },
  { topic = "sources", key = "data.source", rows = source_rows },
  { topic = "models", key = "model.arch", rows = model_rows, more = INLINE_MODEL },
  { topic = "ops", rows = op_rows,
    more = "\nAny of them in a model: nn:op(name, {inputs}, {attribute = number}, path).\n" },
}

--- Topics that are lists of names.
function help.list_topics()
  local topics = {}
  for i, item in ipairs(LISTS) do topics[i] = item.topic end
  return topics
end

local function aligned(rows, indent)
  local width, lines = 0, {}
  for _, row in ipairs(rows) do width = math.max(width, #row[1]) end
  for i, row in ipairs(rows) do
    lines[i] = ("%s%-" .. width .. "s  %s"):format(indent, row[1], row[2]):gsub("%s+$", "")
  end
  return table.concat(lines, "\n") .. "\n"
end

local function list_page(item)
  local title = item.key and ("%s (recipe key %s)"):format(item.topic, item.key) or item.topic
  return title .. ":\n" .. aligned(item.rows(), "  ") .. (item.more or "")
end

-- Keys of the recipe -------------------------------------------------------------------------------------------------

local function default_text(entry)
  if entry.required then return "required" end
  local parts = {}
  if entry.default ~= nil then
    parts[1] = "default " .. (type(entry.default) == "string" and entry.default or check.show(entry.default))
  end
  local variants = {}
  for variant in pairs(entry.default_of or {}) do variants[#variants + 1] = variant end
  table.sort(variants)
  for _, variant in ipairs(variants) do
    parts[#parts + 1] = ("%s for %s"):format(check.show(entry.default_of[variant]), variant)
  end
  return #parts > 0 and table.concat(parts, ", ") or "no default"
end

local function key_head(section, row)
  local entry = row.entry
  local text = ("%s; %s"):format(check.expected(entry), default_text(entry))
  if row.of then text = text .. ("; with %s = %s"):format(section.variant, table.concat(row.of, ", ")) end
  return text
end

local function section_page(section)
  local lines = { section.name == "" and "At the top:" or ("%s: %s"):format(section.name, section.doc) }
  local width = 0
  for _, row in ipairs(section.rows) do width = math.max(width, #row.entry.key) end
  for _, row in ipairs(section.rows) do
    lines[#lines + 1] = ("  %-" .. width .. "s  %s"):format(row.entry.key, row.entry.doc)
    lines[#lines + 1] = ("  %-" .. width .. "s    %s"):format("", key_head(section, row))
  end
  return table.concat(lines, "\n") .. "\n"
end

--- One meaning of a key; a page has as many as the section's variants give it.
local function key_text(section, row)
  local entry = row.entry
  local name = "recipe." .. (section.name == "" and "" or section.name .. ".") .. entry.key
  local rows = { { "type", check.expected(entry) }, { "default", (default_text(entry):gsub("^default ", "")) } }
  local range = check.range(entry)
  if range ~= "" then rows[#rows + 1] = { "range", range } end
  if row.of then
    rows[#rows + 1] = { "with", section.name .. "." .. section.variant .. " = " .. table.concat(row.of, ", ") }
  end
  if entry.hashed == false then rows[#rows + 1] = { "hash", "not part of the recipe's hash" } end
  if entry.example then rows[#rows + 1] = { "example", entry.example } end
  local text = name .. "\n  " .. entry.doc .. "\n" .. aligned(rows, "  ")
  for _, item in ipairs(LISTS) do
    if item.key and "recipe." .. item.key == name then text = text .. "  choices:\n" .. aligned(item.rows(), "    ") end
  end
  return text
end

local RECIPE = [[
A recipe is a Lua file that returns a table:
  return { name=, data={…}, model=lg.models.NAME{…}, gate={…}, optimizer={…}, schedule={…}, train={…}, seed=,
           budgets={…} }
It sees lg, math, string, table and a few plain functions of Lua. Values: defaults < recipe < budget < command line,
where key=value sets a key (gate.t=0.3). budgets holds named scales (%s), each a table of keys
and values (smoke = { ["train.epochs"] = 1 }), chosen with --budget; without it the recipe's own values hold.
]]

local function recipe_page(docs)
  local schema = require("lgelu.recipe.schema")
  local pages = { RECIPE:format(table.concat(schema.budgets, ", ")) }
  for _, section in ipairs(docs) do pages[#pages + 1] = section_page(section) end
  return table.concat(pages, "\n")
end

--- A page under "recipe": path is "" or "gate" or "gate.t".
local function recipe_topic(topic, path)
  local docs, topics, texts = require("lgelu.recipe").docs(), { "recipe" }, {}
  if path == "" then return recipe_page(docs) end
  for _, section in ipairs(docs) do
    if section.name == path then return section_page(section) end
    topics[#topics + 1] = section.name ~= "" and "recipe." .. section.name or nil
    for _, row in ipairs(section.rows) do
      local full = (section.name == "" and "" or section.name .. ".") .. row.entry.key
      if full == path then texts[#texts + 1] = key_text(section, row) end
      topics[#topics + 1] = "recipe." .. full
    end
  end
  if #texts > 0 then return table.concat(texts, "\n") end
  errors.usage("help: recipes have no '%s'%s; 'lgelu help recipe' lists all keys", path, errors.suggest(topic, topics))
end

--- The page of a topic, as text; a usage error with the nearest topic for an unknown one.
function help.page(topic)
  if topic == nil then return help.overview() end
  local path = topic == "recipe" and "" or topic:match("^recipe%.(.+)$")
  if path then return recipe_topic(topic, path) end
  local topics = { "recipe" }
  for _, name in ipairs(verbs) do
    if name == topic then return require("lgelu.cli").verb_help(name) end
    topics[#topics + 1] = name
  end
  for _, item in ipairs(LISTS) do
    if item.topic == topic then return list_page(item) end
    topics[#topics + 1] = item.topic
  end
  -- A section or key by its own name: `lgelu help gate.t`.
  local schema = require("lgelu.recipe.schema")
  for _, name in ipairs(schema.order) do
    if topic == name or topic:sub(1, #name + 1) == name .. "." then return recipe_topic("recipe." .. topic, topic) end
    topics[#topics + 1] = name
  end
  errors.usage("help: no topic '%s'%s; topics: %s", topic, errors.suggest(topic, topics), table.concat(topics, ", "))
end

function help.setup(parser)
  parser:argument("topic", "What to explain; without it, the overview."):args("?")
end

function help.run(args)
  io.write(help.page(args.topic))
  return 0
end

return help
