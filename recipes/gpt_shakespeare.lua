-- A small GPT on Shakespeare's plays, character by character, with a λ-GELU in each block.
--   lgelu run gpt_shakespeare                              4 blocks of width 128, 2330 steps: the desk budget
--   lgelu run gpt_shakespeare gate.kind=relu               the same with another activation
--   lgelu run gpt_shakespeare data.path=novel.txt          another text
--   lgelu repl RUN -e 'generate("ROMEO:")'               goes on with a text, once the run is done
--   lgelu run gpt_shakespeare data.source=synthetic_text   without any file
-- Without the file: lgelu data get tinyshakespeare.
return {
  name = "gpt_shakespeare",
  data = { source = "text", set = "tinyshakespeare", context = 128, windows = "random", validation = 0.1 },
  model = lg.models.gpt{ width = 128, depth = 4, heads = 4 },
  gate = { kind = "lambda_gelu", t = 0.1, c = 1, init = "gelu" },
  optimizer = { name = "adamw", lr = 3e-3, weight_decay = 0.1, beta2 = 0.99, clip = 1 },
  schedule = { name = "cosine", warmup = 0.05 },
  train = { epochs = 10, batch = 32, eval_batch = 64 },
  seed = 1,
  budgets = {
    smoke = { ["train.epochs"] = 1, ["data.limit"] = 20000 },
    short = { ["train.epochs"] = 2 },
    desk = {}, -- the values above
    full = { ["model.width"] = 384, ["model.depth"] = 6, ["model.heads"] = 6, ["data.context"] = 256,
      ["train.epochs"] = 60, ["optimizer.lr"] = 1e-3, ["model.dropout"] = 0.2 },
  },
}
