--- Random graphs: the planned graph, in which values and gradients share memory and gates are computed by other ops,
-- against the same graph with every node an output, so that nothing is shared or fused; and against differences.
local random_graph = require("tests.spec.support.random_graph")

local FIRST = tonumber(os.getenv("LGELU_TEST_SEED") or 1)
local GRAPHS, DIFFERENCES = tonumber(os.getenv("LGELU_TEST_GRAPHS") or 150), 40

-- Largest distance of two lists relative to the largest entry, or to `scale` where that is larger.
local function distance(a, b, scale)
  local worst, top = 0, scale or 1e-12
  for _, v in ipairs(b) do
    top = math.max(top, math.abs(v))
  end
  for i, v in ipairs(b) do
    local e = math.abs(a[i] - v) / top
    worst = math.max(worst, e == e and e or math.huge)
  end
  return worst
end

local function assert_near(worst, tolerance, what, seed, steps)
  assert.is_true(worst <= tolerance, ("seed %d: %s off by %.3g in\n%s"):format(seed, what, worst,
    worst > tolerance and random_graph.describe(steps) or ""))
end

--- Every value that the planned graph keeps, and every gradient.
local function compare(planned, plain, steps, seed, gradients)
  for i, step in ipairs(steps) do
    if step.output then
      assert_near(distance(planned:list(i), plain:list(i)), 1e-11, "value " .. i, seed, steps)
    end
    if gradients and step.kind == "param" then
      local a, b = planned:list(i, "grad"), plain:list(i, "grad")
      assert.are.equal(a == nil, b == nil)
      if a then assert_near(distance(a, b, 1e-6), 1e-10, "gradient " .. i, seed, steps) end
    end
  end
end

describe("random graphs", function()
  it("have the values of graphs that share no memory, for batches of any size", function()
    for seed = FIRST, FIRST + GRAPHS - 1 do
      local steps, loss = random_graph.steps(seed)
      local plain = random_graph.build(steps, loss, { seed = seed, all = true })
      local evaluated = random_graph.build(steps, loss, { seed = seed, training = false })
      local planned = random_graph.build(steps, loss, { seed = seed })
      for _, rows in ipairs({ 5, 3 }) do
        plain:bind(rows)
        evaluated:bind(rows)
        planned:bind(rows)
        plain:forward(0)
        evaluated:forward(0)
        planned:forward(0)
        compare(evaluated, plain, steps, seed)
        compare(planned, plain, steps, seed)
      end
      for _, rows in ipairs({ 5, 3, 5 }) do
        plain:bind(rows)
        planned:bind(rows)
        plain:forward(1)
        planned:forward(1)
        plain:backward()
        planned:backward()
        compare(planned, plain, steps, seed, true)
      end
    end
  end)

  it("have the gradients of differences", function()
    for seed = FIRST + 1000, FIRST + 1000 + DIFFERENCES - 1 do
      local steps, loss = random_graph.steps(seed)
      local g = random_graph.build(steps, loss, { seed = seed })
      g:bind(4)
      g:forward(1)
      g:backward()
      local gradients, scale = {}, 1e-3
      for i, step in ipairs(steps) do
        gradients[i] = step.kind == "param" and g:list(i, "grad") or nil
        for _, v in ipairs(gradients[i] or {}) do
          scale = math.max(scale, math.abs(v))
        end
      end
      for i, analytic in pairs(gradients) do
        for k = 1, #analytic, math.ceil(#analytic / 3) do
          local f, h, p = {}, 1e-3, g:cells(i)
          local x = p[k - 1]
          for n, d in ipairs({ -2, -1, 1, 2 }) do
            p[k - 1] = x + d * h
            f[n] = g:forward(1)
          end
          p[k - 1] = x
          local numeric = (f[1] - 8 * f[2] + 8 * f[3] - f[4]) / (12 * h)
          assert_near(distance({ numeric }, { analytic[k] }, scale), 1e-7, ("d loss / d %d[%d] = %.9g against %.9g")
            :format(i, k, analytic[k], numeric), seed, steps)
        end
      end
    end
  end)
end)
