// Python in a worker: fetches and starts it once, then runs each source that it receives. A message
// without a source is a hint that one will follow. It posts `loading` (bytes so far and in total),
// `compiled` (the interpreter, for the next worker) and `starting`, then for each run `running`,
// `printed` and `done`, or `failed`. What it fetches is built by scripts/pyodide/.

import { loadPyodide } from "../built/python/pyodide.mjs";

const BUILT = new URL("../built/python/", import.meta.url);
const INTERPRETER = "pyodide.asm.wasm";
const PACKAGES = "/lib/python3.12/site-packages";
const MOST = 100_000; // characters that a run may print
const ask = self.fetch.bind(self);
let arrived = 0;
let expected = 0;

/** Fetch a file of the site. */
async function file(name) {
  const answer = await ask(new URL(name, BUILT));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** Fetch one of the large files, and report its progress. */
async function large(name) {
  const count = new TransformStream({
    transform(chunk, next) {
      arrived += chunk.byteLength;
      self.postMessage({ kind: "loading", arrived, expected });
      next.enqueue(chunk);
    },
  });
  return (await file(name)).body.pipeThrough(count);
}

/** Replaces `fetch` for Pyodide. Its request for the interpreter, which is compiled below, gets an
    empty response. */
self.fetch = async (address, options) => {
  const name = String(address).split("/").at(-1);
  if (name === INTERPRETER) return new Response();
  return name.endsWith(".zip") ? new Response(await large(name)) : ask(address, options);
};

/** Fetch and compile the interpreter. It is stored compressed, since not every server compresses. */
async function compile() {
  const packed = await large(`${INTERPRETER}.gzip`);
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  const headers = { "Content-Type": "application/wasm" };
  const interpreter = await WebAssembly.compileStreaming(new Response(unpacked, { headers }));
  self.postMessage({ kind: "compiled", interpreter });
  return interpreter;
}

/** Post Python's output several times a second, up to MOST characters. */
function printer() {
  const decoders = { out: new TextDecoder(), err: new TextDecoder() };
  let [waiting, left, sent] = ["", MOST, 0];
  const flush = () => {
    if (waiting) self.postMessage({ kind: "printed", text: waiting });
    [waiting, sent] = ["", performance.now()];
  };
  const write = (stream) => (bytes) => {
    const text = decoders[stream].decode(bytes, { stream: true });
    if (left > 0) waiting += text.slice(0, left);
    left -= text.length;
    if (left <= 0 && left + text.length > 0) waiting += "\n… and more output that is not shown.\n";
    if (performance.now() - sent > 50) flush();
    return bytes.length;
  };
  return { flush, out: write("out"), err: write("err") };
}

/** Start Python, reusing the interpreter if an earlier worker has compiled it, which is faster. */
async function start(given) {
  const contents = await (await file("contents.json")).json();
  [arrived, expected] = [given ? contents.interpreter : 0, contents.bytes];
  const wheel = async (name) => new Response(await large(name)).arrayBuffer();
  const interpreter = given ?? compile();
  // Without this, Pyodide would wait forever after a failed download or an unhandled rejection.
  const refused = new Promise((_, refuse) => {
    self.addEventListener("unhandledrejection", ({ reason }) => refuse(reason), { once: true });
    WebAssembly.instantiateStreaming = async (_, imports) => {
      const module = await interpreter;
      const instance = await WebAssembly.instantiate(module, imports).catch(refuse);
      return { module, instance };
    };
  });
  const [, python, session, ...wheels] = await Promise.race([
    refused,
    Promise.all([
      interpreter,
      loadPyodide({ indexURL: BUILT.href, stdin: () => null }),
      file("session.py").then((answer) => answer.text()),
      ...contents.wheels.map(wheel),
    ]),
  ]);
  self.postMessage({ kind: "starting" });
  for (const packed of wheels) python.unpackArchive(packed, "wheel", { extractDir: PACKAGES });
  // numpy calls backtrace, which does not exist in a browser; report 0 frames.
  python._module.mergeLibSymbols({ backtrace: () => 0 });
  python.FS.writeFile("session.py", session);
  return { python, page: python.pyimport("session").Page() };
}

let started;

/** Run a source; without one, import what it will need. */
async function run({ source, place, group, module, interpreter }) {
  const { python, page } = await (started ??= start(interpreter));
  if (source === undefined) return void python.pyimport("posenc");
  const { flush, out, err } = printer();
  self.postMessage({ kind: "running" });
  python.setStdout({ write: out, isatty: true }); // for line buffering
  python.setStderr({ write: err, isatty: true });
  page.run(source, place, group, module);
  flush();
  self.postMessage({ kind: "done" });
}

const fail = (reason) => self.postMessage({ kind: "failed", reason: String(reason) });
self.onmessage = ({ data }) => run(data).catch(fail);
// A security policy can allow compiling the interpreter, but not passing it to the next worker.
self.onmessageerror = () => fail("this host's security policy blocks the interpreter");
