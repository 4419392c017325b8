--- Statistics of runs: summaries over seeds, paired differences, agreement and drift of hardness profiles.
--
-- What it is: small, exact functions over lists of numbers, as the tables and figures need them.
-- What it is not: reductions of tensors (lgelu.tensor), nor anything that trains or reads files.
-- Called by lgelu.cli.compare, lgelu.plot and people at the prompt, as `lg.stats`.
--
-- A list is a Lua table of numbers or a tensor of rank 1. A value that is NaN or infinite is an error that names its
-- place, never a NaN in the result. What has no value (the spread of one number) is nil, never 0.
-- @module lgelu.stats

local errors = require("lgelu.errors")

local stats = {}

local UNDEFINED = "undefined"

-- Tensors are cdata with a totable method; everything else must be a table already.
local function plain(list)
  if type(list) == "cdata" then return list:totable() end
  return list
end

-- Checks one list and returns it as a Lua table. what: "stats.spearman: a", for messages.
local function numbers(what, list)
  list = plain(list)
  if type(list) ~= "table" then errors.usage("%s is a %s; a list of numbers is expected", what, type(list)) end
  if #list == 0 then errors.usage("%s is empty; at least one number is expected", what) end
  for i = 1, #list do
    local x = list[i]
    if type(x) ~= "number" then errors.usage("%s[%d] is a %s; a number is expected", what, i, type(x)) end
    if x ~= x or x == math.huge or x == -math.huge then
      errors.usage("%s[%d] is %s; a finite number is expected", what, i, x ~= x and "NaN" or tostring(x))
    end
  end
  return list
end

local function pair(what, a, b)
  a, b = numbers(what .. ": a", a), numbers(what .. ": b", b)
  if #a ~= #b then errors.usage("%s: a has %d values and b has %d; equal lengths are expected", what, #a, #b) end
  return a, b
end

-- Mean as an offset from the first value: exact for constant lists, and without cancellation for close values.
local function mean_of(list)
  local first, sum = list[1], 0
  for i = 2, #list do sum = sum + (list[i] - first) end
  return first + sum / #list
end

