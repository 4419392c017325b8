--- The functions of the prompt that look at a network and change it: names, help, and what they call in lgelu.probe.
-- They are values of an expression: a result prints as text and stays a table. Called by lgelu.repl.target.

local verbs = {}

-- name, usage, one line, the rest of help("name"). The only list of them.
local HELP = {
  {
    "hardness", "hardness()", "how hard each gate is",
    [[
A table in forward order: kind, λ, a bar on a logarithmic scale from GELU (λ = 1) to the hardening target 159.6 (ReLU
fills it), and sup|f − ReLU| = 0.169971/λ.
Value: list of { name, kind, lambda, bound }, as hardness()[1].lambda.]],
  },
  {
    "probe", "probe(gate)", "what arrives at a gate: histogram, transition band, gradient attenuation",
    [[
gate: name or number. Pre-activations of the validation part: their histogram (a column that holds anything leaves a
trace; the heavy part of the axis is the transition band |λx| < 2), the share in that band, the mean of x²φ(λx) = ∂f/∂λ
beside its ceiling 0.293525/λ², exact zeros before and after a swap, range, greatest |f − ReLU|.
Value: a table, as probe(1).band, .slope, .ceiling, .zeros_before, .zeros_after, .min, .max, .max_deviation,
.histogram.]],
  },
  {
    "set", "set(gate, λ)", "gives a gate another λ, and says what that does to the validation score",
    [[
gate: name, number or "all". A swapped gate becomes a λ-GELU again. undo() takes it back.
Value: { before, after, drop, loss_before, loss_after }.]],
  },
  {
    "swap", 'swap(gate or "all")', "replaces a gate by ReLU, and says what that does to the validation score",
    [[
gate: name, number or "all" (default). The numbers are those of `lgelu swap`, which looks at the test set as well and
stores them. undo() takes it back.
Value: { before, after, drop, loss_before, loss_after }.]],
  },
  {
    "score", 'score(["train" or "test"])', "the validation score of the network as it is",
    [[
A share, 0 to 1, or bits or perplexity where that is the run's score (lower is better), in evaluation mode; of the
validation part unless another is named. score("test") looks at the test set, and says so: what is chosen by it cannot
be measured with it any more.]],
  },
  {
    "generate", "generate(text[, n[, temperature[, seed]]])", "goes on with a text, where the run is of texts",
    [[
n: tokens to add (200). temperature: 0.8; 0 takes the likeliest token each time. The same seed (0) gives the same text,
by the network as it is: after set, swap or train another one.
Value: a string.]],
  },
  {
    "undo", "undo()", "takes the last set, swap or train back, to the bit",
    "As often as there were changes. Value: as set, and `left`: changes that can still be undone.",
  },
  {
    "sensitivity", "sensitivity()", "how much swapping each gate alone costs, ranked",
    [[
Each gate in turn is ReLU for one pass over the validation part; the network is left as it was.
Value: list of { name, gate (number), lambda, after, drop, loss }, greatest drop first; field `before`.]],
  },
  {
    "plot", "plot(what[, file])", "draws profile, trajectory or a gate's histogram with gnuplot",
    [[
what: "profile" (λ of each gate), "trajectory" (λ over the steps: the run's epochs, and each train(n)), or a gate.
Without file: in characters. file ends in .png, .svg or .pdf; its data (.tsv) and a caption (.txt) appear beside it.
Value: { text }, or { picture, table, caption } with the paths.]],
  },
  {
    "train", "train(n[, rate])", "n more training steps, in memory only",
    [[
On the training part, with the run's optimizer and its state, batches in the run's order; from where its checkpoint left
off, or for a recipe from the first step. rate: base learning rate; without it the recipe's schedule, whose last value
holds beyond its end, as does hardening. Swapped gates are trained as ReLU. The run's files are never changed; undo()
takes it back.
Value: as set, and from, to (steps), rate, loss and score over them.]],
  },
}

-- Prints what score() found on the test set beside the value, where a script does not read it.
local function warn_of_test()
  io.stderr:write("score on the test set: report it, but do not choose by it\n")
end

--- The functions, for lgelu.repl.start.
-- @tparam function at_hand gives the probe (lgelu.probe), made at first use
-- @treturn table list of { name, help, usage, text, value = function }
function verbs.list(at_hand)
  local calls = {}
  for _, name in ipairs({ "hardness", "probe", "set", "swap", "generate", "undo", "sensitivity", "train" }) do
    calls[name] = function(...)
      local p = at_hand()
      return p[name](p, ...)
    end
  end
  function calls.score(part)
    local score = at_hand():score(part)
    if part == "test" then warn_of_test() end
    return score
  end
  function calls.plot(what, file)
    local target = type(what) == "string" and ("%q"):format(what) or tostring(what)
    return require("lgelu.probe.plot").draw(at_hand(), what, file, ("plot(%s, %q), in lgelu repl %s"):format(target,
      tostring(file), at_hand().t.dir or at_hand().t.resolved.file))
  end
  local list = {}
  for i, entry in ipairs(HELP) do
    list[i] = { name = entry[1], usage = entry[2], help = entry[3], text = entry[4], value = calls[entry[1]] }
  end
  return list
end

return verbs
