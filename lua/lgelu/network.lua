--- network: a model with its loss and score, planned and filled: what training, benches, probing and export work on.
-- Built from resolved recipe sections; knows no files, no epochs and no optimizer (see lgelu.train, lgelu.optim).
local base = require("lgelu.tensor.base")
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local gate = require("lgelu.gate")
local models = require("lgelu.models")
local nn = require("lgelu.nn")
local score_kinds = require("lgelu.score")

local ffi, lib, check = C.ffi, C.lib, C.check
local network = {}
local methods = {}
methods.__index = methods

-- A parameter's value as a float64 pointer; gates' s and their gradients are single float64 numbers.
local function f64_pointer(self, view, id)
  local out = ffi.new("lg_tensor *[1]")
  check(view(out, self.graph, id))
  local pointer = ffi.cast("double *", lib.lg_tensor_data(out[0]))
  lib.lg_tensor_free(out[0]) -- the graph keeps the memory alive
  return pointer
end

local FILL = { constant = 0, uniform = 1, normal = 2 }

local function fill(self, seed)
  for _, list in ipairs({ self.params, self.states }) do
    for _, leaf in ipairs(list) do
      local init = leaf.init
      if init.kind == "values" then
        local t = self:tensor(leaf.name)
        local to = base.data(t)
        for i = 0, t.size - 1 do to[i] = init.f(i) end
      elseif init.kind ~= "gate" then
        check(lib.lg_graph_fill(self.graph, leaf.id, FILL[init.kind], init.a, init.b or 0, seed))
      end
    end
  end
end

