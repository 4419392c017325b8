--- score: what a network is judged by: accuracy, bits or perplexity of a text, F1, area under the ROC curve. One table
-- says of each which direction is better, how it is gathered over batches and how it is written, so that training, the
-- choice of the best epoch, comparing, swapping and probing never ask which one it is. A drop is always counted so that
-- above 0 is worse.
local errors = require("lgelu.errors")

local score = {}
local methods = {}
methods.__index = methods

-- Gathering -----------------------------------------------------------------------------------------------------------
-- Each is a function () → { add = function(self, net, y, rows, loss, accuracy), value = function(self) }, told of every
-- batch after its forward; loss and accuracy are the batch's.

-- Counted in whole numbers: epochs with as many right answers are equal, however they lie in the batches, and the
-- first of them is the best.
local function mean_accuracy()
  return {
    right = 0, n = 0,
    add = function(self, _, y, _, _, accuracy)
      local size = y.size
      self.right, self.n = self.right + math.floor(accuracy * size + 0.5), self.n + size
    end,
    value = function(self) return self.right / self.n end,
  }
end

local function of_mean_loss(f)
  return function()
    return {
      sum = 0, n = 0,
      add = function(self, _, _, rows, loss) self.sum, self.n = self.sum + loss * rows, self.n + rows end,
      value = function(self) return f(self.sum / self.n) end,
    }
  end
end

-- What speaks for the second of two classes: the difference of the logits; the labels; the sum of the logits' squares.
local function margins(net, y)
  local logits, list, squares = net:tensor_values(net.logits), {}, 0
  for i = 1, #logits / 2 do
    local first, second = logits[2 * i - 1], logits[2 * i]
    list[i], squares = second - first, squares + first * first + second * second
  end
  return list, y:totable(), squares
end

-- 2·TP/(2·TP + FP + FN) of the second class; 0 where it is neither there nor found.
local function f1()
  return {
    right = 0, found = 0, there = 0,
    add = function(self, net, y)
      local list, labels = margins(net, y)
      for i, margin in ipairs(list) do
        if margin > 0 and labels[i] == 1 then self.right = self.right + 1 end
        if margin > 0 then self.found = self.found + 1 end
        if labels[i] == 1 then self.there = self.there + 1 end
      end
    end,
    value = function(self)
      return self.found + self.there > 0 and 2 * self.right / (self.found + self.there) or 0
    end,
  }
end

-- Of the logits' root mean square: margins that are nearer to each other are equal. Products of matrices round a row by
-- its place in the batch, so that samples with equal inputs differ in their last bits: about 2^-22 of it.
local EQUAL = 2 ^ -18

