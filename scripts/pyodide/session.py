"""What a reader has typed into a page, run as an interactive session runs it.

This file runs in the reader's browser, under Pyodide; it needs numpy alone.
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

PRINTING = np.get_printoptions()

# The integers of numpy have 32 bits here, and 64 on the machines that the pages record. Arrays of
# either are shown as there, where they are nothing special.
if np.dtype(int).itemsize == 4:
    vars(arrayprint)["_typelessdata"].extend([np.intc, np.int64])


class Page:
    """The sessions of one page: those of a group share their names."""

    def __init__(self) -> None:
        self._groups: dict[str, Names] = {}
        np.set_printoptions(**PRINTING)  # a page before it may have changed them

    def run(self, source: str, place: str, group: str = "", module: str = "") -> None:
        """Run a source among its group's names, which begin as those of a module, or empty."""
        if group not in self._groups:
            self._groups[group] = vars(import_module(module)).copy() if module else {}
            self._groups[group]["__name__"] = "__main__"
        run(source, self._groups[group], place)


def run(source: str, names: Names, place: str) -> None:
    """Run statement after statement; values, output and errors go where Python prints them.

    As at a prompt, an error does not keep what follows from running; what cannot be read at all
    does. `place` is what a traceback calls the source.
    """
    name = f"<{place}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    try:
        statements = compiled(source, name)
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


def compiled(source: str, name: str) -> list[CodeType]:
    """Return the code of each statement, which shows its value if it has one."""
    body = ast.parse(source, name).body
    return [compile(ast.Interactive([statement]), name, "single") for statement in body]


def show(error: BaseException) -> None:
    """Print an error after all that was printed before it."""
    sys.stdout.flush()
    traceback.print_exception(error)
