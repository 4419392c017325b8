--- nn: builds a graph out of layers. A model is a function (nn, x, info) → output node that calls the layers below.
-- Nothing is computed here and no value exists yet: lgelu.network plans the graph, fills its parameters and runs it.
--
--   model = function(nn, x, info)
--     x = nn:flatten(x)
--     x = nn:gate(nn:linear(x, 64))
--     return nn:linear(x, info.classes)
--   end
--
-- A node is a table { id, shape } with `a + b` for residual sums; shape is a list, "batch" stands for the batch.
-- info = { classes =, input_shape = {…} } is what the data set says.
local C = require("lgelu.C")
local errors = require("lgelu.errors")

local ffi, lib, check = C.ffi, C.lib, C.check
local nn = {}
local builder = {}
builder.__index = builder

local OWN = debug.getinfo(1, "S").source:match("^@(.*)nn%.lua$") -- the folder of lgelu's modules

-- Where the model was declared: the innermost frame outside lgelu's own modules, "file:line".
local function place(self)
  for level = 3, 30 do
    local frame = debug.getinfo(level, "Sl")
    if not frame then break end
    local file = frame.source:match("^@(.*)")
    if file and frame.currentline > 0 and file:sub(1, #OWN) ~= OWN then
      return file .. ":" .. frame.currentline
    end
  end
  return self.where
end

local node = {}
node.__index = node
node.__add = function(a, b) return a.builder:add(a, b) end
node.__tostring = function(n) return ("node %s [%s]"):format(n.name, table.concat(n.shape, ", ")) end

local function wrap(self, id)
  local rank, shape, list = ffi.new("int32_t[1]"), ffi.new("int64_t[8]"), {}
  check(lib.lg_graph_node_shape(rank, shape, self.graph, id))
  for i = 0, rank[0] - 1 do
    list[i + 1] = shape[i] < 0 and "batch" or tonumber(shape[i])
  end
  return setmetatable({ id = id, builder = self, shape = list,
    name = ffi.string(lib.lg_graph_node_name(self.graph, id)) },
    node)
end

--- A builder with an empty graph.
-- @param options  { dtype = "f32"|"f64" (default f32), gate = the recipe's gate section, where = "file:line" of the
-- model }
function nn.builder(options)
  local out = ffi.new("lg_graph *[1]")
  check(lib.lg_graph_new(out, lib.lg_list_find("dtype", options.dtype or "f32")))
  return setmetatable({
    graph = ffi.gc(out[0], lib.lg_graph_free), dtype = options.dtype or "f32", gate_config = options.gate,
    where = options.where or "", scopes = {}, counts = {}, params = {}, states = {},
    gates = {},
  }, builder)
end

-- The full path of a node: scopes, then its own name or the kind with a running number ("gate2").
local function path(self, kind, name)
  local prefix = #self.scopes > 0 and table.concat(self.scopes, ".") .. "." or ""
  if not name then
    local key = prefix .. kind
    self.counts[key] = (self.counts[key] or 0) + 1
    name = kind .. self.counts[key]
  end
  return prefix .. name
end

local function names_of(list)
  local names, i = {}, 0
  while lib.lg_list_name(list, i) ~= nil do
    names[i + 1] = ffi.string(lib.lg_list_name(list, i))
    i = i + 1
  end
  return names
end

local function need_node(self, value, what)
  if type(value) ~= "table" or getmetatable(value) ~= node then
    errors.usage("%s: %s: expected a node that another layer returned, found %s", place(self), what,
      type(value) == "table" and "a table" or tostring(value))
  end
end

--- Adds an op by its name. Layers use it; so may models, for ops without a layer of their own.
-- @param op  name in the list of ops    @param inputs  list of nodes
-- @param attrs  { attribute = number } or nil (defaults)    @param name  path in the model
function builder:op(op, inputs, attrs, name)
  local index = lib.lg_list_find("op", op)
  if index < 0 then
    errors.usage("%s: there is no op '%s'%s", place(self), op, errors.suggest(op, names_of("op")))
  end
  local ids, values, count, known = ffi.new("int32_t[8]"), ffi.new("double[16]"), 0, {}
  for i, input in ipairs(inputs) do
    need_node(self, input, op)
    ids[i - 1] = input.id
  end
  local range = ffi.new("double[3]")
  while lib.lg_op_attr_name(index, count) ~= nil do
    local attr = ffi.string(lib.lg_op_attr_name(index, count))
    known[attr] = true
    check(lib.lg_op_attr_range(range, range + 1, range + 2, index, count))
    values[count] = attrs and attrs[attr] or range[0]
    count = count + 1
  end
  for attr in pairs(attrs or {}) do
    if not known[attr] then errors.usage("%s: %s has no attribute '%s'%s", place(self), op, attr,
      errors.suggest(attr, known)) end
  end
  local id = ffi.new("int32_t[1]")
  local status = lib.lg_graph_op(id, self.graph, index, #inputs, ids, count, values, name, place(self))
  if status ~= 0 then errors.usage("%s", ffi.string(lib.lg_last_error())) end
  return wrap(self, id[0])
end

--- An input of the graph. shape: list without the batch.
function builder:input(name, dtype, shape)
  local dims = ffi.new("int64_t[8]", -1)
  for i, dim in ipairs(shape) do
    dims[i] = dim
  end
  local id = ffi.new("int32_t[1]")
  check(lib.lg_graph_input(id, self.graph, lib.lg_list_find("dtype", dtype), #shape + 1, dims, name, self.where))
  return wrap(self, id[0])
end

-- How many numbers each kind of first values has.
local INIT_NUMBERS = { uniform = 2, normal = 2, constant = 1, gate = 0, values = 0 }

local function is_init(init)
  local count = type(init) == "table" and INIT_NUMBERS[init.kind]
  if not count or (init.kind == "values" and type(init.f) ~= "function") then return false end
  return (count < 1 or type(init.a) == "number") and (count < 2 or type(init.b) == "number")
end

local function check_init(self, name, init)
  if is_init(init) then return end
  local found = ({ table = "another table", ["function"] = "a function" })[type(init)] or tostring(init)
  errors.usage('%s: %s: init: expected { kind = "uniform", a =, b = }, "normal" with its mean and deviation, or '
    .. '"constant" with a =, found %s', place(self), name, found)
end

--- A trainable parameter.
-- @param init  { kind = "uniform"|"normal"|"constant", a =, b = }: bounds, mean and deviation, or value
-- @param options  { group = "weights"|"no_decay"|"gates", dtype = (default: by rank; the graph's dtype), usual = true:
--   init is what its layer always takes, so that a run's name need not tell it }
function builder:param(name, shape, init, options)
  options = options or {}
  check_init(self, name, init)
  local dims, id = ffi.new("int64_t[8]"), ffi.new("int32_t[1]")
  for i, dim in ipairs(shape) do
    dims[i - 1] = dim
  end
  local full = path(self, "param", name)
  local status = lib.lg_graph_param(id, self.graph, lib.lg_list_find("dtype", options.dtype or self.dtype), #shape,
    dims, full, place(self))
  if status ~= 0 then errors.usage("%s", ffi.string(lib.lg_last_error())) end
  self.params[#self.params + 1] = {
    name = full, id = id[0], shape = shape, init = init, usual = options.usual,
    group = options.group or (#shape > 1 and "weights" or "no_decay"),
  }
  return wrap(self, id[0])
end

--- A tensor that has no gradient and that checkpoints keep: running statistics, which training changes, and
-- constants.
-- @param init  as for param; also { kind = "values", f = function(i) → value of element i, from 0, row after row, a = a
--   number that tells f from others }
-- @param options  { usual = } as for param
function builder:state(name, shape, init, options)
  check_init(self, name, init)
  local dims, id = ffi.new("int64_t[8]", shape), ffi.new("int32_t[1]")
  local full = path(self, "state", name)
  local status = lib.lg_graph_state(id, self.graph, lib.lg_list_find("dtype", self.dtype), #shape, dims, full,
    place(self))
  if status ~= 0 then errors.usage("%s", ffi.string(lib.lg_last_error())) end
  self.states[#self.states + 1] = { name = full, id = id[0], shape = shape, init = init,
    usual = options and options.usual }
  return wrap(self, id[0])
end

--- Runs fn(self) with names under "name.": nn:scope("block1", function(nn) … end). Returns what fn returns.
function builder:scope(name, fn)
  self.scopes[#self.scopes + 1] = name
  local result = fn(self)
  self.scopes[#self.scopes] = nil
  return result
end

-- How a linear layer's weights start that takes k inputs to `units` outputs.
local LINEAR_INIT = {
  xavier_uniform = function(k, units)
    local bound = math.sqrt(6 / (k + units))
    return { kind = "uniform", a = -bound, b = bound }
  end,
}

--- Fully connected layer: x[…, k] → […, units].
-- @param options  { name =, bias = true, weight = a parameter [units, k] that another layer has already (tied weights),
--   init = of the weights, as for param, or "xavier_uniform": uniform in ±√(6/(k + units)) (Glorot and Bengio 2010);
--   biases then start at 0 }. Without init, weights and biases start uniform in ±1/√k, as PyTorch's Linear does.
function builder:linear(x, units, options)
  need_node(self, x, "linear")
  options = options or {}
  local k = x.shape[#x.shape]
  if type(units) ~= "number" or units < 1 or units % 1 ~= 0 then
    errors.usage("%s: linear: units must be a whole number from 1 on, found %s", place(self), tostring(units))
  end
  if type(k) ~= "number" then
    errors.usage("%s: linear: the last dimension of [%s] must be known: flatten first", place(self),
      table.concat(x.shape, ", "))
  end
  local name = path(self, "linear", options.name)
  local bound, chosen = 1 / math.sqrt(k), options.init
  local init = { kind = "uniform", a = -bound, b = bound }
  if type(chosen) == "string" then
    if not LINEAR_INIT[chosen] then
      errors.usage("%s: linear: there is no init '%s'%s; expected \"xavier_uniform\" or { kind =, a =, b = }",
        place(self), chosen, errors.suggest(chosen, LINEAR_INIT))
    end
    chosen = LINEAR_INIT[chosen](k, units)
  end
  local saved, how = self.scopes, { usual = not chosen }
  self.scopes = {}
  local inputs = { x, options.weight or self:param(name .. ".weight", { units, k }, chosen or init, how) }
  if options.bias ~= false then
    inputs[3] = self:param(name .. ".bias", { units }, chosen and { kind = "constant", a = 0 } or init, how)
  end
  self.scopes = saved
  return self:op("linear", inputs, nil, name)
end

-- A size in both directions from a number or { height, width }.
local function pair(self, value, default, least, what)
  if value == nil then value = default end
  local h, w = value, value
  if type(value) == "table" then h, w = value[1], value[2] end
  for _, v in ipairs({ h or false, w or false }) do
    if type(v) ~= "number" or v < least or v % 1 ~= 0 then
      errors.usage("%s: %s must be a whole number from %d on, or two of them, found %s", place(self), what, least,
        tostring(v))
    end
  end
  return h, w
end

-- How weights start that see k inputs each.
local CONV_INIT = {
  uniform = function(k) return { kind = "uniform", a = -1 / math.sqrt(k), b = 1 / math.sqrt(k) } end,
  he_normal = function(k) return { kind = "normal", a = 0, b = math.sqrt(2 / k) } end,
}

--- Convolution of channels-last images: x[batch, h, w, c] → [batch, oh, ow, channels].
-- @param options  { kernel = 3, stride = 1, padding = 0, each a number or { height, width }; padding also { top =,
-- left =, bottom =, right = }; groups = 1; bias = true; init = "uniform"|"he_normal"; name = }. With uniform, weights
-- start in ±1/√k, k = kernel height · width · c/groups, as PyTorch's Conv2d does; with he_normal, with deviation √(2/k)
-- (He et al. 2015, fan in). Biases start in ±1/√k.
function builder:conv2d(x, channels, options)
  need_node(self, x, "conv2d")
  options = options or {}
  local c, groups = x.shape[4], options.groups or 1
  if #x.shape ~= 4 or type(c) ~= "number" then
    errors.usage("%s: conv2d: expected images [batch, height, width, channels], found [%s]", place(self),
      table.concat(x.shape, ", "))
  end
  channels = pair(self, channels, nil, 1, "conv2d: channels")
  local kh, kw = pair(self, options.kernel, 3, 1, "conv2d: kernel")
  local attrs = { groups = pair(self, groups, 1, 1, "conv2d: groups") }
  attrs.stride_h, attrs.stride_w = pair(self, options.stride, 1, 1, "conv2d: stride")
  local padding = options.padding
  if type(padding) == "table" and not padding[1] then
    for _, side in ipairs({ "top", "left", "bottom", "right" }) do
      attrs["pad_" .. side] = pair(self, padding[side], 0, 0, "conv2d: padding")
    end
  else
    attrs.pad_top, attrs.pad_left = pair(self, padding, 0, 0, "conv2d: padding")
    attrs.pad_bottom, attrs.pad_right = attrs.pad_top, attrs.pad_left
  end
  local init = CONV_INIT[options.init or "uniform"]
  if not init then
    errors.usage("%s: conv2d: there is no init '%s'%s", place(self), tostring(options.init),
      errors.suggest(tostring(options.init), CONV_INIT))
  end
  local inputs_each = math.max(1, math.floor(c / groups)) -- where groups do not divide c, the op says so
  local k, name = kh * kw * inputs_each, path(self, "conv", options.name)
  local saved = self.scopes
  self.scopes = {}
  local inputs = { x, self:param(name .. ".weight", { channels, kh, kw, inputs_each }, init(k),
    { usual = init == CONV_INIT.uniform }) }
  if options.bias ~= false then
    inputs[3] = self:param(name .. ".bias", { channels }, CONV_INIT.uniform(k), { usual = true })
  end
  self.scopes = saved
  return self:op("conv2d", inputs, attrs, name)
end

--- Images [batch, c, h, w], as data sets give them, → [batch, h, w, c], as convolutions and pools take them.
function builder:channels_last(x, options) return self:op("channels_last", { x }, nil,
  path(self, "channels_last", options and options.name)) end

--- The activation of the recipe's gate section; each call is one gate, with its own λ (unless they are tied).
-- @param options  { name = }
function builder:gate(x, options)
  need_node(self, x, "gate")
  local config = self.gate_config or { kind = "lambda_gelu", reparam = "softplus", t = 0.1 }
  local name = path(self, "gate", options and options.name)
  local attrs = { kind = lib.lg_list_find("activation", config.kind) }
  local inputs, gate = { x }, { name = name }
  if config.kind == "lambda_gelu" and config.learn ~= false then -- a fixed λ is an attribute, without s
    attrs.reparam, attrs.t = lib.lg_list_find("reparam", config.reparam), config.t
    local s = config.tie and self.tied_s
    if not s then
      local saved = self.scopes
      self.scopes = {}
      s = self:param(config.tie and "gate.s" or name .. ".s", { 1 }, { kind = "gate" },
        { group = "gates", dtype = "f64", usual = true })
      self.scopes = saved
      if config.tie then self.tied_s = s end
    end
    inputs[2], gate.s = s, s.id
  end
  local out = self:op("gate", inputs, attrs, name)
  gate.id = out.id
  self.gates[#self.gates + 1] = gate
  return out
end

--- A fixed activation of the family by name ("silu", "gelu_tanh", …), which is no gate: never hardened nor swapped.
function builder:activation(x, kind, options)
  local index = lib.lg_list_find("activation", kind)
  if index < 0 then
    errors.usage("%s: there is no activation '%s'%s", place(self), tostring(kind),
      errors.suggest(kind, names_of("activation")))
  end
  return self:op("gate", { x }, { kind = index }, path(self, kind, options and options.name))
end

--- Dropout with probability p, in training only.
function builder:dropout(x, p, options)
  return self:op("dropout", { x }, { p = p }, path(self, "dropout", options and options.name))
end

--- a + b of equal shapes; also written a + b.
function builder:add(a, b, options) return self:op("add", { a, b }, nil,
  path(self, "add", options and options.name)) end

--- Adds a learned bias[n] to x[…, n].
function builder:bias(x, options)
  need_node(self, x, "bias")
  local name = path(self, "bias", options and options.name)
  local saved = self.scopes
  self.scopes = {}
  local b = self:param(name .. ".bias", { x.shape[#x.shape] }, { kind = "constant", a = 0 }, { usual = true })
  self.scopes = saved
  return self:op("bias", { x, b }, nil, name)
end

--- Normalizes each channel (the last dimension) over all other dimensions; a gate behind it, and a residual sum in
-- between, are computed with it. Running statistics are states; gamma starts at 1, beta at 0.
-- @param options  { name =, eps = 1e-5, momentum = 0.1: weight of the batch in the running statistics }
function builder:batch_norm(x, options)
  need_node(self, x, "batch_norm")
  options = options or {}
  local n, name = x.shape[#x.shape], path(self, "bn", options.name)
  if type(n) ~= "number" then
    errors.usage("%s: batch_norm: the last dimension of [%s] must be known", place(self), table.concat(x.shape, ", "))
  end
  local one, zero = { kind = "constant", a = 1 }, { kind = "constant", a = 0 }
  local saved, how = self.scopes, { usual = true }
  self.scopes = {}
  local inputs = {
    x, self:param(name .. ".weight", { n }, one, how), self:param(name .. ".bias", { n }, zero, how),
    self:state(name .. ".running_mean", { n }, zero, how), self:state(name .. ".running_var", { n }, one, how),
  }
  self.scopes = saved
  return self:op("batch_norm", inputs, { eps = options.eps, momentum = options.momentum }, name)
end

local function pool(self, op, x, kernel, options)
  need_node(self, x, op)
  options = options or {}
  local attrs = {}
  attrs.kernel_h, attrs.kernel_w = pair(self, kernel, nil, 1, op .. ": kernel")
  attrs.stride_h, attrs.stride_w = pair(self, options.stride, kernel, 1, op .. ": stride")
  attrs.pad_top, attrs.pad_left = pair(self, options.padding, 0, 0, op .. ": padding")
  attrs.pad_bottom, attrs.pad_right = attrs.pad_top, attrs.pad_left
  return self:op(op, { x }, attrs, path(self, op, options.name))
end

--- The largest value of each window of x[batch, height, width, channels]. Numbers, or {height, width}.
-- @param options  { name =, stride = kernel, padding = 0 }
function builder:max_pool(x, kernel, options) return pool(self, "max_pool", x, kernel, options) end

--- The mean of each window, to which padding counts as zeros; as max_pool.
function builder:avg_pool(x, kernel, options) return pool(self, "avg_pool", x, kernel, options) end

--- The mean over height and width: [batch, height, width, channels] → [batch, channels].
function builder:global_pool(x, options)
  need_node(self, x, "global_pool")
  return self:op("global_pool", { x }, nil, path(self, "global_pool", options and options.name))
end

--- All dimensions behind the batch become one.
function builder:flatten(x, options) return self:op("flatten", { x }, nil,
  path(self, "flatten", options and options.name)) end

--- The same elements in another shape: list of dimensions without the batch.
function builder:reshape(x, shape, options)
  local attrs = { rank = #shape + 1, d0 = -1 }
  for i, dim in ipairs(shape) do
    attrs["d" .. i] = dim
  end
  return self:op("reshape", { x }, attrs, path(self, "reshape", options and options.name))
end

--- The graph as text, one node a line, with first values that are not those its layer always takes: part of what names
-- a run whose model is a Lua function.
function builder:describe()
  local lines, inputs, value, starts = {}, ffi.new("int32_t[8]"), ffi.new("double[1]"), {}
  for _, list in ipairs({ self.params, self.states }) do
    for _, leaf in ipairs(list) do
      local init = leaf.init
      starts[leaf.id] = not leaf.usual and (" %s(%.17g, %.17g)"):format(init.kind, init.a or 0, init.b or 0) or nil
    end
  end
  for id = 0, lib.lg_graph_nodes(self.graph) - 1 do
    local n, kind, parts = wrap(self, id), ffi.string(lib.lg_graph_node_kind(self.graph, id)), {}
    for i = 0, lib.lg_graph_node_inputs(self.graph, id, inputs, 8) - 1 do
      parts[#parts + 1] = "#" .. inputs[i]
    end
    local op, i = lib.lg_list_find("op", kind), 0
    while op >= 0 and lib.lg_op_attr_name(op, i) ~= nil do
      local attr = ffi.string(lib.lg_op_attr_name(op, i))
      check(lib.lg_graph_attr_get(value, self.graph, id, attr))
      parts[#parts + 1] = ("%s=%.17g"):format(attr, value[0])
      i = i + 1
    end
    lines[#lines + 1] = ("#%d %s %s(%s) [%s]%s"):format(id, n.name, kind, table.concat(parts, " "),
      table.concat(n.shape, ", "), starts[id] or "")
  end
  return table.concat(lines, "\n")
end

require("lgelu.nn.transformer")(builder, { path = path, need_node = need_node, place = place })

-- nn.linear(x, 8) in place of nn:linear(x, 8) is a slip that Lua does not see: it would take x for the builder.
for name, method in pairs(builder) do
  if type(method) == "function" then
    builder[name] = function(self, ...)
      if getmetatable(self) ~= builder then
        errors.usage("%s: nn.%s(…): expected a colon, nn:%s(…)", place({ where = "the model" }), name, name)
      end
      return method(self, ...)
    end
  end
end

return nn
