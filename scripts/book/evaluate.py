"""Evaluates a page: runs its code in order and compares what it shows.

corrections(text)    what `make update` writes into a page
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Protocol

import numpy as np

import posenc
from scripts import ROOT
from scripts.book.citations import fact
from scripts.book.numbers import bindings, example_bindings
from scripts.book.sessions import sessions
from scripts.book.tables import bound_tables, dim_columns, pair_columns
from scripts.book.text import Correction, apply_corrections, line_of


class Checked(Protocol):
    """A part of a page that shows the value of an expression."""

    @property
    def start(self) -> int:
        """The position of its first character."""

    @property
    def end(self) -> int:
        """The position after its last character."""

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Return the corrections to the page, none if it is right."""


Finder = Callable[[str], Iterable[Checked]]
FINDERS: tuple[Finder, ...] = (sessions, bound_tables, bindings, example_bindings)

PRINTING = np.get_printoptions()


class PageError(Exception):
    """Part of a page cannot be checked; the message says where and why."""


@cache
def names() -> dict[str, Any]:
    """Return the names that every page's expressions can use."""
    ours = {"np": np, "fact": fact, "pair_columns": pair_columns, "dim_columns": dim_columns}
    return {name: getattr(posenc, name) for name in posenc.__all__} | ours | names_of_rooms()


def names_of_rooms() -> dict[str, Any]:
    """Return the names that rooms of `scripts/` add, `NAMES` in `expression_globals.py`."""
    rooms = sorted(path.parent.name for path in ROOT.glob("scripts/*/expression_globals.py"))
    modules = [import_module(f"scripts.{room}.expression_globals") for room in rooms]
    return {name: value for module in modules for name, value in module.NAMES.items()}


def open_page(namespace: dict[str, Any]) -> None:
    """Give a page the book's names and numpy's default print options."""
    namespace.update(names())
    np.set_printoptions(**PRINTING)


def corrections_of(checked: Checked, text: str, namespace: dict[str, Any]) -> list[Correction]:
    """Return the corrections of one part of a page.

    Raises:
        PageError: It cannot be evaluated, or the page has redefined a name that all pages share.
    """
    try:
        found = checked.corrections(text, namespace)
        for name, value in names().items():
            if namespace.get(name) is not value:
                raise ValueError(f"the page redefines {name}, which all pages share")
    except Exception as error:
        about = " ".join(text[checked.start : checked.end].split())[:120]
        where = f"line {line_of(text, checked.start)}"
        raise PageError(f"{where}: {type(error).__name__}: {error} (in {about})") from error
    return found


def corrections(text: str, namespace: dict[str, Any] | None = None) -> list[Correction]:
    """Run a page from top to bottom and return all its corrections.

    Afterwards `namespace`, if given, contains the names that the page has defined.
    """
    found = [checked for finder in FINDERS for checked in finder(text)]
    namespace = {} if namespace is None else namespace
    with np.printoptions(**PRINTING):
        open_page(namespace)
        return [
            correction
            for checked in sorted(found, key=lambda checked: checked.start)
            for correction in corrections_of(checked, text, namespace)
        ]


def corrected_page(text: str) -> str:
    """Return a page with all of its corrections made."""
    return apply_corrections(text, corrections(text))
