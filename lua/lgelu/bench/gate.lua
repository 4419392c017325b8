--- Bench case gate: an activation's forward and backward over 64 Mi floats, far more than the caches hold, as fractions
-- of the copy bandwidth that is measured in between. Forward reads x and writes y: 8 bytes an element; backward reads x
-- and dy and writes dx: 12. A fraction near 1 says that the arithmetic is hidden behind the memory.
local machine = require("lgelu.machine")

local FLOATS, ROUNDS, LAMBDA = 64 * 2 ^ 20, 3, 2

return {
  summary = "forward and backward of a gate over 64 Mi floats, as fractions of the copy bandwidth",
  gate = "lambda_gelu",
  columns = {
    { key = "forward_ms", title = "forward ms", format = "%.2f" },
    { key = "backward_ms", title = "backward ms", format = "%.2f" },
    { key = "copy_gb_per_s", title = "copy GB/s", format = "%.1f" },
    { key = "forward_fraction", title = "forward/copy", format = "%.2f" },
    { key = "backward_fraction", title = "backward/copy", format = "%.2f" },
  },
  run = function(options)
    local threads = options.threads
    local copy, forward, backward = 0, math.huge, math.huge
    -- In turns, so that a neighbour's work on the machine falls on both sides.
    for round = 1, ROUNDS do
      options.say(("round %d of %d"):format(round, ROUNDS))
      copy = math.max(copy, machine.copy(threads, 0.3, FLOATS))
      local f, b = machine.gate(options.gate, LAMBDA, threads, 0.8, FLOATS)
      forward, backward = math.min(forward, f), math.min(backward, b)
    end
    return { {
      gate = options.gate,
      batch = FLOATS,
      threads = threads,
      step_ms = (forward + backward) * 1e3,
      samples_per_s = FLOATS / (forward + backward),
      forward_ms = forward * 1e3,
      backward_ms = backward * 1e3,
      copy_gb_per_s = copy * 1e-9,
      forward_fraction = 8 * FLOATS / forward / copy,
      backward_fraction = 12 * FLOATS / backward / copy,
    } }
  end,
}
