--- profile: where the time of training steps goes: seconds, FLOPs and bytes of each node, against what the machine can
-- do, measured in the same run. Called by train for `lgelu run --profile`.
local C = require("lgelu.C")
local machine = require("lgelu.machine")
local tables = require("lgelu.table")

local ffi, lib, check = C.ffi, C.lib, C.check
local profile = {}

local PROBE_SECONDS, PROBE_FLOATS = 0.2, 2 ^ 24

local COLUMNS = {
  { title = "node" }, { title = "op" }, { title = "forward ms", format = "%.3f" },
  { title = "backward ms", format = "%.3f" }, { title = "share", format = "%.1f %%" },
  { title = "GFLOP", format = "%.4f" }, { title = "MB", format = "%.2f" }, { title = "GFLOP/s", format = "%.1f" },
  { title = "of peak", format = "%.3f" }, { title = "GB/s", format = "%.1f" }, { title = "of copy", format = "%.2f" },
}

--- Starts counting; only training steps count.
function profile.start(net) check(lib.lg_graph_profile(net.graph, 1)) end

local function cost(net, id)
  local out = ffi.new("double[5]")
  check(lib.lg_graph_node_cost(out, out + 1, out + 2, out + 3, out + 4, net.graph, id))
  return { forward = out[0], backward = out[1], flops = out[2] + out[3], bytes = out[4] }
end

--- FLOPs and bytes of each node at the present batch, by node: taken right after a training step, since validation runs
-- other batches.
function profile.work(net)
  local work = {}
  for id = 0, lib.lg_graph_nodes(net.graph) - 1 do
    work[id] = cost(net, id)
  end
  return work
end

local function row(name, kind, c, total, peak, copy)
  local seconds = c.forward + c.backward
  return {
    name, kind, c.forward * 1e3, c.backward * 1e3, 100 * seconds / total, c.flops * 1e-9, c.bytes * 1e-6,
    c.flops / seconds * 1e-9, c.flops / seconds / peak, c.bytes / seconds * 1e-9, c.bytes / seconds / copy,
  }
end

--- The table as text: nodes by time, largest first; update is the optimizer, other all that is neither.
-- @param net    network whose profile was started   @param steps  training steps since then
-- @param wall   seconds that the steps took in all, without validation
-- @param update seconds of them in the optimizer           @param work   what profile.work gave
function profile.report(net, steps, wall, update, work)
  local threads = lib.lg_threads()
  local peak = machine.fma(threads, PROBE_SECONDS) * 1e9
  local copy = machine.copy(threads, PROBE_SECONDS, PROBE_FLOATS)
  local costs, nodes = {}, 0
  for id = 0, lib.lg_graph_nodes(net.graph) - 1 do
    local c = cost(net, id)
    c.forward, c.backward, c.flops, c.bytes = c.forward / steps, c.backward / steps, work[id].flops, work[id].bytes
    if c.forward + c.backward > 0 then
      c.name, c.kind = ffi.string(lib.lg_graph_node_name(net.graph, id)),
        ffi.string(lib.lg_graph_node_kind(net.graph, id))
      costs[#costs + 1], nodes = c, nodes + c.forward + c.backward
    end
  end
  table.sort(costs, function(a, b)
    local x, y = a.forward + a.backward, b.forward + b.backward
    return x > y or (x == y and a.name < b.name)
  end)
  local rows, total = {}, wall / steps
  for i, c in ipairs(costs) do
    rows[i] = row(c.name, c.kind, c, total, peak, copy)
  end
  local numbers = net:parameter_count()
  rows[#rows + 1] = row("optimizer", "", { forward = 0, backward = update / steps, flops = 0, bytes = 28 * numbers },
    total, peak, copy)
  rows[#rows + 1] = row("other", "", { forward = 0, backward = math.max(total - nodes - update / steps, 1e-9),
    flops = 0, bytes = 0 }, total, peak, copy)
  return ("%d steps of %.3f ms; peak %.0f GFLOP/s, copy %.1f GB/s on %d threads\n%s"):format(steps, total * 1e3,
    peak * 1e-9, copy * 1e-9, threads, tables.render(COLUMNS, rows))
end

return profile
