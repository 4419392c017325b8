--- lgelu ls: one line a run. Reads run files (lgelu.store) and lays a table out (lgelu.table).

local ls = {}

ls.summary = "List runs: status, epochs, best validation score, range of λ, age."

function ls.setup(parser)
  parser:argument("dir", "Folder of runs; default runs."):args("?")
  parser:option("--format", "text, markdown, csv (all digits) or latex."):argname("NAME"):default("text")
end

local function epochs_text(run)
  local ok, config = pcall(run.config, run)
  local total = ok and type(config.train) == "table" and config.train.epochs
  return ("%d%s"):format(#run:epochs().epoch, total and "/" .. total or "")
end

-- Least and greatest λ at the run's present end; nil where no gate has one.
local function lambda_range(run)
  local rows = run:gates().lambda
  local last = rows[#rows]
  if #last == 0 then return nil end
  return require("lgelu.table").range("%.3g", last)
end

local COLUMNS = {
  { title = "run", align = "left" }, { title = "hash", align = "left" }, { title = "seed", format = "%d" },
  { title = "status", align = "left" }, { title = "epochs", align = "right" }, { title = "BVS", format = "%.4f" },
  { title = "score", align = "left" }, { title = "λ", align = "left" }, { title = "age", align = "right" },
}

local function row_of(run)
  local text = require("lgelu.store.text")
  local best, changed = run:best(), require("lfs").attributes(run.path, "modification")
  return {
    run.dir:match("[^/]*$"), tostring(run.attrs.hash):sub(1, 8), run.attrs.seed, run:status(), epochs_text(run),
    best and best.val_score, run.attrs.score or "accuracy", lambda_range(run),
    changed and text.age(os.time() - changed),
  }
end

function ls.run(given)
  local store, tables = require("lgelu.store"), require("lgelu.table")
  tables.check(given.format)
  local root = given.dir or store.root
  if given.dir and not require("lfs").attributes(given.dir, "mode") then
    require("lgelu.errors").usage("%s: there is no such folder", given.dir)
  end
  local runs, damaged = store.list(root)
  local rows = {}
  for i, run in ipairs(runs) do
    rows[i] = row_of(run)
  end
  if #rows > 0 or given.format ~= "text" then
    io.write(tables.render(COLUMNS, rows, given.format))
  elseif #damaged == 0 then
    io.write(("There are no runs in %s; 'lgelu run mlp_fmnist' makes one.\n"):format(root))
  end
  for _, one in ipairs(damaged) do
    io.stderr:write("lgelu: left out: ", one.message, "\n")
  end
  return 0
end

return ls
