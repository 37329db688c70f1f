// Python itself, in a worker: fetched and started once, then it runs what it is sent. It answers with
// `loading` (bytes so far, and in all), `compiled` (the interpreter, for the next worker) and
// `starting`, then for each run with `running`, `printed` and `done`, or with `failed`.

import { loadPyodide } from "../built/python/pyodide.mjs";

const BUILT = new URL("../built/python/", import.meta.url);
const INTERPRETER = "pyodide.asm.wasm";
const PACKAGES = "/lib/python3.12/site-packages";
const MOST = 100_000; // characters that a run may print
const ask = self.fetch.bind(self);
let arrived = 0;
let expected = 0;

/** Ask for a file of the site. */
async function file(name) {
  const answer = await ask(new URL(name, BUILT));
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer;
}

/** Ask for one of the large files, and count what arrives of it. */
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

/** Pyodide asks for its files with `fetch`, and is given what it need not fetch as nothing. */
self.fetch = async (address, options) => {
  const name = String(address).split("/").at(-1);
  if (name === INTERPRETER) return new Response();
  return name.endsWith(".zip") ? new Response(await large(name)) : ask(address, options);
};

/** Fetch the interpreter and compile it. It lies here packed, since not every server packs what it
    sends. */
async function compile() {
  const packed = await large(`${INTERPRETER}.gzip`);
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  const headers = { "Content-Type": "application/wasm" };
  const interpreter = await WebAssembly.compileStreaming(new Response(unpacked, { headers }));
  self.postMessage({ kind: "compiled", interpreter });
  return interpreter;
}

/** Send on what Python prints, a few times a second, and not without end. */
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
    if (left <= 0 && left + text.length > 0) waiting += "\n… and more, which is not shown.\n";
    if (performance.now() - sent > 50) flush();
    return bytes.length;
  };
  return { flush, out: write("out"), err: write("err") };
}

/** Start Python, with the interpreter that a worker before this one has compiled, if one has: that
    is fast from the first. */
async function start(given) {
  const contents = await (await file("contents.json")).json();
  [arrived, expected] = [given ? contents.interpreter : 0, contents.bytes];
  const wheel = async (name) => new Response(await large(name)).arrayBuffer();
  const interpreter = given ?? compile();
  // Pyodide waits for ever for an interpreter that cannot be had, and for what is refused unheard.
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
  // numpy asks where it is called from, which nothing in a browser knows: from 0 places.
  python._module.mergeLibSymbols({ backtrace: () => 0 });
  python.FS.writeFile("session.py", session);
  return { python, session: python.pyimport("session") };
}

let started;
let page;
let visited;

/** Run a source; a page that is visited begins without names. */
async function run({ source, place, group, module, visit, interpreter }) {
  const { python, session } = await (started ??= start(interpreter));
  if (visit !== visited) [page, visited] = [session.Page(), visit];
  const { flush, out, err } = printer();
  self.postMessage({ kind: "running" });
  python.setStdout({ write: out, isatty: true }); // so that it comes line by line
  python.setStderr({ write: err, isatty: true });
  page.run(source, place, group, module);
  flush();
  self.postMessage({ kind: "done" });
}

const fail = (reason) => self.postMessage({ kind: "failed", reason: String(reason) });
self.onmessage = ({ data }) => run(data).catch(fail);
// A policy can let the page compile the interpreter and refuse it to the next worker.
self.onmessageerror = () => fail("this host's policy does not let the interpreter in");
