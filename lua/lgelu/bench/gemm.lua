--- Bench case gemm: single precision matrix products of the shapes that the models have, each thread by itself, as the
-- engine's tiles do them; as fractions of the multiply-adds that the processor can do at most.
local machine = require("lgelu.machine")

-- m, n, k of op(a)[m, k] · op(b)[k, n].
local SHAPES = {
  { 1024, 1024, 1024, what = "large and square: the kernel's own speed" },
  { 128, 512, 784, trans_b = true, what = "mlp, first layer, forward" },
  { 512, 784, 128, trans_a = true, what = "mlp, first layer, gradient of the weights" },
  { 64, 1024, 576, what = "resnet18, first stage, forward" },
  { 128, 256, 1152, what = "resnet18, second stage, forward" },
}

return {
  summary = "matrix products of the models' shapes, as fractions of the multiply-add peak",
  columns = {
    { key = "shape", title = "m n k" },
    { key = "gflops", title = "GFLOP/s", format = "%.1f" },
    { key = "peak_fraction", title = "of peak", format = "%.2f" },
    { key = "what", title = "what" },
  },
  run = function(options)
    local threads = options.threads
    local peak, records = machine.fma(threads, 0.2), {}
    for i, shape in ipairs(SHAPES) do
      options.say(("shape %d of %d"):format(i, #SHAPES))
      local gflops, m, n, k = machine.gemm(threads, 0.3, shape), unpack(shape)
      peak = math.max(peak, machine.fma(threads, 0.05))
      local seconds = 2 * m * n * k * threads / (gflops * 1e9)
      records[i] = {
        gate = "none",
        batch = m,
        threads = threads,
        step_ms = seconds * 1e3,
        samples_per_s = m * threads / seconds,
        shape = ("%d %d %d%s"):format(m, n, k, shape.trans_a and " aT" or shape.trans_b and " bT" or ""),
        what = shape.what,
        gflops = gflops,
      }
    end
    for _, record in ipairs(records) do record.peak_fraction = record.gflops / peak end
    return records
  end,
}
