// The interface to Python for other scripts. Python starts in a worker, with the first run. Stopping
// it terminates the worker; the next run starts another with the same compiled interpreter. In a tab
// that has run Python on an earlier page, it starts with the page, from the browser's cache.

export const possible = ["Worker", "WebAssembly", "DecompressionStream"].every((it) => it in window);

/** The reason with which a stopped run is rejected. */
export const STOPPED = new Error("stopped");

const KEY = "has run Python";

let worker;
let current; // the current run
let interpreter; // compiled by the first worker

function end(reason) {
  const ended = current;
  worker.terminate();
  [worker, current] = [];
  ended?.reject(reason);
}

/** Stop the current run, if any, and Python with it. */
export function stop() {
  if (current) end(STOPPED);
}

function hear({ data }) {
  if (data.kind === "failed") {
    interpreter = undefined; // compile it again, in case it is the cause
    end(new Error(data.reason));
  } else if (data.kind === "done") finish();
  else if (data.kind === "compiled") ({ interpreter } = data);
  else current?.hear(data);
}

function finish() {
  const { resolve } = current;
  current = undefined;
  resolve();
  try {
    sessionStorage.setItem(KEY, "yes");
  } catch {
    // without storage, each page waits for its first run
  }
}

function hasRun() {
  try {
    return sessionStorage.getItem(KEY) !== null;
  } catch {
    return false;
  }
}

function start() {
  worker = new Worker(new URL("./python_worker.js", import.meta.url), { type: "module" });
  worker.onmessage = hear;
  worker.onerror = () => end(new Error("it did not start"));
}

/** Run a source, one at a time; `hear` is called with each message from the worker. */
export function run(source, hear) {
  if (!worker) start();
  return new Promise((resolve, reject) => {
    current = { hear, resolve, reject };
    worker.postMessage({ ...source, interpreter });
  });
}

if (possible && hasRun()) {
  start();
  worker.postMessage({});
}
