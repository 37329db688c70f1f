"""The page of words, reference/glossary.md: the book's terms, and names from elsewhere.

Made from `docs/data/glossary.yml` and `docs/data/names_elsewhere.yml`.
"""

from __future__ import annotations

from os.path import relpath
from pathlib import Path

from scripts.book import pages
from scripts.book.elsewhere import places_by_name
from scripts.book.glossary import PAGE, terms
from scripts.book.template import filled


def page(path: str = PAGE) -> str:
    """Return the whole page as Markdown."""
    names = places_by_name()
    return filled("glossary", terms=terms(), names=names, title=pages.title, address=address)


def address(at: str) -> str:
    """Return the address of a place, seen from the page."""
    return relpath(at, Path(PAGE).parent)
