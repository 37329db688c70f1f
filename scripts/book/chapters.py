"""The chapters of the book: what stands below each part of the navigation, a page or several.

A chapter of several pages is a folder: its first page is the folder's `index.md`, and the others
follow in the order of the navigation. The numbers of its tables, figures and theorems go on from
page to page. A notebook and the book on paper have such a chapter in one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.utils.yaml import yaml_load

from scripts import ROOT
from scripts.book import pages
from scripts.book.text import FRONT, spans

NAVIGATION = ROOT / "mkdocs.yml"
HEADING = re.compile(r"^#{1,5} ", re.M)


@dataclass(frozen=True)
class Chapter:
    """A chapter: its title in the navigation, and the paths of its pages under docs/, in order."""

    title: str
    pages: tuple[str, ...]

    @property
    def first(self) -> str:
        """Return the path of its first page."""
        return self.pages[0]

    @property
    def name(self) -> str:
        """Return the name of its folder, or of its file if it has one page."""
        path = PurePosixPath(self.first)
        return path.parent.name if path.stem == "index" else path.stem


def chapters() -> tuple[Chapter, ...]:
    """Return the chapters of all parts of the book, in the order of the navigation."""
    return _chapters(NAVIGATION, NAVIGATION.stat().st_mtime_ns)


@cache
def _chapters(file: Path, changed: int) -> tuple[Chapter, ...]:
    with file.open(encoding="utf-8") as stream:
        return tuple(chapters_in(yaml_load(stream)["nav"]))


def chapters_in(navigation: list[dict[str, Any]]) -> Iterator[Chapter]:
    """Yield the chapters of a navigation.

    Examples:
        >>> [*chapters_in([{"Part": [{"One": "one.md"}, {"Two": [{"A": "two/index.md"}]}]}])]
        [Chapter(title='One', pages=('one.md',)), Chapter(title='Two', pages=('two/index.md',))]
    """
    for part in navigation:
        for below in part.values():
            for chapter in [part] if isinstance(below, str) else below:
                ((title, found),) = chapter.items()
                yield Chapter(title, tuple(_paths(found)))


def _paths(below: str | list[dict[str, Any]]) -> Iterator[str]:
    if isinstance(below, str):
        yield below
        return
    for entry in below:
        for found in entry.values():
            yield from _paths(found)


def chapter_of(page: str) -> Chapter:
    """Return the chapter of a page; a page outside of the navigation is a chapter of its own."""
    found = (chapter for chapter in chapters() if page in chapter.pages)
    return next(found, Chapter(pages.title(page), (page,)))


def whole_text(chapter: Chapter) -> str:
    """Return a chapter as the text of one page, in which the later pages are sections."""
    first, *others = map(pages.text, chapter.pages)
    return "\n".join([first, *(as_section(text) for text in others)])


def as_section(text: str) -> str:
    """Return a page as a section: without its front matter, each heading one level lower.

    Examples:
        >>> as_section("---\\ntitle: A\\n---\\n# A\\n\\n## B\\n")
        '## A\\n\\n### B\\n'
    """
    body = FRONT.sub("", text, count=1)
    code = [range(span.start, span.end) for span in spans(body) if span.kind == "fence"]

    def lower(heading: re.Match[str]) -> str:
        in_code = any(heading.start() in fence for fence in code)
        return heading[0] if in_code else f"#{heading[0]}"

    return HEADING.sub(lower, body)
