--- Every key of a recipe: type, default, range and meaning, in one table. The resolver, the help pages and the errors
-- all read it. What it is not: the keys of data sources and models, which stand with their owners (lgelu.data,
-- lgelu.models) in the same form and are fetched here.
--
-- A section has a `variant`: the key whose value decides which other keys apply (optimizer.name = "sgd" brings
-- momentum). An entry is { key=, type="number|list|…", default=, min=, max=, exclusive_min=, exclusive_max=, choices=
-- list or function, items= (type of a list's items), of= (variants that have the key; all without it), default_of=
-- (variant → default), required=, optional=, instead_of= (a key that it takes the place of), hashed=false
-- (does not enter the recipe's hash), example=, doc= }. An optional entry without a default is left out of the
-- configuration when it is not given.

local C = require("lgelu.C")

local schema = {}

--- Names of one of the engine's lists ("optimizer", "activation", …), in its order.
function schema.engine_names(list)
  local names, index = {}, 0
  local name = C.lib.lg_list_name(list, index)
  while name ~= nil do
    names[#names + 1] = C.ffi.string(name)
    index = index + 1
    name = C.lib.lg_list_name(list, index)
  end
  return names
end

local function from_engine(list)
  return function() return schema.engine_names(list) end
end

local LAMBDA = { "lambda_gelu" }
local ADAMS = { "adam", "adamw" }

--- Keys at the top of a recipe, beside the sections.
schema.top = {
  { key = "name", type = "string", optional = true, hashed = false, example = 'name = "mlp_fmnist"',
    doc = "Name of the run's folder; letters, digits, '_', '.', '-'. Without it: the file's name." },
  { key = "seed", type = "integer", default = 1, min = 0, max = 2 ^ 53, hashed = false, example = "--seed 3",
    doc = "Seed of everything drawn at random: weights, order of samples, dropout, split." },
}

--- Names that `budgets` may hold, from small to large.
schema.budgets = { "smoke", "short", "desk", "full" }

local sections = {}

sections.gate = {
  variant = "kind",
  doc = "The activation of every gate of the model, and how its hardness λ is learned.",
  entries = {
    { key = "kind", type = "string", default = "lambda_gelu", choices = from_engine("activation"),
      example = "gate.kind=relu", doc = "Activation at the model's gates." },
    { key = "reparam", type = "string", default = "softplus", choices = from_engine("reparam"), of = LAMBDA,
      example = "gate.reparam=exp",
      doc = "How λ ≥ 1 comes from the unconstrained s." },
    { key = "t", type = "number", default = 0.1, exclusive_min = 0, of = LAMBDA, example = "gate.t=0.3",
      doc = "Temperature t of λ(s). Smaller: the same step of s moves λ further." },
    { key = "c", type = "number", default = 1, min = 0, of = LAMBDA, example = "gate.c=3",
      doc = "Multiplier of the learning rate of s. 0 holds every λ where it started." },
    { key = "init", type = "string|function", default = "gelu", of = LAMBDA, example = "gate.init=ascending",
      choices = function() return require("lgelu.gate").init_modes() end,
      doc = "λ of each gate at the start: a mode, or a Lua function (layer, count) → λ." },
    { key = "lambda", type = "number|list", items = "number", min = 1, optional = true, instead_of = "init",
      of = LAMBDA, example = "gate.lambda={1.5,2,4}",
      doc = "λ at the start, given outright: one number for all gates or one for each. Takes the place of init." },
    { key = "tie", type = "boolean", default = false, of = LAMBDA, example = "gate.tie=true",
      doc = "One λ shared by all gates." },
    { key = "learn", type = "boolean", default = true, of = LAMBDA, example = "gate.learn=false",
      doc = "Whether λ is learned; false keeps it fixed at its start." },
  },
}

sections.optimizer = {
  variant = "name",
  doc = "How parameters follow their gradients.",
  entries = {
    { key = "name", type = "string", default = "adamw", choices = from_engine("optimizer"),
      example = "optimizer.name=sgd", doc = "Optimizer." },
    { key = "lr", type = "number", default = 1e-3, exclusive_min = 0, example = "optimizer.lr=0.01",
      doc = "Base learning rate; the schedule and each group's multiplier scale it." },
    { key = "weight_decay", type = "number", default = 0, default_of = { adamw = 0.01 }, min = 0,
      example = "optimizer.weight_decay=0.05",
      doc = "Decay of weights: decoupled for adamw, added to the gradient (L2) for sgd and adam." },
    { key = "decay_biases", type = "boolean", default = false, example = "optimizer.decay_biases=true",
      doc = "Whether biases decay too." },
    { key = "decay_gates", type = "boolean", default = false, example = "optimizer.decay_gates=true",
      doc = "Whether the gates' s decays too; it then pulls λ towards λ(0), 1.693 for softplus, not towards 1." },
    { key = "clip", type = "number", default = 0, min = 0, example = "optimizer.clip=1",
      doc = "Largest global norm of the gradient; longer ones are scaled down to it. 0: no clipping." },
    { key = "momentum", type = "number", default = 0, min = 0, exclusive_max = 1, of = { "sgd" },
      example = "optimizer.momentum=0.9", doc = "Momentum." },
    { key = "dampening", type = "number", default = 0, min = 0, max = 1, of = { "sgd" },
      example = "optimizer.dampening=0.1", doc = "Share of a new gradient that momentum leaves out." },
    { key = "nesterov", type = "boolean", default = false, of = { "sgd" }, example = "optimizer.nesterov=true",
      doc = "Nesterov's form of momentum; needs momentum > 0 and dampening 0." },
    { key = "beta1", type = "number", default = 0.9, min = 0, exclusive_max = 1, of = ADAMS,
      example = "optimizer.beta1=0.95", doc = "Decay of the running mean of gradients." },
    { key = "beta2", type = "number", default = 0.999, min = 0, exclusive_max = 1, of = ADAMS,
      example = "optimizer.beta2=0.99", doc = "Decay of the running mean of squared gradients." },
    { key = "eps", type = "number", default = 1e-8, exclusive_min = 0, of = ADAMS, example = "optimizer.eps=1e-6",
      doc = "Added to the root of the second moment after bias correction." },
  },
}

sections.schedule = {
  variant = "name",
  doc = "Multiplier of the learning rate over the run, a pure function of the step.",
  entries = {
    { key = "name", type = "string", default = "constant", choices = from_engine("schedule"),
      example = "schedule.name=cosine", doc = "Shape of the learning rate over the run." },
    { key = "warmup", type = "number", default = 0, min = 0, exclusive_max = 1, example = "schedule.warmup=0.05",
      doc = "Share of the run's steps over which the rate rises linearly from near 0." },
    { key = "final", type = "number", default = 0, min = 0, max = 1, of = { "linear", "cosine" },
      example = "schedule.final=0.01", doc = "Where the rate ends, as a multiple of the base rate." },
    { key = "gamma", type = "number", default = 0.1, exclusive_min = 0, max = 1, of = { "step" },
      example = "schedule.gamma=0.5", doc = "Factor from each part to the next." },
    { key = "parts", type = "integer", default = 3, min = 1, of = { "step" }, example = "schedule.parts=4",
      doc = "Equal parts of the run after warm-up, each with a constant rate of its own." },
    { key = "rise", type = "number", default = 0.3, exclusive_min = 0, exclusive_max = 1, of = { "one_cycle" },
      example = "schedule.rise=0.2", doc = "Share of the steps after warm-up over which the rate rises." },
    { key = "start_div", type = "number", default = 25, min = 1, of = { "one_cycle" },
      example = "schedule.start_div=10", doc = "Base rate over the rate at the start." },
    { key = "final_div", type = "number", default = 1e4, min = 1, of = { "one_cycle" },
      example = "schedule.final_div=100", doc = "Rate at the start over the rate at the end." },
  },
}

sections.train = {
  variant = "loss",
  doc = "The training loop.",
  entries = {
    { key = "epochs", type = "integer", default = 10, min = 1, example = "train.epochs=20",
      doc = "Passes over the training set." },
    { key = "batch", type = "integer", default = 128, min = 1, example = "train.batch=256", doc = "Samples per step." },
    { key = "eval_batch", type = "integer", default = 1000, min = 1, example = "train.eval_batch=500",
      doc = "Samples per batch when validating and testing." },
    { key = "last", type = "string", default = "keep", choices = { "keep", "drop" }, example = "train.last=drop",
      doc = "What becomes of a last batch smaller than the others." },
    { key = "loss", type = "string", default = "cross_entropy", choices = { "cross_entropy", "mse" },
      example = "train.loss=mse", doc = "Loss: softmax cross-entropy or mean squared error." },
    { key = "score", type = "string", optional = true, example = "train.score=auc",
      choices = function() return require("lgelu.score").names() end,
      doc = "What decides which epoch is best. Without it: what suits the data, accuracy unless they are text." },
    { key = "label_smoothing", type = "number", default = 0, min = 0, exclusive_max = 1, of = { "cross_entropy" },
      example = "train.label_smoothing=0.1", doc = "Share of each label spread evenly over all classes." },
  },
}

sections.hardening = {
  variant = "schedule",
  optional = true,
  off = "none",
  doc = "Drives every λ to a target, which it meets at the last step. Left out, or with schedule = none: no hardening.",
  entries = {
    { key = "schedule", type = "string|function", default = "geometric", example = "hardening.schedule=cosine",
      choices = function() return require("lgelu.hardening").shapes() end,
      doc = "How λ rises; or a Lua function of progress p in [0, 1] → fraction of the way in log λ, 0 at 0, 1 at 1." },
    { key = "from", type = "number", default = 0.25, min = 0, max = 1, example = "hardening.from=0.5",
      doc = "Where λ starts to rise, as a share of all steps; there is always one step of hardening at least." },
    { key = "counted", type = "string", default = "start", choices = { "start", "end" },
      example = "hardening.counted=end",
      doc = "From where `from` counts: 0.25 from the start hardens over the last 75 % of the steps, from the end over "
        .. "the last 25 %." },
    { key = "eps", type = "number", default = 0.005, exclusive_min = 0, exclusive_max = 0.75,
      example = "hardening.eps=0.01",
      doc = "Gate error ∫|Φ(λx) − H(x)|dx at the end: the target is √(2/π)/eps, 159.577 for 0.005." },
    { key = "target", type = "number|list", items = "number", exclusive_min = 1, optional = true, instead_of = "eps",
      example = "hardening.target={50,100,200}",
      doc = "λ at the end, given outright: one number for all gates or one for each. Takes the place of eps." },
    { key = "order", type = "string", default = "all", choices = { "all", "forward", "backward" },
      example = "hardening.order=forward",
      doc = "All gates at once, or layerwise: each in a window of its own, from the first gate on or from the last." },
    { key = "learn", type = "string", default = "frozen", choices = { "frozen", "floor" },
      example = "hardening.learn=floor",
      doc = "What s does meanwhile: it is frozen, or learned while λ is kept from the rising floor to the target." },
    { key = "parent", type = "string", optional = true,
      doc = "The finished run whose weights this one starts from, <hash>-s<seed>; 'lgelu harden' sets it." },
  },
}

local function has(list, name)
  for _, item in ipairs(list) do
    if item == name then return true end
  end
  return false
end

--- Entries of a static section that apply to one variant.
local function applicable(section, variant)
  local entries = {}
  for _, entry in ipairs(section.entries) do
    if not entry.of or has(entry.of, variant) then entries[#entries + 1] = entry end
  end
  return entries
end

local function variants_of(section)
  for _, entry in ipairs(section.entries) do
    if entry.key == section.variant then
      return type(entry.choices) == "function" and entry.choices() or entry.choices
    end
  end
end

for _, section in pairs(sections) do
  section.variants = function() return variants_of(section) end
  section.for_variant = function(variant) return applicable(section, variant) end
end

sections.data = {
  variant = "source",
  doc = "Where samples come from and how they are split.",
  variants = function() return require("lgelu.data").sources() end,
  for_variant = function(source) return require("lgelu.data").schema(source) end,
  problem = function(values)
    local source = require("lgelu.data").source(values.source)
    return source.problem and source.problem(values)
  end,
  head = { key = "source", type = "string", required = true, example = "data.source=synthetic",
    choices = function() return require("lgelu.data").sources() end, doc = "Data source." },
}

sections.model = {
  variant = "arch",
  doc = "The network: lg.models.NAME{…}, or a Lua function (nn, x, info) that builds it (lgelu help models).",
  variants = function() return require("lgelu.models").list() end,
  for_variant = function(arch) return require("lgelu.models").schema(arch) end,
  head = { key = "arch", type = "string", required = true, example = "model = lg.models.mlp{ hidden = {64, 64} }",
    choices = function() return require("lgelu.models").list() end, doc = "Architecture, as in lg.models.NAME{…}." },
}

--- Names of the sections, in the order of a recipe.
schema.order = { "data", "model", "gate", "optimizer", "schedule", "train", "hardening" }

--- A section: { name, doc, variant = key that decides, variants() → list, entries(variant) → list of entries,
-- problem = nil or function(values) → nil or "key: what is wrong" where keys do not go together, optional = true where
-- it may be missing from a configuration, off = the variant that takes it out }.
-- @param name  one of schema.order
function schema.section(name)
  local section = sections[name]
  return {
    name = name, doc = section.doc, variant = section.variant, variants = section.variants, problem = section.problem,
    optional = section.optional, off = section.off,
    entries = function(variant)
      local entries, seen = { section.head }, section.head ~= nil
      for _, entry in ipairs(section.for_variant(variant)) do
        if not (seen and entry.key == section.variant) then entries[#entries + 1] = entry end
      end
      return entries
    end,
  }
end

--- The default of an entry for a variant of its section (nil: none).
function schema.default(entry, variant)
  local own = entry.default_of and entry.default_of[variant]
  if own ~= nil then return own end
  return entry.default
end

--- Do two entries of one key say the same?
local function same(a, b)
  for _, field in ipairs({ "type", "default", "min", "max", "exclusive_min", "exclusive_max", "required", "doc" }) do
    if a[field] ~= b[field] then return false end
  end
  return true
end

--- All entries of a section over all its variants, each once; a key that means different things stands several times.
-- @return list of { entry=, of= list of the variants that have it, or nil when all have }
function schema.union(name)
  local section, rows, by_key = schema.section(name), {}, {}
  local variants = section.variants()
  for _, variant in ipairs(variants) do
    for _, entry in ipairs(section.entries(variant)) do
      local row
      by_key[entry.key] = by_key[entry.key] or {}
      for _, other in ipairs(by_key[entry.key]) do
        if same(other.entry, entry) then row = other end
      end
      if not row then
        row = { entry = entry, of = {} }
        rows[#rows + 1] = row
        table.insert(by_key[entry.key], row)
      end
      row.of[#row.of + 1] = variant
    end
  end
  for _, row in ipairs(rows) do
    if #row.of == #variants then row.of = nil end
  end
  return rows
end

return schema
