"""Test vectors: cases that any implementation of positions can be tested against.

    the suites and their cases     `suites`, `load`, `Suite`, `Case`   posenc/vectors/suite.py
    a Python function              `check`, `cases`, `UnsupportedError`     posenc/vectors/check.py
    differences that are known     `read_known`                        posenc/vectors/known.py
    what came out                  `Report`, `Outcome`                 posenc/vectors/report.py
    any other program              `run`                               posenc/vectors/runner.py

`python -m posenc vectors` is the same as a command. The files are those of docs/vectors/, made by a
generator that shares no code with this package; posenc has to pass them like anyone else.
"""

from posenc.vectors.check import UnsupportedError, cases, check
from posenc.vectors.compare import CONTRACTS
from posenc.vectors.known import read_known
from posenc.vectors.report import Outcome, Report
from posenc.vectors.runner import run
from posenc.vectors.suite import Case, Suite, load, suites

__all__ = [
    "CONTRACTS",
    "Case",
    "Outcome",
    "Report",
    "Suite",
    "UnsupportedError",
    "cases",
    "check",
    "load",
    "read_known",
    "run",
    "suites",
]