-- The share of pairs (one sample of each class) in the right order, equal ones counted half: from the ranks (Mann and
-- Whitney 1947).
local function auc()
  return {
    list = {}, squares = 0,
    add = function(self, net, y)
      local list, labels, squares = margins(net, y)
      self.squares = self.squares + squares
      for i, margin in ipairs(list) do self.list[#self.list + 1] = { margin, labels[i] } end
    end,
    value = function(self)
      local list, n, positive, ranks, i = self.list, #self.list, 0, 0, 1
      local near = EQUAL * math.sqrt(self.squares / (2 * n))
      table.sort(list, function(a, b) return a[1] < b[1] end)
      while i <= n do
        local k = i
        while k < n and list[k + 1][1] - list[i][1] <= near do k = k + 1 end
        for at = i, k do
          if list[at][2] == 1 then positive, ranks = positive + 1, ranks + (i + k) / 2 end
        end
        i = k + 1
      end
      if positive == 0 or positive == n then
        errors.fail("train.score = auc: all %d samples are of one class, and there is no pair to put in order", n)
      end
      return (ranks - positive * (positive + 1) / 2) / (positive * (n - positive))
    end,
  }
end

-- Kinds ---------------------------------------------------------------------------------------------------------------

local function bits(loss) return loss / math.log(2) end

-- better; scale and unit: value·scale unit is what people read; decimals; difference: the unit of a difference;
-- of_loss: where it is a function of the mean loss; two: of two classes only.
local KINDS = {
  accuracy = { doc = "share of right answers", better = "higher", scale = 100, unit = "%", decimals = 2,
    difference = "points", gather = mean_accuracy },
  bits_per_char = { doc = "mean loss in bits a character", better = "lower", scale = 1, unit = "bits/char",
    decimals = 4, difference = "bits/char", of_loss = bits },
  bits_per_byte = { doc = "mean loss in bits a byte", better = "lower", scale = 1, unit = "bits/byte",
    decimals = 4, difference = "bits/byte", of_loss = bits },
  perplexity = { doc = "exponential of the mean loss", better = "lower", scale = 1, unit = "perplexity", decimals = 3,
    difference = "perplexity", of_loss = math.exp },
  f1 = { doc = "F1 of the second of two classes", better = "higher", scale = 100, unit = "%", decimals = 2,
    difference = "points", two = true, gather = f1 },
  auc = { doc = "area under the ROC curve of two classes", better = "higher", scale = 100, unit = "%", decimals = 2,
    difference = "points", two = true, gather = auc },
}
local NAMES = { "accuracy", "bits_per_char", "bits_per_byte", "perplexity", "f1", "auc" }

for name, kind in pairs(KINDS) do
  kind.name = name
  if kind.of_loss then kind.gather = of_mean_loss(kind.of_loss) end
  setmetatable(kind, methods)
end

--- Names of all scores.
function score.names() return { unpack(NAMES) } end

--- A score by its name; nil: accuracy, as in runs from before there were others.
function score.named(name)
  local kind = KINDS[name or "accuracy"]
  if not kind then errors.fail("there is no score '%s'%s", tostring(name), errors.suggest(tostring(name), NAMES)) end
  return kind
end

--- The score that all records share; nil where they have several.
-- @param records  list of tables with a field score
function score.common(records)
  for _, record in ipairs(records) do
    if record.score ~= records[1].score then return nil end
  end
  return records[1].score
end

--- How a table's columns write scores: in a unit that their titles name, or, where its rows have several scores, each
-- number with its own, and with the score's name where others of them have the same unit.
-- @param kinds  list of scores, one a row
-- @return two texts for titles, " (%)" and " (points)", or "" and ""; function from a score to { value, difference =
--   { format, scale, unit } as lgelu.table.interval takes them }
function score.columns(kinds)
  local first, mixed, of_unit, shared = kinds[1], false, {}, {}
  for _, kind in ipairs(kinds) do
    mixed = mixed or kind ~= first
    shared[kind.unit] = shared[kind.unit] or (of_unit[kind.unit] or kind) ~= kind
    of_unit[kind.unit] = kind
  end
  local function style_of(kind)
    local unit = " " .. kind.unit .. (shared[kind.unit] and " " .. kind.name or "")
    return {
      value = { kind:format(), kind.scale, mixed and unit or "" },
      difference = { kind:format(true), kind.scale, mixed and " " .. kind.difference or "" },
    }
  end
  if mixed then return "", "", style_of end
  return (" (%s)"):format(first.unit), (" (%s)"):format(first.difference), style_of
end

--- The score of a recipe on its data: train.score, or what suits the data.
-- @param config  resolved sections
-- @param set     of lgelu.data.load
-- @raise usage error where the score cannot be had of such data or such a loss
function score.of(config, set)
  local kind = score.named(config.train.score or set.score)
  if kind.two and (set.classes ~= 2 or #(set.label_shape or {}) > 0) then
    errors.usage("train.score: %s is of two classes, found %d", kind.name, set.classes)
  end
  if kind.of_loss and (config.train.loss ~= "cross_entropy" or config.train.label_smoothing ~= 0) then
    errors.usage("train.score: %s is a function of the plain cross-entropy; expected train.loss = cross_entropy and "
      .. "train.label_smoothing = 0, or train.score = accuracy", kind.name)
  end
  return kind
end

-- Methods of a score --------------------------------------------------------------------------------------------------

--- Is a better than b?
function methods:is_better(a, b)
  if self.better == "lower" then return a < b end
  return a > b
end

--- How much worse `after` is than `before`: above 0 is worse.
function methods:drop(before, after)
  return self.better == "lower" and after - before or before - after
end

--- From mean loss and mean accuracy; nil where it cannot be had from them.
function methods:from_means(loss, accuracy)
  if self.of_loss then return self.of_loss(loss) end
  return self.name == "accuracy" and accuracy or nil
end

--- As people read it: "87.65 %", "2.1234 bits/char"; "–" for nil and NaN.
function methods:text(value)
  if not value or value ~= value then return "–" end
  return (self:format() .. " %s"):format(value * self.scale, self.unit)
end

--- A drop as people read it, as the change it makes: "-0.12 points" is worse where higher is better.
function methods:change(drop)
  local change = self.better == "lower" and drop or -drop
  return (self:format(true) .. " %s"):format(change * self.scale, self.difference)
end

--- A drop as it is counted, above 0 worse.
function methods:drop_text(drop)
  return (self:format(true) .. " %s"):format(drop * self.scale, self.difference)
end

--- printf's format of value·scale, without the unit. signed: of a difference.
function methods:format(signed)
  return ("%%%s.%df"):format(signed and "+" or "", self.decimals)
end

return score