-- Sample standard deviation (divisor n − 1). Deviations are scaled so that their squares neither overflow nor vanish;
-- their own sum corrects for the rounding of the mean (the corrected two-pass algorithm, Chan, Golub and LeVeque 1983).
local function sd_of(list, mean)
  local scale = 0
  for i = 1, #list do scale = math.max(scale, math.abs(list[i] - mean)) end
  if scale == 0 then return 0 end
  local sum, squares = 0, 0
  for i = 1, #list do
    local d = (list[i] - mean) / scale
    sum, squares = sum + d, squares + d * d
  end
  return scale * math.sqrt((squares - sum * sum / #list) / (#list - 1))
end

-- P(|T| ≤ t) for Student's T with df degrees of freedom, as a function of theta = atan(t/√df): the finite series for
-- integer df (Abramowitz & Stegun 26.7.3 and 26.7.4). Every term is positive, so no digit cancels.
local function t_central(theta, df)
  local s, c = math.sin(theta), math.cos(theta)
  if df % 2 == 0 then
    local term, sum = 1, 1
    for k = 2, df - 2, 2 do
      term = term * c * c * (k - 1) / k
      sum = sum + term
    end
    return s * sum
  end
  if df == 1 then return 2 / math.pi * theta end
  local term, sum = c, c
  for k = 3, df - 2, 2 do
    term = term * c * c * (k - 1) / k
    sum = sum + term
  end
  return 2 / math.pi * (theta + s * sum)
end

--- Quantile of Student's t distribution.
-- Relative error below 1e-9 for p from 0.001 to 0.999 and df up to 100,000 (compared with scipy: tests/ref).
-- @tparam number p probability, in (0, 1)
-- @tparam number df degrees of freedom, an integer of at least 1
-- @treturn number t with P(T ≤ t) = p
-- @raise usage error when p or df is out of range
function stats.t_quantile(p, df)
  if type(p) ~= "number" or not (p > 0 and p < 1) then
    errors.usage("stats.t_quantile: p is %s; a probability between 0 and 1 is expected", tostring(p))
  end
  if type(df) ~= "number" or df < 1 or df ~= math.floor(df) or df == math.huge then
    errors.usage("stats.t_quantile: df is %s; an integer of at least 1 is expected", tostring(df))
  end
  local central = math.abs(2 * p - 1)
  -- P grows with theta: halve until the bracket is down to neighbouring doubles.
  local low, high = 0, math.pi / 2
  while true do
    local middle = (low + high) / 2
    if middle <= low or middle >= high then break end
    if t_central(middle, df) < central then low = middle else high = middle end
  end
  local t = math.sqrt(df) * math.tan((low + high) / 2)
  return p < 0.5 and -t or t
end

--- Mean, spread and confidence interval of a list.
-- @param list numbers
-- @treturn table `mean`; `sd`: sample standard deviation (n − 1); `n`; `ci95`: half width of the 95 % confidence
-- interval of the mean, t(0.975, n − 1)·sd/√n. One value has neither sd nor ci95: both are nil.
-- @raise usage error for an empty list, a value that is no number, NaN or infinite
function stats.summary(list)
  list = numbers("stats.summary: list", list)
  local n = #list
  local result = { mean = mean_of(list), n = n }
  if n > 1 then
    result.sd = sd_of(list, result.mean)
    result.ci95 = stats.t_quantile(0.975, n - 1) * result.sd / math.sqrt(n)
  end
  return result
end

--- Summary of the paired differences a[i] − b[i], as for ΔBVS over seeds.
-- @param a numbers
-- @param b as many numbers
-- @treturn table what `summary` gives, of the differences
-- @raise usage error as `summary`, and for lists of different lengths
function stats.paired(a, b)
  a, b = pair("stats.paired", a, b)
  local differences = {}
  for i = 1, #a do differences[i] = a[i] - b[i] end
  return stats.summary(differences)
end

-- Ranks 1…n, equal values sharing the mean of the ranks that they take.
local function midranks(list)
  local order, ranks = {}, {}
  for i = 1, #list do order[i] = i end
  table.sort(order, function(i, j) return list[i] < list[j] end)
  local first = 1
  while first <= #order do
    local last = first
    while last < #order and list[order[last + 1]] == list[order[first]] do last = last + 1 end
    for k = first, last do ranks[order[k]] = (first + last) / 2 end
    first = last + 1
  end
  return ranks
end

--- Spearman's rank correlation: Pearson's on midranks.
-- @param a numbers, for instance the λ of one run's gates in forward order
-- @param b as many numbers
-- @treturn[1] number ρ in [−1, 1]
-- @return[2] nil
-- @treturn[2] string "undefined": a list is constant (or has one value), so that it has no order to agree with
-- @raise usage error for lists that are empty, of different lengths or not finite
function stats.spearman(a, b)
  a, b = pair("stats.spearman", a, b)
  local ra, rb = midranks(a), midranks(b)
  local middle = (#a + 1) / 2
  local aa, bb, ab = 0, 0, 0
  for i = 1, #a do
    local da, db = ra[i] - middle, rb[i] - middle
    aa, bb, ab = aa + da * da, bb + db * db, ab + da * db
  end
  if aa == 0 or bb == 0 then return nil, UNDEFINED end
  return math.max(-1, math.min(1, ab / math.sqrt(aa * bb)))
end

--- Hardness drift Δλ: the mean over epochs and gates of |λ_l(e) − λ_l(e−1)|.
-- @param rows list of rows, one per epoch from initialization on, each a list of λ; or a tensor [E+1, L]
-- @treturn[1] number Δλ ≥ 0, in units of λ per epoch
-- @return[2] nil
-- @treturn[2] string "undefined": one row only, so that nothing could drift
-- @raise usage error for no rows, rows of different lengths or values that are not finite
function stats.drift(rows)
  rows = plain(rows)
  if type(rows) ~= "table" then errors.usage("stats.drift: rows is a %s; a list of lists is expected", type(rows)) end
  if #rows == 0 then errors.usage("stats.drift: rows is empty; at least one row is expected") end
  local sum, before = 0, nil
  for e = 1, #rows do
    local row = numbers(("stats.drift: rows[%d]"):format(e), rows[e])
    if before and #row ~= #before then
      errors.usage("stats.drift: rows[%d] has %d values and rows[%d] has %d; equal lengths are expected",
        e, #row, e - 1, #before)
    end
    for l = 1, before and #row or 0 do sum = sum + math.abs(row[l] - before[l]) end
    before = row
  end
  if #rows == 1 then return nil, UNDEFINED end
  return sum / ((#rows - 1) * #before)
end

--- Quantile with linear interpolation between order statistics (type 7 of Hyndman and Fan 1996, numpy).
-- @param list numbers
-- @tparam number q in [0, 1]
-- @treturn number the quantile
-- @raise usage error as `summary`, and for q out of range
function stats.quantile(list, q)
  list = numbers("stats.quantile: list", list)
  if type(q) ~= "number" or not (q >= 0 and q <= 1) then
    errors.usage("stats.quantile: q is %s; a number from 0 to 1 is expected", tostring(q))
  end
  local sorted = {}
  for i = 1, #list do sorted[i] = list[i] end
  table.sort(sorted)
  local at = 1 + q * (#sorted - 1)
  local i = math.floor(at)
  local low, high, part = sorted[i], sorted[i + 1] or sorted[i], at - i
  if part < 0.5 then return low + part * (high - low) end
  return high - (1 - part) * (high - low)
end

--- Median: the middle value, or the mean of the two middle ones.
-- @param list numbers
-- @treturn number the median
-- @raise usage error as `summary`
function stats.median(list)
  return stats.quantile(list, 0.5)
end

return stats
