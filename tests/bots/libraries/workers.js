#!/usr/bin/env node
// Worker threads that share memory with the program.
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");
const readline = require("node:readline");

function answer(line) {
  const [board, piece] = line.split(" ");
  const left = [..."ABCDEFGHIJKLMNOP"].find((one) => !line.includes(one));
  const cell = piece === "-" ? "-" : board.indexOf(".") + 1;
  return `${cell} ${left ?? "-"}`;
}

if (isMainThread) {
  const counts = new SharedArrayBuffer(8);
  const workers = [0, 1].map((number) => new Worker(__filename, { workerData: { counts, number } }));
  let next = 0;
  readline.createInterface({ input: process.stdin }).on("line", (line) => {
    const worker = workers[next++ % 2];
    worker.once("message", (text) => console.log(text));
    worker.postMessage(line);
  }).on("close", () => workers.forEach((worker) => worker.terminate()));
} else {
  const counts = new Int32Array(workerData.counts);
  parentPort.on("message", (line) => {
    Atomics.add(counts, workerData.number, 1);
    parentPort.postMessage(answer(line));
  });
}
