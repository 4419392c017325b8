--- The layout of run.h5, in one place: which data sets there are, their types, units and meaning.
-- Both sides of the store, run.lua (writes) and reader.lua (reads), follow it.
local format = {}

format.run = "lgelu-run"
format.run_version = 1
format.checkpoint = "lgelu-checkpoint"
format.checkpoint_version = 1

format.run_file = "run.h5"
format.last_checkpoint = "last.ckpt.h5"
format.best_checkpoint = "best.ckpt.h5"
format.log_file = "log.txt"

--- Values of the attribute status.
format.statuses = { running = true, done = true, failed = true, stopped = true }

--- Columns of /epochs [E]: one row an epoch. units "1" is a pure number.
format.epochs = {
  { name = "epoch", dtype = "i32", units = "1", description = "epoch, counted from 1" },
  { name = "step", dtype = "i32", units = "1", description = "optimizer steps taken by the end of the epoch" },
  { name = "lr", dtype = "f64", units = "1", description = "base learning rate of the epoch's last step" },
  { name = "train_loss", dtype = "f64", units = "nat", description = "mean training loss over the epoch" },
  { name = "train_score", dtype = "f64", units = "1", description = "training score over the epoch" },
  { name = "val_loss", dtype = "f64", units = "nat", description = "mean validation loss after the epoch" },
  { name = "val_score", dtype = "f64", units = "1", description = "validation score after the epoch" },
  { name = "seconds", dtype = "f64", units = "s", description = "wall time of the epoch, validation included" },
}

--- Matrices of /gates [rows, L]; first_row: the row of epoch 1 (0: row e-1 belongs to epoch e; 1: row 0 is the start).
format.gates = {
  { name = "lambda", first_row = 1, units = "1", description = "hardness of each gate; row 0 at initialization" },
  { name = "s", first_row = 1, units = "1",
    description = "unconstrained parameter of each gate; row 0 at initialization" },
  { name = "grad_lambda_rms", first_row = 0, units = "1",
    description = "root mean square over the epoch's steps of the loss gradient with respect to lambda" },
}

return format
