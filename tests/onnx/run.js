// Runs an ONNX file in onnxruntime: node run.js MODEL INPUT OUTPUT rows batch dim…
// INPUT: float32 [rows, dim…], little-endian; OUTPUT: the logits of all rows, float32. batch: rows a run (1 for a network
// of batch 1). Called by tests/onnx/runtime.lua from the folder that holds node_modules.
const fs = require("fs");
const path = require("path");
const ort = require(path.join(process.cwd(), "node_modules", "onnxruntime-node"));

async function main() {
  const [model, input, output, ...numbers] = process.argv.slice(2);
  const [rows, batch, ...dims] = numbers.map(Number);
  const bytes = fs.readFileSync(input);
  const x = new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  const size = x.length / rows;
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3, intraOpNumThreads: 1 });
  if (session.inputNames.join() !== "input" || session.outputNames.join() !== "logits")
    throw new Error(`inputs ${session.inputNames}, outputs ${session.outputNames}: expected input and logits`);
  const parts = [];
  for (let row = 0; row < rows; row += batch) {
    const n = Math.min(batch, rows - row);
    const tensor = new ort.Tensor("float32", x.slice(row * size, (row + n) * size), [n, ...dims]);
    const { logits } = await session.run({ input: tensor });
    parts.push(Buffer.from(Float32Array.from(logits.data).buffer));
  }
  fs.writeFileSync(output, Buffer.concat(parts));
}

main().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