-- λ of each gate at the start; tied gates share the first one's.
local function start_gates(self, o)
  local config = o.gate
  if config.kind ~= "lambda_gelu" then return end
  local count = config.tie and math.min(1, #self.gates) or #self.gates
  if o.resolve_gates then o.resolve_gates(count) end
  local lambdas = config.lambda
  if type(lambdas) == "table" and #lambdas ~= count then
    errors.usage("gate.lambda has %d values, but the model has %d gate%s", #lambdas, count, count == 1 and "" or "s")
  end
  if not lambdas then
    lambdas = gate.init(config.init, count, { t = config.t, seed = self.seed, reparam = config.reparam })
  end
  for i, g in ipairs(self.gates) do
    local lambda = type(lambdas) == "table" and lambdas[config.tie and 1 or i] or lambdas
    if config.learn == false then
      check(lib.lg_graph_attr_set(self.graph, g.id, "lambda", lambda))
      g.fixed_lambda = lambda
    else
      g.s_value[0] = gate.s(lambda, config.t, config.reparam)
    end
  end
end

-- A parameter that the loss does not depend on would be counted, stored and never learn: a slip in the model.
local function refuse_idle(b)
  local out = ffi.new("lg_tensor *[1]")
  for _, p in ipairs(b.params) do
    local status = lib.lg_graph_grad(out, b.graph, p.id)
    if status == lib.lg_list_find("status", "state") then
      errors.usage("%s: the model's output does not depend on '%s': use its layer, or leave it out",
        ffi.string(lib.lg_graph_node_where(b.graph, p.id)), p.name)
    end
    check(status)
    lib.lg_tensor_free(out[0])
  end
end

-- A gate whose input and output are outputs of the graph is computed by itself, and both can be read after a run.
local function keep_gates(b)
  local inputs = ffi.new("int32_t[2]")
  for _, g in ipairs(b.gates) do
    lib.lg_graph_node_inputs(b.graph, g.id, inputs, 2)
    g.input = inputs[0]
    check(lib.lg_graph_output(b.graph, g.input))
    check(lib.lg_graph_output(b.graph, g.id))
  end
end

--- Builds, plans and fills a network.
-- @param o  { model = declaration or function, gate = resolved gate section,
--   info = { classes =, input_shape = {…}, input_dtype = "i32" for ids (default: dtype), entries = how many ids there
--   are (of sentences), label_shape = {…} (default {}:
--   one label a row; { tokens }: one for each token) },
--   loss = "cross_entropy"|"mse", label_smoothing =, batch = most rows of a run, training = boolean (default true),
--   measure = of lgelu.score (default accuracy), dtype = "f32"|"f64", seed =, where = "file:line" of the model,
--   probe = boolean: gates' inputs and outputs stay readable (gate_input), for which nothing is computed together,
--   resolve_gates = function (count) that may fill gate.lambda once the number of gates is known }
-- @return network with fields graph, gates (list of { name, id, s, s_value, s_grad }), params, states, info
function network.new(o)
  local dtype = o.dtype or "f32"
  local b = nn.builder({ dtype = dtype, gate = o.gate, where = o.where })
  local x = b:input("input", o.info.input_dtype or dtype, o.info.input_shape)
  local logits = models.build(o.model, b, x, o.info)
  if type(logits) ~= "table" or not logits.id then
    errors.usage("%s: the model returned %s, expected its output node", o.where or "model", tostring(logits))
  end
  local label_shape = o.info.label_shape or {}
  local found, expected = table.concat(logits.shape, ", "),
    table.concat({ "batch", table.concat(label_shape, ", "), o.info.classes }, ", "):gsub(", , ", ", ")
  if found ~= expected then
    errors.usage("%s: the model's output '%s' is [%s], expected [%s] for %d classes", o.where or "model", logits.name,
      found, expected, o.info.classes)
  end
  local description = b:describe()
  local labels = b:input("labels", "i32", label_shape)
  local loss
  if o.loss == "mse" then
    loss = b:op("mse", { logits, b:op("one_hot", { labels }, { classes = o.info.classes }, "targets") }, nil, "loss")
  else
    loss = b:op("softmax_xent", { logits, labels }, { label_smoothing = o.label_smoothing or 0 }, "loss")
  end
  local score = b:op("accuracy", { logits, labels }, nil, "score")
  for _, node in ipairs({ logits, loss, score }) do
    check(lib.lg_graph_output(b.graph, node.id))
  end
  if o.probe then keep_gates(b) end
  local training = o.training ~= false
  check(lib.lg_graph_plan(b.graph, o.batch, training and 1 or 0, loss.id))
  if training then refuse_idle(b) end
  local self = setmetatable({
    graph = b.graph, gates = b.gates, params = b.params, states = b.states, info = o.info,
    description = description, seed = o.seed or 0, gate_config = o.gate, training = training,
    measure = o.measure or score_kinds.named(),
    input = x.id, labels = labels.id, logits = logits.id, loss = loss.id, score = score.id,
  }, methods)
  for _, g in ipairs(self.gates) do
    if g.s then
      g.s_value = f64_pointer(self, lib.lg_graph_value, g.s)
      if training then g.s_grad = f64_pointer(self, lib.lg_graph_grad, g.s) end
    end
  end
  fill(self, self.seed)
  start_gates(self, o)
  return self
end

--- The network of a resolved recipe on a data set; what the recipe's own functions decide is filled in, and the run is
-- named by it.
-- @param resolved  what recipe.load returns: its hash and run_name may change
-- @param set       what data.load returns
-- @param options   { training =, probe = } as for network.new
function network.of(resolved, set, options)
  local recipe = require("lgelu.recipe")
  local config = resolved.config
  options = options or {}
  local net = network.new({
    model = resolved.model, gate = config.gate, where = resolved.where("model"), seed = resolved.seed,
    info = { classes = set.classes, input_shape = set.input_shape, input_dtype = set.input_dtype, entries = set.entries,
      label_shape = set.label_shape },
    loss = config.train.loss, label_smoothing = config.train.label_smoothing, measure = score_kinds.of(config, set),
    batch = math.max(config.train.batch, config.train.eval_batch),
    training = options.training, probe = options.probe,
    resolve_gates = function(count) recipe.apply_gate_init(resolved, count) end,
  })
  if type(resolved.model) == "function" then recipe.rehash(resolved, net.description) end
  return net
end

--- Gives the network its next batch; both tensors must stay unchanged until backward is done.
function methods:bind(x, y)
  check(lib.lg_graph_bind(self.graph, self.input, x))
  check(lib.lg_graph_bind(self.graph, self.labels, y))
end

--- Runs forward. mode: "train" or "eval"; step names dropout's masks. Returns loss and accuracy of the batch; what the
-- network is judged by is net.measure (lgelu.score).
function methods:forward(mode, step)
  check(lib.lg_graph_forward(self.graph, mode == "train" and 1 or 0, self.seed, step or 0))
  if not self.loss_value then -- the workspace never moves once it is planned
    self.loss_value = f64_pointer(self, lib.lg_graph_value, self.loss)
    self.score_value = f64_pointer(self, lib.lg_graph_value, self.score)
  end
  return self.loss_value[0], self.score_value[0]
end

--- Runs backward of the last forward in training mode.
function methods:backward() check(lib.lg_graph_backward(self.graph)) end

local stat = ffi.new("double[1]")

--- λ of each gate by its present s, or its fixed λ, or its floor where that is larger: list in forward order, empty
-- when the gates have no λ.
function methods:lambdas()
  local list, config = {}, self.gate_config
  for i, g in ipairs(self.gates) do
    local lambda = g.fixed_lambda or (g.s and gate.lambda(g.s_value[0], config.t, config.reparam))
    list[i] = lambda and math.max(lambda, g.floor or 0)
  end
  return list
end

--- Sets the least λ of gate i from the next forward on (hardening): where it is above λ(s), it is λ, and s learns
-- nothing. 0: none.
function methods:set_floor(i, lambda)
  check(lib.lg_graph_attr_set(self.graph, self.gates[i].id, "floor", lambda))
  self.gates[i].floor = lambda
end

--- s of each gate, as lambdas(); NaN for a fixed λ, which has none.
function methods:s_values()
  local list = {}
  for i, g in ipairs(self.gates) do
    list[i] = g.fixed_lambda and 0 / 0 or (g.s and g.s_value[0])
  end
  return list
end

--- ∂L/∂λ of each gate in the last backward, one for each gate even when they are tied.
function methods:lambda_grads()
  local list = {}
  for i, g in ipairs(self.gates) do
    if g.s or g.fixed_lambda then
      check(lib.lg_graph_node_stat(stat, self.graph, g.id, 1))
      list[i] = stat[0]
    end
  end
  return list
end

--- The number of a gate, by its name in the model or its number (1 = the first).
-- @raise usage error with the nearest name
function methods:gate_index(name)
  if type(name) == "number" and self.gates[name] then return name end
  local names = {}
  for i, g in ipairs(self.gates) do
    if g.name == name then return i end
    names[i] = g.name
  end
  if #names == 0 then errors.usage("gate '%s': the network has no gates", tostring(name)) end
  if type(name) == "number" then
    errors.usage("gate %s: the network has gates 1 to %d", tostring(name), #names)
  end
  return errors.usage("there is no gate '%s'; expected one of %s%s", tostring(name), table.concat(names, ", "),
    errors.suggest(tostring(name), names))
end

local function view(self, id)
  local out = ffi.new("lg_tensor *[1]")
  check(lib.lg_graph_value(out, self.graph, id))
  return require("lgelu.tensor").wrap(out[0])
end

--- Views of what went into and came out of gate i in the last forward: f32 or f64 [batch, …]. Of a network made with
-- probe = true.
function methods:gate_input(i)
  if not self.gates[i].input then errors.fail("the network was not built for probing") end
  return view(self, self.gates[i].input)
end

function methods:gate_output(i)
  if not self.gates[i].input then errors.fail("the network was not built for probing") end
  return view(self, self.gates[i].id)
end

--- What gate i computes: { kind = activation's name, lambda = its λ (nil: a kind without), s = its s (nil: fixed),
-- floor = the floor under λ (nil: none) }.
function methods:gate_state(i)
  local g = self.gates[i]
  check(lib.lg_graph_attr_get(stat, self.graph, g.id, "kind"))
  return {
    kind = ffi.string(lib.lg_list_name("activation", stat[0])), s = g.s_value and g.s_value[0],
    lambda = self:lambdas()[i], floor = (g.floor or 0) > 0 and g.floor or nil,
  }
end

--- Changes what gate i computes from the next forward on.
-- @param state  { kind = name of an activation (nil: as it is), lambda = number (nil: as it is), s = number, which is
--   taken before lambda, floor = number (nil: none, where lambda or s is given) }: what gate_state gave puts the gate
--   back to the bit
-- @raise usage error for an unknown kind, a λ out of the reparameterization's reach, a λ for a gate without one
function methods:set_gate(i, state)
  local g, config = self.gates[i], self.gate_config
  if state.lambda and not (g.s_value or g.fixed_lambda) then
    errors.usage("gate '%s' is a %s and has no λ", g.name, config.kind)
  end
  local kind = state.kind and lib.lg_list_find("activation", state.kind)
  if kind and kind < 0 then errors.usage("there is no activation '%s'", state.kind) end
  if g.s_value and (state.s or state.lambda) then
    g.s_value[0] = state.s or gate.s(state.lambda, config.t, config.reparam)
  elseif state.lambda then
    check(lib.lg_graph_attr_set(self.graph, g.id, "lambda", state.lambda))
    g.fixed_lambda = state.lambda
  end
  if state.s or state.lambda or state.floor then self:set_floor(i, state.floor or 0) end
  if kind then check(lib.lg_graph_attr_set(self.graph, g.id, "kind", kind)) end
end

--- A view of a parameter's value or (what = "grad") gradient, by name.
function methods:tensor(name, what)
  local tensor = require("lgelu.tensor")
  local id = lib.lg_graph_node_find(self.graph, name)
  if id < 0 then
    local names = {}
    for i, p in ipairs(self.params) do
      names[i] = p.name
    end
    errors.usage("the network has no '%s'%s", name, errors.suggest(name, names))
  end
  local out = ffi.new("lg_tensor *[1]")
  check((what == "grad" and lib.lg_graph_grad or lib.lg_graph_value)(out, self.graph, id))
  return tensor.wrap(out[0])
end

-- λ of fixed gates, which no tensor holds, by the metadata of a file of weights; {} where it says nothing of them.
local function lambdas_of(metadata, path, count)
  if not metadata.lambda then return {} end
  local list = require("lgelu.store.text").from_json(metadata.lambda, path .. ": metadata 'lambda'")
  local numbers = 0
  for _, lambda in ipairs(type(list) == "table" and list or {}) do
    numbers = numbers + (type(lambda) == "number" and lambda > 0 and lambda < math.huge and 1 or 0)
  end
  if numbers ~= count then
    errors.fail("%s: metadata 'lambda': expected %d numbers > 0, one for each gate, found %s", path, count,
      metadata.lambda)
  end
  return list
end

--- Takes parameters and states by name from a safetensors file, as `lgelu export RUN --weights FILE` writes it. What
-- only one of the two has, or has in another shape, is an error, and nothing is taken. λ is then the file's, whatever
-- floor hardening had put under it; that of fixed gates is read from the file's metadata, if it says it.
function methods:load_weights(path)
  local tensors, metadata = require("lgelu.safetensors").read(path)
  local views, fixed = {}, #self:lambdas() > 0 and lambdas_of(metadata, path, #self.gates) or {}
  for _, list in ipairs({ self.params, self.states }) do
    for _, leaf in ipairs(list) do
      local stored, own = tensors[leaf.name], self:tensor(leaf.name)
      if not stored then errors.fail("%s: '%s' is missing%s", path, leaf.name, errors.suggest(leaf.name, tensors)) end
      local found, expected = table.concat(stored.shape, ", "), table.concat(own.shape, ", ")
      if found ~= expected or not stored.dtype:find("^f") then
        errors.fail("%s: '%s' is %s[%s], expected %s[%s]", path, leaf.name, stored.dtype, found, own.dtype, expected)
      end
      views[leaf.name] = own
    end
  end
  for name in pairs(tensors) do
    if not views[name] then errors.fail("%s: the network has no '%s'%s", path, name, errors.suggest(name, views)) end
  end
  for name, own in pairs(views) do
    check(lib.lg_tensor_copy(own, tensors[name]))
  end
  for i, g in ipairs(self.gates) do
    if g.s_value then self:set_floor(i, 0) end
    if g.fixed_lambda and fixed[i] then self:set_gate(i, { lambda = fixed[i] }) end
  end
end

--- A kept node's value (logits, loss, score) as a flat list of numbers, after a forward.
function methods:tensor_values(id)
  local out, list = ffi.new("lg_tensor *[1]"), {}
  check(lib.lg_graph_value(out, self.graph, id))
  local dtype = ffi.string(lib.lg_list_name("dtype", lib.lg_tensor_dtype(out[0])))
  local values = ffi.cast(dtype == "f32" and "float *" or "double *", lib.lg_tensor_data(out[0]))
  for i = 1, tonumber(lib.lg_tensor_size(out[0])) do
    list[i] = values[i - 1]
  end
  lib.lg_tensor_free(out[0])
  return list
end

--- What is wrong when a loss or gradient is not finite: the first node, in words.
function methods:explain_nonfinite()
  local node, text = ffi.new("int32_t[1]"), ffi.new("char[512]")
  check(lib.lg_graph_find_nonfinite(node, text, 512, self.graph))
  if node[0] < 0 then return "all values and gradients of the last batch are finite" end
  local where = ffi.string(lib.lg_graph_node_where(self.graph, node[0]))
  return ("%s'%s' (%s): %s"):format(where ~= "" and where .. ": " or "",
    ffi.string(lib.lg_graph_node_name(self.graph, node[0])),
    ffi.string(lib.lg_graph_node_kind(self.graph, node[0])), ffi.string(text))
end

local function size_of(shape)
  local n = 1
  for _, dim in ipairs(shape) do
    n = n * dim
  end
  return n
end

--- Number of trainable numbers.
function methods:parameter_count()
  local n = 0
  for _, p in ipairs(self.params) do
    n = n + size_of(p.shape)
  end
  return n
end

--- The layers as aligned lines: name, op, shape of the output, parameters of its own.
function methods:summary()
  local owned, rank, shape, inputs = {}, ffi.new("int32_t[1]"), ffi.new("int64_t[8]"), ffi.new("int32_t[8]")
  for _, p in ipairs(self.params) do
    owned[p.id] = size_of(p.shape)
  end
  local rows, width = {}, { 0, 0, 0 }
  for id = 0, self.logits do
    local kind = ffi.string(lib.lg_graph_node_kind(self.graph, id))
    if kind ~= "param" and kind ~= "state" then
      check(lib.lg_graph_node_shape(rank, shape, self.graph, id))
      local dims, count = {}, 0
      for i = 0, rank[0] - 1 do
        dims[i + 1] = shape[i] < 0 and "batch" or tostring(tonumber(shape[i]))
      end
      for i = 0, lib.lg_graph_node_inputs(self.graph, id, inputs, 8) - 1 do
        count, owned[inputs[i]] = count + (owned[inputs[i]] or 0), nil -- a shared parameter counts once
      end
      local row = {
        ffi.string(lib.lg_graph_node_name(self.graph, id)), kind, "[" .. table.concat(dims, ", ") .. "]",
        count > 0 and tostring(count) or "",
      }
      rows[#rows + 1] = row
      for i = 1, 3 do
        width[i] = math.max(width[i], #row[i])
      end
    end
  end
  local lines, format = {}, ("  %%-%ds  %%-%ds  %%-%ds  %%10s"):format(width[1], width[2], width[3])
  for i, row in ipairs(rows) do
    lines[i] = (format:format(row[1], row[2], row[3], row[4]):gsub("%s+$", ""))
  end
  return table.concat(lines, "\n")
end

methods.__tostring = methods.summary -- at the prompt

--- FLOPs of a training step's forward and backward with the present batch.
function methods:flops()
  local out, total = ffi.new("double[5]"), 0
  for id = 0, lib.lg_graph_nodes(self.graph) - 1 do
    check(lib.lg_graph_node_cost(out, out + 1, out + 2, out + 3, out + 4, self.graph, id))
    total = total + out[2] + out[3]
  end
  return total
end

--- Planned bytes: parameters, gradients, and activations with workspace.
function methods:memory()
  local out = ffi.new("int64_t[3]")
  check(lib.lg_graph_memory(out, out + 1, out + 2, self.graph))
  return tonumber(out[0]), tonumber(out[1]), tonumber(out[2])
end

return network
