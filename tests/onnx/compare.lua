--- compare: an exported network in onnxruntime beside the engine's own, on test samples of the run's data.
--   LGELU_LIB=build/liblgelu.so luajit tests/onnx/compare.lua RUN FILE.onnx [samples] [relu] [batch]
-- from the top of the checkout: samples: how many of the test part (1000); relu: "relu" when the file was written with
-- --relu, else "smooth"; batch: 1, or more for --batch dynamic. Prints the greatest difference of a logit, how many
-- predictions are equal, and both scores; exit status 1 when the difference is above 1e-4 or a prediction differs.
package.path = "lua/?.lua;lua/?/init.lua;./?.lua;" .. package.path

local export_samples = require("lgelu.export.samples")
local runtime = require("tests.onnx.runtime")
local trained = require("lgelu.trained")

local compare = {}

-- One network's logits, own and other, beside the labels y.
local function judged(own, other, y, classes)
  assert(#other == y.size * classes, ("onnxruntime gave %d numbers, expected %d"):format(#other, y.size * classes))
  assert(#own == #other)
  local labels = y:reshape({ y.size }):totable()
  local result = { samples = y.shape[1], predictions = y.size, worst = 0, same = 0, right_engine = 0, right_onnx = 0 }
  for i = 0, y.size - 1 do
    for k = 1, classes do
      result.worst = math.max(result.worst, math.abs(own[i * classes + k] - other[i * classes + k]))
    end
    local a = export_samples.argmax(own, i * classes, classes)
    local b = export_samples.argmax(other, i * classes, classes)
    if a == b then result.same = result.same + 1 end
    if a == labels[i + 1] then result.right_engine = result.right_engine + 1 end
    if b == labels[i + 1] then result.right_onnx = result.right_onnx + 1 end
  end
  return result
end

--- Compares files on the first rows of their runs' test parts, all in one process of onnxruntime.
-- @param list  of { t = of lgelu.trained, file, count = rows, relu = boolean, batch = rows at a time }
-- @return list of { samples, predictions (one a sample, or one a token), worst (greatest |Δlogit|), same (equal
--   predictions), right_engine, right_onnx }
function compare.run(list)
  local jobs, own, labels, results = {}, {}, {}, {}
  for i, item in ipairs(list) do
    local set, rows = item.t.set, {}
    for row = 1, math.min(item.count, set.test.x.shape[1]) do
      rows[row] = row
    end
    local x, y = export_samples.gather(set, set.test, rows)
    own[i], labels[i] = export_samples.logits(item.t, "test", item.relu, #rows), y
    jobs[i] = { model = item.file, x = x, batch = item.batch }
  end
  for i, other in ipairs(runtime.run(jobs)) do
    results[i] = judged(own[i], other, labels[i], list[i].t.set.classes)
  end
  return results
end

if arg and arg[0] and arg[0]:find("compare%.lua$") then
  local run, file, count, gates, batch = unpack(arg)
  local ok, result = pcall(function()
    local reason = runtime.missing()
    if reason then error(reason, 0) end
    return compare.run({ { t = trained.open(run), file = file, count = tonumber(count or 1000), relu = gates == "relu",
      batch = tonumber(batch or 1) } })[1]
  end)
  if not ok then
    io.stderr:write(tostring(result), "\n")
    os.exit(1)
  end
  print(("%d samples: greatest |Δlogit| %.3g, %d of %d predictions equal, right: engine %d, onnxruntime %d"):format(
    result.samples, result.worst, result.same, result.predictions, result.right_engine, result.right_onnx))
  os.exit(result.worst <= 1e-4 and result.same == result.predictions and 0 or 1)
end

return compare
