// compile.mjs NUMPY OUT: start Python as docs/assets/js/worker.js does, with the wheel of numpy, and
// write what it has compiled of the modules it loads into OUT, each under the path of its source.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadPyodide } from "../../node_modules/pyodide/pyodide.mjs";

// Left to itself, node would print the line that failed: all of Pyodide is one.
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});

const [numpy, out] = process.argv.slice(2);
const bytes = (file) => new Uint8Array(readFileSync(file));

const python = await loadPyodide();
python.unpackArchive(bytes(numpy), "wheel", { extractDir: "/lib/python3.12/site-packages" });
python._module.mergeLibSymbols({ backtrace: () => 0 });
for (const name of ["session.py", "bytecode.py"])
  python.FS.writeFile(name, bytes(new URL(name, import.meta.url)));
for (const [path, code] of python.pyimport("bytecode").compiled().toJs()) {
  mkdirSync(join(out, dirname(path)), { recursive: true });
  writeFileSync(join(out, path), code);
}
