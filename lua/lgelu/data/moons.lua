--- Source "moons": two interleaving half circles in the plane, as scikit-learn's make_moons draws them:
--   outer (class 0): (cos t, sin t),       t in n_outer = floor(n/2) even steps over [0, π], both ends included
--   inner (class 1): (1 − cos t, ½ − sin t), t in n − n_outer such steps
-- shuffled, then normal noise of standard deviation `noise` added to both coordinates.
local random = require("lgelu.data.random")
local tensors = require("lgelu.data.tensors")

local moons = {}

moons.doc = "two half-moons in the plane (make_moons), 2 classes"
moons.kind = "generated"

moons.schema = {
  { key = "n", type = "integer", default = 2000, min = 2, max = 1e7, example = "data.n=500",
    doc = "Points for training and validation together." },
  { key = "noise", type = "number", default = 0.2, min = 0, max = 1e6, example = "data.noise=0.1",
    doc = "Standard deviation of the normal noise on each coordinate." },
  { key = "seed", type = "integer", default = 0, min = 0, max = 2 ^ 53, example = "data.seed=7",
    doc = "Seed of the points; the run's seed does not change them." },
  { key = "test", type = "number", default = 0.5, min = 0, max = 10, example = "data.test=0",
    doc = "Further points for the test part, drawn in the same way, as a share of n; 0: no test part." },
}

-- Stream numbers: what draws, for the training part; the test part's are one further.
local ORDER, NOISE = 0, 2

--- A point without noise; class 0: outer, 1: inner.
local function on_moon(class, t)
  if class == 0 then return math.cos(t), math.sin(t) end
  return 1 - math.cos(t), 0.5 - math.sin(t)
end

--- n points. part: 0 training, 1 test.
local function draw(n, noise, seed, part)
  local x, point = tensors.new("f32", { n, 2 })
  local y, label = tensors.new("i32", { n })
  local order = random.permutation(n, seed, ORDER + part)
  local draws = random.draws(seed, NOISE + part)
  local n_outer = math.floor(n / 2)
  for i = 0, n - 1 do
    local k = tonumber(order[i])
    local class = k < n_outer and 0 or 1
    local count, step = class == 0 and n_outer or n - n_outer, class == 0 and k or k - n_outer
    local px, py = on_moon(class, count > 1 and math.pi * step / (count - 1) or 0)
    point[2 * i] = px + noise * draws.normal(2 * i)
    point[2 * i + 1] = py + noise * draws.normal(2 * i + 1)
    label[i] = class
  end
  return { x = x, y = y }
end

function moons.load(config)
  local n_test = math.floor(config.n * config.test + 0.5)
  return {
    classes = 2, labels = { "outer", "inner" }, scale = 1, mean = { 0 }, sd = { 1 },
    train = draw(config.n, config.noise, config.seed, 0),
    test = n_test > 0 and draw(n_test, config.noise, config.seed, 1) or nil,
    description = ("two half-moons: %d points, noise %g, seed %d"):format(config.n, config.noise, config.seed),
  }
end

return moons
