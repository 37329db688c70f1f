"""Python inside the page: the examples that a reader runs and edits.

    runtime.py      builds docs/assets/built/python/: what a page fetches to start Python
    compile.mjs     runs bytecode.py under Pyodide, in node
    bytecode.py     compiles what every start loads
    session.py      runs in the page: what a reader types, as an interactive session runs it

docs/assets/js/ has the page's side: run.js (the button), python.js and worker.js.

Imports: setup.
"""
