--- random_graph: seeded random graphs out of the engine's ops, as a list of steps that can be built more than once.
-- They hold what a plan can get wrong: values read twice, inputs given twice, residual sums, views of inputs,
-- parameters and views, gates behind products and normalizations with s of their own or tied, fixed λ, weights used
-- twice, outputs in the middle, nodes that lead nowhere. Only smooth ops, as differences need. Used by
-- graph_random_spec.lua.
--
-- A step is { kind = "input"|"param"|"state"|"op", shape = {…}, dtype =, op =, inputs = {steps' numbers},
-- attrs = {…}, output = true or nil, low =, high = }; shape begins with "b" for the batch.
local C = require("lgelu.C")
local ffi, lib, check = C.ffi, C.lib, C.check

local random_graph = {}
local BATCH = 5 -- of the plan

--- A function (n) → a number from 1 to n; the same sequence for the same seed.
local function dice(seed)
  local i = 0
  return function(n)
    i = i + 1
    return math.floor(lib.lg_rng_uniform(seed, 77, i) * n) + 1
  end
end

local maker = {}
maker.__index = maker

function maker:add(step)
  self.steps[#self.steps + 1] = step
  step.output = step.kind == "op" and self.dice(8) == 1 or nil
  return #self.steps
end

function maker:param(shape, dtype, low, high)
  return self:add({ kind = "param", shape = shape, dtype = dtype or "f64", low = low, high = high })
end

--- An op's result: what later steps can read.
function maker:op(op, inputs, shape, attrs)
  local id = self:add({ kind = "op", op = op, inputs = inputs, shape = shape, attrs = attrs, dtype = "f64" })
  self.pool[#self.pool + 1] = id
  return id
end

--- A node that fits, the newest half of the time.
function maker:pick(fits)
  local list = {}
  for _, id in ipairs(self.pool) do
    if not fits or fits(self.steps[id].shape) then list[#list + 1] = id end
  end
  if #list == 0 then return nil end
  return self.dice(2) == 1 and list[#list] or list[self.dice(#list)]
end

local function same(a, b)
  if #a ~= #b then return false end
  for i, d in ipairs(a) do
    if d ~= b[i] then return false end
  end
  return true
end

local function elements(shape, batch)
  local n = 1
  for _, d in ipairs(shape) do
    n = n * (d == "b" and batch or d)
  end
  return n
end

--- A parameter of that shape: an old one half of the time.
function maker:weight(shape, low, high)
  for i = #self.steps, 1, -1 do
    local s = self.steps[i]
    if s.kind == "param" and same(s.shape, shape) and s.dtype == "f64" and not s.low == not low and not s.scalar then
      if self.dice(2) == 1 then return i end
      break
    end
  end
  return self:param(shape, nil, low, high)
end

local grow = {}

function grow.linear(m)
  local x = m:pick(function(s) return #s >= 1 and s[#s] ~= "b" end)
  if not x then return end
  local shape = { unpack(m.steps[x].shape) }
  local k, n = shape[#shape], m.dice(6)
  if #shape == 2 and shape[1] ~= "b" and m.dice(3) == 1 then return m:op("linear", { x, x }, { shape[1], shape[1] }) end
  local inputs = { x, m:weight({ n, k }) }
  if m.dice(2) == 1 then inputs[3] = m:weight({ n }) end
  shape[#shape] = n
  return m:op("linear", inputs, shape)
end

function grow.bias(m)
  local x = m:pick(function(s) return #s >= 1 and s[#s] ~= "b" end)
  if not x then return end
  local shape = m.steps[x].shape
  local b = #shape == 1 and m.dice(2) == 1 and x or m:weight({ shape[#shape] })
  return m:op("bias", { x, b }, shape)
end

local SMOOTH = { "lambda_gelu", "lambda_gelu", "lambda_gelu", "gelu", "gelu_tanh", "gelu_sigmoid", "silu", "identity" }

function grow.gate(m)
  local x = m:pick()
  local kind = SMOOTH[m.dice(#SMOOTH)]
  local attrs, inputs = { kind = lib.lg_list_find("activation", kind), t = 1 }, { x }
  if kind == "lambda_gelu" and m.dice(4) > 1 then
    m.tied = m.tied or m:param({}, "f64", -1, 1)
    m.steps[m.tied].scalar = true
    inputs[2] = m.dice(2) == 1 and m.tied or m:param({}, "f64", -1, 1)
    m.steps[inputs[2]].scalar = true
    attrs.reparam = m.dice(4) - 1
  else
    attrs.lambda = 1.5
  end
  if m.dice(8) == 1 then attrs.floor = 4 end -- above every λ(s) here
  return m:op("gate", inputs, m.steps[x].shape, attrs)
end

function grow.batch_norm(m)
  local x = m:pick(function(s) return #s >= 2 and elements(s, 2) > s[#s] end) -- a variance needs two values
  if not x then return end
  local shape = m.steps[x].shape
  local n = { shape[#shape] }
  local gamma = m:weight(n, 0.5, 1.5)
  local beta = m.dice(4) == 1 and gamma or m:weight(n)
  local mean = m:add({ kind = "state", shape = n, dtype = "f64" })
  local var = m:add({ kind = "state", shape = n, dtype = "f64", low = 0.5, high = 1.5 })
  return m:op("batch_norm", { x, gamma, beta, mean, var }, shape, { eps = 0.3 })
end

function grow.add(m)
  local a = m:pick()
  local shape = m.steps[a].shape
  local b = m:pick(function(s) return same(s, shape) end)
  return m:op("add", m.dice(2) == 1 and { a, b } or { b, a }, shape)
end

--- normalization, residual sum and gate in a row, which one op may absorb.
function grow.residual(m)
  local y = grow.batch_norm(m)
  if not y then return end
  local shape = m.steps[y].shape
  local list = {}
  for _, id in ipairs(m.pool) do
    if same(m.steps[id].shape, shape) then list[#list + 1] = id end
  end
  local r = list[m.dice(#list)] -- also the normalization's own input, or itself
  y = m:op("add", m.dice(2) == 1 and { y, r } or { r, y }, shape)
  m.pool[#m.pool + 1] = y -- likely to be picked
  return grow.gate(m)
end

function grow.reshape(m)
  local x = m:pick(function(s) return #s >= 1 end)
  if not x then return end
  local shape = m.steps[x].shape
  local batch = shape[1] == "b"
  local n = elements(shape, 1)
  local tails = { { n }, n % 2 == 0 and { 2, n / 2 } or { n, 1 }, n % 4 == 0 and { 2, 2, n / 4 } or { 1, n } }
  local tail = tails[m.dice(3)]
  local out, attrs = batch and { "b" } or {}, {}
  for _, d in ipairs(tail) do
    out[#out + 1] = d
  end
  attrs.rank = #out
  for i, d in ipairs(out) do
    attrs["d" .. i - 1] = d == "b" and -1 or d
  end
  return m:op("reshape", { x }, out, attrs)
end

function grow.flatten(m)
  local x = m:pick(function(s) return #s >= 2 and s[1] == "b" end)
  if not x then return end
  return m:op("flatten", { x }, { "b", elements(m.steps[x].shape, 1) })
end

function grow.dropout(m)
  local x = m:pick()
  return m:op("dropout", { x }, m.steps[x].shape, { p = m.dice(4) == 1 and 0 or 0.3 })
end

local function image(s) return #s == 4 and s[2] ~= "b" end

function grow.avg_pool(m)
  local x = m:pick(function(s) return image(s) and s[2] >= 2 and s[3] >= 2 end)
  if not x then return end
  local s = m.steps[x].shape
  local out = { s[1], math.floor((s[2] - 2) / 2) + 1, math.floor((s[3] - 2) / 2) + 1, s[4] }
  return m:op("avg_pool", { x }, out)
end

function grow.global_pool(m)
  local x = m:pick(image)
  return x and m:op("global_pool", { x }, { m.steps[x].shape[1], m.steps[x].shape[4] })
end

--- A term of the loss, a scalar, from node x or from any.
local function term(m, x)
  x = x or m:pick()
  local shape = m.steps[x].shape
  if #shape == 2 and shape[1] == "b" and m.dice(3) == 1 then
    local labels = m:add({ kind = "input", shape = { "b" }, dtype = "i32", labels = shape[2] })
    return m:add({ kind = "op", op = "softmax_xent", inputs = { x, labels }, shape = {}, dtype = "f64",
      attrs = { label_smoothing = m.dice(2) == 1 and 0.1 or 0 } })
  end
  local y = m.dice(3) > 1 and m:add({ kind = "input", shape = shape, dtype = "f64" })
    or m:pick(function(s) return same(s, shape) end)
  return m:add({ kind = "op", op = "mse", inputs = { x, y }, shape = {}, dtype = "f64" })
end

local KINDS = { "linear", "linear", "bias", "gate", "gate", "gate", "batch_norm", "residual", "residual", "add", "add",
  "reshape", "reshape", "flatten", "dropout", "avg_pool", "global_pool" }

--- The steps of the graph of a seed, and the number of its loss.
function random_graph.steps(seed)
  local m = setmetatable({ steps = {}, pool = {}, dice = dice(seed) }, maker)
  local roots = {
    m:add({ kind = "input", shape = { "b", 6 }, dtype = "f64" }), m:add({ kind = "input", shape = { "b", 2, 2, 3 },
      dtype = "f64" }), m:param({ 3, 4 }), m:param({ 4 }),
  }
  for _, id in ipairs(roots) do
    m.pool[#m.pool + 1] = id
  end
  m:op("linear", { roots[1], m:param({ 6, 6 }) }, { "b", 6 })
  for _ = 1, 4 + m.dice(10) do
    grow[KINDS[m.dice(#KINDS)]](m)
  end
  local loss = term(m, m:op("linear", { m:pick(function(s) return same(s, { "b", 6 }) end), m:param({ 2, 6 }) },
    { "b", 2 })) -- the loss has a parameter
  for _ = 1, m.dice(3) do
    local more = m.dice(5) == 1 and loss or term(m)
    loss = m:add({ kind = "op", op = "add", inputs = { loss, more }, shape = {}, dtype = "f64" })
  end
  m.steps[loss].output = true
  return m.steps, loss
end

local POINTER = { f64 = "double *", i32 = "int32_t *" }

local function cells(tensor, dtype) return ffi.cast(POINTER[dtype], lib.lg_tensor_data(tensor)) end

local function attributes(op, given)
  local values, n, range = ffi.new("double[16]"), 0, ffi.new("double[3]")
  while lib.lg_op_attr_name(op, n) ~= nil do
    check(lib.lg_op_attr_range(range, range + 1, range + 2, op, n))
    local v = given and given[ffi.string(lib.lg_op_attr_name(op, n))]
    values[n] = v or range[0]
    n = n + 1
  end
  return values, n
end

local function fill(p, step, id, seed, batch)
  for k = 0, elements(step.shape, batch) - 1 do
    local u = lib.lg_rng_uniform(seed, 1000 + id, k)
    local low, high = step.low or -0.9, step.high or 0.9
    p[k] = step.labels and math.floor(u * step.labels) or low + (high - low) * u
  end
end

local graph = {}
graph.__index = graph

--- Builds, plans and fills a graph. options: seed, all (every node an output), training (default true).
function random_graph.build(steps, loss, options)
  local out, id = ffi.new("lg_graph *[1]"), ffi.new("int32_t[1]")
  check(lib.lg_graph_new(out, lib.lg_list_find("dtype", "f64")))
  local g = setmetatable({ handle = ffi.gc(out[0], lib.lg_graph_free), steps = steps, ids = {}, bound = {},
    seed = options.seed, loss = loss }, graph)
  for i, step in ipairs(steps) do
    local dims, dtype = ffi.new("int64_t[8]"), lib.lg_list_find("dtype", step.dtype)
    for k, d in ipairs(step.shape) do
      dims[k - 1] = d == "b" and -1 or d
    end
    if step.kind == "op" then
      local op, inputs = lib.lg_list_find("op", step.op), ffi.new("int32_t[8]")
      for k, from in ipairs(step.inputs) do
        inputs[k - 1] = g.ids[from]
      end
      local values, n = attributes(op, step.attrs)
      check(lib.lg_graph_op(id, g.handle, op, #step.inputs, inputs, n, values, step.op .. i, ""))
    else
      check(lib["lg_graph_" .. step.kind](id, g.handle, dtype, #step.shape, dims, step.kind .. i, ""))
    end
    g.ids[i] = id[0]
    if step.output or options.all then check(lib.lg_graph_output(g.handle, id[0])) end
  end
  local training = options.training ~= false
  check(lib.lg_graph_plan(g.handle, BATCH, training and 1 or 0, training and g.ids[loss] or -1))
  for i, step in ipairs(steps) do
    if step.kind == "param" or step.kind == "state" then fill(g:cells(i), step, i, options.seed, 1) end
  end
  return g
end

--- Binds random inputs of so many rows.
function graph:bind(rows)
  for i, step in ipairs(self.steps) do
    if step.kind == "input" then
      local dims, out = ffi.new("int64_t[8]"), ffi.new("lg_tensor *[1]")
      for k, d in ipairs(step.shape) do
        dims[k - 1] = d == "b" and rows or d
      end
      check(lib.lg_tensor_new(out, lib.lg_list_find("dtype", step.dtype), #step.shape, dims))
      self.bound[i] = ffi.gc(out[0], lib.lg_tensor_free)
      fill(cells(out[0], step.dtype), step, i, self.seed + rows, rows)
      check(lib.lg_graph_bind(self.handle, self.ids[i], out[0]))
    end
  end
  self.rows = rows
end

--- A pointer to the value (or gradient) of step i; nil where the graph has none.
function graph:cells(i, what)
  local out = ffi.new("lg_tensor *[1]")
  if lib["lg_graph_" .. (what or "value")](out, self.handle, self.ids[i]) ~= 0 then return nil end
  local p = cells(out[0], self.steps[i].dtype)
  lib.lg_tensor_free(out[0])
  return p
end

function graph:forward(mode)
  check(lib.lg_graph_forward(self.handle, mode, 7, 3))
  return tonumber(self:cells(self.loss)[0])
end

function graph:backward() check(lib.lg_graph_backward(self.handle)) end

--- The value or gradient of step i as a list, or nil.
function graph:list(i, what)
  local p = self:cells(i, what)
  if not p then return nil end
  local list = {}
  for k = 1, elements(self.steps[i].shape, self.rows) do
    list[k] = tonumber(p[k - 1])
  end
  return list
end

--- The graph in words, for a failure: one line a step.
function random_graph.describe(steps)
  local lines = {}
  for i, s in ipairs(steps) do
    lines[i] = ("%d %s%s(%s) [%s]%s"):format(i, s.output and "*" or "", s.op or s.kind,
      table.concat(s.inputs or {}, ", "), table.concat(s.shape, ", "),
      s.attrs and s.attrs.p and " p=" .. s.attrs.p or "")
  end
  return table.concat(lines, "\n")
end

return random_graph
