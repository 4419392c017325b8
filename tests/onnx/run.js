// Runs ONNX files in onnxruntime: node run.js JOBS, where JOBS is a JSON file with a list of
//   { model, input, output, rows, batch, dims, ids }
// input: file of float32, or with ids int32, [rows, …dims], little-endian; output: file for the logits of all rows,
// float32; batch: rows a run (1 for a network of batch 1). Called by tests/onnx/runtime.lua from the folder that holds node_modules.
const fs = require("fs");
const path = require("path");
const ort = require(path.join(process.cwd(), "node_modules", "onnxruntime-node"));

async function run(job) {
  const bytes = fs.readFileSync(job.input);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const x = job.ids ? BigInt64Array.from(new Int32Array(buffer), BigInt) : new Float32Array(buffer);
  const size = x.length / job.rows;
  const session = await ort.InferenceSession.create(job.model, { logSeverityLevel: 3, intraOpNumThreads: 1 });
  if (session.inputNames.join() !== "input" || session.outputNames.join() !== "logits")
    throw new Error(`inputs ${session.inputNames}, outputs ${session.outputNames}: expected input and logits`);
  const parts = [];
  for (let row = 0; row < job.rows; row += job.batch) {
    const n = Math.min(job.batch, job.rows - row);
    const input = new ort.Tensor(job.ids ? "int64" : "float32", x.slice(row * size, (row + n) * size), [n, ...job.dims]);
    const { logits } = await session.run({ input });
    parts.push(Buffer.from(Float32Array.from(logits.data).buffer));
  }
  fs.writeFileSync(job.output, Buffer.concat(parts));
}

async function main() {
  for (const job of JSON.parse(fs.readFileSync(process.argv[2]))) {
    await run(job).catch((error) => {
      throw new Error(`${job.model}: ${error.message}`);
    });
  }
}

main().catch((error) => {
  console.error(String(error));
  process.exit(1);
});
