"""How a page is checked: Sybil reads it in order, and runs and compares what it finds.

sybil().pytest()     the hook for pytest: numbers, tables or statements in a row are one test
corrections(path)    what `make update` writes into the page
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from sybil import Document, Example, Region, Sybil

import posenc
from scripts import DOCS, ROOT
from scripts.book.anchors import doubled_anchors
from scripts.book.citations import fact
from scripts.book.cited import miscited
from scripts.book.numbers import bindings, shown_bindings
from scripts.book.render import render
from scripts.book.sessions import sessions
from scripts.book.settings import strays
from scripts.book.tables import bound_tables, dim_columns, pair_columns
from scripts.book.text import Correction, line_of


class Checked(Protocol):
    """Anything in a page that prints what an expression gives."""

    @property
    def start(self) -> int:
        """Return where it starts."""

    @property
    def end(self) -> int:
        """Return where it ends."""

    def corrections(self, text: str, names: dict[str, Any]) -> list[Correction]:
        """Return what the page should say instead, nothing when it is right."""


Finder = Callable[[str], Iterable[Checked]]
FINDERS: tuple[Finder, ...] = (sessions, bound_tables, bindings, shown_bindings)


PRINTING = np.get_printoptions()


class _Page(Document):
    """A page whose second example on a line is counted from the start of that line, too.

    Sybil 10.1 counts it from the start of the page.
    """

    def examples(self) -> Iterator[Example]:
        """Yield what there is to check, in order."""
        for example in super().examples():
            example.column = example.start - self.text.rfind("\n", 0, example.start)
            yield example


class PageError(Exception):
    """Something in a page cannot be checked; the message says where, and why."""


@cache
def names() -> dict[str, Any]:
    """Return the names that a page's expressions start from."""
    ours = {"np": np, "fact": fact, "pair_columns": pair_columns, "dim_columns": dim_columns}
    return {name: getattr(posenc, name) for name in posenc.__all__} | ours | names_of_rooms()


def names_of_rooms() -> dict[str, Any]:
    """Return what the other rooms of `scripts/` add: `NAMES` in a room's `page_names.py`."""
    rooms = sorted(path.parent.name for path in ROOT.glob("scripts/*/page_names.py"))
    modules = [import_module(f"scripts.{room}.page_names") for room in rooms]
    return {name: value for module in modules for name, value in module.NAMES.items()}


def sybil() -> Sybil:
    """Return the checker of pages, with its parsers."""
    return Sybil(
        parsers=[_parse_page, _parse_checked, _parse_strays],
        patterns=["docs/*.md", "docs/**/*.md", "README.md"],
        path=str(ROOT),
        setup=_open_page,
        document_types={".md": _Page},
    )


def _open_page(namespace: dict[str, Any]) -> None:
    """Start a page with the book's names, and with numpy printing as it does by itself."""
    namespace.update(names())
    np.set_printoptions(**PRINTING)


def _parse_page(document: Document) -> Iterator[Region]:
    """Yield the page as a whole, whose check is that it can be shown."""
    yield Region(0, 0, document, lambda example: _failure(example.document.text))


def _failure(text: str) -> str:
    try:
        return "; ".join(f"the anchor {found}" for found in doubled_anchors(render(text)))
    except Exception as error:
        return f"the page cannot be shown: {type(error).__name__}: {error}"


def _parse_checked(document: Document) -> Iterator[Region]:
    """Yield all that prints what an expression gives; neighbours of one kind are one example.

    A page has hundreds, and an example takes pytest longer than most of them take.
    """
    found: list[Checked] = []
    for finder in FINDERS:
        try:
            found.extend(finder(document.text))
        except ValueError as error:  # it cannot be read; say so as a failure of the page
            yield Region(document.end, document.end, str(error), _report)
    for _, neighbours in groupby(sorted(found, key=lambda checked: checked.start), key=type):
        row = list(neighbours)
        yield Region(row[0].start, row[0].end, row, _evaluate)


def _evaluate(example: Example) -> str:
    """Return what is wrong, each with its line; what stands behind a fault is checked as well."""
    text = example.document.text
    said = (_wrong(checked, text, example.namespace) for checked in example.parsed)
    return "\n".join(filter(None, said))


def _wrong(checked: Checked, text: str, namespace: dict[str, Any]) -> str:
    try:
        found = corrections_of(checked, text, namespace)
    except PageError as error:
        return str(error)
    return "\n".join(correction.message(text) for correction in found)


def _parse_strays(document: Document) -> Iterator[Region]:
    path = Path(document.path)
    if path.name == "README.md":  # read on a forge, where nothing shows bindings
        return
    page = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    try:
        for stray in [*strays(document.text), *miscited(document.text, page)]:
            yield Region(stray.start, stray.end, stray.message(document.text), _report)
    except ValueError:  # the parser of what cannot be read has said so
        return


def _report(example: Example) -> str:
    message: str = example.parsed
    return message


def corrections_of(checked: Checked, text: str, namespace: dict[str, Any]) -> list[Correction]:
    """Return what one thing in a page should say otherwise.

    A page may not give another meaning to the names that every page starts from.
    """
    try:
        found = checked.corrections(text, namespace)
        for name, value in names().items():
            if namespace.get(name) is not value:
                raise ValueError(f"{name} now means something else than in the rest of the book")
    except Exception as error:
        about = " ".join(text[checked.start : checked.end].split())[:120]
        where = f"line {line_of(text, checked.start)}"
        raise PageError(f"{where}: {type(error).__name__}: {error} (in {about})") from error
    return found


def corrections(text: str, namespace: dict[str, Any] | None = None) -> list[Correction]:
    """Run a page from top to bottom and return all that it should say otherwise.

    A namespace that is handed in holds in the end what the page has defined.
    """
    found = [checked for finder in FINDERS for checked in finder(text)]
    namespace = {} if namespace is None else namespace
    with np.printoptions(**PRINTING):
        _open_page(namespace)
        return [
            correction
            for checked in sorted(found, key=lambda checked: checked.start)
            for correction in corrections_of(checked, text, namespace)
        ]


def problems(text: str) -> list[str]:
    """Return what is wrong with a page, a message each, as pytest would report it."""
    found = [_failure(text), *(stray.message(text) for stray in [*strays(text), *miscited(text)])]
    return [*filter(None, found), *(correction.message(text) for correction in corrections(text))]
