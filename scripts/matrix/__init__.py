"""`make matrix`: other libraries, asked the test vectors, for the page *Who computes what*.

    adapters/         a program for each library that answers for it, run by the Python of the
                      library's own environment; lines.py is what they share
    environments.py   makes the environment of a library
    trial.py          asks a library, and runs its smallest programs
    counts.py         counts what came out, for the result files
    record.py         reads the descriptions and the results
    pages.py          makes *Who computes what* and the pages of libraries, from templates/
    expression_globals.py   the names that pages can use
    __main__.py       asks each library without a result of today, one after the other

Libraries are described in docs/data/matrix/libraries/, results are in docs/data/matrix/results/.

Imports: posenc, setup, book.
"""
