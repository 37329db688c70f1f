// compile.mjs NUMPY OUT: start Python as docs/assets/js/python_worker.js does, with the numpy wheel, and
// write the bytecode of the modules it loads into OUT, each at the path of its source.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { loadPyodide } from "../../node_modules/pyodide/pyodide.mjs";

// By default node prints the line that failed, and Pyodide is a single huge line.
process.on("uncaughtException", ({ message }) => {
  console.error(message);
  process.exitCode = 1;
});

const [numpy, out] = process.argv.slice(2);
const bytes = (file) => new Uint8Array(readFileSync(file));

const python = await loadPyodide();
python.unpackArchive(bytes(numpy), "wheel", { extractDir: "/lib/python3.12/site-packages" });
python._module.mergeLibSymbols({ backtrace: () => 0 });
for (const name of ["session.py", "precompile.py"])
  python.FS.writeFile(name, bytes(new URL(name, import.meta.url)));
for (const [path, code] of python.pyimport("precompile").bytecode_of_sources().toJs()) {
  mkdirSync(join(out, dirname(path)), { recursive: true });
  writeFileSync(join(out, path), code);
}
