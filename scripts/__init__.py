"""What builds, checks and measures the book, a room for each kind of work.

    setup/       the environment, the browser, node; a bare machine to try it all on
    practise/    the exercises, and what judges an answer
    proofs/      `make prove`: the theorems that a proof checker has checked
    book/        the page language: how pages are written, checked and updated
    measure/     `make measure`: schemes trained and evaluated
    bench/       `make bench`: how fast, as ratios
    examples/    programs that pages show: a museum of bugs, a sequence in several processes
    figures/     the figures, a script each, and the picture that links to the book show
    pyodide/     the Python that runs inside a page
    site/        `make site`, `make serve`, `make pdf`, and `make lighthouse`, which scores the site
    vectors/     `make vectors`: cases that any implementation can be tested against
    matrix/      `make matrix`: other libraries, asked these vectors

Each room says in its `__init__` what it holds and which rooms it imports. Nothing here is
installed with the package.
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
DATA = DOCS / "data"
