--- export/vnnlib: local robustness as VNN-LIB 1 (SMT-LIB's subset, www.vnnlib.org): one file a test sample, and the
-- instances.csv (network, property, seconds) that VNN-COMP's tools read. Inputs X_i are the network's input in C order,
-- outputs Y_j its logits, in the network's own units.
-- The convention: a property states the counterexample: an input in the box with some other logit at least the label's.
-- "unsat" means that there is none: the classification holds in the whole box. "sat" comes with one.
local C = require("lgelu.C")
local errors = require("lgelu.errors")
local samples = require("lgelu.export.samples")

local vnnlib = {}

local SECONDS = 300 -- what instances.csv allows a verifier for each, as most of VNN-COMP's do

-- A decimal without an exponent, which SMT-LIB does not have, that reads back as the same number: a box that is
-- rounded could leave its own sample out.
local function decimal(v)
  for places = 1, 40 do
    local text = ("%%.%df"):format(places):format(v)
    if tonumber(text) == v then return text end
  end
  return ("%.40f"):format(v) -- off by less than 1e-40
end

--- The text of one property.
-- @param x      list of the input's numbers    @param label  0-based class that they have and are given
-- @param eps    radius of the box around x     @param classes  number of logits
-- @param low, high  the input's range, to which the box is cut, or nil
-- @param lines  comments for the front
function vnnlib.text(x, label, eps, classes, low, high, lines)
  local out = {}
  local function add(format, ...) out[#out + 1] = format:format(...) end
  for _, line in ipairs(lines) do
    add("; %s", (line:gsub("%c", " ")))
  end
  for i = 0, #x - 1 do
    add("(declare-const X_%d Real)", i)
  end
  for k = 0, classes - 1 do
    add("(declare-const Y_%d Real)", k)
  end
  for i, v in ipairs(x) do
    add("(assert (>= X_%d %s))", i - 1, decimal(math.max(v - eps, low or -math.huge)))
    add("(assert (<= X_%d %s))", i - 1, decimal(math.min(v + eps, high or math.huge)))
  end
  add("(assert (or")
  for k = 0, classes - 1 do
    if k ~= label then add("  (and (>= Y_%d Y_%d))", k, label) end
  end
  add("))")
  return table.concat(out, "\n") .. "\n"
end

-- The first rows (1-based) of the test part that the ReLU network gets right.
local function correct_rows(t, count)
  local classes, labels = t.set.classes, require("lgelu.tensor.base").data(t.set.test.y)
  local logits, rows, right = samples.logits(t, "test", true), {}, 0
  for row = 1, t.set.test.x.shape[1] do
    if samples.argmax(logits, (row - 1) * classes, classes) == labels[row - 1] then
      right = right + 1
      if right <= count then rows[right] = row end
    end
  end
  if right < count then
    errors.usage("--samples: found %d, but the ReLU network is right about %d of %d test samples only", count, right,
      t.set.test.x.shape[1])
  end
  return rows
end

local function parts_of(path)
  if path:sub(1, 1) ~= "/" then path = require("lfs").currentdir() .. "/" .. path end
  local list = {}
  for part in path:gmatch("[^/]+") do
    if part == ".." then
      list[#list] = nil
    elseif part ~= "." then
      list[#list + 1] = part
    end
  end
  return list
end

--- The path of a file as seen from a folder.
function vnnlib.relative(path, folder)
  local to, from, same = parts_of(path), parts_of(folder), 0
  while same < #from and same < #to - 1 and to[same + 1] == from[same + 1] do
    same = same + 1
  end
  return ("../"):rep(#from - same) .. table.concat(to, "/", same + 1)
end

local function write(path, text) C.check(C.lib.lg_file_replace(path, text, #text)) end

--- Writes properties of test samples that the ReLU network gets right, and instances.csv, into a folder.
-- @param t  of lgelu.trained.open      @param onnx  the network's file, for instances.csv
-- @param options  { samples = count, eps = radius in the network's units }
-- @return number of files
function vnnlib.write(t, folder, onnx, options)
  local set = t.set
  if not set.test then errors.fail("%s: its data have no test part to take samples of", t.dir) end
  local rows = correct_rows(t, options.samples)
  local x, y = samples.gather(set, set.test, rows)
  local low, high = samples.range(set)
  local labels, instances = y:totable(), {}
  local flat = x:reshape({ #rows, x.size / #rows })
  C.check(C.lib.lg_dir_make(folder))
  for i, row in ipairs(rows) do
    local name = ("test%d_eps%s.vnnlib"):format(row - 1, decimal(options.eps))
    write(folder .. "/" .. name, vnnlib.text(flat[i]:totable(), labels[i], options.eps, set.classes, low, high, {
      ("Local robustness of run %s, its gates as ReLU."):format(t.run.attrs.hash),
      ("Sample %d (from 0) of the test part of %s, class %d%s, eps %s%s."):format(row - 1, set.name, labels[i],
        set.labels and " (" .. set.labels[labels[i] + 1] .. ")" or "", decimal(options.eps),
        low and (", cut to [%s, %s]"):format(decimal(low), decimal(high)) or ""),
      "unsat: the class is the same in the whole box. sat: a counterexample.",
    }))
    instances[i] = ("%s,%s,%d\n"):format(vnnlib.relative(onnx, folder), name, SECONDS)
  end
  write(folder .. "/instances.csv", table.concat(instances))
  return #rows
end

return vnnlib
