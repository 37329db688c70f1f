r"""Python in the browser, for the examples that readers can edit and run.

    runtime.py      builds docs/assets/built/python/: the files a page fetches to start Python
    compile.mjs     runs precompile.py under Pyodide, in node
    precompile.py   compiles the modules loaded at every start
    session.py      runs in the browser: executes code like an interactive session

The JavaScript is in docs/assets/js/: run.js (the button), python.js and python_worker.js.

A newer Pyodide waits for numpy. 0.27.8 is the last one with Python 3.12, and the newest Python that
npm has a numpy for is 3.12 (2.0.1 of @emscripten-forge). Pyodide 314 takes compiled packages from
PyPI, where numpy has no wheel for it (up to 2.5.5, on 26 November 2026; contourpy has one):

    python -m pip download --no-deps --only-binary :all: --python-version 3.14 --abi cp314 \
        --platform pyemscripten_2026_0_wasm32 numpy

Once this finds a wheel, runtime.py takes it, and no conda package; `3.12`, `312`, the platform and
`pyodide.asm.js`, which is `pyodide.asm.mjs` there, change in the files above, python_worker.js and
tests/site/test_runtime.py. python_worker.js was tried with 314.0.7 in Chromium 156, a stand-in for
numpy and no other change: it starts, runs, prints and shows errors. The compressed interpreter
grows from 3.1 MB to 3.5 MB; scripts/site/check.py allows 4 MB a file.

Imports: setup.
"""
