"""The page of terms, reference/glossary.md, made from `docs/data/glossary.yml`."""

from __future__ import annotations

from os.path import relpath
from pathlib import Path

from scripts.book import pages
from scripts.book.glossary import PAGE, terms
from scripts.book.template import filled


def page(path: str = PAGE) -> str:
    """Return the whole page as Markdown."""
    return filled("glossary", terms=terms(), title=pages.title, address=address)


def address(at: str) -> str:
    """Return the address of a place, seen from the page."""
    return relpath(at, Path(PAGE).parent)
