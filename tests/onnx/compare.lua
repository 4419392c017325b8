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

--- Compares on the first rows of the test part.
-- @return { samples, predictions (one a sample, or one a token), worst (greatest |Δlogit|), same (equal predictions),
--   right_engine, right_onnx }
function compare.run(t, file, count, relu, batch)
  local classes, rows = t.set.classes, {}
  count = math.min(count, t.set.test.x.shape[1])
  for i = 1, count do
    rows[i] = i
  end
  local x, y = export_samples.gather(t.set, t.set.test, rows)
  local own = export_samples.logits(t, "test", relu, count)
  local other = runtime.run({ { model = file, x = x, batch = batch } })[1]
  assert(#other == y.size * classes, ("onnxruntime gave %d numbers, expected %d"):format(#other, y.size * classes))
  assert(#own == #other)
  local labels = y:reshape({ y.size }):totable()
  local result = { samples = count, predictions = y.size, worst = 0, same = 0, right_engine = 0, right_onnx = 0 }
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

if arg and arg[0] and arg[0]:find("compare%.lua$") then
  local run, file, count, gates, batch = unpack(arg)
  local ok, result = pcall(function()
    local reason = runtime.missing()
    if reason then error(reason, 0) end
    return compare.run(trained.open(run), file, tonumber(count or 1000), gates == "relu", tonumber(batch or 1))
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
