"""Python in the browser, for the examples that readers can edit and run.

    runtime.py      builds docs/assets/built/python/: the files a page fetches to start Python
    compile.mjs     runs precompile.py under Pyodide, in node
    precompile.py   compiles the modules loaded at every start
    session.py      runs in the browser: executes code like an interactive session

The JavaScript is in docs/assets/js/: run.js (the button), python.js and python_worker.js.

Imports: setup.
"""
