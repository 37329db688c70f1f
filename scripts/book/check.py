"""Checks a page: Sybil reads it in order and evaluates each part.

sybil().pytest()     the hook for pytest; adjacent numbers, tables or sessions are one test
problems(text)       the errors in a page, as pytest would report them
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from sybil import Document, Example, Region, Sybil

from scripts import DOCS, ROOT
from scripts.book.cited import miscited
from scripts.book.data import front_matter
from scripts.book.evaluate import (
    FINDERS,
    Checked,
    PageError,
    corrections,
    corrections_of,
    open_page,
)
from scripts.book.links_and_anchors import duplicate_anchors
from scripts.book.render import render
from scripts.book.settings import Setting, accepted, strays

REACHED = "__reached__"  # how many examples of a page have run, among its names


class _Page(Document):
    """A page whose examples have their column counted from the start of their line.

    Sybil 10.1 counts the column of a line's second example from the start of the page.
    """

    def examples(self) -> Iterator[Example]:
        """Yield the examples in order."""
        for example in super().examples():
            example.column = example.start - self.text.rfind("\n", 0, example.start)
            yield example


def sybil() -> Sybil:
    """Return the checker of pages with its parsers."""
    return Sybil(
        parsers=[_parse_page, _parse_checked, _parse_strays],
        patterns=["docs/*.md", "docs/*/*.md", "docs/*/*/*.md", "README.md"],
        path=str(ROOT),
        setup=open_page,
        document_types={".md": _Page},
    )


def _parse_page(document: Document) -> Iterator[Region]:
    """Yield the whole page as one example, which checks that it renders."""
    yield Region(0, 0, document, lambda example: _failure(example.document.text))


def _failure(text: str) -> str:
    """Return why a page cannot be rendered, or its duplicate anchors, or an empty string."""
    try:
        front_matter(text)
        return "; ".join(f"the anchor {found}" for found in duplicate_anchors(render(text)))
    except Exception as error:
        return f"the page cannot be rendered: {type(error).__name__}: {error}"


def _parse_checked(document: Document) -> Iterator[Region]:
    """Yield everything that shows a value, with neighbours of the same kind as one example.

    A page has hundreds of values, and pytest takes longer per example than most checks do.
    """
    found: list[Checked] = []
    for finder in FINDERS:
        try:
            found.extend(finder(document.text))
        except ValueError as error:  # malformed, so the page fails
            yield Region(document.end, document.end, str(error), _report)
    by_kind = groupby(sorted(found, key=lambda checked: checked.start), key=type)
    rows = [list(neighbours) for _, neighbours in by_kind]
    for number, row in enumerate(rows):
        yield Region(row[0].start, row[0].end, (rows, number), _evaluate)


def _evaluate(example: Example) -> str:
    """Return all errors of an example, each with its line.

    What stands before it on the page and has not run here, since it was left out or another process
    runs it, is run first: it may define names. Its errors are its own.
    """
    rows, number = example.parsed
    text, namespace = example.document.text, example.namespace
    for row in rows[namespace.get(REACHED, 0) : number]:
        for checked in row:
            _errors(checked, text, namespace)
    namespace[REACHED] = number + 1
    return "\n".join(filter(None, (_errors(checked, text, namespace) for checked in rows[number])))


def _errors(checked: Checked, text: str, namespace: dict[str, Any]) -> str:
    """Return the errors of one part of a page, or an empty string."""
    try:
        found = corrections_of(checked, text, namespace)
    except PageError as error:
        return str(error)
    return "\n".join(correction.message(text) for correction in found)


def _parse_strays(document: Document) -> Iterator[Region]:
    """Yield unchecked parts of a page and wrong citations, as examples that fail."""
    path = Path(document.path)
    if path.name == "README.md":  # has no bindings, since GitHub would show them as written
        return
    page = path.relative_to(DOCS).as_posix() if path.is_relative_to(DOCS) else ""
    listed = accepted(page)
    try:
        for stray in [*strays(document.text, listed), *miscited(document.text, page)]:
            yield Region(stray.start, stray.end, stray.message(document.text), _report)
    except ValueError:  # malformed, which _parse_checked reports
        return


def _report(example: Example) -> str:
    """Return the message that the example consists of."""
    message: str = example.parsed
    return message


def problems(text: str, settings: Sequence[Setting] | None = (), page: str = "") -> list[str]:
    """Return the errors in a page with these accepted settings, as pytest would report them.

    `page` is its path under docs/, if its citations are to be compared with those listed.
    """
    found = [*strays(text, settings), *miscited(text, page)]
    errors = [_failure(text), *(stray.message(text) for stray in found)]
    return [*filter(None, errors), *(correction.message(text) for correction in corrections(text))]
