"""`make matrix`: other libraries, asked the test vectors, for the page *Who computes what*.

    adapters/         a program for each library that answers for it, run by the Python of the
                      library's own environment; lines.py is what they share
    environments.py   makes the environment of a library
    trial.py          asks a library, and runs its smallest programs
    counts.py         counts what came out, for the result files
    __main__.py       does so for each library without a result of today, one after the other

Libraries are described in docs/data/matrix/libraries/, results are in docs/data/matrix/results/;
scripts/book/matrix.py reads both.

Imports: posenc, setup, book.
"""
