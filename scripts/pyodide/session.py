"""Runs code from a page as an interactive session would.

This file runs in the reader's browser, under Pyodide. It needs only numpy.
"""

from __future__ import annotations

import ast
import linecache
import sys
import traceback
from importlib import import_module
from types import CodeType
from typing import Any

import numpy as np
from numpy._core import arrayprint

Names = dict[str, Any]

# numpy's integers have 32 bits here, but 64 bits where the outputs in the pages were made. Print
# arrays of both without their dtype, so that the output matches the pages.
if np.dtype(int).itemsize == 4:
    vars(arrayprint)["_typelessdata"].extend([np.intc, np.int64])


class Page:
    """The sessions of one page; sessions of the same group share a namespace."""

    def __init__(self) -> None:
        self._groups: dict[str, Names] = {}

    def run(self, source: str, place: str, group: str = "", module: str = "") -> None:
        """Run code in its group's namespace, which starts as a copy of a module's, or empty."""
        if group not in self._groups:
            self._groups[group] = vars(import_module(module)).copy() if module else {}
            self._groups[group]["__name__"] = "__main__"
        run(source, self._groups[group], place)


def run(source: str, names: Names, place: str) -> None:
    """Run one statement after another, printing values, output and errors.

    As at a prompt, the statements after an error still run; with a syntax error, none does. `place`
    is the name of the source in tracebacks.
    """
    name = f"<{place}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    try:
        statements = compiled_statements(source, name)
    except SyntaxError as error:
        error.text = error.text or linecache.getline(name, error.lineno or 0)
        show(error.with_traceback(None))
        return
    for statement in statements:
        try:
            exec(statement, names)
        except BaseException as error:
            here = error.__traceback__
            show(error.with_traceback(here and here.tb_next))  # without this file's own frame
    sys.stdout.flush()


def compiled_statements(source: str, name: str) -> list[CodeType]:
    """Return the code of each statement, compiled so that it prints its value if it has one."""
    body = ast.parse(source, name).body
    return [compile(ast.Interactive([statement]), name, "single") for statement in body]


def show(error: BaseException) -> None:
    """Print an error, after any output that is still buffered."""
    sys.stdout.flush()
    traceback.print_exception(error)
