// Python as a page's scripts know it. It starts with the first run, in a worker of its own, and to
// stop it is to end that worker; the next run then starts another, with the same interpreter.

export const possible = ["Worker", "WebAssembly", "DecompressionStream"].every((it) => it in window);

/** Why a run ends that was stopped. */
export const STOPPED = new Error("stopped");

let worker;
let current; // the run that is going on
let interpreter; // compiled by the first worker

function end(reason) {
  const ended = current;
  worker.terminate();
  [worker, current] = [];
  ended?.reject(reason);
}

/** End the run that is going on, if one is, and Python with it. */
export function stop() {
  if (current) end(STOPPED);
}

function hear({ data }) {
  if (data.kind === "failed") {
    interpreter = undefined; // the next may be another
    end(new Error(data.reason));
  } else if (data.kind === "done") finish();
  else if (data.kind === "compiled") ({ interpreter } = data);
  else current.hear(data);
}

function finish() {
  const { resolve } = current;
  current = undefined;
  resolve();
}

function start() {
  worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  worker.onmessage = hear;
  worker.onerror = () => end(new Error("it did not start"));
}

/** Run a source, one at a time; `hear` is told how it goes. */
export function run(source, hear) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    current = { hear, resolve, reject };
    worker.postMessage({ ...source, interpreter });
  });
}
