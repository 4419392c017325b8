--- lgelu harden: a new run that goes on from a finished one and drives its λ to the hardening target. The recipe is
-- lgelu.harden's, the training lgelu.train's.

local args = require("lgelu.cli.args")

local harden = {}

harden.summary = "Fine-tune a finished run while its λ rise to a target: a new run, ready for ReLU."

function harden.setup(parser)
  parser:argument("parent", "The finished run, of λ-GELU gates or of GELU (λ = 1): its folder, run.h5 or the beginning "
    .. "of a name under runs/.")
  parser:argument("overrides", "epochs=N (default: a quarter of the run's, rounded up), or key=value of the sections "
    .. "hardening, optimizer, schedule and train, such as hardening.order=forward."):argname("<key=value>"):args("*")
  args.training(parser, "Folder of the new run; default runs/<name>_hardened-<hash>-s<seed>.")
  parser:epilog("Data, model, gates and seed are those of the run. 'lgelu help recipe.hardening' lists the keys.")
end

function harden.run(given)
  local resolved, start = require("lgelu.harden").derive(given.parent, given.overrides)
  return args.train(resolved, given, start)
end

return harden
